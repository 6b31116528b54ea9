"""Draft the description of a class that has none, and try it; say what could not be told.

Roles are guessed from shapes and from the names that modules usually have. What names cannot tell
(how rotary pairs lie, whether scores are scaled, in which order a fused weight is) is tried, on a
model of two layers whose parameters are drawn, and counts only if the grown one is exact.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from .descriptions import Description, GrowthRefused, described
from .growing import begun
from .rules import Row
from .sizes import Attention, enlarged, shortened, size_name, size_of
from .verify import TOLERANCE, errors

_FUSED, _GATED = "query, key, value", "gate, up"
# by the last part of a path, what a linear map writes and reads; a dense map by what it stands in
_NAMES = (
    (r"(to_|w)?q(_proj|_lin)?|query(_proj)?", "query", "stream"),
    (r"(to_|w)?k(_proj|_lin)?|key(_proj)?", "key", "stream"),
    (r"(to_|w)?v(_proj|_lin)?|value(_proj)?", "value", "stream"),
    (r"c_attn|(w|to_)?qkv(_proj)?|query_key_value|in_proj.*", _FUSED, "stream"),
    (r"gate_up_proj|Wi", "gate, up", "stream"),
    (r"(gate|up)(_proj)?|fc_?1|c_fc|fc_in|lin1|w1|w3|wi|wi_\d|dense_h_to_4h|intermediate",
     "feed-forward", "stream"),
    (r"down(_proj)?|fc_?2|fc_out|lin2|w2|dense_4h_to_h", "stream", "feed-forward"),
    (r"(w|to_)?o(ut)?|.*_proj|proj|out_lin|dense|projection", "stream", "attended"),
)  # fmt: skip
_NORMS = r"(q|k|query|key)_?(layer)?_?norm"


def describe(model: Any) -> str:
    """Draft the description of a model's class, for `grow(model, 2, description=…)`.

    Its first lines, which begin with ``# ``, say whether a grown model of two layers was exact, and
    if not, what broke. A line with a question mark is a module whose role could not be told: write
    a rule of `RULES` and the axes there. While there is one, nothing can be tried, and what names
    cannot tell has its question mark too: the order in a fused weight, how rotary pairs lie.
    Nothing is trusted: `grow` checks the whole model as ever.

    Args:
        model: a module with a ``config``, from which its class makes it, of transformers or not.

    Returns:
        Lines of settings, ``rotary: halves``, and a table: a path, its rule, the axis that is
        written and the one that is read, two spaces apart; ``#`` is the number of a layer, and
        ``-1`` that of the last one.

    Raises:
        GrowthRefused: the model has no ``config``, or that has no width, no number of heads, or
            sizes that vary from layer to layer.

    Example:
        >>> from transformers import StableLmConfig, StableLmForCausalLM
        >>> small = StableLmForCausalLM(StableLmConfig(
        ...     vocab_size=19, hidden_size=16, intermediate_size=20, num_hidden_layers=1,
        ...     num_attention_heads=2, num_key_value_heads=2))
        >>> print(describe(small).splitlines()[1])
        rotary: halves
    """
    if vary := getattr(getattr(model, "config", None), "per_layer_attributes", None):
        got = f"{', '.join(sorted(vary))}, which vary from layer to layer"
        raise GrowthRefused(f"model.config: got {got}; accepted: one value for all layers")
    draft = Description({}, names=_names(model))
    described(model, draft)
    draft = replace(draft, rows=_rows_of(model, draft))
    unknown = [path for path, row in draft.rows.items() if row.rule == "?"]
    if unknown:
        draft, of = _asking(model, draft), len(draft.rows)
        remark = f"no role is known for {len(unknown)} of {of} lines, and the others are untried"
    else:
        draft, remark = _tried(model, draft)
    return f"# {type(model).__name__}: {remark}\n{draft}\n"


def _names(model: Any) -> dict[str, str]:
    """What a configuration calls its width, where that is no usual name: what holds the number."""
    config = getattr(model, "config", None)
    found = {}
    table = next((each for each in model.modules() if isinstance(each, nn.Embedding)), None)
    if config is not None and table is not None:
        for what, value in (("stream", table.embedding_dim), ("vocabulary", table.num_embeddings)):
            same = [name for name, it in vars(config).items() if it == value and it is not True]
            if not size_name(config, what) and len(same) == 1:
                found[what] = same[0]
    return found


def _rows_of(model: Any, draft: Description) -> dict[str, Row]:
    """The rows of all parameters and rotary tables, as far as they can be told."""
    config = model.config
    try:
        large = enlarged(config, 2, {}, draft.names)
    except ValueError as error:
        raise GrowthRefused(f"model: {error}") from error
    sizes = {name: axis.size for name, axis in draft.axes(config, large, tied=False).items()}
    told: dict[str, Row] = {}
    for path, module in model.named_modules():
        for leaf, value in module.named_parameters(recurse=False):
            row = _row(path, leaf, module, value, sizes)
            plain = leaf in ("weight", "bias") and row.writes != "table"
            name = path if plain else f"{path}.{leaf}".lstrip(".")
            if leaf == "bias" and module._parameters.get("weight") is not None:
                continue
            told[name] = row
        for leaf, _ in module.named_buffers(recurse=False):
            if re.search("inv_freq|embed_positions|sin|cos|freqs", leaf):
                told[f"{path}.{leaf}".lstrip(".")] = Row("frequencies", "query")
    names = set(told)
    for path, row in told.items():  # a norm between a projection and the heads
        for one in ("query", "key"):
            place = path.rpartition(".")[0]
            norms = {f"{place}.{name}_norm" for name in (one, one[0])}
            if row.writes == one and row.rule != "norm" and norms & names:
                told[path] = row._replace(writes=f"{one} before its norm")
    every = [path for path, row in told.items() if "norm" in row.rule and "embed" not in path]
    ends = [path for path in every if not re.search(r"\.\d+\.", path)]
    if not every or not any(row.reads == "scored" for row in told.values()):
        return _shortly(told)
    last = told.pop(ends[-1] if ends else every[-1])._replace(writes="features")
    if ends:
        return _shortly({**told, ends[-1]: last})
    # what the last layer ends in is the head's alone
    return _shortly(told) | {re.sub(r"\.\d+\.", ".-1.", every[-1], count=1): last}


def _shortly(told: dict[str, Row]) -> dict[str, Row]:
    """Rows with ``#`` for every number, or for the first where others tell modules apart."""
    found: dict[str, Row] = {}
    apart = set()
    for path, row in told.items():
        every = re.sub(r"\.\d+(?=\.|$)", ".#", path)
        if found.setdefault(every, row) != row:
            apart.add(every)
    for every in apart:
        del found[every]
    for path, row in told.items():
        if re.sub(r"\.\d+(?=\.|$)", ".#", path) in apart:
            found[re.sub(r"\.\d+(?=\.|$)", ".#", path, count=1)] = row
    return found


