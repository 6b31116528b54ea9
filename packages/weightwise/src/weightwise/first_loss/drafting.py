"""A `Body` of a model that is written by hand, drafted from a pass: what made what is fitted.

The pass runs in float64, so that a form either fits to the last digits, or is another one.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from ..accepted import unwrapped
from .diagnosis.diagnose import diagnose
from .diagnosis.watching import HEADWISE, ROLE, branch_of, first_of, stacks_of
from .initial.activations import ACTIVATIONS
from .initial.body import Attention, Body, Feedforward, Norm, Stack
from .initial.from_model import is_matrix, parts_of, run

CLOSE = 1e-5  # of a tensor's length: a class that casts to float32 leaves 1e-7
LENGTH, TEXTS = 32, 2


def draft_body(model: torch.nn.Module) -> Body:
    """Draft what a model of one's own is, for `diagnose`, `initial_loss` and their kin.

    A pass on random tokens shows the matrices, the stream at both ends of each layer, and what the
    head makes of it. Deviations are those that the model has: medians over its layers, unless they
    rise or fall from each layer to the next. What all layers lack is drafted as well, so print the
    draft, which says it in words, and read whether it is what you meant. At the end `diagnose` must
    find the model to be as drafted. A window, a cap or a slope of attention is not drafted; where
    its weights are flat, none of them counts.

    Args:
        model: at step 0: a decoder or an encoder, whose layers are alike and stand in one
            ``nn.ModuleList`` (or an ``nn.ModuleDict`` by numbers, an ``nn.Sequential``), and whose
            attention's matrices are called so (``attn.qkv``, ``wq``).

    Raises:
        TypeError, ValueError: it is built otherwise; the message says where the draft stopped.

    Example:
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> small = GPT2Config(vocab_size=2000, n_embd=64, n_layer=2, n_head=2,
        ...                    bos_token_id=0, eos_token_id=0)
        >>> body = draft_body(GPT2LMHeadModel(small))
        >>> body.stack.form, body.tied
        ('pre', True)
    """
    model = unwrapped(model)
    table, head = parts_of(model)
    seen = _seen(model)
    layers = [_layer(call, str(index)) for index, call in enumerate(seen.calls)]
    form, norm = layers[0].form, layers[0].norm
    if any((each.form, each.norm.kind) != (form, norm.kind) for each in layers):
        raise _refused("layers that differ in their form", "layers that are alike")
    by_layer = _by_layer([one.branches for one in layers])
    factor, positions, types, first = _embedding(seen, table.weight.detach().double())
    last, scale = _last(seen)
    after, cap = _logits(seen)
    tied = head.weight is table.weight
    body = Body(
        type(model).__name__, len(table.weight), table.weight.shape[1], _root(table.weight),
        Stack(by_layer, form, norm, seen.causal, first, last),
        factor=factor, positions=positions, types=types, tied=tied, scale=scale, after=after,
        head=0.0 if tied else _root(head.weight), cap=cap, residual=layers[0].residual,
        notes=_untold(by_layer[0]),
    )  # fmt: skip
    found = diagnose(model, body=body, backward=False, length=LENGTH)
    if not found.fits:
        raise _refused(f"one that is not as drafted:\n{body}\n{found}", "one that a Body can say")
    return body


def _untold(branches: tuple[Any, ...]) -> tuple[str, ...]:
    """What a branch that starts at zero does not show."""
    zero = [each for each in branches
            if not (each.out if isinstance(each, Attention) else each.outer)]  # fmt: skip
    if not zero:
        return ()
    return (
        "a branch that starts at zero adds nothing: a norm or a factor behind it is not drafted",
    )


def _refused(got: str, accepted: str) -> ValueError:
    return ValueError(f"model: got {got}; accepted: {accepted}, or a Body that is written by hand")


@dataclass
class _Map:
    """A linear map that was called: what it read, and what it made."""

    name: str
    module: Any
    read: Tensor
    made: Tensor

    @property
    def size(self) -> float:
        return _root(self.module.weight)


@dataclass
class _Call:
    """A call of a layer, with the heads' numbers, lengths and scales, or their logits."""

    before: Tensor
    after: Tensor = field(default_factory=lambda: torch.empty(0))
    maps: list[_Map] = field(default_factory=list)
    attends: list[tuple[int, int | None, float | Tensor]] = field(default_factory=list)
    normed: bool = False


@dataclass
class _Seen:
    tokens: Tensor
    calls: list[_Call]
    state: Tensor
    scores: Tensor
    logits: Tensor
    causal: bool


