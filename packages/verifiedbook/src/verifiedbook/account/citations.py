"""Citations as data: who says what, and where, with the words and what stands around them.

A quotation stops at the end of its sentence, or where what is no sentence ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .rules import Refuse, check_rules

_FORMS = ("byline", "title", "date", "announcement")  # what is no sentence
_LONGEST = 25  # words of a quotation
_NEEDED = ("key", "says", "at", "quote")
_DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_ARCHIVE = re.compile(r"[\w.-]+==[\w.]+ \S+/\S+")


@dataclass(frozen=True)
class Citation:
    """A quotation that decides a claim, as a person judges it.

    Attributes:
        key: of the source, in the book's bibliography.
        says: what it does to the claim, an outcome of the kind "citation".
        at: where in the source.
        quote: the deciding words, at most `_LONGEST` of them.
        of: "reading", or "truth" for the right statement that it supports.
        around: the passage that the quotation stands in.
        form: of what is no sentence that could run to its full stop, one of `_FORMS`; an
            announcement is of a picture or a formula, behind a colon.
        file: a file of an installed package that has the words, such as
            ``transformers/models/t5/modeling_t5.py``; they are looked up there.
        archive: a release of the Python index and a file in it that has the words, such as
            ``mesh-tensorflow==0.1.21 mesh_tensorflow/transformer/attention.py``; `make sources`
            looks them up.
        until: the day of what the words speak of, where the claim is about its own day.
    """

    key: str
    says: str
    at: str
    quote: str
    of: str = "reading"
    around: str | None = None
    form: str | None = None
    file: str | None = None
    archive: str | None = None
    until: str | None = None

    @property
    def detail(self) -> str:
        """What a record says of it."""
        found = f", the words found in {self.file}" if self.file else ""
        return f"judged{found}; {self.at}: “{self.quote}”"


def read_citations(data: Iterable[Mapping[str, Any]], refuse: Refuse) -> tuple[Citation, ...]:
    """Read the citations of a reading as a claims file has them.

    Raises:
        RegistryError: a key is unknown or missing, a quotation is too long, or does not stand in
            the passage that is said to be around it.
    """
    return tuple(_citation(item, refuse) for item in data)


def _citation(item: Mapping[str, Any], refuse: Refuse) -> Citation:
    given = {key: str(value).strip() for key, value in item.items()}
    missing = [key for key in _NEEDED if not given.get(key)]
    known = Citation.__dataclass_fields__
    if missing or set(given) - set(known):
        raise refuse(
            f"a citation has unknown keys {sorted(set(given) - set(known))}, and lacks {missing}; "
            f"accepted: {', '.join(known)}"
        )
    found = Citation(**given)
    words, archive, around = len(found.quote.split()), found.archive, found.around
    check_rules(refuse, {
        f"archive: got {archive!r}; accepted: a release, package==1.0, and a file":
            archive and not _ARCHIVE.fullmatch(archive),
        f"quote: got {words} words; accepted: 1 to {_LONGEST}": words > _LONGEST,
        f"around: does not have the words “{found.quote}”":
            around and not stands_in(found.quote, around),
        f"form: got {found.form!r}; accepted: {', '.join(_FORMS)}":
            found.form not in (None, *_FORMS),
    })  # fmt: skip
    return found


# ------------------------------------------------------------------ how old it is


def checked_day(day: object) -> str:
    """Return a day as it is.

    Args:
        day: as YYYY, YYYY-MM or YYYY-MM-DD.

    Raises:
        ValueError: it is no day.
    """
    text = str(day)
    if not _DAY.fullmatch(text):
        raise ValueError(f"day: got {text!r}; accepted: YYYY, YYYY-MM or YYYY-MM-DD")
    return text


def age_fault(datum: str | None, day: str | None, what: str) -> str | None:
    """Say why evidence says nothing of a claim's day, or return None where it does.

    Args:
        datum: the day of the youngest datum, or None where nobody said.
        day: of which the claim speaks, or None where it speaks of none.

    Example:
        >>> age_fault("2023", "2023-07", "it")  # as far as both are known
        >>> age_fault("2023-08", "2023-07", "it")
        'it is of 2023-08, younger than 2023-07'
    """
    if day is None:
        return None
    if datum is None:
        return f"{what} does not say how young its data are; the claim speaks of {day}"
    length = min(len(datum), len(day))
    younger = datum[:length] > day[:length]
    return f"{what} is of {datum}, younger than {day}" if younger else None


_STOP = re.compile(r"[.!?](?=$|[\s\"”’)\]])|[。！？]")
_CODE = re.compile(r"[=_{}\[\]]|\w\(", re.ASCII)
_PROSE = re.compile(r"\b(?:an?|and|is|of|that|the|to|which|with)\b")
_BLOCK = re.compile(r"(?:^[ \t]*#.*\n)+|\"\"\"(?s:.*?)\"\"\"", re.MULTILINE)
_BETWEEN = re.compile(r"(?<=[\u3000-\uffef]) (?=[\u3000-\uffef])")  # lines of Chinese


def stops_early(citation: Citation) -> bool:
    """Whether a quotation of prose stops inside its sentence, and nothing says how that goes on.

    Args:
        citation: its quotation, or the passage around it, must reach the full stop behind the
            words, or the end of the comment of a file; what has a `form` is no such sentence, and
            neither are lines of code.
    """
    said, whole = flat(citation.quote), flat(citation.around or citation.quote)
    if citation.form or (_CODE.search(said) and len(_PROSE.findall(said)) < 2):
        return False
    _, _, behind = whole.rpartition(said)
    if _ends(said) or _STOP.search(behind):
        return False
    return not (citation.file and _ends_its_comment(whole, installed(citation.file)))


def _ends(words: str) -> bool:
    return bool(_STOP.search(words[-2:]))


def flat(text: str) -> str:
    """Return a text in one line, without the marks of comments."""
    lines = (re.sub(r"^\s*#+(?!:)", "", line) for line in text.splitlines())
    return _BETWEEN.sub("", " ".join(" ".join(lines).split()))


def stands_in(words: str, text: str) -> bool:
    """Whether words stand in a text, whatever its lines and marks of comments are."""
    return flat(words) in flat(text)


@cache
def installed(file: str) -> str | None:
    """Return the text of a file of an installed package, which is not imported.

    Args:
        file: such as ``transformers/models/t5/modeling_t5.py``.

    Returns:
        The text; None where the package, or the file in it, is not there.

    Example:
        >>> "class Linear" in installed("torch/nn/modules/linear.py")
        True
    """
    package, _, within = file.partition("/")
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder, within)
        if within and path.is_file():
            return path.read_text(encoding="utf-8")
    return None


def _ends_its_comment(words: str, text: str | None) -> bool:
    """Whether a comment or a docstring of a file ends with words; True where no file is there."""
    blocks = (block.strip('"') for block in _BLOCK.findall(text or ""))
    return text is None or any(flat(block).endswith(words) for block in blocks)
