"""Experiments that are too long to run live: kept as data, with where they came from.

An experiment is a module of ``verified_transformer.experiments`` with a function ``run()``, which
returns what is to be kept as JSON, its ``SEEDS``, ``DEVICE`` where it is not the CPU, and a tuple
``CODE`` of the package's files that the result depends on. ``python -m verified_transformer record
NAME`` runs it and writes ``recordings/NAME.json``: the result, the command, the commit, versions,
device, seconds, and a hash of that code. A recording whose code has changed since is stale, which
the ledger says. A notebook that shows one also runs the same code, smaller.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import platform
import subprocess
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
_LAYOUT = {"type_comment", "type_params", "kind", "ctx"}  # says nothing, or not in every Python


@dataclass(frozen=True)
class Recording:
    """A recorded experiment.

    ``result`` is what its ``run`` returned; ``provenance`` says how it was made; ``data_hash`` is
    that of both.
    """

    name: str
    result: Any
    provenance: dict[str, Any]
    data_hash: str

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><th>{html.escape(key)}</th><td>{html.escape(str(value))}</td></tr>"
            for key, value in self.provenance.items()
            if key != "code"
        )
        return f'<table class="vt-numbers"><caption>recorded: {self.name}</caption>{rows}</table>'

    def __repr__(self) -> str:
        return f"recorded: {self.name}   #{self.data_hash}"


def load(name: str, folder: Path = PACKAGE / "recordings") -> Recording:
    """Return a recording.

    Args:
        name: such as ``"tied_convergence"``.
        folder: where recordings lie.

    Raises:
        ValueError: there is none of this name.
    """
    path = folder / f"{name}.json"
    if not path.exists():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.json"))) or "none"
        raise ValueError(f"name: no recording {name!r}; accepted: {known}")
    kept = json.loads(path.read_text(encoding="utf-8"))
    return Recording(name, kept["result"], kept["provenance"], data_hash(kept))


def data_hash(kept: Any) -> str:
    """Return the hash of a recording's content."""
    text = json.dumps(kept, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def code_hash(files: tuple[str, ...], package: Path = PACKAGE) -> str:
    """Return a hash of what some of the package's files do: not of comments, docstrings or layout.

    Args:
        files: paths inside the package, such as ``"heads.py"``.
        package: the package's folder.
    """
    trees = [_meaning(ast.parse((package / file).read_text(encoding="utf-8"))) for file in files]
    return hashlib.sha256(json.dumps(trees, sort_keys=True).encode()).hexdigest()[:8]


def fault(name: str, data: str, folder: Path = PACKAGE / "recordings") -> str | None:
    """Say why what a notebook shows of a recording no longer stands, or None where it does.

    Args:
        name: the recording's.
        data: the hash of its content that the notebook showed.
        folder: where recordings lie.
    """
    try:
        kept = load(name, folder)
    except ValueError as error:
        return str(error)
    if kept.data_hash != data:
        return f"recording {name} has other data than the notebook showed; run the notebook again"
    code = kept.provenance["code"]
    if code_hash(tuple(code["files"])) != code["hash"]:
        return f"recording {name} is stale: {', '.join(code['files'])} changed since; record again"
    return None


def record(name: str, root: Path) -> Path:
    """Run an experiment and keep its result.

    Args:
        name: of a module in ``verified_transformer.experiments``.
        root: the repository, for the commit.

    Returns:
        The file that was written.

    Raises:
        RuntimeError: files that the result depends on are not committed.
    """
    import torch

    module = importlib.import_module(f"verified_transformer.experiments.{name}")
    files = [f"src/{PACKAGE.name}/{file}" for file in module.CODE]
    changed = _git(root, "status", "--porcelain", "--", *files)
    if changed:
        raise RuntimeError(f"commit first what the recording depends on:\n{changed}")
    started, cpu = time.perf_counter(), time.process_time()
    result = module.run()
    provenance = {
        "command": f"python -m verified_transformer record {name}",
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _git(root, "rev-parse", "HEAD"),
        "device": getattr(module, "DEVICE", platform.machine() + " CPU"),
        "threads": torch.get_num_threads(),
        "seeds": module.SEEDS,
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "seconds": round(time.perf_counter() - started, 1),
        "CPU seconds": round(time.process_time() - cpu, 1),
        "code": {"files": list(module.CODE), "hash": code_hash(module.CODE)},
    }
    target = PACKAGE / "recordings" / f"{name}.json"
    kept = {"provenance": provenance, "result": result}
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return target


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _meaning(node: Any) -> Any:
    if isinstance(node, list):
        return [_meaning(item) for item in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {key: value for key, value in ast.iter_fields(node) if key not in _LAYOUT}
    body = fields.get("body")
    if isinstance(body, list) and body and _is_docstring(body[0]):
        fields["body"] = body[1:]
    kept = {key: _meaning(value) for key, value in fields.items() if value not in (None, [])}
    return [type(node).__name__, kept]


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
