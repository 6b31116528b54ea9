"""Does a grown model compute the small one's function? Both run, in float64 without any cast.

transformers rounds to float32 inside its norms, rotary tables and some softmaxes, whatever dtype
the model has. `clean_float64` answers each of these casts by float64, so that what is left is the
error of the transformation. `compare` also runs both models as they are. Weights are in float64
only while their module runs, so that no copy of a model is made.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from .arrived import parted_on_loading
from .descriptions import Description, GrowthRefused
from .filling import Growth
from .layers import alike, passed_by
from .rules import Axes, Row
from .sizes import size_of
from .stock import lost

TOLERANCE = 1e-12  # of the largest logit; float64 leaves about 1e-15 a layer
# Attention that is nearly one-hot makes more of a rounding. So an error below `_DOUBTFUL` is held
# against what the small model itself makes of one rounding of each parameter, times `_ROUNDINGS`.
_DOUBTFUL, _ROUNDINGS = 1e-9, 32

Trace = list[tuple[str, str, Row, Any]]  # path, "input" or "output", row, value
Said = dict[str, torch.Tensor]  # what a model is given, or returns, by name
# writes the first rows of a parameter, by its name; returns whether it is that parameter itself
Numbers = Callable[[str, torch.Tensor], bool]
_WORDS = 256  # of the vocabulary, in the check of `grow`: each row of a table acts by itself


class GrowthFailed(AssertionError):
    """A grown model is another function than the small one."""


@dataclass(frozen=True)
class Comparison:
    """How far a grown model is from its small one, relative to the largest logit.

    ``clean`` is measured in float64 without casts, ``as_run`` in the models' own dtypes with the
    casts of their class, both on 2 x 12 random tokens. ``broken`` says at which module the grown
    model first leaves the small one, and what to look at; empty where it nowhere does.
    ``elsewhere`` is measured like ``clean``, by what was compared: positions up to the last that
    is configured, a step with a cache, training mode. ``rounded`` is the share of the parameters
    whose factor is no power of two, or that have noise: these alone are rounded anew. What that
    costs is ``predicted`` from the small model alone, without noise. ``lost`` names what the small
    model has and the grown one has not. ``print`` says all of it in words.
    """

    clean: float
    as_run: float
    broken: str
    elsewhere: dict[str, float] = field(default_factory=dict)
    rounded: float = 0.0
    lost: tuple[str, ...] = ()
    predicted: float = 0.0

    @property
    def worst(self) -> float:
        """The largest error in float64, wherever it was measured."""
        return max(self.clean, *self.elsewhere.values())

    def __str__(self) -> str:
        """What was found, in sentences."""
        said = [
            f"off by {self.clean:.0e} of the largest logit in float64, {self.as_run:.0e} as run"
        ]
        if self.rounded:
            said.append(
                f"{self.rounded:.0%} of the parameters are rounded anew, which was predicted to "
                f"cost {self.predicted:.0e}"
            )
        said += [f"off by {error:.0e}: {where}" for where, error in self.elsewhere.items()]
        if self.broken:
            said.append(f"another function; it first parts at {self.broken}")
        if self.lost:
            said.append(f"not taken over: {', '.join(self.lost)}")
        return "\n".join(said)


_ROUNDED = {torch.float32, torch.bfloat16, torch.float16}


class _Otherwise(TorchFunctionMode):
    """Where a function is called, it is called as ``change`` says."""

    def __init__(self, change: Callable[..., tuple[Any, Any, dict[str, Any]]]) -> None:
        super().__init__()
        self._change = change

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        func, args, kwargs = self._change(func, args, kwargs or {})
        return func(*args, **kwargs)


def _in_float64_alone(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Where a function is told a dtype that rounds, it is told float64."""
    func = torch.Tensor.double if func is torch.Tensor.float else func
    if func is nn.functional.embedding:  # a table may have its first rows alone, without padding's
        args, kwargs = args[:2], {}
    if torch.dtype in map(type, args):  # of very many calls, few
        args = tuple(map(_wide, args))
    return func, args, {name: _wide(value) for name, value in kwargs.items()}


def _wide(value: Any) -> Any:
    return torch.float64 if isinstance(value, torch.dtype) and value in _ROUNDED else value


