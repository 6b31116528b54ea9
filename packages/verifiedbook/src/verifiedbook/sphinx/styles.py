"""The style sheet of badges and records, made from the tables of evidence and verdicts."""

from __future__ import annotations

from ..account.evidence import KINDS, VERDICTS


def style_sheet() -> str:
    """Return the style sheet of badges and records that follows from the tables."""
    rules = []
    for row in VERDICTS.values():
        colour, look = row.colour, [f"background: {row.colour.ground}", f"color: {row.colour.ink}"]
        if row.border == "none":
            look = ["background: transparent", "color: var(--pst-color-text-muted)"]
            look += ["border-color: var(--pst-color-border)", "font-weight: 400"]
        elif row.border == "dashed":
            look.append(f"border: 1px dashed {colour.ink}")
        else:
            look.append(f"border-color: {colour.line}")
        if row.border == "square":
            look.append("border-radius: 0.15em")
        rules.append(f".vt-badge.vt-is-{row.name} {{ {'; '.join(look)}; }}")
    for name, of in KINDS.items():
        where = f".bd-article .vt-record.vt-{name}, ul.vt-lines li.vt-{name}, .vt-swatch.vt-{name}"
        rules.append(f"{where} {{ border-left-color: {of.colour.line}; }}")
    return "\n".join(["/* Made from ..account.evidence. */", *rules, ""])
