"""Changed definitions: one mistake planted in a statistic, a law, an index or a size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import sympy as sp

from ..laws import Law, Normal, TruncatedNormal, Uniform
from .polynomials import Index, Polynomial, Tensor, free_indices, summed

_Change = tuple[str, sp.Expr]  # label, changed statistic


def changed_statistics(definition: Polynomial) -> Iterator[_Change]:
    """Yield every single change of a definition, some of which may leave its value as it is."""
    whole = definition.statistic
    yield from _tensor_changes(definition)
    for node in sp.preorder_traversal(whole):
        if isinstance(node, sp.Pow) and node.has(sp.Indexed):
            label = f"exponent {node.exp} -> {node.exp + 1} on {node.base}"
            yield label, whole.xreplace({node: node.base ** (node.exp + 1)})
        elif isinstance(node, sp.Sum):
            for label, changed in _index_changes(node):
                yield label, whole.xreplace({node: changed})
    for size in definition.sizes.values():
        larger = {i: Index(i.name, size + 1) for i in definition.indices if i.size == size}
        yield (
            f"size {size} -> {size + 1}",
            whole.xreplace(larger).replace(
                lambda node: isinstance(node, sp.Sum),
                lambda node: summed(node.function, node.variables),
            ),
        )


def _tensor_changes(definition: Polynomial) -> Iterator[_Change]:
    """_Change a tensor's entries, its law, or its independence of itself and others."""
    whole, tensors = definition.statistic, definition.draws.values()
    for t in tensors:
        own = [entry for entry in definition.entries if entry.base.label == t]
        yield f"{t} shifted by 1", whole.xreplace({entry: entry + 1 for entry in own})
        yield f"{t} doubled", whole.xreplace({entry: 2 * entry for entry in own})
        copy = Tensor(f"{t}'", t.law, *t.sizes)
        once = _first_replaced(whole, {entry: copy[entry.indices] for entry in own})
        yield f"{t} in one place replaced by an independent copy", once
        if law := _other_law(t.law):
            label = f"law of {t}: {type(t.law).__name__} -> {type(law).__name__}"
            yield label, whole.xreplace({t: Tensor(t.name, law, *t.sizes)})
    for s, t in combinations(tensors, 2):
        if s.sizes == t.sizes:
            yield f"{t} identified with {s}", whole.xreplace({t: s})


def _first_replaced(node: sp.Expr, new: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """Replace the first occurrence of one of ``new``; in a power, one of its factors."""
    if node in new:
        return new[node]
    k = next(k for k, part in enumerate(node.args) if part.has(*new))
    changed = _first_replaced(node.args[k], new)
    if isinstance(node, sp.Pow):
        return changed * node.base ** (node.exp - 1)
    return node.func(*node.args[:k], changed, *node.args[k + 1 :])


def _index_changes(node: sp.Sum) -> Iterator[_Change]:
    """Merge two indices of a sum; let one of them run apart in one place."""
    body, indices = node.function, node.variables
    for i, j in combinations(indices, 2):
        if i.size == j.size:
            kept = [x for x in indices if x != j]
            yield f"{j} merged with {i}", summed(body.xreplace({j: i}), kept)
    for i in indices:
        new = Index(f"{i}'", i.size)
        entries = [entry for entry in body.atoms(sp.Indexed) if i in entry.indices]
        if not entries:
            continue  # it counts copies
        split = _first_replaced(body, {entry: entry.xreplace({i: new}) for entry in entries})
        if i in free_indices(split):
            yield f"{i} split in two", summed(split, [*indices, new])


def _other_law(law: Law) -> Law | None:
    """Return another law of the same mean and variance; a truncated one without truncation."""
    if isinstance(law, Normal):
        return Uniform.of_variance(law.sd**2, law.mean)
    if isinstance(law, TruncatedNormal):
        return Normal(law.mean, law.sd)
    try:
        return Normal(law.raw_moment(1), sp.sqrt(sp.factor(law.cumulant(2))))
    except (ValueError, TypeError):
        return None
