"""The command line of the library: which commands there are and what they are given."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..account import ledger
from ..account.rules import RegistryError
from ..serving import NoBook, served
from . import claims, orders, printing, reruns, sources, status, verify
from .notebooks import colab, form, formatting, refreshing
from .prose import own_words

_Command = Callable[[argparse.Namespace], int]


class Refused(ValueError):
    """The command was given what it cannot work on; the message says what it accepts."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: the words after the program; those of this process by default.

    Returns:
        The exit status: 0 where all went well, 1 where a check failed or the input was refused.
    """
    try:
        options = _parser().parse_args(arguments)
        return int(options.run(_checked(options)))
    except (NoBook, Refused, ledger.LedgerError, RegistryError, KeyError) as error:
        print(error.args[0], file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    try:
        book = served()
        prog, note, experiments = book.command, book.note, book.experiments
    except NoBook as error:  # the help needs none
        prog, note, experiments = "python -m verifiedbook", str(error), ""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Read, re-run and compare what the book decides.",
        epilog=note,
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def command(
        name: str, text: str, run: _Command, notebooks: bool = False
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        added.add_argument("--root", type=Path, default=Path.cwd(), help="the repository")
        if notebooks:
            added.add_argument("notebooks", nargs="*", type=Path, help="all, where none is named")
        return added

    command("claims", "write _build/claims.json; fail where a verdict is not as locked",
            lambda given: claims.write_ledger(given.root))  # fmt: skip
    renew = command(
        "lock", "renew the lock on what is said and decided, with a reason",
        lambda given: claims.renew_lock(given.root, given.reason, given.date),
    )  # fmt: skip
    renew.add_argument("--reason", required=True, help="why; names claims that changed")
    renew.add_argument("--date", help="YYYY-MM-DD; that of the last commit by default")
    command("release", "keep the lock as the published one, which no later lock may hide",
            lambda given: _done(claims.release, given.root))  # fmt: skip
    again = command("verify", "run one claim afresh and compare it with what is stored",
                    lambda given: verify.verify(given.root, given.id))  # fmt: skip
    again.add_argument("id", help="such as LOSS-14")
    afresh = command(
        "refresh", "execute notebooks, store their outputs, show every change", _refresh, True
    )
    afresh.add_argument("--draws", type=int, help="measure all bands anew, on so many processors")
    keep = command("record", "run a long experiment and keep its result", _record)
    keep.add_argument("name", help=f"a module of {experiments or '(none)'}")
    instead = keep.add_mutually_exclusive_group()
    instead.add_argument(
        "--rekey", action="store_true", help="keep the result: the fingerprint matches the new code"
    )
    instead.add_argument(
        "--again", nargs="?", const="", metavar="PART",
        help="keep nothing: make a part anew, one at random by default, and compare it",
    )  # fmt: skip
    command("format-cells", "format the code of notebooks, outputs left as they are",
            lambda given: formatting.format_cells(given.notebooks, given.root), True)  # fmt: skip
    command("owners", "write the owners beside notebooks and pages, what is found filled in",
            _owners, True)  # fmt: skip
    command("own-words", "write what decides the book's own words beside their texts, known kept",
            _own_words, True)  # fmt: skip
    command("form", "write tags and titles: what each cell of a notebook is for",
            lambda given: form.write_forms(given.root))  # fmt: skip
    elsewhere = command(
        "portable", "run notebooks under other instruction sets, threads, hash seeds, and orders "
        "of summation; goes on with these where it stopped",
        _portable, True,
    )  # fmt: skip
    elsewhere.add_argument("--draws", type=int, default=orders.DRAWS, help="how many orders")
    elsewhere.add_argument(
        "--trained", action="store_true", help="other orders alone, of notebooks that train"
    )
    salted = command(
        "fresh-seeds", "run notebooks under other seeds; every check must pass",
        lambda given: reruns.fresh_seeds(
            given.notebooks, given.root, given.salts, given.jobs, given.first
        ), True,
    )  # fmt: skip
    salted.add_argument("--salts", type=int, default=10, help="how many other seeds")
    salted.add_argument("--first", type=int, default=1, help="the first of them")
    latest = command("newest", "run notebooks with the versions installed; say by claim what moved",
                     lambda given: reruns.newest(given.notebooks, given.root, given.jobs),
                     True)  # fmt: skip
    there = command(
        "evidence", "run notebooks on a GPU and keep what they measure; goes on where it stopped",
        lambda given: _done(
            reruns.evidence, given.notebooks, given.root, given.device, given.finer,
            given.budget, given.jobs,
        ), True,
    )  # fmt: skip
    there.add_argument("--device", default="cuda", help="a value of VERIFIED_DEVICE")
    there.add_argument("--finer", type=float, default=1, help="and once more, so much finer")
    there.add_argument("--budget", type=float, default=420, help="seconds of this step")
    for added in (elsewhere, salted, latest, there):
        added.add_argument("--jobs", type=int, default=2, help="notebooks at a time")
    branch = command("publish-colab", "write the branch whose notebooks install the last commit",
                     lambda given: _done(colab.publish, given.root, given.served,
                                         given.solutions != "off"))  # fmt: skip
    branch.add_argument("--served", help="the repository's address where this runs")
    branch.add_argument(
        "--solutions", choices=("on", "off"), help="of the exercises; on by default"
    )
    paper = command("pdf", "print the built book as one PDF, with an outline and page numbers",
                    lambda given: _done(printing.print_book, given.root, given.built))  # fmt: skip
    paper.add_argument("--built", default="_build", help="the folder that has its html")
    command("digits", "certify every printed number by a ball, and keep how many there are",
            lambda given: _done(_digits, given.root))  # fmt: skip
    command("sources", "look up what is quoted in releases of the Python index",
            lambda given: sources.sources(given.root))  # fmt: skip
    command("times", "keep where the time of the last whole `make test` went",
            lambda given: _done(status.keep_times, given.root))  # fmt: skip
    return parser


def _digits(root: Path) -> Path:
    from .prose import certified  # needs SymPy and Arb, which publishing has not

    return certified.keep_digits(root)


def _checked(given: argparse.Namespace) -> argparse.Namespace:
    """What was given, with the notebooks that it means; refused where it is nonsense."""
    given.root = given.root.resolve()
    try:
        known = ledger.notebooks(given.root)
    except ValueError as error:
        raise Refused(f"--{error}") from None
    for name in ("salts", "first", "draws", "jobs"):
        number = getattr(given, name, None)
        if number is not None and number < 1:
            raise Refused(f"--{name}: got {number}; accepted: 1 or more")
    given.notebooks = [path.resolve() for path in getattr(given, "notebooks", ())] or known
    for path in given.notebooks:
        if path not in known:
            raise Refused(
                f"notebooks: {path} is none of this repository's; "
                "accepted: paths such as notebooks/1-initialisation/1-sampling-laws.ipynb"
            )
    return given


def _done(
    command: Callable[..., object],
    *given: object,
    **options: object,
) -> int:
    """Run a command and print what it returns; what is wrong with what it was given is refused."""
    try:
        found = command(*given, **options)
    except (ValueError, RuntimeError) as error:
        raise Refused(str(error)) from None
    if isinstance(found, int):
        return found
    print(found)
    return 0


def _refresh(given: argparse.Namespace) -> int:
    with _warm():
        return refreshing.refresh(given.notebooks, given.root, given.draws)


def _portable(given: argparse.Namespace) -> int:
    with _warm():
        if given.trained:
            those = [*filter(orders.trains, given.notebooks)]
            return orders.other_orders(those, given.root, given.draws, given.jobs)
        others = reruns.portable(given.notebooks, given.root, given.jobs)
        return max(
            others, orders.other_orders(given.notebooks, given.root, given.draws, given.jobs)
        )


@contextmanager
def _warm() -> Iterator[None]:
    """Let kernels start with their libraries loaded."""
    from .notebooks import warm_kernels  # jupyter's, which no reading command needs

    warm_kernels.install()
    try:
        yield
    finally:
        warm_kernels.end()


def _owners(given: argparse.Namespace) -> int:
    from .prose import drafting  # loads SymPy, which no other command needs

    pages = sorted((given.root / "book").glob("*.md"))
    return drafting.draft_all([*given.notebooks, *pages], given.root)


def _own_words(given: argparse.Namespace) -> int:
    pages = [path.with_suffix(".md") for path in sorted((given.root / "book").glob("*.words"))]
    return own_words.draft_all([*given.notebooks, *pages], given.root)


def _record(given: argparse.Namespace) -> int:
    from . import recording  # loads torch, which no other command of this process needs

    if given.again is None:
        return _done(recording.record, given.name, given.root, rekey=given.rekey)
    return _done(recording.again, given.name, given.again)
