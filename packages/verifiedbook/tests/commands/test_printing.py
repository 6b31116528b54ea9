"""The whole book in one document: links lead inside, names are its own, nothing stays folded."""

import re
from pathlib import Path

import pytest

from verifiedbook.commands.printing import NotPrinted, print_book, whole_book

TOC = {
    "root": "book/welcome",
    "parts": [
        {
            "chapters": [
                {
                    "file": "book/chapter-3",
                    "sections": [{"file": "notebooks/3-first-loss/4-the-first-loss"}],
                },
                {"file": "book/ledger"},
            ]
        }
    ],
}
FRAME = (
    '<html><head><link rel="canonical" href="https://book.example/book/x.html"/>'
    '<link rel="stylesheet" href="../_static/theme.css"/></head>'
    '<body><article class="bd-article">{}</article></body></html>'
)
PAGES = {
    "book/welcome": (
        '<h1>A book</h1><a href="../notebooks/3-first-loss/4-the-first-loss.html#why">see</a>'
    ),
    "book/chapter-3": (
        '<h1>3 · First</h1><a href="ledger.html#LOSS-14">all</a><img src="../_images/a.png">'
    ),
    "notebooks/3-first-loss/4-the-first-loss": (
        '<h1>3.4 · The first loss<a class="headerlink" href="#why">#</a></h1>'
        '<h2 id="why">Why</h2><a href="#why">above</a>'
        "<script>moves()</script>"
        '<div class="vt-exercise" id="e"><p><strong>Exercise 3.4.1</strong></p>'
        "<details><summary>Solution</summary><p>It is 15.4.</p></details></div>"
    ),
}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    for name, body in PAGES.items():
        path = tmp_path / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FRAME.format(body), encoding="utf-8")
    return tmp_path


def test_every_link_leads_inside_or_to_the_published_book(built):
    whole = whole_book(built, TOC)
    names = set(re.findall(r'\bid="([^"]*)"', whole))
    for link in re.findall(r'<a href="([^"]*)"', whole):
        outside = ("https://book.example/", "https://book.example/book/ledger.html#LOSS-14")
        assert link in outside or link[1:] in names, link
    assert 'src="_images/a.png"' in whole and 'href="_static/theme.css"' in whole


def test_sections_are_numbered_and_lie_below_their_chapter(built):
    whole = whole_book(built, TOC)
    assert "<h1>3 · First</h1>" in whole and "<h2>3.4 · The first loss<a" in whole
    assert '<h3 id="notebooks-3-first-loss-4-the-first-loss--why">' in whole
    assert "moves()" not in whole


def test_a_title_page_and_the_contents_come_first(built):
    whole = whole_book(built, TOC)
    assert whole.index(">A book<") < whole.index("Contents") < whole.index('id="book-welcome"')
    line = '<a href="#notebooks-3-first-loss-4-the-first-loss">3.4 · The first loss</a>'
    assert f'<li class="vt-depth-1">{line}<span></span></li>' in whole


def test_a_solution_stands_open_at_the_end(built):
    whole = whole_book(built, TOC)
    assert "<details>" not in whole
    assert (
        whole.index("Hints and solutions") < whole.index("3.4.1 · Solution") < whole.index("15.4")
    )


@pytest.mark.canary
def test_a_page_that_is_not_built_is_named(built):
    (built / "book/chapter-3.html").unlink()
    with pytest.raises(NotPrinted, match=r"book/chapter-3\.html is not built"):
        whole_book(built, TOC)


def test_without_a_browser_the_message_says_what_would_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotPrinted, match="chromium"):
        print_book(tmp_path)
