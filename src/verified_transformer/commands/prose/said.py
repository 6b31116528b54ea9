"""The words of the book as somebody last took them up, sentence by sentence.

A number or a formula has an owner that a machine asks. A word has none: no machine knows that
"smaller" should be "larger". So ``book/said.lock`` keeps a hash of every sentence that readers
see: of pages, notebooks, readings, errata and exercises. A sentence that changes is shown in words,
and the build is red until ``make lock`` takes it up, which somebody does who has read it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

LOCK = Path("book") / "said.lock"
EXECUTED = ("quantity", "formula", "claimed", "digits", "where", "uses", "says")
_COMMENT = re.compile(r"<!-- owners\n.*?-->", re.S)
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#>:]|\d+\.\s|\$\$|```))")
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z*`$\[_“])")


def sentences(text: str) -> list[str]:
    """Return the sentences of a Markdown text, blanks made single; rows and headings are some.

    Args:
        text: as it is written; comments with owners are left out.

    Example:
        >>> sentences("# Two\\n\\nIt is\\nso. It is not.\\n\\n| a | b |\\n| 1 | 2 |")
        ['# Two', 'It is so.', 'It is not.', '| a | b |', '| 1 | 2 |']
    """
    blocks = _BLOCK.split(_COMMENT.sub("", text))
    found = [" ".join(part.split()) for block in blocks for part in _END.split(block)]
    return [part for part in found if part]


def texts(path: Path) -> Iterator[str]:
    """Yield the texts of a file that readers see: a page's, a notebook's cells', a reading's.

    Args:
        path: of an ``.md``, ``.ipynb`` or ``.yaml`` file.
    """
    whole = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        for cell in json.loads(whole)["cells"]:
            if cell["cell_type"] == "markdown":
                yield "".join(cell["source"])
    elif path.suffix == ".yaml":
        yield from _written(yaml.load(whole, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    else:
        yield whole


def _written(data: Any) -> Iterator[str]:
    """The texts of a claims file; formulas run, and statements have a lock of their own."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key not in EXECUTED:
                yield from _written(value)
    elif isinstance(data, list):
        for value in data:
            yield from _written(value)
    elif isinstance(data, str):
        yield data


def files(root: Path) -> list[str]:
    """Return the paths, from the repository, of the files whose sentences are locked."""
    patterns = ("notebooks/*/*.ipynb", "book/*.md", "src/verified_transformer/claims/**/*.yaml")
    found = [path for pattern in patterns for path in sorted(root.glob(pattern))]
    return [path.relative_to(root).as_posix() for path in found]


def digest(sentence: str) -> str:
    """Return the hash of a sentence."""
    return hashlib.sha256(sentence.encode()).hexdigest()[:10]


def read(root: Path) -> dict[str, list[str]]:
    """Return the hashes of the lock, by file; none where there is no lock."""
    locked: dict[str, list[str]] = {}
    path, name = root / LOCK, ""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.startswith("  "):
            locked[name].append(line.strip())
        else:
            name = line
            locked[name] = []
    return locked


def faults(path: Path, locked: Sequence[str] | None) -> list[str]:
    """Say which sentences of a file nobody took up, and how many are gone.

    Args:
        path: of the file.
        locked: its hashes; None where it is not in the lock.
    """
    if locked is None:
        return [f"{path.name}: is not in {LOCK.name}"]
    now = [sentence for text in texts(path) for sentence in sentences(text)]
    waiting = Counter(locked)
    new: list[str] = []
    for sentence in now:
        if waiting[key := digest(sentence)]:
            waiting[key] -= 1
        else:
            new.append(sentence)
    found = [f"{path.name}: new: {sentence}" for sentence in new]
    if gone := sum(waiting.values()):
        found.append(f"{path.name}: sentences that are gone: {gone}")
    if not found and [digest(sentence) for sentence in now] != list(locked):
        found.append(f"{path.name}: its sentences stand in another order")
    return found


def differences(root: Path) -> list[str]:
    """Say, in words, what is said otherwise than the lock has it.

    Args:
        root: the repository.
    """
    locked = read(root)
    names = files(root)
    gone = [f"{name}: in {LOCK.name}, and no file" for name in locked if name not in names]
    return gone + [fault for name in names for fault in faults(root / name, locked.get(name))]


def renew(root: Path) -> list[str]:
    """Take up every sentence as it stands; return what was new.

    Args:
        root: the repository.
    """
    changed = differences(root)
    lines = []
    for name in files(root):
        lines.append(name)
        for text in texts(root / name):
            lines += [f"  {digest(sentence)}" for sentence in sentences(text)]
    (root / LOCK).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return changed
