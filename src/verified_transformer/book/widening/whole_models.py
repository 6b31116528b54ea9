"""Whole models beside the grown ones: what they say; growth by the article's table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from verifiedbook.seeds import generator
from weightwise.architectures import is_tied
from weightwise.growth.verify import clean_float64

from ..real_models.tiny import built_once


def with_own_head(model: Any, name: str) -> Any:
    """Give a model an output matrix of its own, in place, with random entries.

    transformers 5 ties the head of T5 and mT5 to the embedding whatever the configuration says;
    the released T5 1.1 and mT5 have two matrices.

    Args:
        model: with an embedding and a head.
        name: what the entries are drawn from; their standard deviation is a half.

    Returns:
        The model, for which `is_tied` is now false.
    """
    head = model.get_output_embeddings()
    source = generator(f"{name}, a head of its own")
    drawn = torch.randn(head.weight.shape, generator=source, dtype=torch.float64)
    head.weight = nn.Parameter(0.5 * drawn, requires_grad=head.weight.requires_grad)
    return model


def spoken(model: Any, name: str) -> torch.Tensor:
    """The logits for random tokens, (2, 9, vocabulary), in float64 without casts.

    Args:
        model: of transformers, with a head.
        name: what the tokens are drawn from.
    """
    source, words = generator(f"tokens {name}"), model.config.vocab_size
    inputs = {"input_ids": torch.randint(words, (2, 9), generator=source)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.randint(words, (2, 9), generator=source)
    with clean_float64():
        logits: torch.Tensor = model(**inputs).logits
    return logits


# --------------------------------------------------------------------------- by the article's table

Factor = Callable[[float], float]  # of k
Epsilon = Callable[[str, float, int], float]  # of the norm's name, its ε and k


@dataclass(frozen=True)
class TableRow:
    """What one row of the table does.

    Args:
        modules: pattern of the names of BERT's parameters.
        weight, bias: what they are multiplied by after their axes are repeated, from k.
    """

    modules: str
    weight: Factor
    bias: Factor


Table = dict[str, TableRow]


def _power(exponent: float) -> Factor:
    return lambda k: k**exponent


def article_table(root: float = 4) -> Table:
    """The table as printed, for a factor k; ``root`` is the index of its fourth root."""
    more, kept = 1 / root, _power(0)
    return {
        "embedding": TableRow("_embeddings|decoder.weight", _power(-0.5), kept),
        "norm": TableRow("LayerNorm", _power(-0.5), _power(-0.5)),
        "query, key": TableRow("self.query|self.key", _power(more - 1), _power(more - 0.5)),
        "value": TableRow("self.value", _power(-1), _power(-0.5)),
        "output of attention": TableRow("attention.output.dense", _power(-1), _power(-0.5)),
        "first layer": TableRow("intermediate.dense", _power(-0.5), kept),
        "second layer": TableRow(r"layer.\d+.output.dense", _power(-1.5), _power(-1)),
        "output": TableRow("transform.dense", _power(-0.5), kept),
        "not in the table": TableRow("predictions.bias|decoder.bias", kept, kept),
    }


def changed(
    table: Table, row: str, *, weight: Factor | None = None, bias: Factor | None = None
) -> Table:
    """The table with other factors in a row; what is None stays.

    Raises:
        ValueError: the table has no such row.
    """
    if row not in table:
        raise ValueError(f"row: got {row!r}; accepted: {', '.join(table)}")
    old = table[row]
    return table | {row: replace(old, weight=weight or old.weight, bias=bias or old.bias)}


def mended_table(root: float = 4) -> Table:
    """The table with the bias of the second layer divided by √k, as it should be."""
    return changed(article_table(root), "second layer", bias=_power(-0.5))


def kept_at(table: Table, row: str, n: float) -> Table:
    """The table with a number n left in one row, whatever k is."""
    old = table[row]
    return changed(table, row, weight=lambda k: old.weight(n), bias=lambda k: old.bias(n))


def further_division(table: Table) -> Table:
    """The table with the output's norm divided once more, as the article's text asks."""
    once = {"norm of the output": TableRow("transform.LayerNorm", _power(-1), _power(-1))}
    others = replace(table["norm"], modules=r"(embeddings|output).LayerNorm")
    return once | table | {"norm": others}


def eq_6_table() -> Table:
    """Eq. 6 in every linear layer: right for ReLU."""
    table = article_table()
    for row in ("first layer", "second layer", "output"):
        table = changed(table, row, weight=_power(-1), bias=_power(-0.5))
    return table


def same_epsilon(name: str, eps: float, k: int) -> float:
    """Every norm keeps its ε."""
    return eps


def divided_epsilon(name: str, eps: float, k: int) -> float:
    """ε is divided by k, but in the output, whose norm reads what is repeated only."""
    return eps if "transform" in name else eps / k


def all_divided(name: str, eps: float, k: int) -> float:
    """ε is divided by k in every norm."""
    return eps / k


def by_table(
    small: Any, k: int, *, table: Table | None = None, epsilon: Epsilon = same_epsilon
) -> Any:
    """Return a BERT grown by a table.

    Args:
        small: a BertForMaskedLM.
        k: factor of growth.
        table: as printed where none is given.
        epsilon: what the norms' constants become.

    Raises:
        ValueError: a parameter has no row of the table, or more than one.
    """
    table = table or article_table()
    large = _wide(small, k, ("hidden_size", "intermediate_size"))
    with torch.no_grad():
        for name, value in small.named_parameters():
            rows = [row for row in table.values() if re.search(row.modules, name)]
            if len(rows) != 1:
                raise ValueError(f"table: {len(rows)} rows for {name}; accepted: one")
            factor = (rows[0].bias if name.endswith("bias") else rows[0].weight)(k)
            own = large.get_parameter(name)
            own.copy_(factor * _repeated(value, own)[0])
    return _with_epsilon(large, lambda name, eps: epsilon(name, eps, k))


def by_roots(small: Any, k: int, *, plain: str | None = None) -> Any:
    """Return a model grown by the simplest rule, for GPT-2 and T5.

    Every axis that grows, of every parameter, is repeated k times and divided by √k; every norm's
    ε is divided by k.

    Args:
        small: the model.
        k: factor of growth.
        plain: pattern of the names of parameters that are repeated only.
    """
    large = _wide(small, k, ("n_embd", "d_model", "d_kv", "d_ff"))
    with torch.no_grad():
        for name, value in small.named_parameters():
            own = large.get_parameter(name)
            wide, grown = _repeated(value, own)
            divided = plain is None or not re.search(plain, name)
            own.copy_(wide / k ** (grown / 2 if divided else 0))
    return _with_epsilon(large, lambda name, eps: eps / k)


def _wide(small: Any, k: int, widths: tuple[str, ...]) -> Any:
    options = small.config.to_dict()
    options |= {name: k * options[name] for name in widths if options.get(name)}

    def build() -> Any:
        with torch.random.fork_rng(devices=[]):
            return type(small)(type(small.config)(**options)).double().eval()

    large = built_once(build, type(small).__name__, options)  # its weights are written over
    if not is_tied(small) and is_tied(large):  # the class ties whatever its configuration says
        head = large.get_output_embeddings()
        head.weight = torch.nn.Parameter(head.weight.detach().clone())
    return large


def _repeated(value: torch.Tensor, like: torch.Tensor) -> tuple[torch.Tensor, int]:
    """Repeat along the axes that are longer in ``like``; also says how many these are."""
    grown = 0
    for axis, (short, long) in enumerate(zip(value.shape, like.shape, strict=True)):
        if long > short:
            value, grown = value.repeat_interleave(long // short, axis), grown + 1
    return value, grown


def _with_epsilon(model: Any, epsilon: Callable[[str, float], float]) -> Any:
    for name, module in model.named_modules():
        for attribute in ("eps", "variance_epsilon"):
            if hasattr(module, attribute):
                setattr(module, attribute, epsilon(name, getattr(module, attribute)))
    return model