def _row(
    path: str, leaf: str, module: nn.Module, value: torch.Tensor, sizes: dict[str, int]
) -> Row:
    """The row of one parameter; its rule is a question mark where it cannot be told."""
    unknown = Row("?", str(tuple(value.shape)))
    shape, d = tuple(value.shape), sizes["stream"]
    last = path.rpartition(".")[2] if leaf in ("weight", "bias") else leaf
    if leaf == "bias" and shape == (sizes["vocabulary"],):
        return Row("kept", "vocabulary")
    weight = module._parameters.get(leaf.removesuffix("_bias"))
    if leaf.endswith("_bias") and weight is not None:
        return _row(path, leaf.removesuffix("_bias"), module, weight, sizes)._replace(reads=None)
    if value.ndim == 1 and leaf == "sinks" and shape == (sizes["heads"],):
        return Row("embedding", "heads")  # what each head adds to the sum of its softmax
    if value.ndim == 1:
        return _norm_row(path, module, shape[0], sizes) or unknown
    experts = value.ndim == 3 and shape[0] == sizes["experts"]
    if isinstance(module, nn.Embedding) or (value.ndim == 3 and shape[-1] == d and not experts):
        axis = {sizes["embedding"]: "embedding", d: "stream", sizes["heads"]: "heads"}
        scaled = isinstance(getattr(module, "embed_scale", None), float)
        found = "table" if scaled and shape[-1] == d else axis.get(shape[-1])
        return Row("embedding", found) if found else unknown
    if value.ndim != 2 and not experts:
        return unknown
    conv = type(module).__name__ == "Conv1D"
    stored = {"linear": shape[-2:], "transposed": shape[:-3:-1]}
    if not experts:
        stored = {"transposed" if conv else "linear": shape[::-1] if conv else shape}
    for writes, reads in _guesses(path, last):
        for rule, sides in stored.items():
            if (sizes[writes], sizes[reads]) == sides:
                return Row(rule, writes, reads)
    return unknown


