"""One pass of a model under hooks: second moments of its stream, its matrices and its norms."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from ..initial.from_model import is_matrix

_ATTENTION = re.compile(r"att|qkv|^(w|w_|to_)?[qkv](_proj|_lin)?$|^o(_proj)?$", re.IGNORECASE)
ROLE = re.compile(r"(?:^|[._])w?([qkv])(?:uery|ey|alue)?(?:_proj|_lin)?$")
HEADWISE = re.compile(r"(^|[._])(q|k|query|key)_?(layer)?norm", re.IGNORECASE)
_CROSS = re.compile(r"cross|encdec|encoder_attn", re.IGNORECASE)


@dataclass
class Passed:
    """What went through a module.

    ``inside`` is the second moment of each state before it, ``variance`` the same about the mean
    over the coordinates, ``outside`` the mean second moment after it.
    """

    name: str
    module: Any
    inside: torch.Tensor
    variance: torch.Tensor
    outside: float


@dataclass
class Layer:
    """One call of a layer: the stream at both ends, and what was called in between, in order.

    ``last`` is what the last matrix made. Where the module around it gives back something else,
    ``changed`` has that one's second moment, by the matrix. ``states`` are the stream itself at
    both ends, whose gradients are kept.
    """

    before: float
    after: float = float("nan")
    matrices: list[Passed] = field(default_factory=list)
    norms: list[Passed] = field(default_factory=list)
    changed: dict[str, float] = field(default_factory=dict)
    last: torch.Tensor | None = None
    states: list[torch.Tensor] = field(default_factory=list)

    def places(self) -> torch.Tensor:
        """Where its input is about as large as elsewhere.

        A row of padding is zero, and one that was added later next to it: the slope of a norm there
        is none, or that many times as steep.
        """
        return large_rows(self.states[0].detach())

    def growth(self, places: torch.Tensor) -> float | None:
        """The gradient's size at the input over that at the output, root mean squares at places.

        None where no gradient came to the output.
        """
        before, behind = (
            0.0 if each.grad is None else _second(each.grad[places]) for each in self.states
        )
        return math.sqrt(before / behind) if behind else None

    def carried(self, places: torch.Tensor) -> tuple[float, float] | None:
        """How often the gradient at the output stands in that at the input, and its deviation.

        What comes back through fresh matrices has no part along the gradient itself: of a share ρ
        of its square, ρ ‖G‖²/(d tr(G)²) on average, G (d, d) the gradients' second moments. None
        where no gradient came to the output.
        """
        if self.states[1].grad is None:
            return None
        behind = self.states[1].grad[places].double()
        before = self.states[0].grad
        before = torch.zeros_like(behind) if before is None else before[places].double()
        size, (count, d) = float(behind.square().sum()), behind.shape
        if not size:
            return None
        share = float((before * behind).sum()) / size
        beside = float((before - share * behind).square().sum()) / size
        moments = behind.T @ behind if d < count else behind @ behind.T  # of the same length
        return share, math.sqrt(beside / d) * float(moments.norm()) / size

    def branch(self, what: str) -> list[Passed]:
        """The matrices of "attention", "cross-attention" or "feed-forward"."""
        return [each for each in self.matrices if branch_of(each.name) == what]

    def adds(self, what: str) -> float:
        """Second moment of what a branch gives back: of its last matrix, or of what came of it."""
        last = self.branch(what)[-1]
        return self.changed.get(last.name, last.outside)


@dataclass
class Watched:
    """What a pass showed: the calls of each stack's layers, the state that the head reads.

    ``norms`` are those outside of the layers, in the order of their calls.
    """

    stacks: dict[str, list[Layer]]
    head: torch.nn.Module
    norms: list[Passed] = field(default_factory=list)
    state: torch.Tensor | None = None
    logits: torch.Tensor | None = None


def branch_of(name: str) -> str:
    """Which branch of a layer a matrix belongs to, by its name within the layer."""
    if _CROSS.search(name):
        return "cross-attention"
    if name == "wo" or any(_ATTENTION.search(part) for part in name.split(".")):
        return "attention"
    return "feed-forward"


def stacks_of(model: torch.nn.Module) -> dict[str, list[torch.nn.Module]]:
    """The outermost lists of modules, by name: where a model keeps its layers.

    An ``nn.ModuleList``, an ``nn.ModuleDict`` with numbers for names, or an ``nn.Sequential`` of
    modules of one class that hold matrices.
    """
    found: dict[str, list[torch.nn.Module]] = {}
    for name, module in model.named_modules():
        inner = any(name.startswith(f"{outer}.") for outer in found)
        layers = _layers_of(module)
        if layers and not inner:
            found[name] = layers
    return found


def _layers_of(module: torch.nn.Module) -> list[torch.nn.Module]:
    layers = [*module.children()]
    if isinstance(module, torch.nn.ModuleList):
        return layers
    if isinstance(module, torch.nn.ModuleDict):
        return layers if all(name.isdigit() for name, _ in module.named_children()) else []
    alike = isinstance(module, torch.nn.Sequential) and len({type(each) for each in layers}) == 1
    return layers if alike and any(is_matrix(each) for each in layers[0].modules()) and not (
        is_matrix(layers[0])
    ) else []  # fmt: skip


def large_rows(rows: torch.Tensor) -> torch.Tensor:
    """Which rows are no smaller than a third of the others' median size."""
    sizes = rows.double().square().mean(-1)
    return sizes > sizes.median() / 9