class _Softmaxes(TorchFunctionMode):
    """Notes what attends: by the function of PyTorch, or by a softmax of one's own."""

    def __init__(self, calls: list[_Call]) -> None:
        super().__init__()
        self.calls = calls

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        more, name = kwargs or {}, getattr(func, "__name__", "")
        if self.calls and name == "scaled_dot_product_attention":
            query = args[0] if args else more["query"]
            heads, width = (query.shape[1] if query.ndim > 3 else 1), query.shape[-1]
            self.calls[-1].attends.append((heads, width, more.get("scale") or width**-0.5))
        elif self.calls and name == "softmax":
            given = args[0] if args else more["input"]
            heads = given.shape[1] if given.ndim > 3 else 1
            self.calls[-1].attends.append((heads, None, given.detach()))
        return func(*args, **more)


def _seen(model: torch.nn.Module) -> _Seen:
    """Two passes of a copy in float64, of which the second has another last token."""
    stacks = [*stacks_of(model).items()]
    if len(stacks) != 1:
        got = ", ".join(name for name, _ in stacks) or "none"
        raise _refused(f"{len(stacks)} lists of layers ({got})", "layers in one nn.ModuleList")
    own = copy.deepcopy(model).double().eval()
    settings = getattr(own, "config", None)
    for name, value in (("_experts_implementation", "eager"), ("use_cache", False)):
        if hasattr(settings, name):  # other ways of a class take no float64, or want a cache
            setattr(settings, name, value)
    (stack,), head, calls = stacks_of(own).values(), parts_of(own)[1], list[_Call]()
    ends: list[tuple[Tensor, Tensor]] = []
    for layer in stack:
        _note(layer, calls)
    head.register_forward_hook(lambda _, given, out: ends.append((given[0], out)))
    generator = torch.Generator().manual_seed(0)
    table = parts_of(own)[0].weight
    tokens = torch.randint(len(table), (TEXTS, LENGTH), generator=generator).to(table.device)
    other = tokens.clone()
    other[:, -1] = (other[:, -1] + 1) % len(table)
    outs: list[Any] = []
    with torch.no_grad(), _Softmaxes(calls):
        for each in (tokens, other):
            try:
                out = run(own, {"input_ids": each})
            except (RuntimeError, ValueError) as error:
                raise _refused(f"a pass that fails in float64: {error}", "one that runs") from error
            outs.append(getattr(out, "logits", out[0] if isinstance(out, tuple) else out))
    if len(ends) != 2 or len(calls) != 2 * len(stack) or ends[0][1].shape[:-1] != tokens.shape:
        raise _refused("a head or a layer that was not called once for all places",
                       "a model that runs each once, and scores all")  # fmt: skip
    early = [out[:, :-1] for out in outs]
    return _Seen(tokens, calls[: len(stack)], *ends[0], outs[0], _alike(*early))


def _note(layer: torch.nn.Module, calls: list[_Call]) -> None:
    """Hooks that note a layer's calls, and those of its matrices."""

    def enter(_: Any, given: Any, more: Any) -> None:
        state = first_of(given) if given else first_of(more)
        if state is None:
            raise _refused("a layer that is given no tensor", "layers that are given the stream")
        calls.append(_Call(state))

    def leave(_: Any, __: Any, out: Any) -> None:
        calls[-1].after = first_of(out)  # type: ignore[assignment]

    layer.register_forward_pre_hook(enter, with_kwargs=True)
    layer.register_forward_hook(leave)
    for name, module in layer.named_modules():
        if is_matrix(module):
            module.register_forward_hook(
                lambda module, given, out, name=name: calls[-1].maps.append(
                    _Map(name, module, given[0], out)
                )
            )
        elif HEADWISE.search(name):
            module.register_forward_hook(lambda *_: setattr(calls[-1], "normed", True))


@dataclass
class _Layer:
    form: str
    norm: Norm
    branches: tuple[Attention | Feedforward, ...]
    residual: float


def _layer(call: _Call, name: str) -> _Layer:
    """What a layer is: its two branches in their order, and how they are joined to the stream."""
    parts: dict[str, list[_Map]] = {}
    for each in call.maps:
        parts.setdefault(branch_of(each.name), []).append(each)
    if set(parts) != {"attention", "feed-forward"}:
        raise _refused(f"layer {name} with matrices of {', '.join(parts) or 'none'}",
                       "attention (attn.…, q, wk, v_proj) and a feed-forward part")  # fmt: skip
    form, norm, residual = _form(call, *parts.values())
    made: dict[str, Callable[..., Attention | Feedforward]]
    made = {"attention": _attention, "feed-forward": _feedforward}
    branches = tuple(made[what](maps, call, residual) for what, maps in parts.items())
    return _Layer(form, norm, branches, residual)


