"""A build for a course publishes no solution, no answer, and nothing that is said to one."""

from __future__ import annotations

import html as markup
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import html_gates
import pytest
import yaml
from playwright.sync_api import Browser
from test_browser import Tab

from verified_transformer import exercise
from verifiedbook.account.questions import Question, load_questions
from verifiedbook.account.records.notebook_records import notebooks
from verifiedbook.account.rendering.formulas import latex
from verifiedbook.account.rendering.withheld_solutions import EXERCISE_KEY, sealed_key, withheld
from verifiedbook.checks.exercises.answers import Exercise
from verifiedbook.checks.exercises.key import key
from verifiedbook.commands.printing import whole_book

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import drawn_exercises  # noqa: E402

EVERY = load_questions()
NOTEBOOK = "notebooks/2-tied-head/3-what-it-does-to-learning"  # of which one page is built
LETTERS, DIGITS = 10, 6  # of words or a formula, of a number, which another text has not by chance
OF_CLAIMS = re.compile(
    r"^claims/|\.evidence\.js$|book/claims/[\w-]+\.json$"
)  # their formulas are claims', and may be answers
_TAG = re.compile(r'</?[a-z][a-z0-9]*(\s+[\w-]+(="[^"]*")?)*\s*/?>')
_FORMULA = re.compile(r'<math\b[^>]*?\balttext="([^"]*)".*?</math>', re.S)


def bare(text: str) -> str:
    """A text of a page or a notebook, its letters and digits alone, formulas as their LaTeX."""
    text = _TAG.sub("", _FORMULA.sub(r"\1", text))
    return re.sub(r"[^A-Za-z0-9]|(?<=\\)n", "", markup.unescape(text))


def telling(asked: Question) -> Iterator[str]:
    """What tells an exercise's answer: its solution, what is said to answers, and their values."""
    held = key(asked)
    solution = asked.solution
    if asked.kind in ("number", "formula"):
        solution = solution.replace("{answer}", latex(asked.answer))
        yield from (text for text in (latex(asked.answer),) if len(bare(text)) >= LETTERS)
        values = held["right"][1] if asked.kind == "number" else ()
        yield from (text for text in map(str, values) if len(bare(text)) >= DIGITS)
        yield held["right"][0]
    prose, *code = re.split(r"```python\n(.*?)```", solution, flags=re.S)
    parts = [line for block in code[::2] for line in block.splitlines()]
    for text in (prose, *code[1::2], *asked.known.values()):
        parts += re.split(r"(?<=[.:?!])\s+|\n\n", text)
    yield from (part for part in parts if len(bare(part)) >= LETTERS)


