"""Why a model starts with the loss that it has: `why`, the command of that name.

Of a configuration it loads neither torch nor transformers, and works where there are none.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any

from .accepted import is_module
from .first_loss.causes import loss_causes
from .first_loss.initial.initial_loss import initial_loss

_BUILDER = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
_NEEDS = "accepted: with module:function, which builds a model"


def why(
    what: str,
    seen: float | None = None,
    *,
    length: int = 128,
    diagnosed: bool = False,
    audited: bool = False,
) -> str:
    """Say what a model starts with, what is fair, and what makes the loss that was seen.

    Args:
        what: the path of a ``config.json`` or of its folder; the id of a repository of the hub
            whose ``config.json`` is in the cache on this disk; or ``module:function``, which is
            called without arguments and gives a model (drafted where its class is not known), or
            whatever else `initial_loss` takes. A path that is there comes before the others.
        seen: a loss that was seen, in nats.
        length: tokens of a text; of a model with fewer positions, as many as it has.
        diagnosed: whether to read the model module by module as well.
        audited: whether to try every parameter against what was asked; of a configuration, which
            builds its model, and needs torch.

    Returns:
        The prediction with its error and the loss of a uniform guess, with what was measured where
        a model was built; then the causes of other losses, the nearest to ``seen`` first.

    Raises:
        TypeError, ValueError: ``what`` is none of these, its class is not known, or there is no
            model to diagnose.

    Example:
        >>> import json, pathlib, tempfile
        >>> gpt2 = {"model_type": "gpt2", "vocab_size": 50_257, "n_embd": 768, "n_layer": 12,
        ...         "n_head": 12}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "config.json").write_bytes(json.dumps(gpt2).encode())
        ...     answer = why(folder, seen=15.8)
        >>> for line in [answer.splitlines()[at] for at in (0, 3, 4)]:
        ...     print(line)
        gpt2: first loss 10.9785 ± 0.0005, log n 10.8249, excess +0.1536
        What makes other losses, the nearest to 15.8 first:
             15.8387  off by +0.0387  bits: a logarithm of base 2
    """
    known = subject(what)
    if not is_module(known):
        if diagnosed:
            raise ValueError(f"diagnose: got {what!r}, which is no model; {_NEEDS}")
        lines = [str(initial_loss(known, length=length)), *_causes(known, seen, length)]
        return "\n".join([*lines, *_audited(known, audited)])
    from .first_loss.diagnosis.diagnose import diagnose
    from .first_loss.initial.from_model import body_as_it_is, most_positions

    length = min(length, most_positions(known) or length)
    body = _drafted(known)
    try:
        answer = initial_loss(known, length=length, measure=True, body=body)
    except IndexError as error:
        taken = "as many as the model has positions"
        raise ValueError(f"length: got {length} ({error}); accepted: {taken}") from error
    lines = [str(answer), *_causes(body_as_it_is(known, body)[0], seen, length)]
    lines += [str(diagnose(known, body=body))] if diagnosed else []
    return "\n".join([*lines, *_audited(known, audited)])


def subject(what: str) -> Any:
    """Return what ``what`` names: the path of a configuration, or what a function gives.

    Raises:
        ValueError: it names nothing.
    """
    path = Path(what)
    if path.exists():
        return path
    if _BUILDER.fullmatch(what):
        return _built(*what.split(":"))
    cached = cached_config(what) if _HUB_ID.fullmatch(what) else None
    if cached is None:
        raise ValueError(
            f"what: got {what!r}, which is no path here, nor a repository in {_cache()}; accepted: "
            "a config.json, a folder with one, a hub id in that cache (`hf download ID "
            "config.json` brings it), or module:function"
        )
    return cached


def cached_config(name: str) -> Path | None:
    """Return the ``config.json`` that the cache of the Hugging Face hub has of a repository.

    That of its main branch, else the newest; None where there is none. Nothing is asked of the hub.
    """
    home = _cache() / f"models--{name.replace('/', '--')}"
    branch = home / "refs" / "main"
    if branch.is_file():
        path = home / "snapshots" / branch.read_text(encoding="utf-8").strip() / "config.json"
        if path.is_file():
            return path
    found = [*home.glob("snapshots/*/config.json")]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _cache() -> Path:
    """Where the hub's files are kept, as huggingface_hub has it."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if given := os.environ.get(name):
            return Path(given).expanduser()
    above = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or f"{above}/huggingface"
    return Path(home).expanduser() / "hub"


def _built(module: str, function: str) -> Any:
    """What a function of a module, found from this folder on, gives."""
    given = f"{module}:{function}"
    sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
        for name in function.split("."):
            found = getattr(found, name)
        if not callable(found):
            raise ValueError(f"what: got {given}, a {type(found).__name__}; accepted: a function")
        return found()
    except (AttributeError, TypeError, ModuleNotFoundError) as error:
        raise ValueError(
            f"what: got {given} ({error}); accepted: a function without arguments in a module that "
            "can be imported from this folder"
        ) from error
    finally:
        sys.path.remove(os.getcwd())


def _audited(known: Any, wanted: bool) -> list[str]:
    if not wanted:
        return []
    from .audit.auditing import audit_init  # loads torch

    return [str(audit_init(known))]


def _drafted(model: Any) -> Any:
    """A draft of a model's body where its class is not known."""
    from .first_loss.drafting import draft_body
    from .first_loss.initial.from_model import body_as_it_is

    try:
        body_as_it_is(model)
    except (TypeError, ValueError):
        return draft_body(model)
    return None


def _causes(known: Any, seen: float | None, length: int) -> list[str]:
    heading = "What makes other losses:"
    if seen is not None:
        heading = f"What makes other losses, the nearest to {seen:g} first:"
    return [heading, *map(str, loss_causes(known, seen, length=length))]
