"""Modules that left for packages of their own, and are imported by their old names as well."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Moved(MetaPathFinder, Loader):
    """Finds what is asked for below an old name below the new one: one module, by two names."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name.startswith(f"{self.old}.") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self.new + spec.name.removeprefix(self.old))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It ran under its new name, and keeps it."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def handed_on(old: str, new: str) -> MetaPathFinder:
    """Let the modules of a package be imported by an old name of it, too.

    Args:
        old, new: dotted names; the old one is that of a package, which may be empty.

    Returns:
        What finds them, which stands before what would find copies of them.

    Example:
        >>> from verified_transformer.models.growth import axes
        >>> axes.__name__
        'weightwise.growth.axes'
    """
    finder = _Moved(old, new)
    sys.meta_path.insert(0, finder)
    return finder
