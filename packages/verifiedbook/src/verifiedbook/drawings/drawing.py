"""A drawing: one to three panels side by side, a caption, and words for those who cannot see it.

A panel is never wider than a phone, and stands at its own size wherever there is room: so letters
are as large on a phone as on a desk, where panels stand beside each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from .labels import as_html, as_text, text
from .palette import short

WIDEST = 320.0
_SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
_ROW = "display:flex;flex-wrap:wrap;justify-content:center;align-items:flex-start;gap:1em 2em"


class Panel:
    """A rectangle of marks, drawn in its own units, of which one is a pixel on a screen.

    Args:
        width: at most `WIDEST`.
        height: of the rectangle; a title takes the first 26 units.
        marks: what `verifiedbook.drawings.marks` returns.
        title: stands above the marks.

    Raises:
        ValueError: the panel is wider than a phone, or has nothing in it.
    """

    def __init__(self, width: float, height: float, *marks: str, title: str = "") -> None:
        if not 0 < width <= WIDEST:
            raise ValueError(f"width: got {width}; accepted: at most {WIDEST}, a phone's")
        if not height > 0:
            raise ValueError(f"height: got {height}; accepted: a positive number")
        if not marks:
            raise ValueError("marks: got none; accepted: one or more")
        self.width, self.height, self.title = width, height, title
        self._marks = marks

    def svg(self, scale: float = 1.0) -> str:
        """Return the panel as inline SVG, ``scale`` pixels wide for each of its units."""
        head = text(self.width / 2, 12, self.title, bold=True) if self.title else ""
        size = f"{short(self.width)} {short(self.height)}"
        return (
            f'<svg viewBox="0 0 {size}" width="{short(scale * self.width)}" aria-hidden="true" '
            f'style="max-width:100%;height:auto" font-family="{_SANS}" fill="currentColor">'
            f"{head}{''.join(self._marks)}</svg>"
        )


@dataclass(frozen=True)
class Drawing:
    """What a cell shows: panels, a caption, and the description that a screen reader reads.

    Args:
        panels: one to three, side by side where there is room.
        caption: one or two sentences that say what to look at; marks as in a label.
        alt: what is seen, for those who do not see it.

    Raises:
        ValueError: there is no panel, or a caption or a description is missing or too short.

    Example:
        >>> from verifiedbook.drawings import Drawing, Panel, marks
        >>> bar = Panel(100, 60, marks.vector(10, 10, 4, role="input"))
        >>> Drawing((bar,), "A vector of four entries.", "Four squares in a row.")
        [drawing] A vector of four entries.
    """

    panels: tuple[Panel, ...]
    caption: str
    alt: str

    def __post_init__(self) -> None:
        if not 1 <= len(self.panels) <= 3:
            raise ValueError(f"panels: got {len(self.panels)}; accepted: one to three")
        for name, said in (("caption", self.caption), ("alt", self.alt)):
            if len(said.strip()) < 12:
                raise ValueError(f"{name}: got {said!r}; accepted: a sentence")

    def html(self) -> str:
        """Return the drawing as HTML that every notebook viewer shows, without scripts and ids."""
        scale = 1.25 if len(self.panels) == 1 else 1.0
        panels = "".join(panel.svg(scale) for panel in self.panels)
        return (
            f'<figure class="vt-drawing" style="margin:1em 0"><div role="img" style="{_ROW}" '
            f'aria-label="{escape(self.alt)}">{panels}</div>'
            f'<figcaption style="text-align:center;margin-top:.6em">{as_html(self.caption)}'
            "</figcaption></figure>"
        )

    def __repr__(self) -> str:
        return f"[drawing] {as_text(self.caption)}"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}
