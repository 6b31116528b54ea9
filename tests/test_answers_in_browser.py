"""Exercises answered in a page, in a real browser: by keyboard, from the disk, without network."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from test_browser import Tab

from verified_transformer import exercise
from verifiedbook.account import questions
from verifiedbook.account.registry import contents
from verifiedbook.account.rendering.withheld_solutions import AGREES, sealed_key
from verifiedbook.checks.exercises.key import key
from verifiedbook.checks.exercises.typed import said

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import drawn_exercises  # noqa: E402

ANSWERS = contents(ROOT / "tests" / "answers.yaml")
GIVEN = [row[:2] for row in ANSWERS]
EVERY = questions.load_questions()
STYLE = (ROOT / "book" / "_static" / "exercises.css").read_text(encoding="utf-8")


def standing_alone(
    folder: Path, ids: set[str], spoilt: tuple[str, str] = ("", ""), solutions: bool = True
) -> str:
    """The address of a page with these exercises, and nothing else."""
    body = ""
    for asked in (EVERY[id] for id in sorted(ids)):
        choices = f"<p><strong>Exercise {asked.id}</strong></p>"
        choices += "".join(
            f"<p>({letter}) {as_shown(text)}</p>" for letter, text in asked.choices.items()
        )
        held = key(asked) if solutions else sealed_key(key(asked), drawn_exercises.typeset_in)
        body += f'<div class="vt-exercise">{choices}{drawn_exercises.line(held)}'
        body += "<details><summary>Solution</summary>s</details></div>" if solutions else "</div>"
    head = "<!doctype html><html lang=en><meta charset=utf-8><title>t</title>"
    file = folder / "page.html"
    script = drawn_exercises.script(solutions)
    assert not spoilt[0] or spoilt[0] in script
    script = script.replace(*spoilt)
    head += f"<style>{STYLE}</style>"
    html = f"{head}<article>{body}</article><script>{script}</script>"
    file.write_text(html, encoding="utf-8")
    return file.as_uri()


def as_shown(say: str) -> str:
    """A sentence as the page shows it, with the TeX of its formulas."""
    say = re.sub(r"\$([^$]*)\$", r"\1", say)
    return re.sub(r"`([^`]*)`|(?<!\\)\*([^*]+)\*", lambda m: m[1] or m[2], say)


AS_TEX = """said => said.querySelectorAll("math").forEach(
  formula => formula.replaceWith(formula.getAttribute("alttext")))"""


def typed(page: Page) -> Iterator[tuple[bool, str]]:
    """What is said to each answer of the table, typed as a reader does, with the keyboard."""
    for id, given, *_ in ANSWERS:
        form = page.locator(f'form[data-exercise="{id}"]')
        field = form.locator("input")
        field.fill(given)
        field.press("Enter")
        said = form.get_by_role("status")
        assert said.locator("math:not(:has(mi, mn, mtext))").count() == 0
        said.evaluate(AS_TEX)
        yield said.get_attribute("data-right") == "true", said.inner_text()


def judged(page: Page, given: list[Any]) -> list[Any]:
    """What the script says to answers, not typed: pairs of an exercise and a text."""
    found: list[Any] = page.evaluate(
        """given => given.map(([id, text]) => judge(JSON.parse(
             document.querySelector(`form[data-exercise="${id}"] script`).textContent), text))""",
        given,
    )
    return found


def in_python(given: list[Any]) -> list[Any]:
    """What Python says to the same."""
    verdicts = [exercise(id).answer(text) for id, text in given]
    return [[verdict.right, verdict.say] for verdict in verdicts]


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Tab]:
    """A tab in which pages are judged; what readers keep is tried in one of its own."""
    with Tab(browser, 800, "light") as tab:
        yield tab


def test_a_page_says_what_python_says(tab: Tab, tmp_path: Path) -> None:
    tab.page.goto(standing_alone(tmp_path, {row[0] for row in ANSWERS}))
    found = list(typed(tab.page))
    assert not tab.found
    heads = {True: "✓ Right. ", False: "✗ Not yet. "}
    wanted = [(right, heads[right] + as_shown(say)) for right, say in in_python(GIVEN)]
    assert found == wanted


def test_every_answer_and_every_known_mistake(tab: Tab, tmp_path: Path) -> None:
    asked = [q for q in EVERY.values() if q.kind in ("number", "formula", "choice")]
    given = [[q.id, text] for q in asked for text in (q.answer, *q.known)]
    tab.page.goto(standing_alone(tmp_path, set(EVERY)))
    found = judged(tab.page, given)
    assert not tab.found
    assert len(given) > 400 and found == in_python(given)


SAYS_LESS = {AGREES, said("other")}  # where what is sealed names neither a formula nor a size


def unlike(found: list[Any], wanted: list[Any]) -> list[Any]:
    """Where a course's page judges otherwise than Python, or says something else."""
    every = zip(found, wanted, strict=True)
    return [p for p in every if p[0][0] != p[1][0] or p[0][1] not in {p[1][1], *SAYS_LESS}]


