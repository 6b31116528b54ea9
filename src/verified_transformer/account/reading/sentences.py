"""Where a quotation stops: at the end of its sentence, or where what is no sentence ends."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_STOP = re.compile(r"[.!?](?=$|[\s\"”’)\]])|[。！？]")
_CODE = re.compile(r"[=_{}\[\]]|\w\(", re.ASCII)
_PROSE = re.compile(r"\b(?:an?|and|is|of|that|the|to|which|with)\b")
_BLOCK = re.compile(r"(?:^[ \t]*#.*\n)+|\"\"\"(?s:.*?)\"\"\"", re.MULTILINE)
_BETWEEN = re.compile(r"(?<=[\u3000-\uffef]) (?=[\u3000-\uffef])")  # lines of Chinese
_SMALL = "an?|and|as|at|by|for|from|in|of|on|or|the|to|with"
_BIG = r"[A-Z\d\u3000-\uffef][\w.’'&-]*"
_BRACKET = r"\([^()]*\)"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
FORMS = {
    "byline": re.compile(rf"(?:By )?{_BIG}(?:,?\s(?:and\s|\|\s?)?(?:{_BIG})?)*"),
    "title": re.compile(rf"{_BIG}:?(?:\s(?:(?:{_SMALL}|{_BIG})[:,”\"]*|{_BRACKET}))*"),
    "date": re.compile(rf"(?:{_MONTH}|\d+|submitted|modified|revised|[\s,.:()-])+"),
    "announcement": re.compile(".+"),
}


def form_of(form: str, words: str, around: str | None) -> str | None:
    """Return why words have not the form that is no sentence, if so.

    Args:
        form: one of `FORMS`: a byline, a title or a date, whose words are names, capitals or days;
            or an announcement, a sentence that ends in the colon before a picture or a formula.

    Example:
        >>> form_of("date", "Nov 04, 2016 (modified: Mar 11, 2017)", None)
        >>> form_of("title", "we redesign the normalization", None)
        'form: “we redesign the normalization” is no title'
    """
    if form not in FORMS:
        return f"form: got {form!r}; accepted: {', '.join(FORMS)}"
    named = FORMS[form].fullmatch(flat(words)) and not ends(flat(words))
    if not named or (form == "announcement" and not flat(around or words).endswith(":")):
        return f"form: “{words}” is no {form}"
    return None


def inside(words: str, around: str | None, file: str | None) -> bool:
    """Whether words of prose stop inside their sentence, and nothing says how that goes on.

    Args:
        words: of the quotation. Lines of code are no sentences.
        around: the passage that they stand in, which may go on to the full stop.
        file: of an installed package: there the end of a comment is an end as well.
    """
    said, whole = flat(words), flat(around or words)
    if _CODE.search(said) and len(_PROSE.findall(said)) < 2:
        return False
    _, _, behind = whole.rpartition(said)
    if ends(said) or _STOP.search(behind):
        return False
    return not (file and _ends_its_comment(whole, installed(file)))


def ends(words: str) -> bool:
    """Whether words end in a full stop, or in its like."""
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
