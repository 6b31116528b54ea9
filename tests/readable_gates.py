"""No raw Python in what readers see of the evidence: it stands as formulas, or as code."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import folded_parts

RAW = re.compile(r"\*\*|\b(?:Sum|sqrt|Integral|Rational)\(")
CODE = re.compile(r"(?s)<(code|pre|script|style)\b.*?</\1>")
IN_RECORDS = re.compile(r'(?s)<div class="vt-(?:head|detail)">(.*?)</div>')
IN_CLAIMS = re.compile(r"(?s)<article\b(.*?)</article>")
TAG = re.compile(r"<[^>]+>")
AT_MOST = 2  # texts that nobody can read as formulas yet; it may only become less


def raw_python(html: Path) -> list[str]:
    """Records in strips, and pages of claims, that show Python instead of a formula."""
    places = (("notebooks/*/*.html", IN_RECORDS), ("claims/*.html", IN_CLAIMS))
    found = {
        re.sub(
            r"\\\(.*", "", line
        ).strip(): f"{page.relative_to(html)}: raw Python: {line.strip()[:100]!r}"
        for pattern, part in places
        for page in sorted(html.glob(pattern))
        for shown in part.findall(folded_parts.whole(page))
        for line in unescape(TAG.sub("\n", CODE.sub("", shown))).splitlines()
        if RAW.search(line)
    }
    return list(found.values()) if len(found) > AT_MOST else []
