"""What one has to know of a model to say what its stream is at step 0: sizes, scales, order."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ...accepted import require_positive, require_real
from .activations import ACTIVATIONS

FORMS = ("pre", "post", "sandwich", "after", "parallel")


@dataclass(frozen=True)
class Norm:
    """A normalisation: ``kind`` "rms" or "layer", its ε, and the gain that it starts with."""

    kind: str
    ε: float
    gain: float = 1.0

    def __post_init__(self) -> None:
        require_real(ε=self.ε, gain=self.gain)
        if self.kind not in ("rms", "layer"):
            raise ValueError(f"kind: got {self.kind!r}; accepted: 'rms', 'layer'")
        if not 0 <= self.ε < math.inf:
            raise ValueError(f"ε: got {self.ε!r}; accepted: a finite number that is not negative")

    def __str__(self) -> str:
        gain = f", gain {self.gain:.4g}" if self.gain != 1 else ""
        return f"{'RMS' if self.kind == 'rms' else self.kind} norm with ε = {self.ε:.2g}{gain}"


@dataclass(frozen=True)
class Attention:
    """An attention branch: standard deviations of its four matrices, and what makes its weights.

    Attributes:
        heads, width: number of heads and length of one.
        query, key, value, out: standard deviation of an entry of each matrix.
        scale: factor on the products of queries and keys.
        normed: whether queries and keys are normalised, head by head.
        cap: soft-cap of the attention logits, if any.
        bias: variance of what is added to an attention logit, such as a relative position's.
        window: how many tokens back are seen, itself among them; None for all.
        slopes: what a logit loses for each token further back, head by head (ALiBi); none for ().
        cross: whether keys and values are the encoder's.
    """

    heads: int
    width: int
    query: float
    key: float
    value: float
    out: float
    scale: float
    normed: bool = False
    cap: float | None = None
    bias: float = 0.0
    window: int | None = None
    cross: bool = False
    slopes: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        require_positive(heads=self.heads, width=self.width)
        require_real(query=self.query, key=self.key, value=self.value, out=self.out,
                     scale=self.scale)  # fmt: skip

    def __str__(self) -> str:
        sizes = {"queries": self.query, "keys": self.key, "values": self.value, "out": self.out}
        said = ", ".join(f"{name} of {size:.2g}" for name, size in sizes.items())
        heads = f"{self.heads} heads of {self.width}{' that are normalised' * self.normed}"
        return f"attention: {heads}, logits times {self.scale:.4g}, {said}"


@dataclass(frozen=True)
class Feedforward:
    """A feed-forward branch: its width, the deviations of its matrices, what stands between."""

    width: int
    inner: float
    outer: float
    activation: str
    gated: bool = False

    def __post_init__(self) -> None:
        require_positive(width=self.width)
        require_real(inner=self.inner, outer=self.outer)
        if self.activation not in ACTIVATIONS:
            known = ", ".join(ACTIVATIONS)
            raise ValueError(f"activation: got {self.activation!r}; accepted: {known}")

    def __str__(self) -> str:
        kind = f"{self.width} wide, {self.activation}{', with a gate' * self.gated}"
        return f"feed-forward: {kind}, inner of {self.inner:.2g}, outer of {self.outer:.2g}"


@dataclass(frozen=True)
class Stack:
    """Layers over one stream.

    Attributes:
        layers: the branches of each layer, in their order.
        form: "pre" (x + F(norm x)), "post" (norm(x + F x)), "sandwich" (x + norm F(norm x)),
            "after" (x + norm F(x)) or "parallel" (x + F(norm x) + G(norm x)).
        norm: of the branches.
        causal: whether a token sees only what stands before it.
        first: a normalisation of the embeddings, if any.
        last: the final normalisation, if any.
    """

    layers: tuple[tuple[Attention | Feedforward, ...], ...]
    form: str
    norm: Norm
    causal: bool = True
    first: Norm | None = None
    last: Norm | None = None

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ValueError(f"form: got {self.form!r}; accepted: {', '.join(FORMS)}")
        for layer in self.layers:
            if not isinstance(layer, tuple) or not all(
                isinstance(branch, Attention | Feedforward) for branch in layer
            ):
                accepted = "a tuple of Attention and Feedforward for each layer"
                raise TypeError(f"layers: got {type(layer).__name__}; accepted: {accepted}")


@dataclass(frozen=True)
class Body:
    """A language model at step 0, as its configuration and its initialiser make it.

    Attributes:
        name: what it is called in the answer.
        n, d: number of tokens, width of the stream.
        table: standard deviation of an entry of the embedding.
        stack: the layers that end in the head: all, or the decoder's.
        encoder: the layers that the decoder looks at, if any.
        factor: what embeddings are multiplied with, such as √d.
        positions: standard deviation of an entry of the learned positions, 0 for none.
        types: the same of what all tokens of a text share.
        tied: whether the head is the embedding.
        head: standard deviation of an entry of the head's matrix.
        head_width: length of a row of the head, where it is not d.
        projected: standard deviation of a matrix between the stream and the head, if there is one.
        transform: activation and norm after that matrix, as in BERT's head.
        scale: factor on the state before the head, such as T5's d**-0.5.
        after: factor on the logits after it.
        cap: soft-cap of the logits, if any.
        residual: factor on what a branch adds, such as Granite's; ``out`` and ``outer`` contain it.
        blank: how many rows of the head are zero, as is padding's.
        notes: what of the configuration or of the class is worth saying.
    """

    name: str
    n: int
    d: int
    table: float
    stack: Stack
    encoder: Stack | None = None
    factor: float = 1.0
    positions: float = 0.0
    types: float = 0.0
    tied: bool = True
    head: float = 0.0
    head_width: int | None = None
    projected: float | None = None
    transform: tuple[str, Norm] | None = None
    scale: float = 1.0
    after: float = 1.0
    cap: float | None = None
    residual: float = 1.0
    blank: int = 0
    notes: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        """The body in words."""
        parts, stack = [f"{self.name}: {self.n} tokens of width {self.d}"], self.stack
        start = [f"entries of {self.table:.2g}"]
        start += [f"times {self.factor:.4g}"] * (self.factor != 1)
        start += [f"positions of {self.positions:.2g}"] * (self.positions > 0)
        start += [f"{self.types:.2g} that all share"] * (self.types > 0)
        start += [] if stack.first is None else [str(stack.first)]
        parts.append("embedding: " + ", ".join(start))
        for word, each in (("encoder: ", self.encoder), ("", stack)):
            if each is not None:
                seen = "what stands before" if each.causal else "all of the text"
                parts.append(f"{word}{len(each.layers)} layers, {each.form}-norm, {each.norm}; "
                             f"a token sees {seen}")  # fmt: skip
                alike = len({*each.layers}) < 2
                for number, layer in enumerate(each.layers[:1] if alike else each.layers):
                    place = "" if alike else f"layer {number}, "
                    parts += [f"  {place}{branch}" for branch in layer]
        parts += [f"branches times {self.residual:.4g}"] * (self.residual != 1)
        head = [str(stack.last or "no norm")]
        head += [f"times {self.scale:.4g}"] * (self.scale != 1)
        head.append("tied to the table" if self.tied else f"a matrix of {self.head:.2g} of its own")
        head += [f"logits times {self.after:.4g}"] * (self.after != 1)
        head += [] if self.cap is None else [f"capped at {self.cap:g}"]
        return "\n  ".join([*parts, "head: " + ", ".join(head)])

    def __post_init__(self) -> None:
        require_positive(n=self.n, d=self.d)
        if not 0 <= self.blank < self.n - 1:
            raise ValueError(f"blank: got {self.blank!r}; accepted: 0 to {self.n - 2}, of n rows")
        require_real(table=self.table, head=self.head, factor=self.factor)
        if self.n < 2:
            raise ValueError(f"n: got {self.n}; accepted: two tokens or more")
        if not isinstance(self.stack, Stack):
            raise TypeError(f"stack: got {type(self.stack).__name__}; accepted: a Stack")
        if not 0 < self.table < math.inf:
            raise ValueError(f"table: got {self.table!r}; accepted: a deviation > 0")
        if not 0 <= self.head < math.inf:
            raise ValueError(f"head: got {self.head!r}; accepted: a deviation, 0 of one of zeros")
