"""The library's commands.

`claims` writes the ledger from the stored outputs; `verify ID` runs one claim afresh; `refresh`
executes notebooks, stores their outputs and shows what changed beyond masked numbers; `record NAME`
runs a long experiment and keeps its result with its provenance.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from .account import ledger, registry, stored_runs


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m verified_transformer", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("claims", help="write _build/claims.json from the stored outputs")
    again = commands.add_parser("verify", help="run one claim afresh from its notebook")
    again.add_argument("id", help="such as LOSS-14")
    renew = commands.add_parser("refresh", help="execute notebooks, store outputs, show changes")
    renew.add_argument("notebooks", nargs="*", type=Path, help="all, where none is named")
    keep = commands.add_parser("record", help="run a long experiment and keep its result")
    keep.add_argument("name", help="a module of verified_transformer.experiments")
    keep.add_argument(
        "--rekey", action="store_true", help="keep the result: the fingerprint matches the new code"
    )
    for command in (write, again, renew, keep):
        command.add_argument("--root", type=Path, default=Path.cwd(), help="the repository")
    options = parser.parse_args(arguments)
    try:
        if options.command == "claims":
            return _claims(options.root)
        if options.command == "refresh":
            return _refresh(options.notebooks or ledger.notebooks(options.root))
        if options.command == "record":
            return _record(options.root, options.name, keep=options.rekey)
        return _verify(options.root, options.id)
    except (ledger.LedgerError, registry.RegistryError, KeyError) as error:
        print(error.args[0], file=sys.stderr)
        return 1


def _claims(root: Path) -> int:
    data = ledger.collect(root).to_json()
    target = root / "_build" / "claims.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    for key, count in data["summary"]["by_article"].items():
        verdicts = ", ".join(f"{n} {v}" for v, n in count["by_verdict"].items())
        print(f"{key:15} {count['decided']:3} of {count['total']:3} decided   {verdicts}")
    whole = data["summary"]
    mutants = whole["mutants"]
    print(
        f"{'all':15} {whole['decided']:3} of {whole['total']:3} decided   "
        f"{mutants['killed']}/{mutants['total']} mutants rejected   {target}"
    )
    return 0


def _record(root: Path, name: str, keep: bool = False) -> int:
    """Run an experiment and keep what came out; or key what is kept by the code as it is now."""
    from .experiments import recording

    try:
        recording.experiment(name)
        commit = stored_runs.commit(name, root)
        parts = _kept(name, commit) if keep else recording.recorded(name, commit)
    except (ValueError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    print(stored_runs.write(name, parts))
    return 0


def _kept(name: str, commit: str) -> dict[str, Any]:
    """A recording as it is, where its fingerprint matches the present code."""
    from .experiments import recording

    kept = stored_runs.load(name)
    moved = recording.difference(kept.fingerprint, recording.fingerprint(name))
    if moved:
        raise RuntimeError(f"recording {name}: the fingerprint differs ({moved}); record again")
    provenance = kept.provenance | {"keyed anew": f"at {commit}, the fingerprint unchanged"}
    return {"result": kept.result, "fingerprint": kept.fingerprint, "provenance": provenance}


def _verify(root: Path, name: str) -> int:
    registry.statement(name)
    found, _ = ledger.read(root)
    places = {(item.notebook, item.cell) for item in found if name in item.record.claims}
    if not places:
        print(f"{name}: no notebook decides it yet", file=sys.stderr)
        return 1
    failed = False
    for notebook in sorted({notebook for notebook, _ in places}):
        last = max(cell for where, cell in places if where == notebook)
        failed |= not _run(root / notebook, last, name)
    return int(failed)


def _execute(notebook: Path, last: int | None = None) -> Any:
    """Run a notebook in a fresh kernel, up to a cell, and return it; raises where a cell fails."""
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.read(notebook, as_version=4)
    book.cells = book.cells if last is None else book.cells[: last + 1]
    resources = {"metadata": {"path": str(notebook.parent)}}
    client = NotebookClient(
        book, timeout=600, record_timing=False, coalesce_streams=True, resources=resources
    )
    # the kernel runs in the notebook's folder, where a relative PYTHONPATH leads nowhere
    package = str(Path(__file__).resolve().parents[1])
    client.execute(env={**os.environ, "PYTHONPATH": package})
    return book


def _run(notebook: Path, last: int, name: str) -> bool:
    """Run a notebook up to a cell and print one claim's records."""
    from nbclient.exceptions import CellExecutionError

    try:
        book = _execute(notebook, last)
    except CellExecutionError as error:
        print(f"{name}: {error.ename}: {error.evalue}", file=sys.stderr)
        return False
    for cell in book.cells:
        for output in cell.get("outputs", []):
            record = output.get("metadata", {}).get(ledger.METADATA_KEY, {})
            if name in record.get("claims", []) and record["kind"] != "card":
                seconds = record["volatile"]["seconds"]
                print(f"{output['data']['text/plain']}   ({seconds:.2f} s)")
    return True


def _refresh(notebooks: list[Path]) -> int:
    import nbformat
    from nbclient.exceptions import CellExecutionError

    for notebook in notebooks:
        started = time.perf_counter()
        before = nbformat.read(notebook, as_version=4)
        try:
            after = _execute(notebook)
        except CellExecutionError as error:
            print(f"{notebook}: not stored; {error.ename}: {error.evalue}", file=sys.stderr)
            return 1
        nbformat.write(after, notebook)
        print(f"{notebook}: {time.perf_counter() - started:.1f} s")
        old, new = (_compared_lines(book) for book in (before, after))
        for changed in difflib.unified_diff(old, new, "stored", "now", lineterm="", n=0):
            print(f"    {changed[:200]}")
    return 0


def _compared_lines(book: Any) -> list[str]:
    """What a person would compare: source, streams and text outputs, without masked numbers."""
    lines: list[str] = []
    for cell in book.cells:
        lines += cell["source"].splitlines()
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for text in (output.get("text", ""), data.get("text/plain", "")):
                lines += "".join(text).splitlines()
    return lines


if __name__ == "__main__":
    sys.exit(main())
