"""The library transformers: imported quietly, refused where too old; what it lists for a task.

    >>> from verified_transformer.book import transformers

Its progress bars and notices differ from run to run, and a notebook's outputs are compared.
"""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

OLDEST = "5.20"  # before it a configuration of the census cannot be made; before 5.11 T5 is another


def quiet_transformers() -> ModuleType:
    """Import transformers without its bars and notices.

    Raises:
        ImportError: it is missing, or older than `OLDEST`; the message says what to install.
    """
    try:
        installed = version("transformers")
    except PackageNotFoundError:
        installed = None
    if installed is None or _release(installed) < _release(OLDEST):
        found = f"transformers {installed} is installed" if installed else "it is not installed"
        raise ImportError(
            f"needs transformers {OLDEST} or later, and {found}; "
            f'accepted: pip install "transformers>={OLDEST}"'
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress")
        library = importlib.import_module("transformers")
        importlib.import_module("transformers.initialization")  # no attribute before
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    return library


def _release(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split(".")[:2])


transformers = quiet_transformers()


# ------------------------------------------------------------------------------ what it lists


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
