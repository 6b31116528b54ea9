"""The Sphinx side of the book: verdicts, records and the ledger, read from stored notebook outputs.

Nothing here decides anything. `verifiedbook.account.ledger.collect` reads the
records that the notebooks left in their outputs; this extension shows them: roles and directives
for the prose, badges for the notebook pages, and `claims.json` beside the pages. It needs neither
SymPy nor torch.
"""

from __future__ import annotations

import gc
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from ..account.hashing import hash_of
from ..account.ledger import collect
from ..account.schema import schema
from . import folding, strips, styles
from .claims import SHOWN, Claims, logger, page_uri
from .directives import DIRECTIVES
from .html_nodes import rewrite, static
from .pages import collect_pages, set_sidebar
from .render import fill_badges
from .roles import ClaimRole, DecidedRole, RecordRole

STYLES = "evidence.css"
STATIC = Path(__file__).with_name("static")
UNREAD = (".md", ".owners", ".words")  # by what makes pages
READ_BY_NOTEBOOKS = ("claims", "recordings")  # their entries tell what changed


def read_claims(app: Sphinx) -> None:
    """Collect the claims, keep them on the environment and write them beside and into the pages."""
    ledger = collect(Path(app.srcdir))
    for line in ledger.differences():
        logger.warning("not as locked: %s", line)
    for line in ledger.faults():
        logger.warning("errata: %s", line)
    data = ledger.to_json()
    hashes = {claim["id"]: hash_of(_json(claim)) for claim in data["claims"]}
    hashes |= {article["key"]: hash_of(_json(article)) for article in data["articles"]}
    before = getattr(getattr(app.env, "verified_claims", None), "hashes", hashes)
    changed = {name for name in hashes.keys() | before if hashes.get(name) != before.get(name)}
    app.env.verified_claims = Claims(ledger, hashes, frozenset(changed))  # type: ignore[attr-defined]
    text = _json(data)
    for folder in (Path(app.outdir), Path(app.outdir).parent):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "claims.json").write_text(text, encoding="utf-8")
        (folder / "claims.schema.json").write_text(_json(schema()), encoding="utf-8")


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def hash_machinery(app: Sphinx, config: Config) -> None:
    """Let what makes pages of the sources be a setting: all are read again where it changes."""
    root = Path(app.srcdir)
    engine = Path(__file__).parents[1]  # a book may have it from elsewhere
    read = [
        p
        for at in (root / "src", root / "experiments", root / "packages", engine)
        for p in at.rglob("*")
    ]
    made_by = [p for p in read if p.parent.name not in READ_BY_NOTEBOOKS]
    made_by += [p for p in (root / "book").rglob("*") if p.suffix not in UNREAD]
    sources = [p for p in sorted(made_by) if p.is_file() and p.suffix != ".pyc"]
    texts = [hash_of(p.read_bytes().hex()) for p in sources]
    config.verified_machinery = hash_of(" ".join(texts))


def add_static(app: Sphinx, config: Config) -> None:
    """Lay our style sheets and scripts beside the pages; those of the book go before."""
    config.html_static_path = [str(STATIC), *config.html_static_path]


def reread_pages(app: Sphinx, env: BuildEnvironment, *_: set[str]) -> list[str]:
    """When claims change, pages that asked for any are read again, and those that name one."""
    names = "|".join(Claims.of(env).changed)

    def shows(page: str) -> bool:
        source = Path(env.doc2path(page)).read_text(encoding="utf-8")
        return SHOWN in env.metadata.get(page, {}) or bool(re.search(names, source))

    return sorted(filter(shows, env.found_docs)) if names else []


def keep_titles(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Keep what is read now, and the titles that pages had before: others show both."""
    env.verified_read = frozenset(docnames)  # type: ignore[attr-defined]
    env.verified_titles = _titles(env)  # type: ignore[attr-defined]


def rewrite_all(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Every page lists the titles of others: where one has changed, all are written anew."""
    if env.verified_titles == _titles(env):  # type: ignore[attr-defined]
        return []
    env.verified_read = frozenset(env.found_docs)  # type: ignore[attr-defined]
    return sorted(env.found_docs)


def _titles(env: BuildEnvironment) -> dict[str, str]:
    return {name: env.titles[name].astext() for name in env.found_docs if name in env.titles}


def write_styles(app: Sphinx) -> None:
    """Write the style sheet that follows from the table of evidence."""
    static(app, STYLES).write_text(styles.style_sheet(), encoding="utf-8")


def badges_in_outputs(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Fill the empty badges that a notebook's cards carry with the verdicts of the claims."""
    to = partial(page_uri, app.env, docname=docname)

    def filled(html: str) -> str:
        text, unknown = fill_badges(html, Claims.of(app.env).by_id, to)
        for claim in unknown:
            logger.warning("badge of an unknown claim: %s", claim, location=docname)
        return text

    rewrite(doctree, "vt-badge", filled)


def drop_idle(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Leave out of a page the scripts and style sheets of sphinx-thebe, which throw."""
    idle = ("sphinx-thebe", "THEBE_JS_URL")

    def names(file: Any) -> str:
        return f"{getattr(file, 'filename', file)} {getattr(file, 'attributes', {}).get('body')}"

    for files in ("script_files", "css_files"):
        kept = [f for f in context[files] if not any(name in names(f) for name in idle)]
        context[files] = kept


def setup(app: Sphinx) -> dict[str, Any]:
    gc.set_threshold(100_000, 20, 20)  # trees that stay: a tenth of a build went into looking
    for name, role in {"claim": ClaimRole, "record": RecordRole, "decided": DecidedRole}.items():
        app.add_role(name, role())
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive)
    app.add_config_value("verified_machinery", "", "env")
    app.connect("config-inited", hash_machinery)
    app.connect("config-inited", set_sidebar)
    app.connect("config-inited", add_static)
    app.connect("builder-inited", read_claims)
    app.connect("builder-inited", write_styles)
    app.connect("env-get-outdated", reread_pages)
    app.connect("env-before-read-docs", keep_titles)
    app.connect("env-updated", rewrite_all)
    app.setup_extension(f"{__name__}.formulas")
    folding.register(app)
    app.connect("doctree-read", folding.keep_own_folds)
    app.connect("doctree-read", folding.close_ranks)
    app.connect("doctree-resolved", strips.fold_page)
    app.connect("doctree-resolved", badges_in_outputs)
    app.connect("html-collect-pages", collect_pages)
    app.connect("html-page-context", drop_idle, priority=900)
    for sheet in ("verified.css", "strips.css", STYLES, "errata.css", "graph.css"):
        app.add_css_file(sheet)
    app.add_js_file("verified.js", priority=100, loading_method="defer")
    app.add_js_file("strips.js", priority=100, loading_method="defer")
    app.setup_extension(f"{__name__}.waiting")  # its script uses the one above
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
