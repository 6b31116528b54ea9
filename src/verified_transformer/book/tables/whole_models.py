"""What a table is beside its model: its parameters, its bytes, and what two thin matrices save."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ..real_models.hugging_face import transformers
from ..real_models.released import of_kind, on_meta, parameters

SOURCE = "transformers-configurations"
FAMILIES = (
    "gpt2 gptj gpt_neox opt llama mistral qwen3 gemma phi phi3 falcon jamba stablelm olmo cohere "
    "deepseek_v3 starcoder2 gpt_oss glm4 nemotron persimmon smollm3 apertus llama4_text ernie4_5 "
    "helium"
).split()  # one default configuration each; left out: those whose default is no released size
PUBLISHED = {  # tokens, width, billions of parameters, source
    "PaLM 540B": (256000, 18432, 540, "chowdhery2023"),
    "BLOOM 176B": (250880, 14336, 176, "scao2022"),
    "Llama 3.1 405B": (128256, 16384, 405, "maxtext-configs"),
    "GPT-3 175B": (50257, 12288, 175, "brown2020"),
    "LLaMA 65B": (32000, 8192, 65, "touvron2023"),
}
WIDEST = {"cohere": "Command R", "nemotron": "Nemotron-4 15B", "persimmon": "Persimmon 8B",
          "llama4_text": "Llama 4 Scout", "deepseek_v3": "DeepSeek-V3"}  # fmt: skip
SMALL = {"bert": "BERT base", "gpt2": "GPT-2", "phi": "Phi-1", "gemma": "Gemma 7B"}
Cited = dict[str, tuple[Any, str]]  # by name: a datum, and the key of its source


@dataclass(frozen=True)
class Beside:
    """A table beside its model, which is counted without an output head of its own.

    Attributes:
        tokens: rows of the table.
        entries: numbers in it.
        whole: parameters of the model, the table among them.
    """

    tokens: int
    entries: int
    whole: float

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return self.entries // self.tokens

    @property
    def share(self) -> float:
        """The table's share of the model."""
        return self.entries / self.whole

    def saved(self, rank: int) -> float:
        """The share of the model that two thin matrices of this rank save."""
        return (self.entries - rank * (self.tokens + self.width)) / self.whole


def growth_with_vocabulary(model: Any) -> float:
    """Return by which share a model of transformers grows when its vocabulary doubles.

    Example:
        >>> round(growth_with_vocabulary(of_kind("gpt2", auto="")), 2)
        0.31
    """
    config = copy.deepcopy(model.config)
    config.vocab_size *= 2
    return parameters(on_meta(lambda: type(model)(config))) / parameters(model) - 1


def bytes_in_training(n: int, d: int) -> int:
    """Return the bytes of a table, its gradient and Adam's averages, after a step in float32."""
    table = nn.Embedding(n, d)
    adam = torch.optim.Adam(table.parameters())
    table(torch.arange(n)).square().sum().backward()
    adam.step()
    averages = [s for state in adam.state.values() for s in state.values() if s.numel() > 1]
    assert table.weight.grad is not None, "the step had a gradient"
    return sum(t.nbytes for t in (table.weight, table.weight.grad, *averages))


def default_shapes() -> Cited:
    """Return vocabulary and width of each of `FAMILIES`, from the library's own defaults."""
    configs = {kind: transformers.AutoConfig.for_model(kind) for kind in FAMILIES}
    return {kind: ((c.vocab_size, c.hidden_size), SOURCE) for kind, c in configs.items()}


def listed_tables() -> Cited:
    """Return the entries of ten tables: five of models known for their size, and `WIDEST`.

    Raises:
        ArithmeticError: others among `FAMILIES` have the five largest tables.
    """
    entries = {kind: n * d for kind, ((n, d), _) in default_shapes().items()}
    if set(sorted(entries, key=lambda kind: entries[kind])[-5:]) != set(WIDEST):
        raise ArithmeticError("WIDEST: not the five families with the largest tables")
    known = {name: (n * d, key) for name, (n, d, _, key) in PUBLISHED.items()}
    return known | {name: (entries[kind], SOURCE) for kind, name in WIDEST.items()}


def beside_their_models() -> dict[str, Beside]:
    """Return twelve tables beside their models, from the smallest model to the largest.

    Of the ten that are listed without the two mixtures of experts, and four small ones. Models
    whose defaults the library has are built and counted; the others have the size of their name.
    """
    found = {
        name: Beside(n, n * d, billions * 1e9) for name, (n, d, billions, _) in PUBLISHED.items()
    }
    for kind, name in (SMALL | WIDEST).items():
        if kind not in ("llama4_text", "deepseek_v3"):
            grouped = {"num_key_value_heads": 8} if kind == "nemotron" else {}  # its default: None
            model = of_kind(kind, auto="", **grouped)
            table = model.get_input_embeddings().weight
            found[name] = Beside(len(table), table.numel(), parameters(model))
    return dict(sorted(found.items(), key=lambda item: item[1].whole))