def test_a_page_without_solutions_judges_the_same(tab: Tab, tmp_path: Path) -> None:
    asked = [q for q in EVERY.values() if q.kind in ("number", "formula", "choice")]
    given = [[q.id, text] for q in asked for text in (q.answer, *q.known)] + GIVEN
    given += [[q.id, f"({q.answer})*{1 + by * q.within}"] for q in asked if q.kind == "number"
              for by in (-1.1, -0.9, 0.9, 1.1)]  # fmt: skip
    tab.page.goto(standing_alone(tmp_path, set(EVERY), solutions=False))
    found, wanted = judged(tab.page, given), in_python(given)
    assert not tab.found and unlike(found, wanted) == []
    less = [pair for pair in zip(found, wanted, strict=True) if pair[0][1] in SAYS_LESS]
    sizes = {said(name, said(much)) for name in ("near", "less", "ten", "far")
             for much in ("large", "small")} | {said("opposite")}  # fmt: skip
    assert all(right or say in sizes for _, (right, say) in less)


def test_a_page_without_solutions_tells_what_it_is_for(browser: Browser, tmp_path: Path) -> None:
    with Tab(browser, 360, "light") as tab:
        page = tab.page
        address = standing_alone(tmp_path, {"1.3.4", "3.3.1", "3.3.7"}, solutions=False)
        page.goto(address)
        form = page.locator('form[data-exercise="3.3.1"]')
        for answer, says in (("sigma^4 d^2", "it should be"), ("2 d sigma^2", "scales as")):
            form.get_by_label("Your answer").fill(answer)
            form.get_by_label("Your answer").press("Enter")
            assert says in form.get_by_role("status").inner_text()
        page.goto(address)  # what was answered is kept, and judged again
        assert says in form.get_by_role("status").inner_text()
        assert form.get_by_role("status").locator("math mi, math mo").count() > 2  # typeset
        page.get_by_label("(c) A factor in front").check()
        page.locator('form[data-exercise="1.3.4"]').get_by_role("button").click()
        assert page.get_by_text("✓ Right.").count() == 1
        page.locator('form[data-exercise="3.3.7"]').get_by_label("Your answer").fill("it grows")
        page.get_by_role("button", name="Keep it").click()
        assert page.get_by_text("kept in this browser").count() == 1 and not tab.found


@pytest.mark.canary
def test_a_seal_that_opens_for_another_answer_is_found(tab: Tab, tmp_path: Path) -> None:
    """Bins three times as wide let an answer in that is off by more than it may be."""
    wide = ("(mean - by) / width", "(mean - 3 * by) / width")
    given = [["3.3.2", "0.0521"]]  # of 0.05103, which may be off by a hundredth
    tab.page.goto(standing_alone(tmp_path, {"3.3.2"}, wide, solutions=False))
    assert len(unlike(judged(tab.page, given), in_python(given))) == 1


