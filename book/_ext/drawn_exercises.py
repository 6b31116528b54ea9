"""The book's side of drawings and exercises: style sheets, and a line in which to answer.

What an answer is held against stands in the metadata of the output that shows the exercise; a page
judges it by itself. A function is written in a notebook: there the line leads to Colab. With
``SOLUTIONS=off`` in the environment solutions are withheld, in pages and in their notebooks.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from verifiedbook.account.registry import contents
from verifiedbook.account.rendering.withheld_solutions import EXERCISE_KEY, sealed_key, withheld
from verifiedbook.sphinx.claims import colab_address
from verifiedbook.sphinx.formulas import shown
from verifiedbook.sphinx.html_nodes import rewrite, static

SOURCE = Path(__file__).parents[2] / "packages/verifiedbook/src/verifiedbook/checks/exercises"
SCRIPT, SEALED = "answers.js", "sealed.js"
BEGINS = re.compile(r'<div class="vt-exercise" id="exercise-([\d-]+)">')
# In Jupyter and Colab a drawing carries its looks with it; here they stand once, in drawings.css.
LOOKS = re.compile(
    r'(?<=<g class="vtd-)([a-z]+") (?:fill|stroke)="[^"]*"(?: stroke="[^"]*")?'
    r'|(?<=<figure )(class="vt-[^"]*") style="[^"]*"'
    r'|(?<=<div role="img") style="[^"]*"'
    r'|(?<=<figcaption) style="[^"]*"'
    r'|(?<=aria-hidden="true") style="[^"]*" font-family="[^"]*" fill="currentColor"'
)


def lighten(_: Sphinx, doctree: nodes.document) -> None:
    """Leave out of each drawing what the style sheet says."""
    shorter = partial(LOOKS.sub, lambda found: found[1] or found[2] or "")
    rewrite(doctree, '<figure class="vt-drawing', shorter)


def answerable(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put a line to answer in between each question and what is folded below it."""
    keys, number = _keys(Path(app.srcdir) / f"{docname}.ipynb"), ""
    if not app.config.verified_solutions:
        keys = {id: sealed_key(key, partial(typeset_in, place=docname)) for id, key in keys.items()}
    colab = colab_address(app.config, f"{docname}.ipynb")

    def with_line(html: str) -> str:
        nonlocal number
        if begins := BEGINS.search(html):
            number = begins[1].replace("-", ".")
        if number in keys and html.lstrip().startswith(("<details", "</div>")):
            return line(keys.pop(number), colab, docname) + html
        return html

    rewrite(doctree, "<", with_line)


def _keys(notebook: Path) -> dict[str, dict[str, Any]]:
    if not notebook.is_file():
        return {}
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    stored = [output.get("metadata", {}).get(EXERCISE_KEY) for output in outputs]
    return {key["id"]: key for key in (json.loads(text) for text in stored if text)}


def line(key: dict[str, Any], colab: str = "", place: str = "") -> str:
    """Return the line in which an exercise is answered, as HTML.

    Args:
        key: of the exercise.
        colab: the address of its notebook, where functions are tried.
        place: the page, which a warning names.
    """
    kind, name = key["kind"], f"answer-{key['id'].replace('.', '-')}"
    if kind == "function":
        call = escape(f'exercise("{key["id"]}").answer(your_function)')
        link = f'<a class="vt-colab" href="{escape(colab)}">Write it in Colab</a>'
        return f'<p class="vt-answer-call">{link}: <code>{call}</code></p>\n'
    field, button = f'id="{name}-field" autocomplete="off" spellcheck="false"', "Check"
    label = f'<label for="{name}-field">Your answer{_in(key.get("names", ()))}</label>'
    if kind == "choice":
        label, field = "", ""
    elif kind == "open":
        button = "Keep it" if key.get("sealed") else "Compare with the solution"
        field = f'<textarea {field} rows="3"></textarea>'
    else:
        like = f"such as sqrt({key['names'][0]})/3" if key["names"] else "such as 0.05, 5 % or 3/4"
        field = f'<input {field} type="text" autocapitalize="off" placeholder="{like}">'
    data = json.dumps(key | typeset_in(key, place), ensure_ascii=False, separators=(",", ":"))
    data = data.replace("</", "<\\/").replace("<!", "\\u003c!")
    return (
        f'<form class="vt-answer vt-answer-{kind}" id="{name}" data-exercise="{key["id"]}">'
        f'<script type="application/json">{data}</script>{label}{field}'
        f"<button>{button}</button>"
        '<p class="vt-answer-said" role="status"></p></form>\n'
    )


