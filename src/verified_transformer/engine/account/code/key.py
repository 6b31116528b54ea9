"""A key of the code that a result came from: every definition that a function reaches, by meaning.

From the function on, each name is followed to the statement that defines it, through the package's
imports; a class counts whole, and so does what a module does on import. What comes from other
packages counts by its name. So a rename is free, a function that nothing reaches is free, and a
changed seed, law or formula is not; `meaning` says what else is free.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..hashing import hash_of
from .cells import names_of
from .meaning import meaning
from .modules import Definition, Package


@dataclass(frozen=True)
class Code:
    """What a function reaches: a key of all of it, and one of each definition, for messages."""

    key: str
    definitions: dict[str, str]
    files: list[str]

    def changed_since(self, definitions: dict[str, str]) -> list[str]:
        """Name the definitions whose keys another list lacks; else those that it has beside."""
        new = [name for name, key in self.definitions.items() if key not in definitions.values()]
        here = self.definitions.values()
        return new or [name for name, key in definitions.items() if key not in here]


def code_of(module: str, package: Package) -> Code:
    """Return the key of all that an experiment's ``run`` reaches.

    Args:
        module: the experiment's, inside the package: ``"experiments/tied_convergence.py"``.
        package: which keeps what it has read, for the next experiment.

    Raises:
        CodeFault: the module or its ``run`` is not there, or a name in between leads nowhere.
    """
    return code_from(package.definition(module, "run"), package)


@cache
def key_of(definition: Definition, package: Package) -> str:
    """Return the key of all that a definition reaches."""
    return code_from(definition, package).key


def code_from(start: Definition, package: Package) -> Code:
    """Return the key of all that a definition reaches, in the order in which it is met."""
    places, found = {start: 0}, [start]
    for definition in found:  # which grows
        for target in (*_read(definition, package)[1], *package.run_with(definition.module)):
            if target not in places:
                places[target] = len(found)
                found.append(target)
    read = {definition: _read(definition, package) for definition in found}
    whole = [[tree, [places[target] for target in targets]] for tree, targets in read.values()]
    kept = {definition: _key(tree) for definition, (tree, _) in read.items() if tree}
    files = sorted({definition.module.label for definition in kept})
    return Code(_key(whole), {str(definition): key for definition, key in kept.items()}, files)


@cache
def _read(definition: Definition, package: Package) -> tuple[list[Any], list[Definition]]:
    """What a definition means, and the definitions that it names, by their places in that."""
    module, targets = definition.module, dict[Definition, int]()
    statements = definition.statements
    inside = dict(pair for statement in statements for pair in module.imported(statement))

    def outside(target: Definition) -> list[Any]:
        return ["outside", targets.setdefault(target, len(targets))]

    def resolve(name: str, attributes: list[str]) -> Any:
        if name in module.bindings and name not in inside:
            return [*outside(Definition(module, name)), *attributes]
        dotted = (module.imports | inside).get(name, name)
        target, rest = package.named(dotted := ".".join([dotted, *attributes]), module)
        return [*outside(target), *rest] if target else dotted

    outer = [name for statement in statements for names in names_of(statement) for name in names]
    every = package.every(module) if definition.name == "*" else ()
    tree: list[Any] = [[name, outside(target)] for name, target in every]
    return tree + meaning(statements, outer, resolve), [*targets]


def _key(tree: Any) -> str:
    return hash_of(json.dumps(tree))
