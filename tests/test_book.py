"""The known-bad pages and sources: each turns its gate, or the build, red for its reason."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import html_gates
import page_gates
import pytest
from spoiled_pages import FAULTS, Fault, spoiled

from verifiedbook.account import registry
from verifiedbook.account.rendering import plain

ROOT = Path(__file__).parent.parent
CANARIES = Path(__file__).parent / "canaries"
Gate = Callable[[Path], list[str]]


@pytest.mark.canary
def test_a_published_verdict_of_another_origin_is_found(html: Path, tmp_path: Path) -> None:
    data = json.loads((html / "claims.json").read_text(encoding="utf-8"))
    claim = next(claim for claim in data["claims"] if claim["verdict"] == "wrong")
    claim["verdict"] = "holds"
    (tmp_path / "claims.json").write_text(json.dumps(data), encoding="utf-8")
    said = f"claims.json: {claim['id']} is not what its records say"
    assert page_gates.other_claims(tmp_path, ROOT) == ["claims.json: claims differs", said]


@pytest.mark.canary
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_gate_catches_a_page_that(fault: Fault, html: Path, tmp_path: Path) -> None:
    found = fault.gate(spoiled(html, fault, tmp_path / "html"))
    assert any(fault.finding in line for line in found), found
    assert len(found) <= 5, f"more than the fault was found: {found}"


@pytest.mark.canary
@pytest.mark.parametrize(
    ("folder", "gate", "finding"),
    [
        ("leaked-role", html_gates.leaked_markup, "{claim}`LOSS-14` for more"),
        ("leaked-blank", html_gates.leaked_markup, "See {ref}"),
        ("leaked-rest", html_gates.leaked_markup, ":ref:`somewhere`"),
        ("leaked-maths", html_gates.leaked_markup, "$$2d"),
        ("leaked-formula", html_gates.leaked_markup, r"\(2d"),
        ("foreign-script", html_gates.foreign_origins, "<script> loads https://cdn.example.org"),
        ("foreign-style", html_gates.foreign_origins, "<link> loads //fonts.example.org"),
        ("foreign-inline", html_gates.foreign_origins, "<div> loads https://pixel.example.org"),
        ("foreign-css", html_gates.foreign_origins, "a.css: loads https://fonts.example.org"),
        ("no-alt", html_gates.missing_alt, "no alternative text: figure.png"),
        ("dead-anchor", html_gates.dead_links, "dead link: page.html#there"),
        ("ledger-row-missing", html_gates.ledger_rows, "A-1 (holds) listed 0 times"),
        ("ledger-other-verdict", html_gates.ledger_rows, "no such claim: ('A-1', 'wrong')"),
    ],
)
def test_gate_catches(folder: str, gate: Gate, finding: str) -> None:
    found = gate(CANARIES / "book" / folder)
    assert any(finding in line for line in found), found
    assert len(found) <= 2, f"more than the fault was found: {found}"


@pytest.fixture(scope="module")
def broken_build(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """A book of nothing but faulty pages, built as the real one is."""
    root = tmp_path_factory.mktemp("broken")
    for name in ("book", "src", "experiments", "packages"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("_config.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    (root / "notebooks").mkdir()
    faulty = sorted((CANARIES / "pages").iterdir())
    for page in faulty:
        shutil.copy(page, root / "book")
    # The pages' claims lead to notebooks that this book leaves out; here only the faults count.
    toc = ["format: jb-book", "root: book/notation", "chapters:"]
    toc += [f"- file: book/{name}" for name in ("ledger", *(page.stem for page in faulty))]
    (root / "_toc.yml").write_text("\n".join(toc), encoding="utf-8")
    return html_gates.build(root, root)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("page", "warning"),
    [
        ("broken-reference.md", "cross-reference target not found: 'nowhere.md'"),
        ("unknown-claim.md", "unknown claim: LOSS-999"),
        ("unknown-record.md", "no such record: LOSS-999 proof"),
        ("unknown-citation.md", 'could not find bibtex key "nobody1900"'),
        ("unknown-role.md", "Unknown interpreted text role"),
        ("refused-formula.md", r"formula cannot be typeset: \sigma^{2: "),
        ("refused-in-html.md", r"formula cannot be typeset: \unheard x: "),
        ("unknown-badge.ipynb", "badge of an unknown claim: LOSS-999"),
    ],
)
def test_build_catches(page: str, warning: str, broken_build: tuple[int, str]) -> None:
    code, output = broken_build
    assert code != 0
    lines = [line for line in output.splitlines() if page.split(".")[0] in line and warning in line]
    assert lines, output


def test_every_statement_has_a_plain_text() -> None:
    texts = {name: plain.text(claim.says) for name, claim in registry.load()[1].items()}
    assert not {name: text for name, text in texts.items() if set(text) & set("\\$")}


def test_figures_are_what_their_script_draws(tmp_path: Path) -> None:
    folder = ROOT / "book" / "figures"
    shutil.copy(folder / "norm_density.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "norm_density.py"], check=True)
    for drawn in tmp_path.glob("*.svg"):
        assert drawn.read_bytes() == (folder / drawn.name).read_bytes(), drawn.name
