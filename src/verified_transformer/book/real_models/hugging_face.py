"""The library transformers: imported quietly, refused where too old.

    >>> from verified_transformer.book import transformers

Its progress bars and notices differ from run to run, and a notebook's outputs are compared.
"""

from __future__ import annotations

import importlib
import warnings
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

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
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    return library


def _release(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split(".")[:2])


transformers = quiet_transformers()


def drawn_once(cls: Any, config: Any, **options: Any) -> Any:
    """Return a model of transformers as its class initialises it, in evaluation mode.

    The class alone draws each weight twice: torch does when a layer is made, and is overwritten.

    Args:
        cls: a class of transformers.
        config: its configuration.
        options: what else the class takes.
    """
    return drawn_again(undrawn(cls, config, **options))


def undrawn(cls: Any, config: Any, **options: Any) -> Any:
    """Return a model of transformers in evaluation mode, its weights whatever the memory holds.

    Args:
        cls, config, options: as `drawn_once` takes them.
    """
    # no attribute where transformers has put another module in its own place, as its classes do
    with importlib.import_module("transformers.initialization").no_init_weights():
        return cls(config, **options).eval()


def drawn_again(model: Any) -> Any:
    """Draw all weights of a model of transformers anew, in place, as its class initialises them.

    Args:
        model: of any of its classes.

    Returns:
        The model.
    """
    for part in model.modules():
        part._is_hf_initialized = False  # what transformers has drawn once it leaves as it is
    model.init_weights()
    return model