def _form(call: _Call, one: list[_Map], two: list[_Map]) -> tuple[str, Norm, float]:
    """The form of a layer, its norm, and the factor on what branches add."""
    x, y, a, b = call.before, call.after, one[-1].made, two[-1].made
    if strange := [each for each in (one[-1], two[-1]) if each.made.shape != x.shape]:
        raise _refused(f"a branch that ends in {strange[0].name}, of another width than the stream",
                       "branches that each end in a matrix that writes the stream")  # fmt: skip
    inside, next_inside = one[0].read, two[0].read
    factor = _share(y - x, a + b)
    norm = _norm(x, inside)
    if norm and _alike(y, x + factor * (a + b)):
        if bool(a.any()) and _alike(_applied(norm, x), next_inside):
            return "parallel", norm, factor
        if _norm(x + factor * a, next_inside):
            return "pre", norm, factor
    if norm and _alike(y, (z := x + _applied(norm, a)) + _applied(norm, b)):
        if _alike(_applied(norm, z), next_inside):
            return "sandwich", norm, 1.0
    if _alike(x, inside):
        norm = _norm(x + a, next_inside)
        if norm and _norm(next_inside + b, y):
            return "post", norm, 1.0
        norm = _norm(a, next_inside - x)
        if norm and _norm(b, y - next_inside):
            return "after", norm, 1.0
    raise _refused("layers whose branches are joined in another way",
                   "the forms pre, post, sandwich, after, parallel with one norm")  # fmt: skip


def _attention(maps: list[_Map], call: _Call, residual: float) -> Attention:
    *reads, out = maps
    if len(reads) not in (1, 3) or len(call.attends) != 1:
        got = f"attention with {len(maps)} matrices and {len(call.attends)} softmaxes"
        raise _refused(got, "one for queries, keys and values, or three, one after the softmax")
    ((heads, width, scale),) = call.attends
    roles = dict(zip("qkv", 3 * reads if len(reads) == 1 else reads, strict=True))
    roles |= {role[1]: each for each in reads if (role := ROLE.search(each.name))}
    width = width or out.read.shape[-1] // heads
    if isinstance(scale, Tensor):
        seen, each = scale[scale > -1e4], [roles[one].made for one in "qk"]
        sizes = [1.0 if call.normed else float(one.square().mean()) for one in each]
        measured = float(seen.square().mean() / width / math.prod(sizes)) ** 0.5
        known = (width**-0.5, 1.0, 1 / width, call.before.shape[-1] ** -0.5)
        scale = min(known, key=lambda one: abs(math.log(one / measured)))
        if not 0.7 < measured / scale < 1.4:
            raise _refused(f"attention logits with a factor of about {measured:.2g}",
                           "1/√width, 1/width, 1/√d or 1")  # fmt: skip
    return Attention(
        heads, width, roles["q"].size, roles["k"].size, roles["v"].size, residual * out.size, scale,
        call.normed,
    )  # fmt: skip


def _feedforward(maps: list[_Map], _: _Call, residual: float) -> Feedforward:
    *inner, outer = maps
    hidden, width = outer.read, outer.read.shape[-1]
    made = [each.made for each in inner]
    if len(made) == 1 and made[0].shape[-1] == 2 * width:
        made = [*made[0].chunk(2, -1)]
    for name, f in ACTIVATIONS.items():
        for gate, *other in (made, made[::-1]):
            found = torch.from_numpy(f(gate.cpu().numpy())).to(gate.device)
            if len(other) < 2 and _alike(hidden, found * other[0] if other else found):
                return Feedforward(width, inner[0].size, residual * outer.size, name, bool(other))
    accepted = f"two matrices, or three with a gate, and one of {', '.join(ACTIVATIONS)}"
    raise _refused(f"a feed-forward part of {len(maps)} matrices with another activation", accepted)


def _embedding(seen: _Seen, rows: Tensor) -> tuple[float, float, float, Norm | None]:
    """Factor, positions, what all places share, and the norm, of what the first layer reads."""
    x, own = seen.calls[0].before, rows[seen.tokens]
    factor = _share(x[0] - x[1], own[0] - own[1])
    rest = x - factor * own
    if not _alike(rest[0], rest[1], float(x.norm())):
        if first := _norm(own, x):
            return 1.0, 0.0, 0.0, first
        raise _refused("a stream that does not start with rows of the table, times a number",
                       "learned positions beside them, or a norm of them alone")  # fmt: skip
    if _root(rest) < CLOSE * _root(x):
        return factor, 0.0, 0.0, None
    shared = rest[0].mean(0)
    if _root(shared) < 2 * _root(rest) / math.sqrt(LENGTH):
        return factor, _root(rest), 0.0, None
    apart = _root(rest[0] - shared)
    return factor, apart if apart > CLOSE else 0.0, _root(shared), None


def _last(seen: _Seen) -> tuple[Norm | None, float]:
    """The norm before the head, and a factor on what the head reads."""
    before, state = seen.calls[-1].after, seen.state
    if before.shape == state.shape:
        factor = _share(state, before)
        if _alike(state, factor * before):
            return None, factor
        if norm := _norm(before, state):
            return Norm(norm.kind, norm.ε), norm.gain
    raise _refused(
        "more than that between the last layer and the head", "a norm, a factor, or none"
    )


