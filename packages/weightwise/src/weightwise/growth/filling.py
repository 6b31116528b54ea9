"""The wide model of a class, and the rules that fill it from the small one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from . import rules
from .axes import Axis, Gathered
from .descriptions import Description, GrowthRefused, described
from .rules import Axes, Part
from .sizes import power_of_two, size_of
from .stock import carry, made, require_stock


class Growth:
    """A small model, the large one of its class, and the rules by which the one fills the other.

    Args:
        model, axes, noise, generator: as `grow_along` takes them.
        config: of the large model, which is then made, its weights yet to be filled.
        large: instead, a model that was grown before.
        description: of the class, as `grow` takes it.

    Attributes:
        large: the grown model.
        description, axes: by which it is grown.
        stacks: the stacks of layers that have grown, and how many layers were and are in each.
        new_words: how many words the large model has more.
        place: by parameter of the small model, its name in the large one.
        first: by parameter of the large model, the first of the names that share it.

    Raises:
        ValueError, GrowthRefused: as `grow_along`.
    """

    def __init__(
        self,
        model: Any,
        config: Any = None,
        axes: Mapping[str, Axis] = MappingProxyType({}),
        *,
        noise: float = 0.0,
        generator: torch.Generator | None = None,
        large: Any = None,
        description: Description | str | None = None,
    ) -> None:
        self.told = description is not None
        self.description = described(model, description)
        if large is None:
            self.description.require_frequencies(model.config, config)
            require_stock(model)
            large = _wide(model, config, self.description)
        elif type(large) is not type(model):
            got, wanted = type(large).__name__, type(model).__name__
            raise GrowthRefused(f"large: got {got}; accepted: {wanted}")
        self.model, self.large = model, large
        self.noise, self.generator = noise, generator
        self._states: dict[str, torch.Tensor] = {}  # of the generator, before a weight's noise
        usual = axes_of(model, large, self.description)
        if strange := sorted(set(axes) - set(usual)):
            raise ValueError(f"axes: got {strange}; accepted: {', '.join(usual)}")
        self.axes = {**usual, **axes}
        self._small = dict(model.named_parameters(remove_duplicate=False))
        self._large = dict(large.named_parameters(remove_duplicate=False))
        self.stacks = _stacks(model, large)
        words = [size_of(each.config, "vocabulary", self.description.names) or 0
                 for each in (model, large)]  # fmt: skip
        self.new_words = words[1] - words[0]
        table = getattr(model, "get_input_embeddings", lambda: None)()
        self._table = getattr(table, "weight", None)
        origins = {name: self.origin(name) for name in self._large}
        self.place = {old: name for name, (old, between) in origins.items() if not between}
        firsts: dict[int, str] = {}
        self.first = {
            name: name if between else firsts.setdefault(id(self._small.get(old)), name)
            for name, (old, between) in origins.items()
        }
        uses = Counter(id(parameter) for parameter in self._small.values())
        self._noisy = {
            name
            for name, (old, _) in origins.items()
            if noise
            and (row := self.row(name)) is not None
            and row.rule in ("linear", "transposed")
            and not name.endswith("bias")
            and uses[id(self._small.get(old))] == 1  # a tied head is also a table
        }

    def origin(self, name: str) -> tuple[str, bool]:
        """What a module or parameter of the large model grows from, and whether in a new layer.

        Of every stack that has grown, layer j comes from layer ⌊j n / m⌋: the first of those that
        come from one layer is that layer, the others are new and begin as the identity.
        """
        for place, (old, new) in self.stacks.items():
            if name.startswith(f"{place}."):
                number, dot, rest = name[len(place) + 1 :].partition(".")
                layer = int(number) * old // new
                between = int(number) > 0 and layer == (int(number) - 1) * old // new
                return f"{place}.{layer}{dot}{rest}", between
        return name, False

    def row(self, name: str) -> rules.Row | None:
        """The row of a parameter or a buffer of the large model: its own, or its module's."""
        name = self.origin(name)[0]
        return self.description.row(name) or self.description.row(name.rpartition(".")[0])

    def fill(self, dtype: torch.dtype | None = None) -> None:
        """Fill the large model.

        Args:
            dtype: of its parameters; without it each has the small one's.

        Raises:
            GrowthRefused: no rule is known for a parameter or a buffer, or it does not fit.
        """
        self._fill_buffers()
        self._fill_parameters(dtype)
        carry(self.model, self.large, self.origin)

    def gathered(self, name: str) -> Gathered:
        """What the rules make of a parameter, noise left out; refused where none fits.

        ``name`` is that in the large model.
        """
        old = self.origin(name)[0]
        if old not in self._small:
            what = "a new layer" if old != name else "the grown class"
            raise GrowthRefused(f"{name}: {what} has it, the small model has no {old}")
        return self.of(name, self._small[old].detach())

    def of(self, name: str, value: torch.Tensor) -> Gathered:
        """What the rules make of another value of a parameter; refused as by `gathered`."""
        if value.dtype not in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
            raise GrowthRefused(f"{name}: got {value.dtype}; accepted: floats of 16 bits or more")
        if self.new_words and self._is_of_words(self.origin(name)[0]):
            mean = value.double().mean(0, keepdim=True).to(value.dtype)
            value = torch.cat([value, mean.expand(self.new_words, *value.shape[1:])])
        found = self._by_rule(name, Gathered(value))
        row = self.row(name)
        if not self.origin(name)[1] or row is None:
            return found
        if row.reads == "sum":
            raise GrowthRefused(
                f"layers: {name.rpartition('.')[0]} normalises the sum of a branch and the stream, "
                "so that no layer of this class is the identity; accepted: None"
            )
        ends = row.rule in ("linear", "transposed") or row.reads == "branch"
        return found.silent() if ends and row.writes == "stream" else found

    def exact(self, name: str, target: torch.Tensor) -> bool:
        """Write the first rows of a parameter of the large model into float64.

        It is not rounded, and has its noise. (Where there is noise, rows are all of them.) Where
        nothing was rounded, it is what was filled in, and this says so.
        """
        row, own = self.row(name), self._large[name].detach()
        if row is not None and row.rule == "frequencies":  # the class's own, which was filled in
            target.copy_(own)
            return True
        rule = self.gathered(self.first[name])  # shared ones agree to rounding alone
        if not (rule.rounds() or name in self._noisy):
            target.copy_(own[: len(target)])
            return True
        if target.shape < rule.shape:
            rule = rule.rows(torch.arange(len(target)))
        rule.into(target)
        if row is not None and name in self._noisy:
            drawn = torch.randn(target.shape, generator=self._source(name), dtype=torch.float64)
            drawn *= self.noise * target.square().mean().sqrt().cpu()
            target += rules.unseen(drawn, row, self.axes).to(target.device)
        return False

    def rounded_anew(self) -> list[nn.Parameter]:
        """The small parameters of which the large ones are more than themselves times powers of
        two.
        """
        alone = dict.fromkeys(self.first.values())
        found = [self._small[self.origin(name)[0]] for name in alone if not self._is_exact(name)]
        return list(dict.fromkeys(found))

    def _is_exact(self, name: str) -> bool:
        """Whether a parameter is what the rules make, nothing added, and not rounded."""
        rule, own = self.gathered(name), self.large.get_parameter(name).detach()
        if not rule.rounds():
            return torch.equal(rule.into(torch.empty_like(own)), own)
        if not all(power_of_two(factor) for factor, _ in rule.factors()):
            return False
        made = rule.dense()
        return torch.equal(made, own.to(made.dtype))  # 1 + w may round where its multiple does not

    def has_words(self, name: str) -> bool:
        """Whether the rows of a parameter of the small model stand for words, each by itself."""
        known = not self.told and self.place[name] not in self._noisy
        return known and self._is_of_words(name)

    def _is_of_words(self, name: str) -> bool:
        row = self.description.row(name) or self.description.row(name.rpartition(".")[0])
        return (row is not None and row.writes == "vocabulary") or self._small[name] is self._table

    def rows_are_exact(self, name: str) -> bool:
        """Whether some rows of a parameter of the large model are what the rules make, rounded.

        Of one with noise, or on the meta device, none are looked at.
        """
        rule, own = self.gathered(self.first[name]), self._large[name].detach()
        if name in self._noisy or not rule.shape or own.is_meta:
            return True
        rows = torch.linspace(0, rule.shape[0] - 1, 8, dtype=torch.float64).long()
        rows = rows.unique().to(own.device)
        exact, own = rule.rows(rows.cpu()).dense(), own[rows]
        return torch.equal(torch.empty_like(own).copy_(exact), own)

    def _source(self, name: str) -> torch.Generator | None:
        """The generator as it was before a weight's noise was first drawn."""
        if name not in self._states:
            source = self.generator or torch.default_generator
            self._states[name] = source.get_state()
            return self.generator
        return torch.Generator().set_state(self._states[name])

    def require_rules(self) -> dict[str, Gathered]:
        """What the rules make of every parameter, by name; refused as by `fill`."""
        for name in self._small:
            if name not in self.place:
                self._by_rule(name, Gathered(self._small[name]))
        rules_by_name = {name: self.gathered(name) for name in self.first}
        for name, first in self.first.items():
            if name != first and not rules_by_name[name].like(rules_by_name[first]):
                raise GrowthRefused(
                    f"{name} shares its parameter with {first}, and their rules disagree"
                )
        self._require_a_place_for_the_scale()
        return rules_by_name

    def _fill_parameters(self, dtype: torch.dtype | None) -> None:
        """Grow every parameter; what the small model shares, the large one shares too."""
        rules_by_name = self.require_rules()
        made: dict[str, nn.Parameter] = {}
        for name in rules_by_name:  # noise is drawn in the class's order
            parameter, first = self._small[self.origin(name)[0]], self.first[name]
            if first not in made:
                kind, rule = dtype or parameter.dtype, rules_by_name[first]
                target = torch.empty(rule.shape, dtype=kind, device=parameter.device)
                if name in self._noisy:
                    wide = torch.empty_like(target, dtype=torch.float64)
                    self.exact(name, wide)
                    target.copy_(wide)
                elif not parameter.is_meta:
                    rule.into(target)
                made[first] = nn.Parameter(target, requires_grad=parameter.requires_grad)
            path, _, leaf = name.rpartition(".")
            setattr(self.large.get_submodule(path), leaf, made[first])
        self._large = dict(self.large.named_parameters(remove_duplicate=False))

    def _require_a_place_for_the_scale(self) -> None:
        """Refuse a tied head whose input no parameter can scale."""
        scales = {float(scale) for scale in self.axes["features"].factor.unique()}
        rows = filter(None, map(self.row, self._large))
        if scales != {1.0} and not {"features", "last of the stream"} & {
            row.writes for row in rows
        }:
            raise GrowthRefused(
                f"{type(self.model).__name__}: its head must be met by {min(scales):g} times the "
                "grown state, as each of k copies meets a copy of the embedding (section 4.4), and "
                "no row is of a gain or matrix that the head alone reads, to take that factor; "
                "accepted: a head of its own"
            )

    def require_means(self) -> None:
        """Refuse a norm that subtracts a mean and reads an axis along which means are others."""
        for path, module in self.model.named_modules():
            row, kind = self.description.row(path), type(module).__name__
            if row is None or row.reads is None or "norm" not in row.rule:
                continue
            if not re.search("RMSNorm$|T5LayerNorm$|MT5LayerNorm$", kind):
                axis = self.axes[row.reads]
                if not axis.keeps_means():
                    accepted = f"width: a multiple of {axis.size}"
                    if not bool(axis.factor.all()):
                        accepted = "heads: as many times more as the stream grows"
                    raise GrowthRefused(
                        f"{path}: {kind} subtracts the mean, which only equally many copies of "
                        f"each coordinate keep (section 4.1); accepted: {accepted}"
                    )

    def _fill_buffers(self) -> None:
        """Rotary frequencies go to their slots; every other buffer must be the small model's."""
        small = dict(self.model.named_buffers())
        buffers = {name: self.origin(name)[0] for name, _ in self.large.named_buffers()}
        if strange := sorted(set(small) - set(buffers.values())):
            raise GrowthRefused(f"{strange[0]}: a buffer that {type(self.model).__name__} has not")
        for name, old in buffers.items():
            if old not in small:
                raise GrowthRefused(f"{name}: a buffer that the small model has not")
            path, _, leaf = name.rpartition(".")
            module, buffer = self.large.get_submodule(path), small[old]
            own = getattr(module, leaf)
            if self.row(name) is not None:
                found = self._by_rule(name, Gathered(buffer)).dense()
                setattr(module, leaf, found.to(buffer.dtype))
            elif not own.is_meta and not torch.equal(own, buffer):
                raise GrowthRefused(
                    f"{name}: a buffer that the class computes from its width whenever it is made "
                    "or loaded, so that no grown one would stay; accepted: buffers that do not "
                    "depend on the width (positions that are learned)"
                )

    def _by_rule(self, name: str, value: Gathered) -> Gathered:
        """One parameter or buffer by the rule of its module."""
        path, _, leaf = name.rpartition(".")
        row, kind = self.row(name), type(self.large).__name__
        known = leaf in ("weight", "bias") or leaf.endswith("inv_freq")
        if row is None or not (known or self.description.row(self.origin(name)[0])):
            raise GrowthRefused(f"{name}: no rule is known for this parameter of {kind}")
        own = self._large.get(name, getattr(self.large.get_submodule(path), leaf, None))
        if own is None:
            raise GrowthRefused(f"{name}: {kind} with this configuration has it not")
        axes = [*self.axes]
        for got, accepted in ((row.rule, [*rules.RULES]), (row.writes, axes), (row.reads, axes)):
            if got is not None and got not in accepted:
                raise GrowthRefused(f"{name}: got {got!r}; accepted: {', '.join(accepted)}")
        reads = None if row.reads is None else self.axes[row.reads]
        part = Part(leaf, value, self.axes[row.writes], reads, own.detach())
        try:
            found: Gathered = rules.RULES[row.rule](part)
        except (ValueError, IndexError) as error:
            raise GrowthRefused(f"{name}: rule {row.rule!r} does not fit: {error}") from error
        if tuple(found.shape) != tuple(own.shape):
            raise GrowthRefused(
                f"{name}: rule {row.rule!r} makes {tuple(found.shape)}, the class "
                f"{tuple(own.shape)}"
            )
        return found


