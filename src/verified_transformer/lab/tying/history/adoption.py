"""Who ties: defaults of the library's classes, what they build, and released checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

from ....models.architectures import Architecture, census, is_tied
from ...real_models.released import of_kind
from ..ends.budget import budget

_DECODERS = """openai-gpt gpt2 gpt_neo gptj gpt_neox codegen opt bloom xglm ctrl biogpt falcon mpt
gpt_bigcode rwkv llama persimmon phi mistral mixtral qwen2 stablelm gemma gemma2 cohere olmo
starcoder2 mamba phi3 granite deepseek_v2 olmo2 glm gemma3_text deepseek_v3 qwen3 smollm3 gpt_oss
cpmant bigbird_pegasus"""
_MASKED = "bert roberta albert electra distilbert deberta xlm-roberta rembert"
CHOSEN = {
    **dict.fromkeys(_MASKED.split(), "ForMaskedLM"),
    **dict.fromkeys(("t5", "mt5", "bart", "marian", "pegasus"), "ForSeq2SeqLM"),
    **dict.fromkeys(_DECODERS.split(), "ForCausalLM"),
}
RELEASED = {
    "openai-gpt": "GPT: yes [gpt-source]",
    "gpt2": "GPT-2: yes [gpt2-source]",
    "bert": "BERT: yes [bert-pretraining-source]",
    "t5": "T5: yes; version 1.1: no [t5-checkpoints]",
    "mt5": "mT5: saved as no [transformers-t5-config]",
    "rembert": "RemBERT: no [chung2021]",
    "gpt_neox": "GPT-NeoX-20B: no [neox-config]; Pythia: no [pythia-config]",
    "llama": "LLaMA: no [llama-source]; Llama 2: no [mlc-presets]; "
    "Llama 3.1: no [maxtext-configs]; 3.2 3B: yes [llama32-card]",
    "phi": "Phi-1.5 and Phi-2: no [mlc-presets]",
    "phi3": "Phi-3.5 mini: no; Phi-4 mini: yes [mlc-presets]",
    "mistral": "Mistral 7B: no [mlc-presets]",
    "mixtral": "Mixtral 8x7B: no [mlc-presets]",
    "qwen3": "Qwen3 0.6B and 4B: yes; 8B, 14B and 32B: no [maxtext-configs]",
    "deepseek_v2": "DeepSeek-V2 Lite: no [maxtext-configs]",
}
_SMALL = {
    "vocab_size": 96, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
    "num_key_value_heads": 2, "intermediate_size": 32,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
# name: kind, tokens, width, layers, query heads, key heads, hidden units, whether it ties
_CHECKPOINTS: dict[str, tuple[str, int, int, int, int, int, int, bool]] = {
    "Qwen3 0.6B": ("qwen3", 151936, 1024, 28, 16, 8, 3072, True),
    "Phi-4 mini": ("phi3", 200064, 3072, 32, 24, 8, 8192, True),
    "Llama 3.2 3B": ("llama", 128256, 3072, 28, 24, 8, 8192, True),
    "Qwen3 4B": ("qwen3", 151936, 2560, 36, 32, 8, 9728, True),
    "Qwen3 8B": ("qwen3", 151936, 4096, 36, 32, 8, 12288, False),
    "Llama 3.1 8B": ("llama", 128256, 4096, 32, 32, 8, 14336, False),
    "Qwen3 14B": ("qwen3", 151936, 5120, 40, 40, 8, 17408, False),
    "Phi-3.5 mini": ("phi3", 32064, 3072, 32, 32, 32, 8192, False),
    "Qwen3 32B": ("qwen3", 151936, 5120, 64, 64, 8, 25600, False),
    "LLaMA 7B": ("llama", 32000, 4096, 32, 32, 32, 11008, False),
    "Mistral 7B": ("mistral", 32000, 4096, 32, 32, 8, 14336, False),
}


def default_of(name: str, **changes: Any) -> Any:
    """Build an architecture small, without memory, with the library's own default of the tie.

    Args:
        name: as transformers calls the architecture.
        changes: of its configuration.
    """
    from ...real_models.hugging_face import transformers

    config = transformers.AutoConfig.for_model(name)
    for key, value in {**_SMALL, **changes}.items():
        if hasattr(config, key):
            setattr(config, key, value)
    maker = getattr(transformers, f"AutoModel{CHOSEN.get(name, 'ForCausalLM')}")
    with torch.device("meta"):
        return maker.from_config(config)


def says(name: str) -> bool:
    """Return the configuration's default of ``tie_word_embeddings``."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return bool(CONFIG_MAPPING[name]().tie_word_embeddings)


@cache
def heads() -> dict[str, bool]:
    """Return, for each of `CHOSEN`, whether the head that is built is the embedding's matrix."""
    return {name: is_tied(default_of(name)) for name in CHOSEN}


@cache
def _architectures() -> tuple[list[Architecture], int]:
    from ...real_models import hugging_face  # noqa: F401  quiet from here on

    return census()


def share(first: int, last: int) -> tuple[int, int]:
    """Return how many architectures of these years tie by default, and how many there are."""
    ties = [a.tied for a in _architectures()[0] if first <= a.year <= last]
    return sum(ties), len(ties)


def nine_in_ten(span: tuple[int, int]) -> bool:
    """Say whether at least nine in ten architectures of a span of years tie by default."""
    ties, total = share(*span)
    return ties >= 0.9 * total


def half_then_a_third(spans: Sequence[tuple[int, int]]) -> bool:
    """Say whether about half of the first span's architectures tie, and a third of the second's."""
    (a, all_), (b, late) = (share(*span) for span in spans)
    return 0.45 < a / all_ < 0.55 and 0.28 < b / late < 0.38


def saved_by_a_tie() -> dict[str, tuple[float, bool]]:
    """Return, for released models, the share of numbers that a tie saves, and whether they tie.

    The classes are built at the released sizes, without memory, and counted.
    """
    found = {}
    for name, (kind, n, d, layers, heads_, keys, hidden, ties) in _CHECKPOINTS.items():
        more: dict[str, Any] = {"head_dim": 128} if kind == "qwen3" else {}
        model = of_kind(
            kind, vocab_size=n, hidden_size=d, num_hidden_layers=layers,
            num_attention_heads=heads_, num_key_value_heads=keys, intermediate_size=hidden,
            bos_token_id=1, eos_token_id=2, pad_token_id=0, **more,
        )  # fmt: skip
        found[name] = (budget(model).share, ties)
    return found
