"""Experiments that are too long to run live: kept as data, with where they came from.

An experiment is a module of the package of experiments that the book which is served names.
``make record NAME=…`` runs it and writes ``recordings/NAME.json``: its `parts`, from which whoever
reads computes the result; the provenance, with a key of all code that the experiment
reaches (see `code`); and a fingerprint, the numbers of a tiny run. A recording whose code has
another key is stale, which the ledger says; a test runs the fingerprints again, ``make nightly`` a
part of each. A notebook that shows a recording runs the same code, smaller.
"""

from __future__ import annotations

import html
import importlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from ..serving import served
from ..writing import write_whole
from .code import Code, CodeFault, Package, code_of, library
from .hashing import hash_of
from .parts import assembled


@dataclass(frozen=True)
class Recording:
    """A recorded experiment.

    ``parts`` holds what was measured, by name; ``provenance`` says how; ``fingerprint`` holds the
    numbers of a tiny run.
    """

    name: str
    parts: dict[str, Any]
    provenance: dict[str, Any]
    fingerprint: Any

    @cached_property
    def result(self) -> Any:
        """What the experiment's ``run`` gives with these parts.

        Raises:
            ValueError: parts or seeds are not those of the experiment.
        """
        module = experiment(self.name)
        if (made := self.provenance.get("seeds")) != module.SEEDS:
            raise ValueError(f"recording {self.name}: has seeds {made}; accepted: {module.SEEDS}")
        try:
            return assembled(module.run, self.parts)[0]
        except ValueError as error:
            raise ValueError(f"recording {self.name}: {error}") from error

    @property
    def hash(self) -> str:
        """The hash of the parts, by which the ledger knows what a notebook showed."""
        return hash_of(self.parts)

    def check_all_are_used(self, seeds: Collection[int]) -> None:
        """Refuse runs that are not those of all seeds.

        Args:
            seeds: or places, of the runs.

        Raises:
            ValueError: no list of the recording's seeds is as long.
        """
        lists = self.provenance["seeds"]
        if not any({*seeds} in ({*every}, {*range(len(every))}) for every in lists.values()):
            known = ", ".join(f"{len(every)} ({name})" for name, every in lists.items())
            raise ValueError(
                f"arms: have {len(seeds)} of the seeds of {self.name}; accepted: all, {known}"
            )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(key)}</th><td>{html.escape(str(value))}</td></tr>"
            for key, value in self.provenance.items()
            if key != "code"
        )
        when, where = (html.escape(str(self.provenance.get(it, "?"))) for it in ("date", "device"))
        return (
            f'<details class="vt-run"><summary>recorded: {self.name}, {when}, {where}</summary>'
            f'<table class="vt-numbers">{rows}</table></details>'
        )

    def __repr__(self) -> str:
        return f"recorded: {self.name}   #{self.hash}"


def load(name: str, folder: Path | None = None) -> Recording:
    """Return a recording.

    Args:
        name: such as ``"tied_convergence"``.

    Raises:
        ValueError: there is none of this name, or its file is not a recording.
    """
    folder = folder or served().recordings
    path = folder / f"{name}.json"
    if not path.exists():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.json"))) or "none"
        raise ValueError(f"name: no recording {name!r}; accepted: {known}")
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        fields = kept["parts"], kept["provenance"], kept["fingerprint"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"recording {name}: cannot be read: {error!r}") from error
    return Recording(name, *fields)


def of_the_same(name: str, folder: Path | None = None) -> list[str]:
    """Return the recordings of one experiment: the first, and those that run it again.

    Args:
        name: of one of them, such as ``"residual_schemes"`` or ``"residual_schemes_again"``.
    """
    known = sorted(path.stem for path in (folder or served().recordings).glob("*.json"))
    first = next((other for other in known if f"{name}_".startswith(f"{other}_")), name)
    return [other for other in known if f"{other}_".startswith(f"{first}_")]


@cache
def code(name: str, package: Path | None = None, *beside: Path) -> Code:
    """Return the key of the code that an experiment reaches, read once.

    Args:
        name: of a module in the package of experiments, or in a folder there.
        package: the folder of another copy of the package, with the module anywhere below it.
        beside: where other packages lie with that copy.

    Raises:
        CodeFault: there is no such experiment, or a name that it uses leads nowhere.
    """
    source = Package(package, *beside) if package else library()
    wing = package or _wing(source)
    return code_of(next(wing.rglob(f"{name}.py"), wing / f"{name}.py"), source)


def _wing(source: Package) -> Path:
    """The folder of the experiments."""
    first, *rest = served().experiments.split(".")
    root = source.root(first)
    if root is None:
        raise CodeFault(f"experiments: got {first!r}; accepted: a package with __sealed__ = True")
    return root.joinpath(*rest)


def experiments() -> dict[str, str]:
    """Return where each experiment stands in the wing, as an import has it, by name."""
    if not served().experiments:
        return {}
    wing = _wing(library())
    files = [path.relative_to(wing) for path in wing.rglob("*.py") if path.stem != "__init__"]
    places = {
        path.stem: ".".join(path.with_suffix("").parts)
        for path in files if path.parts[0] != "laboratory"
    }  # fmt: skip
    return dict(sorted(places.items()))


def experiment(name: str) -> ModuleType:
    """Return an experiment's module.

    Args:
        name: such as ``"tied_convergence"``.

    Raises:
        ValueError: there is no such experiment.
    """
    if name not in (places := experiments()):
        raise ValueError(f"name: got {name!r}; accepted: {', '.join(places)}")
    return importlib.import_module(f"{served().experiments}.{places[name]}")


def why_stale(
    name: str, data: str, folder: Path | None = None, package: Path | None = None
) -> str | None:
    """Say why what a notebook shows of a recording no longer stands, or None where it does."""
    try:
        kept = load(name, folder)
        if kept.hash != data:
            return f"recording {name} has other parts than the notebook showed; run it again"
        now = code(name, package)
    except CodeFault as error:
        return f"recording {name} is stale: {error}"
    except ValueError as error:
        return str(error)
    then = kept.provenance.get("code", {})
    if now.key == then.get("key"):
        return None
    changed = now.changed_since(then.get("definitions", {})) or ["the order of its definitions"]
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return f"recording {name} is stale: changed since: {', '.join(changed[:3])}{more}"


def write(made: Recording, folder: Path | None = None) -> Path:
    """Write a recording, keyed by its code, and return the file."""
    keyed = code(made.name)
    kept = {
        "provenance": made.provenance
        | {"code": {"key": keyed.key, "definitions": keyed.definitions}},
        "fingerprint": made.fingerprint,
        "parts": made.parts,
    }
    folder = folder or served().recordings
    folder.mkdir(exist_ok=True)
    path = folder / f"{made.name}.json"
    write_whole(path, json.dumps(kept, ensure_ascii=False, indent=1) + "\n")
    return path
