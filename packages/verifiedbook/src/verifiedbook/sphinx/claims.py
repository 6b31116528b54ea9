"""The ledger as the extension keeps it on Sphinx's environment, and the addresses of claims."""

from __future__ import annotations

import logging as standard
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from docutils import nodes
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from ..account.ledger import Entry
from ..account.ledger import Ledger as Data

SHOWN = "shows-claims"  # among the metadata of a page
LEDGER, ERRATA = "book/ledger", "book/errata"
logger: standard.LoggerAdapter[standard.Logger] = logging.getLogger(__name__)


@dataclass(frozen=True)
class Claims:
    """The ledger, a hash of each claim and article, and which have changed since the last build."""

    ledger: Data
    hashes: Mapping[str, str]
    changed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, env: BuildEnvironment) -> Claims:
        """The claims that were read for this build; the page that is being read shows some."""
        found: Claims = env.verified_claims  # type: ignore[attr-defined]
        if page := env.temp_data.get("docname"):
            env.metadata[page][SHOWN] = ""
        return found

    @cached_property
    def by_id(self) -> dict[str, Entry]:
        """The claims by their ids."""
        return {claim.id: claim for claim in self.ledger.claims}


def claim_uri(env: BuildEnvironment, name: str) -> str:
    """The address of a claim from the page being read: its notebook, or its row in the ledger."""
    claim = Claims.of(env).by_id[name]
    page = str(PurePosixPath(claim.notebook).with_suffix("")) if claim.notebook else LEDGER
    if page not in env.found_docs:
        logger.warning("%s is decided in %s, which _toc.yml leaves out", claim.id, page)
    uri = env.app.builder.get_relative_uri(env.docname, page)
    return f"{uri}#{claim.anchor if claim.notebook else claim.id}"


def page_uri(env: BuildEnvironment, name: str, docname: str | None = None) -> str:
    """The address of a claim's own page, from the page being read or from the one named."""
    return env.app.builder.get_relative_uri(docname or env.docname, f"claims/{name}")


def colab_address(config: Config, notebook: str) -> str:
    """The address at which Colab opens a notebook of the repository."""
    options = config.html_theme_options
    place = options["repository_url"].removeprefix("https://github.com/")
    branch = options.get("repository_branch", "main")
    folder = (options.get("path_to_docs") or "").strip("/")  # path_to_book in _config.yml
    file = f"{folder}/{notebook}" if folder else notebook
    return f"{options['launch_buttons']['colab_url']}/github/{place}/blob/{branch}/{file}"


def raw(html: str) -> nodes.raw:
    """A node of HTML."""
    return nodes.raw("", html, format="html")