def axes_of(model: Any, large: Any, description: Description) -> Axes:
    """The axes along which a model was grown into a large one."""
    stream = [size_of(each.config, "stream", description.names) for each in (large, model)]
    found = {
        (buffer.double() / large.get_buffer(name).double()).item()
        if not buffer.is_meta
        else (stream[0] / stream[1]) ** -0.5
        for name, buffer in model.named_buffers()
        if (row := description.row(name)) and row.rule == "own"
    }
    for path, module in model.named_modules():
        row, scale = description.row(f"{path}.weight"), getattr(module, "embed_scale", None)
        if row is not None and row.writes == "table" and isinstance(scale, float):
            found.add(scale / large.get_submodule(path).embed_scale)
    if len(found) > 1:
        raise GrowthRefused("axis 'table': tables have different scales; accepted: one scale")
    (table,) = found or {1.0}
    return description.axes(model.config, large.config, tied(model, description), table)


def tied(model: Any, description: Description) -> bool:
    """Whether a model has a head that is its embedding."""
    tables, heads = set(), set()
    for name, parameter in model.named_parameters(remove_duplicate=False):
        row = description.row(name) or description.row(name.rpartition(".")[0])
        if row is not None:
            tables |= {id(parameter)} if row.rule == "embedding" else set()
            heads |= {id(parameter)} if row.reads == "scored" else set()
    return bool(tables & heads)


