"""Growing and training, exchanged: one step of a small block with symbols for all its weights.

A block of two layers; ReLU is a product with a mask of symbols, so that what holds for any mask
holds for ReLU. All is symbolic: an expression that expands to zero is zero for all weights.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

Block = dict[str, sp.Matrix]
_LEARNT = ("W1", "b1", "W2", "b2")
RATE, MOMENTUM, DECAY = sp.symbols("eta mu lambda", positive=True)


def symbolic(name: str, width: int = 2, hidden: int = 2) -> Block:
    """A block whose entries are symbols that begin with ``name``; (rows, columns) of columns."""
    sizes = {
        "x": (width, 1), "W1": (hidden, width), "b1": (hidden, 1), "mask": (hidden, 1),
        "W2": (width, hidden), "b2": (width, 1), "target": (width, 1),
    }  # fmt: skip
    return {key: sp.Matrix(*size, lambda i, j, key=key: sp.Symbol(f"{name}_{key}_{i}_{j}"))
            for key, size in sizes.items()}  # fmt: skip


def grown(p: Block, k: int, hidden: sp.Expr | None = None) -> Block:
    """The block k times as wide without loss.

    Args:
        p: the small block.
        k: factor of growth; every vector is repeated and divided by √k.
        hidden: the scale of the hidden copies; 1/√k keeps the length of each array (eq. 6), 1 is
            eqs. 9 and 11 with the bias mended.
    """
    root = 1 / sp.sqrt(k)
    inner = root if hidden is None else hidden
    scale = {"x": root, "W1": inner * root, "b1": inner, "mask": sp.Integer(1),
             "W2": root / (k * inner), "b2": root, "target": root}  # fmt: skip
    ones = {key: sp.ones(k, k if key in ("W1", "W2") else 1) for key in p}
    return {key: scale[key] * sp.kronecker_product(p[key], ones[key]) for key in p}


def loss(p: Block) -> sp.Expr:
    """Half the squared distance of the block's output from its target."""
    off = p["W2"] * p["mask"].multiply_elementwise(p["W1"] * p["x"] + p["b1"]) + p["b2"]
    return sum(entry**2 for entry in off - p["target"]) / 2


def gradient(p: Block) -> Block:
    """The gradient of the loss, layer by layer; a test compares it with SymPy's derivatives."""
    hidden = p["mask"].multiply_elementwise(p["W1"] * p["x"] + p["b1"])
    off = p["W2"] * hidden + p["b2"] - p["target"]
    back = p["mask"].multiply_elementwise(p["W2"].T * off)
    return {"W1": back * p["x"].T, "b1": back, "W2": off * hidden.T, "b2": off}


def stepped(p: Block, memory: Block) -> tuple[Block, Block]:
    """Weights and memory after a step with momentum and weight decay, as torch's SGD takes it."""
    slopes = gradient(p)
    kept = {key: MOMENTUM * memory[key] + slopes[key] + DECAY * p[key] for key in _LEARNT}
    return p | {key: p[key] - RATE * kept[key] for key in _LEARNT}, kept


def commutes(k: int, hidden: sp.Expr | None = None) -> bool:
    """Whether a step of the grown block is the grown step, for all weights and memories."""
    small, memory = symbolic("s"), symbolic("m")
    later, kept = stepped(small, memory)
    of_grown, grown_kept = stepped(grown(small, k, hidden), grown(memory, k, hidden))
    wanted, wanted_kept = grown(later, k, hidden), grown(memory | kept, k, hidden)
    pairs = [(of_grown[key], wanted[key]) for key in _LEARNT]
    pairs += [(grown_kept[key], wanted_kept[key]) for key in _LEARNT]
    return all(sp.expand(a - b) == 0 for x, y in pairs for a, b in zip(x, y, strict=True))


def twins_stay(dropped: Callable[[int], sp.Matrix]) -> bool:
    """Whether two hidden units that are copies have equal gradients, for all weights.

    Args:
        dropped: from the number of hidden units, the dropout's factors on them. Dropout on the
            stream is in it always: input and target have symbols of their own in each coordinate,
            and the residual is weighted by symbols.
    """
    p = symbolic("t", width=2, hidden=3)
    p["W1"][1, :], p["b1"][1], p["mask"][1] = p["W1"][0, :], p["b1"][0], p["mask"][0]
    p["W2"][:, 1] = p["W2"][:, 0]
    free = symbolic("free", 2, 3)
    kept = sp.Matrix(sp.symbols("r_0 r_1"))  # what dropout on the stream leaves of the branch
    hidden = free["mask"].multiply_elementwise(free["W1"] * free["x"] + free["b1"])
    branch = free["W2"] * hidden.multiply_elementwise(dropped(3)) + free["b2"]
    off = kept.multiply_elementwise(branch) - free["target"]
    height = sum(entry**2 for entry in off) / 2
    at = {s: v for key in p for s, v in zip(free[key], p[key], strict=True)}
    pairs = [(free["W1"][0, j], free["W1"][1, j]) for j in range(2)]
    pairs += [(free["W2"][i, 0], free["W2"][i, 1]) for i in range(2)]
    pairs.append((free["b1"][0], free["b1"][1]))
    slopes = [[sp.diff(height, s).subs(at, simultaneous=True) for s in pair] for pair in pairs]
    return all(sp.expand(one - other) == 0 for one, other in slopes)