def test_a_choice_and_an_open_question_are_kept(browser: Browser, tmp_path: Path) -> None:
    with Tab(browser, 360, "dark") as tab:
        page, address = tab.page, standing_alone(tmp_path, {"1.3.4", "3.3.1", "3.3.7", "4.5.4"})
        page.goto(address)
        assert page.get_by_role("radio", name="In slot km").count() == 1  # the formula is heard
        form = page.locator('form[data-exercise="1.3.4"]')
        page.locator('[name="answer-1-3-4"][value="c"]').focus()
        page.keyboard.press("ArrowUp")  # to b, as radio buttons do
        page.keyboard.press("Enter")
        assert form.get_by_role("status").inner_text().startswith("✗ Not yet.")
        group = page.get_by_role("group", name="Exercise 1.3.4")
        group.get_by_label("(c) A factor in front").check()
        form.get_by_role("button").click()
        assert form.get_by_role("status").inner_text().startswith("✓ Right.")
        notes = page.locator('form[data-exercise="3.3.7"]')
        notes.get_by_label("Your answer").fill("it grows")
        notes.get_by_role("button", name="Compare with the solution").click()
        assert "hold yours against" in notes.get_by_role("status").inner_text()
        assert page.locator("details[open]").count() == 1
        page.goto(address)
        assert page.get_by_label("(c) A factor in front").is_checked()
        assert form.get_by_role("status").inner_text().startswith("✓ Right.")
        assert notes.get_by_label("Your answer").input_value() == "it grows"
        page.emulate_media(media="print")
        assert (
            page.locator("button:visible, [type=radio]:visible, [role=status]:visible").count() == 0
        )
        line = page.locator("#answer-3-3-1-field")
        assert (
            line.is_visible() and line.evaluate("e => getComputedStyle(e).borderTopWidth") == "0px"
        )
        assert not tab.found


CUT_OFF = """() => [...document.querySelectorAll(".vt-answer > input")].filter(line => {
  const looks = getComputedStyle(line), pen = document.createElement("canvas").getContext("2d");
  pen.font = looks.font;
  const room = line.clientWidth - parseFloat(looks.paddingLeft) - parseFloat(looks.paddingRight);
  return pen.measureText(line.placeholder).width > room;
}).map(line => line.placeholder)"""


def cut_off(page: Page) -> list[str]:
    """The examples that do not fit into their lines, on a phone, a tablet and a desk."""
    found = []
    page.add_style_tag(content="body { font: 16px sans-serif }")  # wider letters than the book's
    for width in (360, 720, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        found += page.evaluate(CUT_OFF)
    return found


def test_no_example_is_cut_off(browser: Browser, tmp_path: Path) -> None:
    with Tab(browser, 360, "light") as tab:
        tab.page.goto(standing_alone(tmp_path, set(EVERY)))
        assert cut_off(tab.page) == []


@pytest.mark.canary
def test_an_example_that_is_cut_off_is_found(browser: Browser, tmp_path: Path) -> None:
    with Tab(browser, 360, "light") as tab:
        tab.page.goto(standing_alone(tmp_path, {"3.3.2"}))
        tab.page.add_style_tag(content=".vt-answer > input { max-width: 9em }")
        assert {*cut_off(tab.page)} == {"such as 0.05, 5 % or 3/4"}


def test_every_exercise_has_its_line(html: Path) -> None:
    pages = "".join(p.read_text(encoding="utf-8") for p in html.glob("notebooks/*/*.html"))
    held = re.findall(r'<form class="vt-answer.*?<script type="application/json">(.*?)</', pages)
    keys = {found["id"]: found for found in map(json.loads, held)}
    typeset = [html for found in keys.values() for html in found.pop("typeset", {}).values()]
    assert len(typeset) > 200 and all("<math " in html for html in typeset)
    calls = set(re.findall(r"exercise\(&quot;([\d.]+)&quot;\)", pages))
    functions = {q.id for q in EVERY.values() if q.kind == "function"}
    assert calls == functions and len(held) == len(keys)
    assert keys == {id: key(asked) for id, asked in EVERY.items() if id not in functions}


def test_the_script_is_small() -> None:
    assert len(drawn_exercises.script().encode()) < 16_000


@pytest.mark.canary
@pytest.mark.parametrize(
    "spoilt",
    [
        ("a - b", "b - a"),
        ("0.05, 5 %", "0.05"),
        ('"%":0.01', '"%":1'),
        ("ratio < 10", "ratio < 200"),
    ],
    ids=["minus", "a sentence", "per cent", "a size"],
)
def test_a_page_that_judges_otherwise_is_found(
    tab: Tab, tmp_path: Path, spoilt: tuple[str, str]
) -> None:
    tab.page.goto(standing_alone(tmp_path, {row[0] for row in ANSWERS}, spoilt))
    assert judged(tab.page, GIVEN) != in_python(GIVEN)
