"""Answers that wait for the reader, where no script holds them: in Colab folded, on paper last.

What follows a dare in its cell, and what a guess comes to, are its answers; `sphinx.waiting` holds
them back on a page.
"""

from __future__ import annotations

import re

DARE = "Break it"
WHAT = "What happens"
_HELD = re.compile(
    r'<div class="vt-waits"><noscript><details><summary>[^<]*</summary>(.*?)</details>'
    r"</noscript></div>|(<span class=\"vt-guessed [^>]*>)<noscript>(.*?)</noscript>",
    re.DOTALL,
)


def fold_answers(source: str) -> str:
    """Fold the answers of a Markdown cell, for where no script of ours runs.

    Example:
        >>> print(fold_answers("**Break it.** And now?\\n\\nIt turns red."))
        **Break it.** And now?
        <BLANKLINE>
        <details><summary>What happens</summary>
        <BLANKLINE>
        It turns red.
        <BLANKLINE>
        </details>
    """
    blocks = source.split("\n\n")
    dare = next((place for place, block in enumerate(blocks) if f"**{DARE}" in block), len(blocks))
    said = [_folded(b) if 'class="vt-guessed ' in b else b for b in blocks[: dare + 1]]
    behind = "\n\n".join(blocks[dare + 1 :])
    return "\n\n".join([*said, *([_folded(behind)] if behind.strip() else [])])


def answers_last(article: str) -> str:
    """Move what waits to the end of a page that is printed, with a number where it was.

    Example:
        >>> held = '<span class="vt-guessed a"><noscript>two</noscript></span>'
        >>> print(answers_last(f"<p>{held}</p>").replace("<h2>", "\\n<h2>"))
        <p><span class="vt-guessed a">(answer 1)</span></p>
        <h2>What came out</h2><div class="vt-came-out"><p>(1)</p>two</div>
    """
    found: list[str] = []

    def number(held: re.Match[str]) -> str:
        found.append(held[1] or held[3])
        return f"{held[2]}(answer {len(found)})" if held[2] else f"<p>(answer {len(found)})</p>"

    text = _HELD.sub(number, article)
    last = "".join(
        f'<div class="vt-came-out"><p>({place})</p>{what}</div>'
        for place, what in enumerate(found, 1)
    )
    return f"{text}<h2>What came out</h2>{last}" if found else text


def _folded(block: str) -> str:
    return f"<details><summary>{WHAT}</summary>\n\n{block.strip()}\n\n</details>"