def _stacks(model: Any, large: Any) -> dict[str, tuple[int, int]]:
    """The stacks of layers that a large model has more of, and how many."""
    small = dict(model.named_modules(remove_duplicate=False))
    return {
        path: (len(old), len(module))
        for path, module in large.named_modules(remove_duplicate=False)
        if isinstance(module, nn.ModuleList)
        and isinstance(old := small.get(path), nn.ModuleList)
        and 0 < len(old) < len(module)
    }


def _wide(model: Any, config: Any, description: Description) -> Any:
    """The class with another configuration; its weights are yet to be filled."""
    device = next(own.device for own in (*model.buffers(), *model.parameters()))
    large = made(type(model), config, device)
    _make_frequencies(large, description, "cpu" if device.type == "meta" else device)
    kinds = dict(model.named_buffers())
    for name, buffer in [*large.named_buffers()]:
        if name in kinds:
            path, _, leaf = name.rpartition(".")
            setattr(large.get_submodule(path), leaf, buffer.to(kinds[name].dtype))
    fill_own(large, description, kinds)
    return large


def _make_frequencies(large: Any, description: Description, device: Any) -> None:
    """Compute the tables of sines that a class keeps as parameters, as RoFormer's does."""
    for path, module in large.named_modules():
        row = description.row(path)
        if row is not None and row.rule == "frequencies" and list(module.parameters()):
            large._init_weights(module.to_empty(device=device))


def fill_own(model: Any, description: Description, like: Mapping[str, torch.Tensor]) -> None:
    """Give a model the numbers that its class computes from its width, as they would be loaded.

    ``like`` has, by name, buffers of the dtype and on the device.
    """
    for name, buffer in [*model.named_buffers()]:
        row = description.row(name)
        if row is not None and row.rule == "own":
            path, _, leaf = name.rpartition(".")
            module = model.get_submodule(path)
            one = torch.ones(buffer.shape, dtype=like[name].dtype, device=like[name].device)
            setattr(module, leaf, one * getattr(module, f"scalar_{leaf}"))  # Gemma's √d
