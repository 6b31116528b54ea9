"""The command line of the library: which commands there are and what they are given."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ..account import ledger
from ..account.reading import RegistryError
from . import claims, printing, verify
from .elsewhere import fresh_seeds, keeping, portable, sources
from .notebooks import colab, form, formatting, refresh


class Refused(ValueError):
    """The command was given what it cannot work on; the message says what it accepts."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: the words after the program; those of this process by default.

    Returns:
        The exit status: 0 where all went well, 1 where a check failed or the input was refused.
    """
    options = _parser().parse_args(arguments)
    try:
        return _dispatch(options)
    except (Refused, ledger.LedgerError, RegistryError, KeyError) as error:
        print(error.args[0], file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m verified_transformer",
        description="Read, re-run and compare what the book decides.",
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, text: str, notebooks: bool = False) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.add_argument("--root", type=Path, default=Path.cwd(), help="the repository")
        if notebooks:
            added.add_argument("notebooks", nargs="*", type=Path, help="all, where none is named")
        return added

    command("claims", "write _build/claims.json; fail where a verdict is not as locked")
    renew = command("lock", "renew the lock on what is said and decided, with a reason")
    renew.add_argument("--reason", required=True, help="why; names claims whose words changed")
    renew.add_argument("--date", help="YYYY-MM-DD; that of the last commit by default")
    again = command("verify", "run one claim afresh and compare it with what is stored")
    again.add_argument("id", help="such as LOSS-14")
    command("refresh", "execute notebooks, store their outputs, show every change", notebooks=True)
    keep = command("record", "run a long experiment and keep its result")
    keep.add_argument("name", help="a module of verified_transformer.experiments")
    keep.add_argument(
        "--rekey", action="store_true", help="keep the result: the fingerprint matches the new code"
    )
    command("format-cells", "format the code of notebooks, outputs left as they are", True)
    command("owners", "draft the owners of numbers and formulas in notebooks' prose", True)
    command("form", "write tags, titles and first cells: what each cell of a notebook is for")
    first = commands.add_parser("initial-loss", help=(text := "say what loss a model starts with"))
    first.description = text
    first.add_argument("config", type=Path, help="a config.json of transformers")
    first.add_argument("--labels", default="other", help="other, same, or the share of repeats")
    first.add_argument("--length", type=int, default=128, help="tokens of a text")
    first.add_argument("--steps", action="store_true", help="the budget of every branch, too")
    elsewhere = command(
        "portable", "run notebooks under other instruction sets, threads and hash seeds", True
    )
    salted = command("fresh-seeds", "run notebooks under other seeds; every check must pass", True)
    salted.add_argument("--salts", type=int, default=10, help="how many other seeds")
    salted.add_argument("--first", type=int, default=1, help="the first of them")
    branch = command("publish-colab", "write the branch whose notebooks install the last commit")
    branch.add_argument("--served", help="the repository's address where this runs")
    command("pdf", "print the built book as one PDF, with an outline and page numbers")
    command("sources", "look up what is quoted in releases of the Python index")
    command("times", "keep where the time of the last whole `make test` went")
    for added in (elsewhere, salted):
        added.add_argument("--jobs", type=int, default=2, help="notebooks at a time")
    return parser


def _dispatch(options: argparse.Namespace) -> int:
    if options.command == "initial-loss":
        return _initial_loss(options)
    root = options.root.resolve()
    try:
        known = ledger.notebooks(root)
    except ValueError as error:
        raise Refused(f"--{error}") from None
    for name in ("salts", "first", "jobs"):
        if getattr(options, name, 1) < 1:
            raise Refused(f"--{name}: got {getattr(options, name)}; accepted: 1 or more")
    chosen = _notebooks(known, getattr(options, "notebooks", []))
    match options.command:
        case "claims":
            return claims.write(root)
        case "lock":
            return claims.renew(root, options.reason, options.date)
        case "verify":
            return verify.verify(root, options.id)
        case "refresh":
            return refresh.refresh(chosen, root)
        case "record":
            return _record(options.name, root, options.rekey)
        case "format-cells":
            return formatting.format_cells(chosen, root)
        case "owners":
            from .prose import drafting  # loads SymPy, which no other command needs

            return drafting.draft_all(chosen, root)
        case "form":
            return form.write(root)
        case "sources":
            return sources.sources(root)
        case "times":
            return _said(keeping.keep_times, root)
        case "publish-colab":
            return _said(colab.publish, root, options.served)
        case "pdf":
            return _pdf(root)
        case "portable":
            return portable.portable(chosen, root, options.jobs)
    return fresh_seeds.fresh_seeds(chosen, root, options.salts, options.jobs, options.first)


def _pdf(root: Path) -> int:
    try:
        print(printing.print_book(root))
    except printing.NotPrinted as error:
        raise Refused(error.args[0]) from None
    return 0


def _said(command: Callable[..., object], *given: object) -> int:
    try:
        print(command(*given))
    except ValueError as error:
        raise Refused(error.args[0]) from None
    return 0


def _initial_loss(options: argparse.Namespace) -> int:
    from ..models import initial_loss  # loads torch, which no other command of this process needs

    labels = options.labels
    try:
        if labels not in ("other", "same"):
            labels = float(labels)
        answer = initial_loss(options.config, labels=labels, length=options.length)
    except (ValueError, TypeError, OSError) as error:
        raise Refused(str(error)) from None
    print(answer)
    for step in answer.steps if options.steps else ():
        print(f"  {step.name}: branch {step.branch:.4g}, stream {step.stream:.4g}")
    return 0


def _record(name: str, root: Path, rekey: bool) -> int:
    from . import recording  # loads torch, which no other command of this process needs

    try:
        print(recording.record(name, root, rekey=rekey))
    except (ValueError, RuntimeError) as error:
        raise Refused(str(error)) from None
    return 0


def _notebooks(known: list[Path], named: Sequence[Path]) -> list[Path]:
    chosen = [path.resolve() for path in named] or known
    for path in chosen:
        if path not in known:
            raise Refused(
                f"notebooks: {path} is none of this repository's; "
                "accepted: paths such as notebooks/1-initialisation/1-sampling-laws.ipynb"
            )
    return chosen
