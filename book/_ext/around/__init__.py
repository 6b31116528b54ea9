"""What stands around the pages: their head, icons, and the marks that assistive technology reads.

Everything here works on what Sphinx and its theme have made of a page; nothing reads a claim.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from . import figures, folded, head, icons

TAG = re.compile(r"<[^>]*>")
# Chinese words in the text of a page, and not inside a tag.
CHINESE = re.compile(r"[\u3400-\u9fff][\u3001-\u9fff\uff00-\uffef]*(?=[^<>]*<)")
Context = dict[str, Any]
# A bibliography's entry is an item of the list around it; a signature defines nothing.
ROLES = {
    'role="doc-biblioentry"': 'role="listitem"',
    '<dl>\n<dd><em class="sig-param">': '<dl role="presentation">\n<dd><em class="sig-param">',
}


def add_templates(app: Sphinx, config: Config) -> None:
    """Let the templates of this folder stand before the theme's."""
    config.templates_path = [*config.templates_path, str(Path(__file__).with_name("templates"))]


def name_branches(app: Sphinx, page: str, template: str, context: Context, _: object) -> None:
    """Give every button of the sidebar the name of what it opens.

    A section lists the sections of its own chapter alone: one list each of them was a tenth of it.
    """
    made: Callable[..., Any] | None = context.get("generate_toctree_html")
    if made is None:
        return

    def named(*args: Any, **options: Any) -> Any:
        tree = made(*args, **options)
        for button in getattr(tree, "select", lambda _: [])("li > details > summary"):
            button["aria-label"] = f"Sections of {button.find_parent('li').a.get_text()}"
            if page.startswith("notebooks/") and "current" not in button.find_parent("li")["class"]:
                button.parent.decompose()
        return tree

    context["generate_toctree_html"] = named


def mend_body(app: Sphinx, page: str, template: str, context: Context, _: object) -> None:
    """Give lists the roles that they have, and number figures."""
    if body := context.get("body"):
        for written, meant in ROLES.items():
            body = body.replace(written, meant)
        context["body"] = name_chinese(figures.numbered(body, page))


def name_chinese(body: str) -> str:
    """Mark the Chinese words of a page as Chinese, for those who have it read out."""
    return CHINESE.sub(r'<span lang="zh">\g<0></span>', body)


def describe(app: Sphinx, page: str, template: str, context: Context, doctree: Any) -> None:
    """Say in a page's head what it is about."""
    site = app.config.html_title
    title = TAG.sub("", unescape(context.get("title") or site))
    said = head.description(doctree, title)
    made = head.tags(title, said, f"{page}.html", app.config.html_baseurl, site)
    context["metatags"] = (context.get("metatags") or "") + made


def put_evidence_beside(app: Sphinx, page: str, template: str, context: Context, _: object) -> None:
    """Take out of a page what its folds hold, into a script that is read when one is opened."""
    if parts := (found := folded.taken(context.get("body") or ""))[1]:
        mark = folded.put_beside(Path(app.outdir), page, parts)
        context["body"], context["metatags"] = found[0], (context.get("metatags") or "") + mark


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write the style sheet of the icons in use, the sitemap and the 404 page.

    The script that the style sheet stands for is removed.
    """
    html = Path(app.outdir)
    if exception is None and (html / "_static").is_dir():
        sheet = icons.style_sheet(icons.used(html))
        (html / "_static" / icons.FILE).write_text(sheet, encoding="utf-8")
        for idle in (
            *html.glob("_static/scripts/fontawesome.js*"),
            *html.rglob("_static/**/*.map"),
        ):
            idle.unlink(missing_ok=True)
        head.write_sitemap(html, app.config.html_baseurl)
        head.write_lost(html, app.config.html_baseurl, app.config.html_title)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", add_templates)
    app.connect("doctree-read", figures.number_title, priority=100)  # before titles are collected
    for hook in (name_branches, mend_body, put_evidence_beside, describe):
        app.connect("html-page-context", hook, priority=900)
    app.connect("build-finished", finish)
    app.add_css_file(icons.FILE)
    app.add_css_file("around.css")
    app.add_js_file("around.js", priority=90, loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
