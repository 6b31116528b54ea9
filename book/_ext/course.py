"""The page of the course: weeks, prerequisites, wrong answers and projects; found, not typed.

Sections and prerequisites are read from the notebooks, problem sets and wrong answers from the
exercises, projects from the claims that are open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from reading.heads import minutes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from verifiedbook.account.questions import Question, load_questions
from verifiedbook.account.records.notebook_records import notebooks
from verifiedbook.account.registry import contents
from verifiedbook.account.rendering import plain
from verifiedbook.account.rendering.formulas import latex
from verifiedbook.sphinx import graph, render
from verifiedbook.sphinx.claims import Claims, raw
from verifiedbook.sphinx.html_nodes import rewrite

_LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\.ipynb\)")
_SECTION = re.compile(r"\]\((?:\.\./(\d+)-[^/)]*/)?(\d+)-[^/)]*\.ipynb\)")
_NEEDS = re.compile(r"^\*Needs: (.*)\*$", re.M)
_MINUTES = re.compile(r"<!--minutes ([^>]*)-->")  # stands for the time of pages that are read later


@dataclass(frozen=True)
class Section:
    """A section as its notebook has it: number, title, prerequisites as HTML, and address.

    ``after`` has the numbers of the sections among the prerequisites.
    """

    number: str
    title: str
    needs: str
    href: str
    after: tuple[str, ...]

    @property
    def link(self) -> str:
        """Number and title, as a link."""
        return f'<a href="{self.href}">{self.number} {escape(self.title)}</a>'


def sections(root: Path) -> dict[str, Section]:
    """The sections of the book by their numbers."""
    made = {}
    for notebook in notebooks(root):
        head = "".join(json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"])
        number = ".".join(name.partition("-")[0] for name in (notebook.parent.name, notebook.stem))
        found, folder = _NEEDS.search(head), f"../notebooks/{notebook.parent.name}"
        needs, chapter = found[1] if found else "", number.partition(".")[0]
        made[number] = Section(
            number, head.partition("\n")[0].removeprefix("# "),
            _LINK.sub(rf'<a href="{folder}/\2.html">\1</a>', needs).rstrip("."),
            f"{folder}/{notebook.stem}.html",
            tuple(f"{of or chapter}.{section}" for of, section in _SECTION.findall(needs)),
        )  # fmt: skip
    return made


def questions(known: Mapping[str, Section]) -> dict[str, list[Question]]:
    """The exercises by the numbers of their sections."""
    made: dict[str, list[Question]] = {number: [] for number in known}
    for question in load_questions().values():
        made[question.id.rpartition(".")[0]].append(question)
    return made


class Found(SphinxDirective):
    """What a directive of the course shows; the page is read again where its sources change."""

    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        for notebook in notebooks(root):
            self.env.note_dependency(str(notebook))
        known = sections(root)
        return self.shown(known, questions(known))

    def shown(
        self, known: Mapping[str, Section], asked: Mapping[str, list[Question]]
    ) -> list[nodes.Node]:
        return [raw(self.html(known, asked))]

    def html(self, known: Mapping[str, Section], asked: Mapping[str, list[Question]]) -> str:
        raise NotImplementedError

    def weeks(self) -> list[tuple[int, Mapping[str, Any]]]:
        """The weeks of `course.yaml`, counted from one."""
        source = Path(self.env.srcdir) / "book" / "course.yaml"
        self.env.note_dependency(str(source))
        return list(enumerate(contents(source), 1))


class Syllabus(Found):
    """The weeks: what to read, how long it takes, what it needs, the lab, and the problem set."""

    def html(self, known: Mapping[str, Section], asked: Mapping[str, list[Question]]) -> str:
        weeks = "".join(_week(*week, known, asked) for week in self.weeks())
        return f'<ol class="vt-weeks">{weeks}</ol>'


class ProblemSets(Found):
    """The exercises of each week without hints and solutions, to be printed."""

    def shown(
        self, known: Mapping[str, Section], asked: Mapping[str, list[Question]]
    ) -> list[nodes.Node]:
        return [self.problem_set(number, week, known, asked) for number, week in self.weeks()]

    def problem_set(
        self, number: int, week: Mapping[str, Any], known: Mapping[str, Section],
        asked: Mapping[str, list[Question]],
    ) -> nodes.section:  # fmt: skip
        """A week's section of the page."""
        made = nodes.section(ids=[f"week-{number}"], classes=["vt-problem-set"])
        made += nodes.title("", f"Week {number} · {week['title']}")
        text = "\n\n".join(_problem(q, known[of]) for of in week["read"] for q in asked[of])
        self.state.nested_parse(StringList(text.splitlines(), source=""), 0, made)
        return made


