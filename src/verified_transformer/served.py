"""The book that `verifiedbook` serves, once this package is imported."""

from pathlib import Path

import long_runs
from verifiedbook.serving import Book, serve

_HERE, _RUNS = Path(__file__).parent, Path(long_runs.__file__).parent

BOOK = serve(
    Book(
        claims=_HERE / "book/claims",
        place="src/verified_transformer/book/claims",
        chapters={
            "initialisation": 1, "tying": 2, "tied-loss": 3, "growth": 4, "factorisation": 5,
            "beyond-mup-1": 6, "beyond-mup-2": 6, "beyond-mup-3": 6,
            "beyond-mup-4": 6,
        },
        recordings=_RUNS / "recordings",
        experiments=long_runs.__name__,
        package=_HERE,
        command="python -m verified_transformer",
        makefile=True,
        note="why, initial-loss and widen are weightwise's: python -m weightwise --help",
        words=(
            "README.md", "notebooks/*/*.ipynb", "book/*.md", "book/*.bib", "notebooks/*/*.owners",
            "notebooks/*/*.words", "book/*.owners", "book/*.words",
            "packages/weightwise/src/weightwise/**/[!_]*.py",
            "src/verified_transformer/book/claims/**/*.yaml",
            "experiments/long_runs/recordings/*.json",
        ),
    )
)  # fmt: skip