def _guesses(path: str, last: str) -> Iterator[tuple[str, str]]:
    """What a linear map may write and read, by its place and its name; then by its shape alone."""
    if not re.search(r"\.\d+\.", path):
        yield from (("vocabulary", "scored"), ("classes", "scored"), ("stream", "stream"),
                    ("embedding", "stream"), ("stream", "embedding"))  # fmt: skip
    inner, attends = ("stream", "feed-forward"), re.search("att", path, re.IGNORECASE)
    last = "intermediate" if path.endswith("intermediate.dense") else last
    for pattern, writes, reads in _NAMES:
        if re.fullmatch(pattern, last, re.IGNORECASE):
            yield inner if reads == "attended" and not attends else (writes, reads)
    if not attends:
        yield inner[::-1]
        yield inner
    if "expert" in path:
        for one in ("expert", "shared expert"):
            yield from ((f"{_GATED} of an expert", "stream"), (one, "stream"), ("stream", one))
    yield from (("experts", "stream"), ("one number", "stream"))


def _norm_row(path: str, module: nn.Module, size: int, sizes: dict[str, int]) -> Row | None:
    """The row of a norm; None of anything else."""
    kind, last = type(module).__name__.lower(), path.rpartition(".")[2]
    weight = module._parameters.get("weight")
    if "norm" not in kind or weight is None:
        return None
    rule = "shifted norm" if _says_something_without_gain(module, size) else "norm"
    if named := re.fullmatch(_NORMS, last):
        one = "query" if named[1].startswith("q") else "key"
        for axis in (f"{one} of a head", one):
            if sizes[axis] == size:
                return Row(rule, axis, f"{axis} before its norm")
    same = next((axis for axis in ("stream", "embedding") if sizes[axis] == size), None)
    return Row(rule, same, same) if same else None


def _says_something_without_gain(norm: nn.Module, size: int) -> bool:
    """Whether a norm's gain is 1 + w."""
    alone = copy.deepcopy(norm).to("cpu")
    with torch.no_grad():
        for parameter in alone.parameters():
            parameter.zero_()
        given = torch.arange(size).to(next(alone.parameters()))[None, None]
        try:
            made = alone(given)
        except (RuntimeError, TypeError, ValueError, AttributeError):  # it takes more: to be tried
            return False
    first = made[0] if isinstance(made, tuple) else made
    return bool(first.any())


def _asking(model: Any, draft: Description) -> Description:
    """The likeliest draft, with a question mark at what a run alone could tell, and none has."""
    found = next(_settings(model, draft))
    rows = {
        path: row._replace(writes=f"{row.writes} ?") if row.writes == _FUSED else row
        for path, row in found.rows.items()
    }
    rotary = f"{found.attention.rotary} ?" if found.attention.rotary else ""
    return replace(found, rows=rows, attention=found.attention._replace(rotary=rotary))