def _logits(seen: _Seen) -> tuple[float, float | None]:
    """A factor on what the head makes, and a soft-cap."""
    made, logits = seen.scores, seen.logits
    factor = _share(logits, made)
    if _alike(logits, factor * made):
        return factor, None
    # c tanh(kx/c) = kx - (kx)³/3c² + …: first k and c, then c until it fits
    cubic = torch.stack([made.flatten(), made.flatten() ** 3], 1)
    factor, bend = (float(each) for each in torch.linalg.lstsq(cubic, logits.flatten()).solution)
    low, high = (math.sqrt(abs(factor) ** 3 / 3 / max(abs(bend), 1e-12)) * by for by in (0.3, 3.0))

    def miss(cap: float) -> tuple[float, float]:
        inside = cap * torch.atanh((logits / cap).clamp(-1 + 1e-12, 1 - 1e-12))
        factor = _share(inside, made)
        return float((inside - factor * made).norm()), factor

    for _ in range(80):
        third = (high - low) / 3
        if miss(low + third)[0] < miss(high - third)[0]:
            high -= third
        else:
            low += third
    cap = _rounded((low + high) / 2)
    if not _alike(logits, cap * torch.tanh(miss(cap)[1] * made / cap)):
        raise _refused("logits that are not the head's", "a factor or a soft-cap on them")
    return _rounded(miss(cap)[1]), cap


def _norm(x: Tensor, y: Tensor) -> Norm | None:
    """The norm that makes y of x, if one does: its kind, its ε, its gain."""
    for kind, bare in (("rms", x), ("layer", x - x.mean(-1, keepdim=True))):
        second, made = (each.square().mean(-1).flatten() for each in (bare, y))
        over = second / made  # is (second + ε) / gain²
        if float(second.std()) < 1e-3 * float(second.mean()):  # gain and ε cannot be told apart
            slope, start = 1.0, float((over - second).mean())
        else:
            moved = second - second.mean()
            slope = float((over * moved).sum() / moved.square().sum())
            start = float((over - slope * second).mean())
        if slope > 0:
            norm = Norm(kind, _rounded(max(0.0, start / slope), 2), _rounded(slope**-0.5))
            if _alike(y, _applied(norm, x), 30 * float(y.norm())):
                return norm
    return None


def _applied(norm: Norm, x: Tensor) -> Tensor:
    bare = x - x.mean(-1, keepdim=True) if norm.kind == "layer" else x
    return norm.gain * bare / (bare.square().mean(-1, keepdim=True) + norm.ε).sqrt()


def _share(y: Tensor, x: Tensor) -> float:
    """How often x stands in y; once, where x is zero and cannot tell."""
    if not bool(x.any()):
        return 1.0
    return _rounded(float((y * x).sum() / x.square().sum().clamp_min(1e-300)))


def _alike(x: Tensor, y: Tensor, size: float | None = None) -> bool:
    if x.shape != y.shape:
        return False
    return float((x - y).norm()) <= CLOSE * (float(x.norm()) if size is None else size)


def _rounded(number: float, digits: int = 6) -> float:
    return float(f"{number:.{digits}g}")


def _root(tensor: Tensor) -> float:
    return _rounded(float(tensor.detach().double().square().mean().sqrt()))


def _by_layer(branches: list[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    """Each layer's branches, with medians over the layers where its own follow no law.

    A deviation that rises, or falls, from each layer to the next by more than a draw does is meant
    so. That of a single layer is not.
    """
    columns = [*zip(*branches, strict=True)]
    middle = [_median([*each]) for each in columns]
    found = [[*each] for each in columns]
    for column, own, usual in zip(columns, found, middle, strict=True):
        for name in (each.name for each in fields(usual)):
            values = [getattr(each, name) for each in column]
            if isinstance(values[0], float) and not _is_law(values):
                own[:] = [replace(each, **{name: getattr(usual, name)}) for each in own]
    return tuple(zip(*found, strict=True))


def _is_law(values: list[float]) -> bool:
    """Whether positive numbers rise, or fall, by three percent at least from each to the next."""
    steps = [math.log(b / a) for a, b in pairwise(values)] if min(values) > 0 else []
    return bool(steps) and (min(steps) > 0.03 or max(steps) < -0.03)


def _median(branches: list[Any]) -> Any:
    """A branch whose numbers are medians of those of branches that are otherwise alike."""
    kind: Any = type(branches[0])
    values = {each.name: [getattr(one, each.name) for one in branches] for each in fields(kind)}
    return kind(**{
        name: median(each) if isinstance(each[0], float) else each[0]
        for name, each in values.items()
    })  # fmt: skip
