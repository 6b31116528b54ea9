"""Showing a derivation: the displays and the words, made from what was derived."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ...exact.displays.written.telling import told

if TYPE_CHECKING:
    from ...account.rendering.cards import Bundle
    from ...exact.derivations import Derived

METADATA_KEY = "verified_transformer_derivation"


def show(derived: Derived) -> None:
    """Display a derivation step by step: its reasons in words, its formulas typeset.

    Everything is read off the object: the engine's index patterns, the checked steps of a chain,
    base and step of an induction. To show what a claim's proof rests on, write
    ``claim("LOSS-14").prove(…, show=True)`` instead.

    Args:
        derived: ``mean(…)`` or ``variance(…)``, a `Derivation`, or a solved `Induction`.

    Raises:
        TypeError: it is no derivation.

    Example:
        >>> from verified_transformer import Index, Normal, Tensor, symbols, total, variance
        >>> d, σ = symbols("d sigma")
        >>> i = Index("i", d)
        >>> w = Tensor("w", Normal(0, σ), d)
        >>> show(variance(total(w[i] ** 2, i)))  # in a notebook: six lines of mathematics
    """
    display(bundle(told(derived), derived.quantity))


def bundle(markdown: str, name: str) -> Bundle:
    """Return the output that shows a told derivation.

    Args:
        markdown: words and displays.
        name: of the claim, or of what is derived.
    """
    key = hashlib.sha256(markdown.encode()).hexdigest()[:8]
    metadata = {METADATA_KEY: {"name": name, "key": key}}
    return {"text/plain": f"{name} derivation   #{key}", "text/markdown": markdown}, metadata


def display(shown: Bundle) -> None:
    """Display an output where this runs in a notebook."""
    data, metadata = shown
    try:
        from IPython import display as shell
        from IPython import get_ipython
    except ImportError:
        return
    if get_ipython() is not None:
        shell.display(data, raw=True, metadata=metadata)  # type: ignore[no-untyped-call]
