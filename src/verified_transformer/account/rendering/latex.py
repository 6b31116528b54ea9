"""Whether the LaTeX in a text is whole, so that no page shows a broken formula."""

from __future__ import annotations

import re

_MARK = re.compile(r"(?<!\\)[{}]|\\(?:left|right)(?![a-zA-Z])|\\(?:begin|end)\{[^}]*\}")
_CLOSES = {"}": "{", r"\right": r"\left"}


def latex_fault(text: str) -> str | None:
    """Say what is wrong with the LaTeX of a text, or return None.

    Dollar signs must pair; inside each pair braces, ``\\left``/``\\right`` and environments must.
    """
    parts = re.split(r"(?<!\\)\$", text)
    if len(parts) % 2 == 0:
        return "an unpaired dollar sign"
    for maths in parts[1::2]:
        open_marks: list[str] = []
        for mark in _MARK.finditer(maths.replace(r"\\", " ")):
            token = mark.group()
            if token in _CLOSES or token.startswith(r"\end"):
                wanted = _CLOSES.get(token) or token.replace(r"\end", r"\begin", 1)
                if not open_marks or open_marks.pop() != wanted:
                    return f"{token} without its beginning"
            else:
                open_marks.append(token)
        if open_marks:
            return f"{open_marks[-1]} without its end"
        if not maths.strip():
            return "an empty formula, or a double dollar sign"
    return None