def _tried(model: Any, draft: Description) -> tuple[Description, str]:
    """The first of all settings under which a grown model is exact, and what to say of it."""
    config = shortened(model.config, 2, draft.names)
    with torch.random.fork_rng(devices=[]):
        small = type(model)(config).double().eval()
    _draw(small)
    told = [*_settings(small, draft)]
    count = size_of(config, "heads", draft.names)
    faults = list[tuple[float, str, Description]]()
    for asked, said in (({}, ""), ({"heads": 2 * count}, " and heads = 2 times as many")):
        for setting in told:
            fault, error = _fault(small, setting, asked)
            if not fault:
                remark = f"exact on two layers with drawn parameters, k = 2{said} ({error:.0e})"
                return setting, remark if not said else f"{remark}; else {faults[0][1]}"
            faults.append((error, fault, setting))
    _, fault, best = min(faults, key=lambda tried: tried[0])
    return best, f"not exact with any setting that was tried; with this one: {fault}"


def _fault(small: Any, draft: Description, asked: dict[str, int]) -> tuple[str, float]:
    """What is wrong with a draft, empty where nothing is; and the error."""
    try:
        growth = begun(small, 2, asked, description=draft)
        growth.fill()
        error, broken, elsewhere, _ = errors(growth, TOLERANCE, exact=True)
    except (ValueError, AssertionError, RuntimeError, KeyError, TypeError) as fault:
        return " ".join(str(fault).split())[:200], math.inf
    where, worst = max(elsewhere.items(), key=lambda one: one[1], default=("", 0.0))
    if not error <= TOLERANCE or broken:
        return broken or f"the logits are off by {error:.0e}", error
    return ("" if worst <= TOLERANCE else f"{where}: off by {worst:.0e}"), max(error, worst)


def _settings(small: Any, draft: Description) -> Iterator[Description]:
    """All that names cannot tell, the likely first."""
    rotates = any(row.rule == "frequencies" for row in draft.rows.values()) or any(
        "rope" in name or "rotary" in name for name in vars(small.config)
    )
    kinds = ("halves", "interleaved", "") if rotates else ("", "halves", "interleaved")
    written = {row.writes for row in draft.rows.values()}
    fused = _FUSED in written
    orders = (_FUSED, f"{_FUSED} of each head", "query, value, key of each quarter")
    gates = (_GATED, f"{_GATED} by turns")
    heads: tuple[str | bool, ...] = (False,)  # options that say whether T5's kin divide at the end
    if getattr(small.config, "is_encoder_decoder", False):
        heads = (False, "tie_word_embeddings")
    if hasattr(small.config, "scale_decoder_outputs"):
        heads = ("scale_decoder_outputs",)
    for scaled_head, scaled, gate, order, rotary in itertools.product(
        heads, (True, False), gates if _GATED in written else ("",),
        orders if fused else ("",), kinds,
    ):  # fmt: skip
        told = {_FUSED: order, _GATED: gate}
        rows = {
            path: row._replace(writes=told.get(row.writes, row.writes))
            for path, row in draft.rows.items()
        }
        attention = Attention(rotary, scaled=scaled, fused=fused, scaled_head=scaled_head)
        yield replace(draft, rows=rows, attention=attention)


def _draw(small: Any) -> None:
    """Draw every parameter that learns, gains about what they were, so that no fault can hide."""
    source = torch.Generator().manual_seed(8444)
    with torch.no_grad():
        for name, own in small.named_parameters():
            drawn = torch.randn(own.shape, generator=source, dtype=torch.float64)
            if own.ndim > 1:
                own.copy_(drawn / math.sqrt(own.shape[-1]) if "emb" not in name else drawn)
            else:
                gain = 1.0 if name.endswith("weight") else 0.0
                own.copy_(gain + 0.3 * drawn)
