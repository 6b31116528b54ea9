"""The words of the book as somebody last took them up: a signature, no proof.

A number or a formula has an owner that a machine asks. A word has none: no machine knows that
"smaller" should be "larger". So the lock keeps a hash of the sentences of every file that readers
see. One that changes is shown, and the build is red until ``make lock`` takes it up.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from ...account.hashing import hash_of
from ...account.verdicts import lock

LOCK = Path("src/verified_transformer/book/claims") / lock.PATH.name
PATTERNS = (
    "notebooks/*/*.ipynb", "book/*.md", "notebooks/*/*.owners", "book/*.owners",
    "src/verified_transformer/book/claims/**/*.yaml",
    "src/verified_transformer/book/drawings/pictures/**/[!_]*.py",
)  # fmt: skip
APART = ("uses", "says")  # statements have a lock of their own
_WEAK = re.compile(r"<- (?:free|definition)\b|<- .* (?:at|within) ")  # they ask for less
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#>:]|\d+\.\s|\$\$|```))")
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z*`$\[_“])")
_CLAIM = re.compile(r"\b[A-Z]{3,5}-\d\d\b")


def sentences(text: str) -> list[str]:
    """Return the sentences of a Markdown text, blanks made single; rows and headings are some.

    Args:
        text: as it is written.

    Example:
        >>> sentences("# Two\\n\\nIt is\\nso. It is not.\\n\\n| a | b |\\n| 1 | 2 |")
        ['# Two', 'It is so.', 'It is not.', '| a | b |', '| 1 | 2 |']
    """
    found = (" ".join(part.split()) for block in _BLOCK.split(text) for part in _END.split(block))
    return [*filter(None, found)]


def spoken(whole: str, suffix: str) -> Iterator[tuple[str, str]]:
    """Yield a file's sentences that readers see, each with its place: cell, claim or picture.

    Of owners those that ask for less: free, a definition, at a point, within a tolerance.
    """
    if suffix == ".ipynb":
        for index, cell in enumerate(json.loads(whole)["cells"]):
            text = "".join(cell["source"])
            named = " ".join(dict.fromkeys(_CLAIM.findall(text)))
            said = sentences(text) if cell["cell_type"] == "markdown" else list(_quoted(text))
            shown = _written(cell.get("metadata", {}).get("mystnb"), "")  # captions of plots
            said += [part for _, caption in shown for part in sentences(caption)]
            yield from ((f"cell {index} {named}".strip(), sentence) for sentence in said)
    elif suffix == ".yaml":
        data = yaml.load(whole, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        yield from ((name, part) for name, text in _written(data, "") for part in sentences(text))
    elif suffix == ".py":
        yield from (("picture", sentence) for sentence in _quoted(whole, 1, whole_file=True))
    elif suffix == ".owners":
        yield from (("owners", line) for line in whole.splitlines() if _WEAK.search(line))
    else:
        yield from (("page", sentence) for sentence in sentences(whole))


def _quoted(code: str, least: int = 4, *, whole_file: bool = False) -> Iterator[str]:
    """What code says: strings with so many blanks or more, in a figure all with a letter.

    Docstrings count in a cell, where readers see them, and not in a file.
    """
    least = 0 if code.startswith("# @title Figure") else least
    tree = ast.parse(re.sub(r"(?m)^(\s*)[%!].*", r"\1pass", code))
    docs = {id(node.value) for node in ast.walk(tree) if whole_file and isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            said = (part for part in sentences(node.value) if re.search("[^\\W\\d_]", part))
            yield from (part for part in said if part.count(" ") >= least)


def _written(data: Any, name: str) -> Iterator[tuple[str, str]]:
    """The texts of a claims file, and what of its readings runs: an easier one is another word."""
    if isinstance(data, Mapping):
        inner = str(data.get("id", name))
        for key in (key for key in data if key not in APART):
            yield from _written(data[key], inner)
    elif isinstance(data, list):
        for value in data:
            yield from _written(value, name)
    elif data is not None:
        yield name, str(data)


def hash_of_sentences(spoken: Iterable[tuple[str, str]]) -> str:
    """Return the hash of a file's sentences, in their order."""
    return hash_of("\n".join(sentence for _, sentence in spoken), 16)


def read(root: Path) -> dict[str, lock.Taken]:
    """Return what the lock holds of each file."""
    return lock.read_words(root / LOCK)


def faults(root: Path, name: str, locked: lock.Taken | None) -> list[str]:
    """Say which sentences of a file nobody took up: those that it had otherwise when one did."""
    path = root / name
    now = list(spoken(path.read_text(encoding="utf-8"), path.suffix))
    if locked is None:
        return [f"{name}: {len(now)} sentences that nobody took up"]
    if hash_of_sentences(now) == locked.hash:
        return []
    taken_up = _git(root, "log", "-1", "--format=%H", "--", LOCK.as_posix()).strip()
    before = _git(root, "show", f"{taken_up}:./{name}") if taken_up else ""
    old = [sentence for _, sentence in spoken(before, path.suffix)] if before else []
    waiting, found = Counter(old), []
    gone = Counter(old) - Counter(sentence for _, sentence in now)
    for place, sentence in now:
        waiting[sentence] -= 1
        if waiting[sentence] < 0:
            close = difflib.get_close_matches(sentence, list(gone), 1, 0.6)
            beside = "".join(f" | before: {one}" for one in close)
            found.append(f"{path.name}, {place}: {sentence}{beside}")
    found += [f"{path.name}: sentences that are gone: {gone.total()}"] if gone else []
    return found or [f"{path.name}: its sentences are not those that were taken up"]


def _git(root: Path, *words: str) -> str:
    asked = ["git", "-C", str(root), *words]
    return subprocess.run(asked, capture_output=True, encoding="utf-8", check=False).stdout


def files(root: Path) -> list[str]:
    """Return the names of the files whose sentences are locked."""
    found = {path for pattern in PATTERNS for path in root.glob(pattern)}
    return sorted(path.relative_to(root).as_posix() for path in found)


def renewed(
    root: Path, locked: Mapping[str, lock.Taken], reason: str, date: str
) -> tuple[dict[str, lock.Taken], list[str]]:
    """Take up every sentence as it stands.

    Returns:
        What the lock is to hold of each file, and in words what was said otherwise before.
    """
    made, changed = {}, []
    for name in files(root):
        path, held = root / name, locked.get(name)
        found = hash_of_sentences(spoken(path.read_text(encoding="utf-8"), path.suffix))
        if held is None or held.hash != found:
            changed += faults(root, name, held)
            held = lock.Taken(found, date, reason)
        made[name] = held
    return made, changed