def _without_dropout(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Where a function drops entries, it drops none."""
    if func is nn.functional.dropout:
        return func, args[:1] or (kwargs["input"],), {"p": 0.0}
    return func, args, kwargs | {"dropout_p": 0.0} if "dropout_p" in kwargs else kwargs


@contextmanager
def clean_float64() -> Iterator[None]:
    """Run float64 models without the casts to float32 inside their classes.

    Rotary frequencies are the class's own, computed in float32 once; a grown model has the same
    numbers in its slots, so they do not tell the two models apart.
    """
    with _Otherwise(_in_float64_alone), torch.no_grad():
        yield


def compare(
    small: Any,
    large: Any,
    *,
    tolerance: float | None = None,
    description: Description | str | None = None,
) -> Comparison:
    """Compare a model and a grown one on random tokens, some of them masked.

    Args:
        small: a model of a class that `grow` accepts.
        large: a model of the same class, grown.
        tolerance: the relative error from which a module counts as broken. Without it `TOLERANCE`,
            or where parameters were rounded anew 16 times the spacing of their dtype.
        description: as `grow` takes it.

    Returns:
        The relative errors of the logits (or of the states, of a class without a head), what was
        compared, and the first module that broke.

    Raises:
        GrowthRefused: the class is unknown, or ``large`` is no grown copy of it by its shape.
    """
    growth = Growth(small, large=large, description=description)
    inputs = random_inputs(growth)
    with torch.no_grad():
        small_out, large_out = (
            _outputs(growth, _evaluated(model, inputs)) for model in (small, large)
        )
    as_run = _apart(small_out, large_out, growth)
    anew = growth.rounded_anew()
    if tolerance is None:
        tolerance = max([TOLERANCE, *(16 * torch.finfo(own.dtype).eps for own in anew)])
    clean, broken, elsewhere, before = errors(growth, tolerance)
    rounded = sum(own.numel() for own in anew) / sum(own.numel() for own in small.parameters())
    predicted = _predicted(growth, anew, before) if anew else 0.0
    missing = lost(small) + tuple(
        f"{name}, which its class shares otherwise when it is loaded"
        for name in parted_on_loading(growth)
    )
    return Comparison(clean, as_run, broken, elsewhere, rounded, missing, predicted)


def _predicted(growth: Growth, anew: list[nn.Parameter], before: Said) -> float:
    """How far the small model moves when each parameter is what its rounded copies stand for.

    A grown model of rounded weights is the small one of such weights, grown without rounding, where
    all copies of a number have one factor; of those that have several, the last one counts.
    ``before`` is what the small model says as it is.
    """
    small, inputs = growth.model, random_inputs(growth)
    inputs = {name: it.double() if it.is_floating_point() else it for name, it in inputs.items()}
    own = dict(small.named_parameters(remove_duplicate=False))
    rounded = {id(parameter) for parameter in anew}

    def changed(name: str, value: torch.Tensor) -> bool:
        stands = own[name].detach()
        if id(own[name]) in rounded:
            stands = growth.gathered(growth.place[name]).rounded()
        value.copy_(stands[: len(value)])
        return False

    with _in_float64(small, changed, whole=growth.told), clean_float64():
        after = _outputs(growth, _evaluated(small, inputs))
    return max(_distance(value, after[name]) for name, value in before.items())


def require_same_function(growth: Growth) -> None:
    """Check two models module by module, with the grown weights before they were rounded.

    One layer of each kind is run, with the first words of the vocabulary, so that it costs what two
    layers cost; of all other weights some rows are looked at.

    Raises:
        GrowthRefused: the models are on the meta device, where there is nothing to compare.
        GrowthFailed: the logits or a module differ by more than `TOLERANCE`, or the weights of the
            large model are not the grown ones, rounded.
    """
    small = growth.model
    accepted = TOLERANCE
    for _ in range(2):
        error, broken, elsewhere, _ = errors(growth, accepted, exact=True, sampled=True)
        where, worst = max(elsewhere.items(), key=lambda one: one[1], default=("", 0.0))
        most = max(error, worst)
        if (not broken and most <= accepted) or not most < _DOUBTFUL:
            break
        accepted = max(TOLERANCE, _ROUNDINGS * _of_one_rounding(growth))
    if broken or not error <= accepted:
        raise GrowthFailed(
            f"grown {type(small).__name__}: relative error of the logits {error:.1e}, accepted "
            f"{accepted:.0e}; first at {broken or 'no module'}"
        )
    if not worst <= accepted:
        raise GrowthFailed(
            f"grown {type(small).__name__}: {where}: relative error {worst:.1e}, accepted "
            f"{accepted:.0e}"
        )
    for name in growth.first:
        if not growth.rows_are_exact(name):
            raise GrowthFailed(f"{name}: it is not what the rules make, rounded")


@torch.no_grad()
def _of_one_rounding(growth: Growth) -> float:
    """How far the small model moves, wherever it is compared, when each parameter is rounded once.

    Each is moved up or down by a unit of its last place in float64.
    """
    small, generator = growth.model, torch.Generator().manual_seed(8444)
    inputs = {name: it.double() if it.is_floating_point() else it
              for name, it in random_inputs(growth, words=_WORDS).items()}  # fmt: skip
    own = dict(small.named_parameters(remove_duplicate=False))
    passed = alike(small, growth.description, lengthened=bool(growth.stacks))

    def moved(name: str, value: torch.Tensor) -> bool:
        exact = own[name].detach()[: len(value)].double()
        signs = torch.randint(2, exact.shape, generator=generator, dtype=torch.float64) * 2 - 1
        value.copy_(exact * (1 + 2.0**-52 * signs.to(exact.device)))
        return False

    def said(numbers: Numbers | None) -> list[tuple[str, Said]]:
        with (
            _in_float64(small, numbers, whole=True, without=passed),
            passed_by(small, passed),
            clean_float64(),
        ):
            return [*_runs(growth, small, inputs, _WORDS)]

    return max(
        _distance(value, after[name])
        for (_, before), (_, after) in zip(said(None), said(moved), strict=True)
        for name, value in before.items()
    )


@torch.no_grad()
def errors(
    growth: Growth, tolerance: float, *, exact: bool = False, sampled: bool = False
) -> tuple[float, str, dict[str, float], Said]:
    """Error of the logits in clean float64, the first module that broke, errors elsewhere; and what
    the small model says.

    Args:
        growth: of the models.
        tolerance: from where on a module is broken.
        exact: whether the large weights are what they were before they were rounded; then what they
            are is held against that.
        sampled: whether one layer of each kind is enough, and the first words.
    """
    small, large = growth.model, growth.large
    words = _WORDS if sampled else None
    inputs = {
        name: value.double() if value.is_floating_point() else value
        for name, value in random_inputs(growth, words=words).items()
    }
    passed = set[str]()
    if sampled:
        passed = alike(small, growth.description, lengthened=bool(growth.stacks))
    for name, own in small.named_parameters():
        if own.is_meta and not any(name.startswith(f"{layer}.") for layer in passed):
            raise GrowthRefused(
                f"{name}: it is on the meta device, where nothing can be compared; accepted: "
                "check=False, or a model with numbers"
            )
    grown = {path for path, _ in large.named_modules() if growth.origin(path)[0] in passed}

    few = {name for name in growth.place if growth.has_words(name)} if sampled else set[str]()

    def rows(name: str, own: torch.Tensor) -> int:
        return min(len(own), _WORDS) if growth.origin(name)[0] in few else len(own)

    numbers = growth.exact if exact else None
    whole = growth.told or sampled  # so few layers are widened once, for all runs
    with (
        _in_float64(small, rows=rows, whole=whole, without=passed),
        _in_float64(large, numbers, rows=rows, whole=whole, without=grown, held=exact),
        passed_by(small, passed),
        passed_by(large, grown),
    ):
        runs = _runs(growth, small, inputs, words), _runs(growth, large, inputs, words)
        with clean_float64(), _traced(small, growth) as one, _traced(large, growth) as other:
            (_, said), (_, found) = map(next, runs)
        broken = _first_break(one, other, growth.axes, tolerance)
        with clean_float64():
            further = [*zip(*runs, strict=True)]
    error = _apart(said, found, growth)
    elsewhere = {where: _apart(before, after, growth) for (where, before), (_, after) in further}
    return error, broken, elsewhere, said


def logits_apart(small: Any, large: Any) -> float:
    """The relative error of logits between two language models, on random tokens, some masked."""
    length = min(size_of(small.config, "positions") or 64, 64)
    generator = torch.Generator().manual_seed(8444)
    tokens = torch.randint(small.config.vocab_size, (2, length), generator=generator)
    given = {
        "input_ids": tokens.to(small.device),
        "attention_mask": torch.ones_like(tokens, device=small.device),
    }
    given["attention_mask"][-1, : length // 4] = 0
    with _in_float64(small, whole=True), _in_float64(large, whole=True), clean_float64():
        one, other = (
            _evaluated(model, given).logits[given["attention_mask"] == 1]
            for model in (small, large)
        )
    return _distance(one, other)


def _runs(
    growth: Growth, model: Any, inputs: Said, words: int | None
) -> Iterator[tuple[str, Said]]:
    """What a model says of some tokens; and further runs, by what they look at."""
    places = "position_ids" in inspect.signature(type(model).forward).parameters
    end, tokens = _positions(growth), "decoder_input_ids" if _decodes(model) else "input_ids"
    cached = tokens in inputs and _is_of_transformers(model) and model.can_generate()
    first = _evaluated(model, inputs, use_cache=cached)
    yield "", _outputs(growth, first)
    if cached and getattr(first, "past_key_values", None) is not None:
        if end <= inputs[tokens].shape[1]:  # no place for one more
            less = {name: value[:, :-1] for name, value in inputs.items()}
            first = _evaluated(model, less, use_cache=True)
        yield "a step with a cache", _outputs(growth, _step(model, inputs, first, tokens))
    where, given = ["training mode without dropout"], dict(inputs)
    if "input_ids" in inputs:
        if end and not places:
            where.append(f"{end} tokens")
            given = random_inputs(growth, 1, end, words)
        if end and places:
            where.append(f"positions up to {end - 1}")
            length = inputs["input_ids"].shape[1]
            spread = torch.linspace(0, end - 1, length, dtype=torch.float64).long()
            given["position_ids"] = spread.to(inputs["input_ids"]).expand_as(inputs["input_ids"])
    if "attention_mask" in given:
        where.insert(1, "padding on the left")
        given["attention_mask"] = given["attention_mask"].flip(0, 1)
    found = _outputs(growth, _evaluated(model, given, training=True))
    hidden = given.get("attention_mask") == 0 if not _decodes(model) else None
    yield ", ".join(where), {
        name: value.masked_fill(hidden[..., None], 0)
        if isinstance(hidden, torch.Tensor) and value.ndim == 3 else value
        for name, value in found.items()
    }  # fmt: skip


def _is_of_transformers(model: Any) -> bool:
    return hasattr(model, "main_input_name")


def _decodes(model: Any) -> bool:
    return bool(getattr(model.config, "is_encoder_decoder", False))


def _positions(growth: Growth, most: int = 512) -> int:
    """How many positions a model is compared at: all that are configured; in one text, ``most``.

    Without positions in its configuration, as T5, up to the last distance that it tells apart.
    """
    model = growth.model
    end = size_of(model.config, "positions", growth.description.names) or 0
    if "position_ids" in inspect.signature(type(model).forward).parameters:
        return end
    furthest = getattr(model.config, "relative_attention_max_distance", None) or 0
    return min(end or furthest + 16, most)


def _step(model: Any, inputs: Said, first: Any, tokens: str) -> Any:
    """One more token, with the keys and values of those before in a cache."""
    mask = inputs["attention_mask"][:, : first.logits.shape[1]]
    given = {tokens: inputs[tokens][:, -1:], "past_key_values": first.past_key_values}
    if _decodes(model):
        given |= {"encoder_outputs": (first.encoder_last_hidden_state,), "attention_mask": mask}
    else:
        given["attention_mask"] = torch.cat([mask, torch.ones_like(mask[:, :1])], 1)
    return _evaluated(model, given, use_cache=True)


def _outputs(growth: Growth, found: Any) -> Said:
    """Logits, where there are any; else the states."""
    if not _is_of_transformers(growth.model):  # the first tensor is what such a class says
        first = found[0] if isinstance(found, tuple) else found
        ends = {row.writes for row in growth.description.rows.values()}
        return {"logits" if ends & {"vocabulary", "classes"} else "last_hidden_state": first}
    names = ("logits",) if "logits" in found else ("last_hidden_state", "pooler_output")
    return {name: found[name] for name in names if found.get(name) is not None}


def _apart(small: Said, large: Said, growth: Growth) -> float:
    """The largest relative error among what two models return."""
    axes = growth.axes
    kinds = {"last_hidden_state": growth.description.output, "pooler_output": "pooled"}
    return max(
        _distance(axes[kinds[name]].write(value, -1), large[name])
        if name in kinds
        else _distance(value, large[name][..., : value.shape[-1]])  # new words come last
        for name, value in small.items()
    )


def _evaluated(model: Any, inputs: Said, *, training: bool = False, use_cache: bool = False) -> Any:
    modes = [(module, module.training) for module in model.modules()]
    caches = {"use_cache": use_cache} if hasattr(model.config, "use_cache") else {}
    try:
        with warnings.catch_warnings(), _Otherwise(_without_dropout) if training else nullcontext():
            warnings.simplefilter("ignore")  # checkpointing complains where no gradient is wanted
            model.train(training)
            if not _is_of_transformers(model):
                return model(inputs["input_ids"])
            return model(**inputs, **caches)
    finally:
        for module, mode in modes:
            module.training = mode


def random_inputs(
    growth: Growth, batch: int = 2, length: int = 12, words: int | None = None
) -> Said:
    """Tokens, token types and a mask that hides the end of the last row; or random pictures.

    With ``words``, tokens are among so many first ones.

    A class that is not of transformers is given tokens alone.
    """
    model, generator = growth.model, torch.Generator().manual_seed(8444)
    config, own = model.config, next(model.parameters())
    if getattr(model, "main_input_name", "") == "pixel_values":
        size = config.image_size
        size = (size, size) if isinstance(size, int) else tuple(size)
        drawn = torch.randn(batch, config.num_channels, *size, generator=generator)
        return {"pixel_values": drawn.to(own.device, own.dtype)}
    if getattr(config, "pad_token_id", None) is None and "Sequence" in type(model).__name__:
        batch = 1  # such a class looks for the last token that is no padding
    length = min(length, size_of(config, "positions", growth.description.names) or length)

    def known(vocabulary: int) -> int:
        return min(vocabulary, words or vocabulary)

    def drawn_below(bound: int) -> torch.Tensor:
        return torch.randint(bound, (batch, length), generator=generator).to(own.device)

    inputs = {"input_ids": drawn_below(known(growth.axes["vocabulary"].size - growth.new_words))}
    if not _is_of_transformers(model):
        return inputs
    inputs["attention_mask"] = drawn_below(1) + 1
    inputs["attention_mask"][-1, -(length // 4) :] = 0
    if getattr(config, "type_vocab_size", None):
        inputs["token_type_ids"] = drawn_below(config.type_vocab_size)
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = drawn_below(known(config.vocab_size))
    return inputs


@contextmanager
def _in_float64(
    model: Any,
    numbers: Numbers | None = None,
    *,
    whole: bool = False,
    held: bool = False,
    rows: Callable[[str, torch.Tensor], int] = lambda _, own: len(own),
    without: frozenset[str] | set[str] = frozenset(),
) -> Iterator[None]:
    """Run a model's modules with their parameters in float64, each only while it runs, or all.

    Args:
        model: what is run.
        numbers: writes what stands for a parameter; without it, that itself.
        whole: whether all parameters are so from the start.
        held: whether a parameter must be what stands for it, rounded.
        rows: how many first rows of a parameter are there.
        without: layers that do not run.
    """
    handles, kept, seen = [], {}, dict[str, bool]()  # whether a parameter is not rounded at all
    spare: dict[Any, list[Any]] = {}  # of modules that have run, for others of their shape
    experts = getattr(model.config, "_experts_implementation", None)

    def write(name: str, own: torch.Tensor, value: torch.Tensor) -> None:
        if numbers is None or seen.get(name):
            value.copy_(own)
        elif not numbers(name, value) and held and name not in seen:
            if not _rounds_to(value, own):
                raise GrowthFailed(f"{name}: it is not what the rules make, rounded")
            seen[name] = _rounds_to(own, value)

    def hooks(path: str, module: nn.Module) -> tuple[Callable[..., None], Callable[..., None]]:
        owns = []  # looked at here once: where the hooks run, each look at a tensor is intercepted
        for leaf, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            name, own = f"{path}.{leaf}".lstrip("."), parameter.detach()
            own = own[: rows(name, own)] if own.ndim else own
            owns.append((leaf, name, own, spare.setdefault((own.shape, own.device), [])))

        def widen(*_: Any) -> None:
            if path not in kept:
                kept[path] = dict(module._parameters)
                for leaf, name, own, waiting in owns:
                    empty = waiting.pop() if waiting else _empty(own)
                    write(name, own, empty)
                    module._parameters[leaf] = empty

        def narrow(*_: Any) -> None:
            if path in kept:
                for leaf, _name, _own, waiting in owns:
                    waiting.append(module._parameters[leaf])
                module._parameters.update(kept.pop(path))

        return widen, narrow

    modules = dict(model.named_modules())
    try:
        if experts is not None:
            model.config._experts_implementation = "eager"  # the others know no float64
        for path, module in modules.items():
            if any(path.startswith(f"{layer}.") for layer in without):
                continue
            widen, narrow = hooks(path, module)
            if whole:
                widen()
            elif module._parameters:
                handles.append(module.register_forward_pre_hook(widen))
                handles.append(module.register_forward_hook(narrow, always_call=True))
        yield
    finally:
        for handle in handles:
            handle.remove()
        for path, own in kept.items():
            modules[path]._parameters.update(own)
        if experts is not None:
            model.config._experts_implementation = experts


def _empty(own: torch.Tensor) -> nn.Parameter:
    return nn.Parameter(torch.empty_like(own, dtype=torch.float64), requires_grad=False)


def _rounds_to(exact: torch.Tensor, own: torch.Tensor, rows: int = 1024) -> bool:
    """Whether a parameter is another tensor, rounded to its dtype; compared some rows at a time."""
    return all(
        torch.equal(there, torch.empty_like(there).copy_(here))  # .to(…) would not round here
        for here, there in zip(exact.split(rows), own.split(rows), strict=True)
    )


@contextmanager
def _traced(model: Any, growth: Growth) -> Iterator[Trace]:
    """Collect what goes in and out of every described module, in the order of the run.

    Modules of a large model have the names of those from which they grew; new layers are left out.
    """
    trace: Trace = []

    def hook(path: str, row: Row) -> Callable[..., None]:
        def keep(module: Any, given: tuple[Any, ...], output: Any) -> None:
            if row.reads is not None:
                trace.append((path, "input", row, given[0]))
            first = output[0] if isinstance(output, tuple) else output  # a router says more
            trace.append((path, "output", row, first))

        return keep

    handles = []
    for path, module in model.named_modules():
        between = False
        if model is growth.large:
            path, between = growth.origin(path)
        row = growth.description.row(path)
        if row is not None and row.rule not in ("frequencies", "convolution") and not between:
            handles.append(module.register_forward_hook(hook(path, row)))
    try:
        yield trace
    finally:
        for handle in handles:
            handle.remove()


def _first_break(small: Trace, large: Trace, axes: Axes, tolerance: float) -> str:
    for (path, side, row, before), (_, _, _, after) in zip(small, large, strict=True):
        name = row.reads if side == "input" else row.writes
        assert name is not None  # `_traced` keeps the input of those that read an axis
        axis = axes[name]
        taken = (axis.factor != 0).to(after.device)  # what is in an empty slot is seen by no one
        heads = axes["heads" if row.writes.startswith("query") else "key-value heads"].source
        for dim, size in enumerate(before.shape[:-1]):  # of a norm of each head there may be more
            if size != after.shape[dim] == len(heads):
                before = before.index_select(dim, heads.to(before.device))
        if name == "vocabulary":  # of which there may be the first words alone
            after = after[..., : before.shape[-1]]
        else:
            before, after = axis.write(before, -1), after * taken
        error = _distance(before, after)
        if not error <= tolerance:
            return f"{path}, its {side} (relative error {error:.1e}): {_suspects(side, row)}"
    return ""


def _suspects(side: str, row: Row) -> str:
    """What stands between the last good place and the broken one."""
    if side == "output":
        return f"rule {row.rule!r}, axis {row.writes!r}" + (", or ε" if row.rule == "norm" else "")
    return {
        "attended": "the attention: scale of query and key, order of heads, rotary slots",
        "feed-forward": "the activation or the gate",
        "scored": "the scale that the class puts on the head's input, axis 'features'",
    }.get(str(row.reads), "the sum in the stream before it")


def _distance(expected: torch.Tensor, found: torch.Tensor) -> float:
    if expected.shape != found.shape:
        return float("inf")
    difference = (found.double() - expected.double()).abs().max()
    return float(difference / expected.double().abs().max().clamp(min=1e-300))
