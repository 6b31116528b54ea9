"""`audit_init`: every parameter of a model, asked and drawn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..accepted import unwrapped
from .drawn import TESTS, Drawn, drawn_in, faults
from .rules import Asked, asked_of

ERROR = 1e-6  # of a whole call on a sound model


@dataclass(frozen=True)
class Row:
    """A parameter: what was asked (None: no rule), what was drawn, what of it does not agree."""

    name: str
    asked: Asked | None
    drawn: Drawn | None
    faults: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """ "agrees", "disagrees" or "no rule"; that last is no agreement."""
        if self.faults:
            return "disagrees"
        return "no rule" if self.asked is None else "agrees"

    def __str__(self) -> str:
        asked = "no rule" if self.asked is None else f"{self.asked} ({self.asked.address})"
        said = "; ".join(self.faults) or str(self.drawn)
        return f"{self.verdict:9} {self.name}: {said}; asked: {asked}"


@dataclass(frozen=True, repr=False)
class Audit:
    """The rows of a model; ``disagree`` are those that do not start as asked, NaN first.

    A table of a line for each row that does not agree, under a line of counts, is its text.
    """

    name: str
    rows: tuple[Row, ...]

    @property
    def disagree(self) -> tuple[Row, ...]:
        """The rows that are not as asked; first those with NaN or infinite entries."""
        found = [row for row in self.rows if row.faults]
        return tuple(sorted(found, key=lambda row: not (row.drawn and row.drawn.wrong)))

    @property
    def no_rule(self) -> tuple[Row, ...]:
        """The rows of which nothing outside the code that draws says what is due."""
        return tuple(row for row in self.rows if row.verdict == "no rule")

    def __str__(self) -> str:
        bad, bare = self.disagree, self.no_rule
        agree = len(self.rows) - len(bad) - len(bare)
        head = (f"{self.name}: of {len(self.rows)} parameters {agree} start as asked, "
                f"{len(bad)} do not, {len(bare)} have no rule")  # fmt: skip
        return "\n".join([head, *(f"  {row}" for row in (*bad, *bare))])

    __repr__ = __str__  # a notebook shows it as `print` does


def audit_init(model_or_config: Any) -> Audit:
    """Return what every parameter of a model was asked to start with, and what it starts with.

    A rule has an address outside the code that draws: a setting that is documented as the deviation
    of all weight matrices, or a paper on gains, biases, residual branches. Where there is none the
    row says so, and counts as no agreement. On a model that draws what its rules ask, the chance
    that any row disagrees is at most 1e-6, over all tests of the call (Bonferroni); zero rows,
    repeated rows, constants, ties and NaN have no chance at all.

    Args:
        model_or_config: a module with numbers, at step 0; or a configuration of transformers, or
            the path of one, whose causal language model is then built here.

    Returns:
        The rows, which print as a table; a tie that is not as the configuration has it is one.

    Raises:
        TypeError: it is none of these.
        ValueError: it has no numbers (meta device), no parameters, or its class builds no model.

    Example:
        >>> from transformers import GPT2Config
        >>> config = GPT2Config(vocab_size=300, n_embd=64, n_layer=2, n_head=2, bos_token_id=0,
        ...                     eos_token_id=0)
        >>> found = audit_init(config)
        >>> found.disagree
        ()
        >>> print(found)
        GPT2LMHeadModel: of 28 parameters 28 start as asked, 0 do not, 0 have no rule
    """
    given = unwrapped(model_or_config)
    model = given if isinstance(given, nn.Module) else _built(given)
    entries = [*asked_of(model)]
    if not entries:
        got = type(model).__name__
        raise ValueError(f"model_or_config: got {got} without parameters; accepted: one with some")
    if bare := next((name for name, tensor, _ in entries if tensor.is_meta), None):
        raise ValueError(
            f"model_or_config: got {bare} on the meta device, without numbers; accepted: a model "
            "whose weights were drawn"
        )
    α = ERROR / (TESTS * len(entries))
    rows = [_row(*entry, α) for entry in entries]
    return Audit(type(model).__name__, (*rows, *_lookups(model), *_tie(model)))


def _built(given: Any) -> nn.Module:
    from transformers import AutoConfig, AutoModelForCausalLM

    if isinstance(given, str | Path):
        given = AutoConfig.from_pretrained(given)
    if not hasattr(given, "to_dict"):
        accepted = "a torch.nn.Module, a configuration of transformers, or its path"
        raise TypeError(f"model_or_config: got {type(given).__name__}; accepted: {accepted}")
    return AutoModelForCausalLM.from_config(given)


def _row(name: str, tensor: torch.Tensor, asked: Asked | None, α: float) -> Row:
    found = drawn_in(tensor)
    if asked is not None:
        return Row(name, asked, found, faults(tensor, found, asked, α))
    said = (f"{found.wrong} entries are NaN or infinite",) if found.wrong else ()
    return Row(name, None, found, said)


def _lookups(model: nn.Module) -> tuple[Row, ...]:
    """Stored tables of whole numbers: one that routes words to experts is to tell them apart."""
    kinds = getattr(getattr(model, "config", None), "mlp_layer_types", None) or ()
    rows, kept = [], model.state_dict(keep_vars=True)
    for name, table in model.named_buffers():
        if name in kept and table.ndim == 2 and not table.is_floating_point() and len(table) > 1:
            asked, said = None, tuple[str, ...]()
            if "hash_moe" in kinds:
                address = "documentation of mlp_layer_types: experts are looked up by the word"
                asked = Asked(address)
                alike = bool((table == table[0]).all())
                said = (f"all {len(table)} words go to {table[0].tolist()}",) * alike
            rows.append(Row(name, asked, drawn_in(table), said))
    return tuple(rows)


def _tie(model: Any) -> tuple[Row, ...]:
    """Head and table, where a configuration says whether they are one."""
    config = getattr(model, "config", None)
    wanted = getattr(config, "tie_word_embeddings", None)
    if not isinstance(wanted, bool) or not hasattr(model, "get_output_embeddings"):
        return ()
    ends = model.get_input_embeddings(), model.get_output_embeddings()
    table, head = (getattr(end, "weight", None) for end in ends)
    if table is None or head is None:
        return ()
    if (table is head) == wanted:
        return ()
    said = "two parameters" if wanted else "one parameter"
    address = f"setting tie_word_embeddings = {wanted} of {type(config).__name__}"
    return (Row("the tie of head and table", Asked(address, value=float(wanted)), None, (said,)),)
