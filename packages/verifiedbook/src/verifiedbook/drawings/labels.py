"""Labels of drawings: words and a little mathematics, as SVG and as HTML.

``*W*`` is slanted like a symbol, ``_{q}`` a subscript, ``^{2}`` a superscript. No TeX: Colab sets
none inside an HTML output, and a drawing must look the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from .palette import short

SIZE, SMALLEST = 15.0, 12.0  # of letters, in units of a drawing; a phone shrinks them by a tenth
_SERIF = "Georgia,'Times New Roman',serif"
_PIECE = re.compile(r"\*([^*]+)\*|_\{([^}]*)\}|\^\{([^}]*)\}|([^*_^]+|.)")


def _pieces(label: str) -> Iterator[tuple[str, str]]:
    for match in _PIECE.finditer(label):
        for kind, found in zip(("symbol", "below", "above", "words"), match.groups(), strict=True):
            if found:
                yield kind, found


def as_text(label: str) -> str:
    """Return a label without its marks.

    Example:
        >>> as_text("*W*_{q} of head 1")
        'Wq of head 1'
    """
    return "".join(found for _, found in _pieces(label))


def as_html(label: str) -> str:
    """Return a label as HTML, as captions need it.

    Example:
        >>> as_html("*W*_{q} & more")
        '<i>W</i><sub>q</sub> &amp; more'
    """
    tags = {"symbol": "i", "below": "sub", "above": "sup"}
    return "".join(
        f"<{tags[kind]}>{escape(found)}</{tags[kind]}>" if kind in tags else escape(found)
        for kind, found in _pieces(label)
    )


def text_width(label: str, size: float = SIZE) -> float:
    """Estimate how wide a label is, on the wide side."""
    widths = {"symbol": 0.6, "below": 0.45, "above": 0.45, "words": 0.54}
    return size * max(
        sum(widths[kind] * len(found) for kind, found in _pieces(line))
        for line in label.split("\n")
    )


def text(
    x: float, y: float, label: str, *, size: float = SIZE, anchor: str = "middle",
    bold: bool = False,
) -> str:  # fmt: skip
    """Return a label as SVG, its vertical middle at ``y``.

    Args:
        x, y: where it stands.
        label: words and marks, see above; one line or several.
        size: of its letters; small ones cannot be read on a phone.
        anchor: ``"start"``, ``"middle"`` or ``"end"``: which part of it stands at ``x``.
        bold: for titles.

    Raises:
        ValueError: the letters are smaller than `SMALLEST`, or the anchor is none.

    Example:
        >>> text(10, 20, "x")
        '<text x="10" y="25.2" text-anchor="middle" font-size="15">x</text>'
    """
    if size < SMALLEST:
        raise ValueError(f"size: got {size}; accepted: {SMALLEST} or more")
    if anchor not in ("start", "middle", "end"):
        raise ValueError(f"anchor: got {anchor!r}; accepted: start, middle, end")
    if "\n" in label:
        lines = label.split("\n")
        first, by = y - 0.68 * size * (len(lines) - 1), 1.36 * size
        return "".join(
            text(x, first + by * place, one, size=size, anchor=anchor, bold=bold)
            for place, one in enumerate(lines)
        )
    parts, raised = [], 0.0
    for kind, found in _pieces(label):
        wanted = {"below": 0.26 * size, "above": -0.36 * size}.get(kind, 0.0)
        shift = f' dy="{short(wanted - raised)}"' if wanted != raised else ""
        raised = wanted
        slant = f' font-family="{_SERIF}" font-style="italic"'
        if kind == "symbol":
            parts.append(f"<tspan{shift}{slant}>{escape(found)}</tspan>")
        elif kind == "words":
            parts.append(f"<tspan{shift}>{escape(found)}</tspan>" if shift else escape(found))
        else:
            inner = f' font-size="{short(max(SMALLEST, 0.78 * size))}"'
            for run in re.findall(r"[a-z]+|[^a-z]+", found):
                style = slant if run[0].islower() else f' font-family="{_SERIF}"'
                parts.append(f"<tspan{shift}{inner}{style}>{escape(run)}</tspan>")
                shift = ""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{short(x)}" y="{short(y + 0.35 * size)}" text-anchor="{anchor}" '
        f'font-size="{short(size)}"{weight}>{"".join(parts)}</text>'
    )