def _second(state: torch.Tensor) -> float:
    return float(state.detach().double().square().mean())


def first_of(given: Any) -> torch.Tensor | None:
    """The hidden state among what a module was given, or gave back."""
    if isinstance(given, torch.Tensor):
        return given
    if isinstance(given, dict):
        return first_of(given.get("hidden_states"))
    return first_of(given[0]) if isinstance(given, tuple | list) and given else None


@contextmanager
def watched(model: torch.nn.Module, head: torch.nn.Module) -> Iterator[Watched]:
    """Watch all passes of a model within the block.

    Args:
        model: the model.
        head: its last linear map.
    """
    found = Watched({name: [] for name in stacks_of(model)}, head)
    with ExitStack() as hooks:

        def hook(
            module: torch.nn.Module, call: Callable[..., None], *, before: bool = False
        ) -> None:
            register: Any = module.register_forward_hook
            if before:
                register = module.register_forward_pre_hook
            hooks.callback(register(call, with_kwargs=True).remove)

        def ends(_: Any, inputs: Any, more: Any, out: Any) -> None:
            found.state, found.logits = inputs[0] if inputs else first_of(more), out

        hook(head, ends)
        inside = tuple(f"{name}." for name in found.stacks)
        for name, module in model.named_modules():
            if is_norm(module) and not name.startswith(inside):
                hook(module, _kept(name, found.norms))
        for name, stack in stacks_of(model).items():
            calls = found.stacks[name]
            for layer in stack:
                _watch_layer(layer, calls, hook)
        yield found


def _watch_layer(layer: torch.nn.Module, calls: list[Layer], hook: Callable[..., None]) -> None:
    def keep_state(state: torch.Tensor) -> None:
        calls[-1].states.append(state)
        if state.requires_grad:
            state.retain_grad()

    def enter(_: Any, inputs: Any, more: Any) -> None:
        state = first_of(inputs) if first_of(inputs) is not None else first_of(more)
        calls.append(Layer(float("nan") if state is None else _second(state)))
        if state is not None:
            keep_state(state)

    def leave(_: Any, __: Any, ___: Any, out: Any) -> None:
        state = first_of(out)
        if state is not None:
            calls[-1].after = _second(state)
            keep_state(state)

    hook(layer, enter, before=True)
    hook(layer, leave)
    for name, module in layer.named_modules():
        if name and any(is_matrix(each) for each in module.children()) and not _holds_norm(module):

            def changed(_: Any, inputs: Any, more: Any, out: Any) -> None:
                _keep_what_changed(calls[-1], [*inputs, *more.values()], first_of(out))

            hook(module, changed)
        matrix = is_matrix(module)
        if not matrix and not is_norm(module):
            continue

        def keep(
            module: Any, inputs: Any, more: Any, out: Any, name: str = name, matrix: bool = matrix
        ) -> None:
            _kept(name, calls[-1].matrices if matrix else calls[-1].norms)(
                module, inputs, more, out
            )
            if matrix and first_of(out) is not None:
                calls[-1].last = first_of(out)

        hook(module, keep)


def is_norm(module: torch.nn.Module) -> bool:
    """Whether a module normalises, by the name of its class."""
    return "norm" in type(module).__name__.lower()


def _kept(name: str, kept: list[Passed]) -> Callable[[Any, Any, Any, Any], None]:
    """A hook that notes what goes through a module."""

    def keep(module: Any, inputs: Any, more: Any, out: Any) -> None:
        state, made = first_of(inputs) if inputs else first_of(more), first_of(out)
        if state is not None and made is not None:
            given = state.detach().double()
            each = given.square().mean(-1), given.var(-1, correction=0)
            kept.append(Passed(name, module, *each, _second(made)))

    return keep


def _holds_norm(module: torch.nn.Module) -> bool:
    """Whether a module normalises more than queries and keys."""
    return any(is_norm(each) and not HEADWISE.search(name) for name, each in module.named_modules())


def _keep_what_changed(call: Layer, given: list[Any], out: torch.Tensor | None) -> None:
    """Note what a branch's module gives back, unless its last matrix made that (and a residual)."""
    if call.last is None or out is None or out.numel() != call.last.numel():
        return
    made = call.last.reshape(out.shape)
    if not torch.equal(made, out) and not any(
        isinstance(each, torch.Tensor) and each.shape == out.shape and torch.equal(each + made, out)
        for each in given
    ):
        call.changed[call.matrices[-1].name] = _second(out)