def typeset_in(key: dict[str, Any] | str, place: str = "") -> dict[str, dict[str, str]]:
    r"""Return the formulas that a page may say to an answer, typeset.

    Example:
        >>> typeset_in({"told": "n=2", "right": ["It is $n$.", [2.0]]})["typeset"].keys()
        dict_keys(['n', 'n=2'])
    """
    found = {tex: "" for text in _texts(key) for tex in re.findall(r"\$([^$]*)\$", text)}
    if isinstance(key, dict) and key.get("told"):
        found[key["told"]] = ""
    return {"typeset": {tex: shown(tex, place) for tex in found}} if found else {}


def _texts(held: object) -> Iterator[str]:
    if isinstance(held, str):
        yield held
    elif isinstance(held, dict | list | tuple):
        for part in held.values() if isinstance(held, dict) else held:
            yield from _texts(part)


def _in(names: list[str]) -> str:
    letters = {name: letter for letter, name in reversed(_table()["letters"].items())}
    return f" in {', '.join(letters.get(name, name) for name in names)}" if names else ""


def _table() -> dict[str, Any]:
    table: dict[str, Any] = contents(SOURCE / "typed.yaml")
    return table


def script(solutions: bool = True) -> str:
    """Return the script of the pages, below the table that Python reads as well.

    Args:
        solutions: whether the pages have any; else they judge by what is sealed.
    """
    table = json.dumps(_table(), ensure_ascii=False, separators=(",", ":"))
    names = (SCRIPT,) if solutions else (SEALED, SCRIPT)  # which answers what was kept
    code = "".join((SOURCE / name).read_text(encoding="utf-8") for name in names)
    code = re.sub(r"(?s)^/\*.*?\*/\n", "", code, flags=re.MULTILINE)  # comments, then indentation
    code = re.sub(r"(?m)^\s*(//.*\n)?", "", code)
    return f"const TABLE={table};\n{code}"


def write_script(app: Sphinx) -> None:
    """Write the script beside the pages."""
    code = script(app.config.verified_solutions)
    static(app, SCRIPT).write_text(code, encoding="utf-8")


def load_where_needed(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Load the script on pages with something to answer, and on no other."""
    if re.search(r'class="vt-(answer|guess)', context.get("body") or ""):
        app.add_js_file(SCRIPT, loading_method="defer")


def withhold(app: Sphinx, docname: str, source: list[str]) -> None:
    """Read a notebook without its solutions, where they are withheld."""
    if not app.config.verified_solutions and app.env.doc2path(docname).endswith(".ipynb"):
        source[0] = withheld(source[0])


def withhold_sources(app: Sphinx, _: Exception | None) -> None:
    """Take solutions out of the notebooks that readers can download."""
    if not app.config.verified_solutions:
        for notebook in Path(app.outdir, "_sources").rglob("*.ipynb"):
            text = notebook.read_text(encoding="utf-8")
            notebook.write_text(withheld(text), encoding="utf-8")


def solutions_wanted() -> bool:
    """Return whether solutions are published: unless the environment has ``SOLUTIONS=off``."""
    given = os.environ.get("SOLUTIONS") or "on"
    if given not in ("on", "off"):
        raise ValueError(f"SOLUTIONS: got {given!r}; accepted: on, off")
    return given == "on"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("verified_solutions", solutions_wanted(), "env")
    if solutions_wanted():
        app.tags.add("solutions")
    app.connect("source-read", withhold)
    app.connect("build-finished", withhold_sources)
    app.connect("doctree-read", lighten)
    app.connect("doctree-resolved", answerable)
    app.connect("html-page-context", load_where_needed)
    app.connect("builder-inited", write_script)
    app.add_css_file("drawings.css")
    app.add_css_file("exercises.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
