"""The architectures that transformers lists for a task, and which of them define an attention."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from pathlib import Path

from .hugging_face import transformers


def architectures(task: str) -> list[str]:
    """Return the kinds of models that transformers names for a task.

    Args:
        task: as in the names of its tables, such as ``"CAUSAL_LM"``.

    Raises:
        ValueError: it has no such table.
    """
    tables = transformers.models.auto.modeling_auto
    name = f"MODEL_FOR_{task}_MAPPING_NAMES"
    if not hasattr(tables, name):
        raise ValueError(f"task: got {task!r}; accepted: a name with {name} among the tables")
    return list(getattr(tables, name))


def with_attention(kinds: Iterable[str]) -> int:
    """Return how many architectures define an attention in their source.

    Args:
        kinds: of models; several may share an architecture.

    Raises:
        TypeError: one kind, whose letters are none.

    Example:
        >>> with_attention(["gpt2", "mamba"])
        1
    """
    if isinstance(kinds, str):
        raise TypeError(f"kinds: got {kinds!r}; accepted: several, as in [{kinds!r}]")
    folder = Path(inspect.getfile(transformers)).parent / "models"
    to_module = transformers.models.auto.configuration_auto.model_type_to_module_name
    modules = sorted({to_module(kind) for kind in kinds})
    files = [file for module in modules for file in folder.glob(f"{module}/modeling_*.py")]
    found = [f for f in files if re.search(r"class \w*Attention", f.read_text(encoding="utf-8"))]
    return len({file.parent for file in found})
