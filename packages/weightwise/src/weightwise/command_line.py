"""What ``weightwise`` understands: `why`, `initial_loss` and `widen_checkpoint`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_REFUSED = (ValueError, TypeError, OSError, AssertionError)  # what is said of what was given
_EXTRA = ("torch", "transformers", "safetensors")  # what is not needed for a configuration


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: the words after the program; those of this process by default.

    Returns:
        The exit status: 0 where all went well, 1 where the input was refused.
    """
    given = _parser().parse_args(arguments)
    try:
        print(given.run(given))
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        print(f"{error}; accepted: pip install 'weightwise[models]'", file=sys.stderr)
        return 1
    except _REFUSED as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="weightwise", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    text = "say why a model starts with the loss that it has"
    reason = commands.add_parser("why", help=text, description=text)
    reason.set_defaults(run=_why)
    what = "a config.json, a folder with one, a hub id in the cache, or module:function"
    reason.add_argument("what", help=what)
    reason.add_argument("--seen", type=float, help="the loss that was seen, in nats")
    reason.add_argument("--length", type=int, default=128, help="tokens of a text")
    reason.add_argument("--diagnose", action="store_true", help="read the model, part by part")
    text = "try every parameter against its setting"
    reason.add_argument("--audit", action="store_true", help=text)
    text = "say what loss a model starts with"
    first = commands.add_parser("initial-loss", help=text, description=text)
    first.set_defaults(run=_initial_loss)
    first.add_argument("config", type=Path, help="a config.json of transformers")
    first.add_argument("--labels", default="other", help="other, same, or the share of repeats")
    first.add_argument("--length", type=int, default=128, help="tokens of a text")
    first.add_argument("--steps", action="store_true", help="the budget of every branch, too")
    text = "grow a saved checkpoint, the same function"
    wide = commands.add_parser("widen", help=text, description=text)
    wide.set_defaults(run=_widen)
    wide.add_argument("source", type=Path, help="a folder of save_pretrained, in safetensors")
    wide.add_argument("target", type=Path, help="the folder to write; one that a kill left goes on")
    wide.add_argument("--stream", type=int, default=1, help="how many times as wide")
    wide.add_argument("--width", type=int, help="of the stream, where it is to be no multiple")
    for size, of in (("heads", "heads"), ("key-value-heads", "key and value heads"),
                     ("feed-forward", "feed-forward units"), ("layers", "layers"),
                     ("vocabulary", "words")):  # fmt: skip
        wide.add_argument(f"--{size}", type=int, help=f"how many {of} the large model has")
    return parser


def _why(given: argparse.Namespace) -> str:
    from .why import why

    told = {"diagnosed": given.diagnose, "audited": given.audit}
    return why(given.what, given.seen, length=given.length, **told)


def _initial_loss(given: argparse.Namespace) -> str:
    from . import initial_loss

    labels = given.labels
    with suppress(ValueError):
        labels = float(labels)
    answer = initial_loss(given.config, labels=labels, length=given.length)
    steps = [f"  {step.name}: branch {step.branch:.4g}, stream {step.stream:.4g}"
             for step in answer.steps if given.steps]  # fmt: skip
    return "\n".join([str(answer), *steps])


def _widen(given: argparse.Namespace) -> object:
    from . import widen_checkpoint  # loads torch

    def progress(shard: str, done: int, count: int) -> None:
        print(f"\r{shard}: {done} of {count} tensors", end="\n" * (done == count), flush=True)

    names = ("width", "heads", "key_value_heads", "feed_forward", "layers", "vocabulary")
    sizes = {name: getattr(given, name) for name in names}
    return widen_checkpoint(given.source, given.target, given.stream, progress=progress, **sizes)
