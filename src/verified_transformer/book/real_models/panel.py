"""The panel: stock classes that differ where models differ, on which advice is run.

Each is small, and drawn by its class's own initialiser. They differ in where norms stand (before a
branch, after it, after the sum, on queries and keys), in their gains (as they stand, one plus the
weight, none), in what scales the table, in positions, gates and mixtures.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

TOKENS = 4096
_ENDS = {
    "vocab_size": TOKENS, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
    "cls_token_id": 1, "sep_token_id": 2,
}  # fmt: skip
_PLAIN = {
    "hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 2,
    "intermediate_size": 2048,
}  # fmt: skip
_KEYS = {**_PLAIN, "num_key_value_heads": 12, "head_dim": 64}
_OF_HEADS = ("cls.", "head.")
_OLD = {"hidden_size": 768, "n_head": 12, "n_layer": 2}
PANEL: dict[str, tuple[str, str, dict[str, Any]]] = {  # kind, task, sizes at width 768
    "GPT-2": ("gpt2", "CausalLM", {"n_embd": 768, "n_head": 12, "n_layer": 2}),
    "BERT": ("bert", "MaskedLM", _PLAIN),
    "T5": ("t5", "Seq2SeqLM", {"d_model": 768, "d_ff": 2048, "num_heads": 12, "d_kv": 64,
                               "num_layers": 2, "decoder_start_token_id": 0}),
    "Llama": ("llama", "CausalLM", _KEYS),
    "Qwen3": ("qwen3", "CausalLM", _KEYS),
    "Gemma": ("gemma", "CausalLM", _KEYS),
    "Gemma 2": ("gemma2", "CausalLM", _KEYS),
    "OLMo": ("olmo", "CausalLM", _PLAIN),
    "ModernBERT": ("modernbert", "MaskedLM", _PLAIN),
    "BLOOM": ("bloom", "CausalLM", _OLD),
    "Qwen3-MoE": ("qwen3_moe", "CausalLM", {**_KEYS, "num_experts": 4, "num_experts_per_tok": 2,
                                            "moe_intermediate_size": 512}),
    "GPT-OSS": ("gpt_oss", "CausalLM", {**_KEYS, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "Mamba": ("mamba", "CausalLM", {"hidden_size": 768, "num_hidden_layers": 2}),
}  # fmt: skip


def stock(name: str, *, tied: bool = True, width: int = 768, scale: float = 1.0) -> Any:
    """Return a fresh model of the panel, in evaluation mode.

    Args:
        name: a key of `PANEL`.
        tied: what its configuration says; T5's class ties in any case.
        width: of its stream; a multiple of 64, a head's.
        scale: factor on what its class draws by, its `initializer_range` or `initializer_factor`.

    Raises:
        ValueError: another name.

    Example:
        >>> last_norm(stock("BERT", width=64))
        'bert.encoder.layer.1.output.LayerNorm'
    """
    from .hugging_face import transformers

    if name not in PANEL:
        raise ValueError(f"name: got {name!r}; accepted: {', '.join(PANEL)}")
    kind, task, usual = PANEL[name]
    sizes = {768: width, 12: width // 64, 2048: width * 8 // 3}
    settings = {**_ENDS, **{key: sizes.get(size, size) for key, size in usual.items()}}
    settings["tie_word_embeddings"] = tied
    config = transformers.AutoConfig.for_model(kind, **settings)
    option = "initializer_factor" if kind == "t5" else "initializer_range"
    setattr(config, option, scale * getattr(config, option))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = getattr(transformers, f"AutoModelFor{task}").from_config(config).eval()
    return model


def last_norm(model: Any) -> str:
    """Return the name of the last normalisation of a model's trunk, its head's own left aside."""
    norms = [n for n, part in model.named_modules() if "norm" in type(part).__name__.lower()]
    return next(n for n in reversed(norms) if not n.startswith(_OF_HEADS))


def logits_of(model: Any, ids: torch.Tensor) -> torch.Tensor:
    """Return a model's logits for tokens that it reads, a decoder's as well."""
    text = {"input_ids": ids}
    if model.config.is_encoder_decoder:
        text["decoder_input_ids"] = ids
    with torch.no_grad():
        found: torch.Tensor = model(**text).logits
    return found


def first_loss(model: Any, ids: torch.Tensor) -> float:
    """Return a model's first loss in nats, its label, which is uniform, averaged out."""
    logits = logits_of(model, ids)
    return float((logits.logsumexp(-1) - logits.mean(-1)).mean())


def table_of(model: Any) -> nn.Parameter:
    """Return the table with which a model reads."""
    weight: nn.Parameter = model.get_input_embeddings().weight
    return weight