def _problem(question: Question, section: Section) -> str:
    """An exercise as Markdown; its links are those of its section's page."""
    folder = section.href.rpartition("/")[0]
    ask = re.sub(r"\]\((?=[\w-]+\.ipynb)", f"]({folder}/", question.ask)
    choices = "".join(f"\n- ({letter}) {text}" for letter, text in question.choices.items())
    return f"**{question.id} {'★' * question.stars} {question.title}**\n\n{ask}\n{choices}"


def _week(
    number: int, week: Mapping[str, Any], known: Mapping[str, Section],
    asked: Mapping[str, list[Question]],
) -> str:  # fmt: skip
    read = [known[number] for number in week["read"]]
    needs = dict.fromkeys(part for s in read for part in re.split(r"; ", s.needs) if part)
    problems = [
        f'<a href="{s.href}#exercise-{q.id.replace(".", "-")}">{q.id}</a>{"★" * q.stars}'
        for s in read for q in asked[s.number]
    ]  # fmt: skip
    rows = {
        "Read": "; ".join(s.link + " <b>(lab)</b>" * (s.number == week["lab"]) for s in read),
        "Time": f"<!--minutes {' '.join(s.href for s in read)}--> minutes to read",
        "Problems": f'{" ".join(problems)} <a href="problem-sets.html#week-{number}">to print</a>',
        "Needs": "; ".join(needs),
    }  # fmt: skip
    told = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows.items() if text)
    return f"<li><b>{escape(week['title'])}</b><dl>{told}</dl></li>"


class Prerequisites(Found):
    """Which section needs which, as a drawing whose sections are links, and as a list."""

    def html(self, known: Mapping[str, Section], asked: Mapping[str, list[Question]]) -> str:
        edges = [(used, section.number) for section in known.values() for used in section.after]
        weeks = {of: number for number, week in self.weeks() for of in week["read"]}
        linked = {number for edge in edges for number in edge}
        alone = ", ".join(section.link for n, section in known.items() if n not in linked)
        drawing = graph.drawn(known, edges, weeks)
        return f"{render.prerequisites(drawing, weeks)}<p>On their own stand {alone}.</p>"


class WrongAnswers(Found):
    """The wrong answers that the exercises know, with what is said to each, folded by week."""

    def html(self, known: Mapping[str, Section], asked: Mapping[str, list[Question]]) -> str:
        if not self.config.verified_solutions:
            return "<p>They stand in the teacher's pages alone.</p>"
        parts = {f"Week {n}, {week['title']}": week["read"] for n, week in self.weeks()}
        taught = {number for read in parts.values() for number in read}
        parts["Sections beside the course"] = [number for number in known if number not in taught]
        return "".join(_wrong_in(part, read, known, asked) for part, read in parts.items())


def _wrong_in(
    part: str, read: Sequence[str], known: Mapping[str, Section],
    asked: Mapping[str, list[Question]],
) -> str:  # fmt: skip
    rows = "".join(_wrong(q, known[number]) for number in read for q in asked[number] if q.known)
    return (
        f"<details><summary>{escape(part)}: {rows.count('<li>')} answers</summary>"
        f'<dl class="vt-wrong-answers">{rows}</dl></details>'
    )


def _wrong(question: Question, section: Section) -> str:
    anchor = f"{section.href}#exercise-{question.id.replace('.', '-')}"
    answers = "".join(
        f"<li>{_answer(question, wrong)}: {plain.html(said)}</li>"
        for wrong, said in question.known.items()
    )
    title = plain.html(question.title)
    return f'<dt><a href="{anchor}">{question.id}</a> {title}</dt><dd><ul>{answers}</ul></dd>'


def _answer(question: Question, wrong: str) -> str:
    """A wrong answer as a reader would see it: a choice in its words, a formula or code as such."""
    if question.choices:
        return f"({wrong}) {plain.html(question.choices[wrong])}"
    if question.kind == "function":
        return f"<code>{escape(wrong)}</code>"
    return plain.html(f"${latex(wrong)}$")


class Projects(Found):
    """The claims that are open: what is said, with what was tried."""

    def html(self, known: Mapping[str, Section], asked: Mapping[str, list[Question]]) -> str:
        ledger = Claims.of(self.env).ledger
        items = "".join(
            f'<li><a href="../claims/{c.id}.html">{c.id}</a> {render.statement(c.says)}</li>'
            for c in ledger.claims if c.verdict == "open"
        )  # fmt: skip
        return f"<ul>{items}</ul>"


def add_times(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Say how long a week takes to read, now that its sections have been read."""

    def told(pages: re.Match[str]) -> str:
        names = [href.removeprefix("../").removesuffix(".html") for href in pages[1].split()]
        return str(sum(minutes(app.env.get_doctree(name)) for name in names))

    rewrite(doctree, "<!--minutes ", lambda html: _MINUTES.sub(told, html))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", add_times)
    app.add_directive("syllabus", Syllabus)
    app.add_directive("problem-sets", ProblemSets)
    app.add_directive("prerequisites", Prerequisites)
    app.add_directive("wrong-answers", WrongAnswers)
    app.add_directive("open-claims", Projects)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
