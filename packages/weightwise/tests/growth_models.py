"""Tiny models of the classes that grow, with every parameter at random."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="IProgress")
    transformers = pytest.importorskip("transformers")
transformers.logging.set_verbosity_error()

_ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
_WIDE = {"hidden_size": 12, "intermediate_size": 10, "num_attention_heads": 3}
_BERT = {**_WIDE, **_ENDS, "num_hidden_layers": 1, "max_position_embeddings": 9}
_GPT2 = {**_ENDS, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 9}
_LLAMA = {**_ENDS, "hidden_size": 16, "intermediate_size": 10, "num_attention_heads": 4,
          "num_key_value_heads": 2, "num_hidden_layers": 1}  # fmt: skip
_T5 = {"eos_token_id": 2, "pad_token_id": 0, "decoder_start_token_id": 0, "d_model": 10, "d_ff": 7,
       "d_kv": 5, "num_heads": 3, "num_layers": 1}  # fmt: skip

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "BERT, GELU, tied": ("BertForMaskedLM", _BERT),
    "BERT, ReLU, untied": (
        "BertForMaskedLM", {**_BERT, "hidden_act": "relu", "tie_word_embeddings": False}
    ),
    "GPT-2, tied": ("GPT2LMHeadModel", _GPT2),
    "GPT-2, untied, n_inner, scores by layer": (
        "GPT2LMHeadModel",
        {**_GPT2, "tie_word_embeddings": False, "n_inner": 7,
         "scale_attn_by_inverse_layer_idx": True},
    ),
    "GPT-2, scores not scaled": ("GPT2LMHeadModel", {**_GPT2, "scale_attn_weights": False}),
    "Llama, untied": ("LlamaForCausalLM", _LLAMA),
    "Llama, tied, biases, head size 6, eager": (
        "LlamaForCausalLM",
        {**_LLAMA, "tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True,
         "head_dim": 6, "attn_implementation": "eager"},
    ),
    "Llama 3.1's frequencies": (
        "LlamaForCausalLM",
        {**_LLAMA, "rope_parameters": {
            "rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 8}},
    ),
    "T5 v1.0": ("T5ForConditionalGeneration", _T5),
    "T5 v1.1": (
        "T5ForConditionalGeneration",
        {**_T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    ),
    "mT5": ("MT5ForConditionalGeneration", _T5),
    "RoFormer": ("RoFormerForMaskedLM", _BERT),
    "RoFormer, untied, rotary values, other embedding size": (
        "RoFormerForMaskedLM",
        {**_BERT, "embedding_size": 7, "rotary_value": True, "tie_word_embeddings": False},
    ),
}  # fmt: skip

_NEOX = {**_ENDS, "hidden_size": 16, "intermediate_size": 10, "num_attention_heads": 2,
         "num_hidden_layers": 2}  # fmt: skip
_ROPES = {"sliding_window": 4, "layer_types": ["sliding_attention", "full_attention"],
          "num_hidden_layers": 2}  # fmt: skip
_GEMMA = {**_LLAMA, "head_dim": 6}

# by class, options of a tied model and, after it, those that untie it
TODAY: dict[str, tuple[str, dict[str, Any]]] = {
    "Mistral": ("MistralForCausalLM", {**_LLAMA, "sliding_window": 5}),
    "Mixtral": ("MixtralForCausalLM", {**_LLAMA, "num_local_experts": 3}),
    "Qwen3, mixture": (
        "Qwen3MoeForCausalLM",
        {
            **_LLAMA,
            "head_dim": 6,
            "moe_intermediate_size": 10,
            "num_experts": 3,
            "num_experts_per_tok": 2,
        },
    ),
    "Qwen2": ("Qwen2ForCausalLM", _LLAMA),
    "Qwen3": ("Qwen3ForCausalLM", {**_LLAMA, "head_dim": 6}),
    "OLMo2": ("Olmo2ForCausalLM", _LLAMA),
    "Phi-3": ("Phi3ForCausalLM", _LLAMA),
    "Phi-4, half rotary": ("Phi3ForCausalLM", {**_LLAMA, "partial_rotary_factor": 0.5}),
    "Gemma": ("GemmaForCausalLM", _GEMMA),
    "Gemma 2": ("Gemma2ForCausalLM", {**_GEMMA, **_ROPES, "query_pre_attn_scalar": 7}),
    "Gemma 3": ("Gemma3ForCausalLM", {**_GEMMA, **_ROPES, "query_pre_attn_scalar": 7}),
    "GPT-NeoX": ("GPTNeoXForCausalLM", {**_NEOX, "rotary_pct": 0.5}),
    "OPT": ("OPTForCausalLM", {**_NEOX, "ffn_dim": 10, "word_embed_proj_dim": 16}),
    "OPT, as of 350 M": (
        "OPTForCausalLM",
        {**_NEOX, "ffn_dim": 10, "word_embed_proj_dim": 6, "do_layer_norm_before": False},
    ),
    "RoBERTa": ("RobertaForMaskedLM", _BERT | {"max_position_embeddings": 30}),
    "ModernBERT": (
        "ModernBertForMaskedLM",
        {
            **_WIDE,
            **_ENDS,
            "num_hidden_layers": 2,
            "layer_types": _ROPES["layer_types"],
            "local_attention": 6,
            "cls_token_id": 1,
            "sep_token_id": 2,
        },
    ),
}
_VIT = {**_WIDE, "num_hidden_layers": 1, "image_size": 6, "patch_size": 3, "num_channels": 2}
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "ViT": ("ViTModel", {**_VIT, "pooler_output_size": 10}),
    "ViT, pictures": ("ViTForImageClassification", _VIT),
    **{
        f"{kind}, {end}": (name.replace("ForCausalLM", end).replace("ForMaskedLM", end), options)
        for kind, (name, options) in TODAY.items()
        for end in ("Model", "ForSequenceClassification", "ForTokenClassification")
        if kind != "Phi-4, half rotary"
        and not kind.startswith(("OPT, as", "Gemma 3"))
        and (kind not in ("OLMo2", "OPT") or "Token" not in end)
        and (kind != "GPT-NeoX" or end == "Model")
    },
    "Gemma 3, TextModel": ("Gemma3TextModel", TODAY["Gemma 3"][1]),
    "BERT, Model": ("BertModel", _BERT),
    "BERT, ForSequenceClassification": ("BertForSequenceClassification", _BERT),
    "Llama, Model": ("LlamaModel", _LLAMA),
    "Llama, ForSequenceClassification": ("LlamaForSequenceClassification", _LLAMA),
    "GPT-2, Model": ("GPT2Model", _GPT2),
    "GPT-2, ForSequenceClassification": ("GPT2ForSequenceClassification", _GPT2),
}
EVERY = {
    **KINDS,
    **{f"{kind}, {'tied' if tied else 'untied'}": (name, {**options, "tie_word_embeddings": tied})
       for kind, (name, options) in TODAY.items() for tied in (True, False)},
    **OTHERS,
}  # fmt: skip

_EPSILON = ("layer_norm_eps", "layer_norm_epsilon", "rms_norm_eps", "norm_eps")


def model(
    kind: str,
    *,
    ε: float = 1e-5,
    embeddings: float = 1.0,
    dtype: torch.dtype = torch.float64,
    **changed: Any,
) -> Any:
    """A tiny model in evaluation mode.

    Args:
        kind: a key of `EVERY`.
        ε: of every norm.
        embeddings: standard deviation of the embeddings.
        dtype: of the parameters.
        changed: options of the configuration.
    """
    name, options = EVERY[kind]
    options = {**options, **changed}
    cls = getattr(transformers, name)
    defaults = cls.config_class()
    own = [option for option in _EPSILON if hasattr(defaults, option)][:1]  # OPT's is fixed
    implementation = options.get("attn_implementation")
    options = {key: value for key, value in options.items() if key != "attn_implementation"}
    config = cls.config_class(vocab_size=19, **options, **dict.fromkeys(own, ε))
    if implementation:
        config._attn_implementation = implementation
    config._experts_implementation = "eager"  # the others know no float64
    made = cls(config).to(dtype).eval()
    randomise(made, embeddings)
    return made


def randomise(made: Any, embeddings: float = 1.0) -> None:
    """Draw every parameter that learns: gains about 1, biases about 0, both far from default."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if parameter.requires_grad:
                drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                wide = embeddings if "embed" in name or ".wte" in name or "shared" in name else 0.5
                centre = 1.0 if "orm.weight" in name or "ln_" in name else 0.0
                parameter.copy_(centre + wide * drawn)


def untie(made: Any) -> None:
    """Give the head a matrix of its own, whatever the configuration says."""
    head = made.get_output_embeddings()
    head.weight = torch.nn.Parameter(torch.randn_like(head.weight))