@cache
def told_anyway() -> str:
    """What the book says beside solutions: its texts, its other outputs, and the questions."""
    found = [Exercise(asked, solution=False).markdown() for asked in EVERY.values()]
    found += [path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.md")]
    for path in notebooks(ROOT):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            every = cell.get("outputs", ())
            outputs = [o for o in every if EXERCISE_KEY not in o.get("metadata", {})]
            found += ["".join(cell["source"]), json.dumps(outputs, ensure_ascii=False)]
    return bare("\n".join(found))


@cache
def secrets(worded: bool = False) -> dict[str, str]:
    """The exercises, by what tells their answer and is said nowhere else in the book.

    Args:
        worded: leave out what is a formula alone.
    """
    found = {
        bare(text): id
        for id, asked in EVERY.items()
        for text in telling(asked)
        if not worded or re.search(r"[a-z]{4}", re.sub(r"\$[^$]*\$|\\\w+", "", text))
    }
    return {text: id for text, id in found.items() if text not in told_anyway()}


def leaks(text: str, worded: bool = False) -> dict[str, str]:
    """Exercises whose answer a published text tells, each with the words."""
    shown = bare(text)
    return {id: words for words, id in secrets(worded).items() if words in shown}


def published(folder: Path) -> Iterator[tuple[str, str]]:
    """Names and texts of all that a build publishes, files within archives as well."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for inside in archive.namelist():
                    if inside.endswith(".py"):  # the library's own, with words and figures of code
                        continue
                    yield f"{name}: {inside}", archive.read(inside).decode("utf-8", "ignore")
        else:
            with suppress(UnicodeDecodeError):  # a font, a picture
                yield name, path.read_text(encoding="utf-8")


def in_pages(folder: Path) -> list[str]:
    """What leaks from a build, a line for each file and exercise."""
    return [f"{name}: {id}: {words}" for name, text in published(folder)
            for id, words in leaks(text, bool(OF_CLAIMS.search(name))).items()]  # fmt: skip


def built(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> Path:
    """Build pages for a course."""
    monkeypatch.setenv("SOLUTIONS", "off")
    code, log = html_gates.build(ROOT, folder, options)
    assert code == 0, log
    return folder / "_build" / "html"


def test_every_exercise_has_something_to_be_kept() -> None:
    assert {*secrets().values()} == {*EVERY}


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks(ROOT), ids=lambda path: path.stem)
def test_a_notebook_without_solutions_tells_none(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    kept = withheld(text)
    assert leaks(kept) == {}
    before, after = (json.loads(book)["cells"] for book in (text, kept))
    for old, new in zip(before, after, strict=True):
        keyed = any(EXERCISE_KEY in o.get("metadata", {}) for o in old.get("outputs", ()))
        assert (old == new) is not keyed
        if keyed:
            code = "".join(new["source"])
            assert code.count("solution=False") == 1
            exec(code, {"exercise": exercise})


def test_a_sealed_key_tells_nothing() -> None:
    for asked in EVERY.values():
        held = sealed_key(key(asked), drawn_exercises.typeset_in)
        assert leaks(drawn_exercises.line(held)) == {}


@pytest.mark.slow
def test_a_page_for_a_course_tells_no_answer_and_judges(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toc = tmp_path / "toc.yml"
    toc.write_text(yaml.safe_dump({"format": "jb-book", "root": NOTEBOOK}), encoding="utf-8")
    html = built(tmp_path, monkeypatch, "--toc", str(toc))
    file = html / f"{NOTEBOOK}.html"
    here = {id for id, asked in EVERY.items() if f"notebooks/{asked.notebook}" == NOTEBOOK}
    assert len(re.findall('<form class="vt-answer', file.read_text(encoding="utf-8"))) == len(here)
    names = {name for name, _ in published(html)}
    assert {f"_sources/{NOTEBOOK}.ipynb", "searchindex.js", "_static/answers.js"} <= names
    assert in_pages(html) == []
    with Tab(browser, 360, "light") as tab:
        tab.page.goto(file.as_uri())
        form = tab.page.locator('form[data-exercise="2.3.1"]')
        for answer, says in (("0.4936", "It is 0.4936."), ("0.4961", "the share of GPT-2")):
            form.get_by_role("textbox").fill(answer)
            form.get_by_role("textbox").press("Enter")
            assert says in form.get_by_role("status").inner_text()
        assert not tab.found


@pytest.mark.nightly
def test_a_book_for_a_course_tells_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    html = built(tmp_path, monkeypatch, *html_gates.AS_PUBLISHED)
    assert in_pages(html) == []
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    paper = whole_book(html, contents)
    assert "<h1>Hints</h1>" in paper and leaks(paper) == {}


@pytest.mark.canary
def test_what_is_not_withheld_is_found() -> None:
    for id, asked in EVERY.items():
        assert id in leaks(Exercise(asked).markdown())
        assert asked.kind in ("open", "function") or id in leaks(drawn_exercises.line(key(asked)))


@pytest.mark.canary
def test_one_solution_that_was_forgotten_is_found(tmp_path: Path) -> None:
    text = (ROOT / f"{NOTEBOOK}.ipynb").read_text(encoding="utf-8")
    for spoilt, id in (("Exercise 2.3.1", "2.3.1"), ("Exercise 2.3.3", "2.3.3")):
        book = json.loads(text)
        cell = next(c for c in book["cells"] if spoilt in "".join(c["source"]))
        (tmp_path / "a.ipynb").write_text(json.dumps(cell), encoding="utf-8")
        assert any(line.startswith(f"a.ipynb: {id}: ") for line in in_pages(tmp_path))


def test_another_word_than_off_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOLUTIONS", "no")
    with pytest.raises(ValueError, match="SOLUTIONS: got 'no'; accepted: on, off"):
        drawn_exercises.solutions_wanted()
