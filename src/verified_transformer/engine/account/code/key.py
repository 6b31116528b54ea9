"""A key of the code that a result came from: every definition that a function reaches, by meaning.

From the function on, each name is followed to the statement that defines it, through the package's
imports. Left out is what cannot change a result: the names of modules, of definitions, of locals
and of private attributes, annotations, comments, texts, layout, and refusals (``if …: raise``).
What comes from other packages counts by its name. So a rename is free, a function that nothing
reaches is free, and a changed seed, law or formula is not.

Kept by name: public attributes and methods, and parameters that some call names. Of a class, those
methods count whose name is mentioned somewhere in the code that is reached; of one with a foreign
base also those that the base may call, which are all but its public class and static methods.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..hashing import hash_of
from .meaning import Meaning, Mentioned, Target
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


def code_of(module: str, package: Path) -> Code:
    """Return the key of all that an experiment's ``run`` reaches.

    Args:
        module: the experiment's, inside the package: ``"experiments/tied_convergence.py"``.

    Raises:
        CodeFault: the module or its ``run`` is not there, or a name in between leads nowhere.
    """
    source = Package(package)
    return code_from(source.definition(module, "run"), source, Mentioned())


@cache
def key_of(definition: Definition, package: Package) -> str:
    """Return the key of all that a definition reaches, whoever calls it: classes count whole."""
    return code_from(definition, package, Mentioned(whole=True)).key


def code_from(start: Definition, source: Package, seen: Mentioned) -> Code:
    """Return the key of all that a definition reaches, with what is mentioned from the first."""
    while True:  # what is mentioned says which methods count, and these mention more
        before = seen.size
        trees = _reached(start, source, seen)
        if seen.size == before:
            break
    numbers: dict[Target, int] = {definition: place for place, (definition, _) in enumerate(trees)}
    for _, meaning in trees:
        for target in meaning.targets:
            numbers.setdefault(target, len(numbers))
    whole = [(meaning.tree, [numbers[t] for t in meaning.targets]) for _, meaning in trees]
    definitions = {str(definition): _key(meaning.tree) for definition, meaning in trees}
    return Code(_key(whole), definitions, sorted({found.module.label for found, _ in trees}))


def _key(tree: Any) -> str:
    return hash_of(json.dumps(tree))


def _reached(
    start: Definition, package: Package, seen: Mentioned
) -> list[tuple[Definition, Meaning]]:
    """The definitions that one reaches, in the order in which they are met."""
    found: dict[Definition, Meaning] = {}
    waiting = [start]
    while waiting:
        definition = waiting.pop()
        if definition in found:
            continue
        meaning = found[definition] = Meaning(definition, package, seen)
        met = [target for target in meaning.targets if isinstance(target, Definition)]
        waiting += reversed([*met, Definition(definition.module, "")])
    return [(definition, meaning) for definition, meaning in found.items() if meaning.tree]
