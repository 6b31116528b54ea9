"""Small models of every class that `initial_loss` knows, drawn as the class does."""

from __future__ import annotations

from typing import Any

import pytest
import torch

transformers = pytest.importorskip("transformers")
N, D = 3000, 128
SIZES: dict[str, Any] = {
    "vocab_size": N, "hidden_size": D, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 4, "intermediate_size": 3 * D, "head_dim": 32, "bos_token_id": 0,
    "eos_token_id": 0, "pad_token_id": 0, "max_position_embeddings": 128,
}  # fmt: skip
T5: dict[str, Any] = {
    "vocab_size": N, "d_model": D, "d_kv": 32, "d_ff": 3 * D, "num_layers": 1, "num_heads": 4,
}  # fmt: skip
BARE = {name: SIZES[name] for name in SIZES if name not in ("head_dim", "num_key_value_heads")}
GPT = {"vocab_size": N, "n_embd": D, "n_layer": 2, "n_head": 4, "bos_token_id": 0,
       "eos_token_id": 0}  # fmt: skip
ENDS = {"vocab_size": N, "bos_token_id": 0, "eos_token_id": 0}
WIDE, LOUD = {"initializer_range": 0.06}, {"initializer_range": 0.09}  # so that the body matters
HEADS, TIED = {"num_key_value_heads": 4}, {"tie_word_embeddings": True}
NEAR = {"sliding_window": 8}
MADE: dict[str, dict[str, Any]] = {  # by model type, the settings that it is made with
    "gpt2": GPT | WIDE,
    "gptj": GPT | WIDE | TIED | {"rotary_dim": 16},
    "gpt_neo": ENDS | WIDE | {"hidden_size": D, "num_layers": 2, "num_heads": 4, "window_size": 8,
                              "attention_types": [[["global", "local"], 1]]},
    "gpt_neox": BARE | WIDE,
    "opt": BARE | {"ffn_dim": 3 * D, "init_std": 0.06, "word_embed_proj_dim": D},
    "bert": BARE | WIDE,
    "roberta": BARE | WIDE | {"pad_token_id": 1},
    "t5": T5 | {"initializer_factor": 0.7},
    "mt5": T5 | {"initializer_factor": 0.3},
    "llama": SIZES | WIDE | TIED,
    "mistral": SIZES | WIDE | NEAR,
    "qwen2": BARE | WIDE | {"num_key_value_heads": 2},
    "qwen3": SIZES | WIDE | TIED,
    "gemma": SIZES | {"initializer_range": 0.05},
    "gemma2": SIZES | WIDE | {"final_logit_softcapping": 3.0},
    "gemma3_text": SIZES | WIDE | NEAR,
    "cohere": BARE | WIDE | {"logit_scale": 0.5},
    "granite": BARE | WIDE | HEADS | TIED | {
        "embedding_multiplier": 6.0, "residual_multiplier": 0.3, "logits_scaling": 2.0,
        "attention_multiplier": 0.05,
    },
    "olmo2": BARE | WIDE | HEADS,
    "phi": BARE | WIDE,
    "smollm3": BARE | WIDE | HEADS,
    "starcoder2": BARE | {"num_key_value_heads": 2},
    "albert": BARE | WIDE | {"embedding_size": 48},
    "arcee": SIZES | WIDE | TIED,
    "bloom": GPT | LOUD | {"hidden_size": D, "n_head": 16},
    "codegen": GPT | WIDE | {"rotary_dim": 16},
    "cohere2": BARE | WIDE | HEADS | NEAR | {"logit_scale": 0.5},
    "distilbert": WIDE | {"vocab_size": N, "dim": D, "hidden_dim": 3 * D, "n_layers": 2,
                          "n_heads": 4},
    "electra": BARE | WIDE | {"embedding_size": 48},
    "ernie4_5": SIZES | WIDE | {"num_key_value_heads": 2},
    "falcon": BARE | WIDE,
    "glm": SIZES | WIDE | TIED,
    "glm4": SIZES | WIDE | TIED,
    "gpt_bigcode": GPT | WIDE,
    "helium": SIZES | WIDE | TIED,
    "hunyuan_v1_dense": SIZES | WIDE | TIED,
    "ministral": SIZES | WIDE | NEAR,
    "mpt": ENDS | LOUD | {"d_model": 144, "n_layers": 2, "n_heads": 12},
    "nemotron": SIZES | TIED,
    "olmo": BARE | WIDE | TIED,
    "olmo3": BARE | WIDE | NEAR | TIED,
    "persimmon": BARE | WIDE | TIED,
    "phi3": BARE | WIDE | TIED,
    "seed_oss": SIZES | WIDE,
    "stablelm": BARE | WIDE | HEADS | {"use_parallel_residual": True},
}  # fmt: skip
AUTO = dict.fromkeys(("albert", "bert", "distilbert", "electra", "roberta"), "ForMaskedLM")
AUTO |= dict.fromkeys(("t5", "mt5"), "ForSeq2SeqLM")


def made(kind: str, seed: int = 0, **more: Any) -> Any:
    """A fresh model of a kind in evaluation mode, its weights drawn with a seed."""
    config = transformers.AutoConfig.for_model(kind, **MADE[kind] | more)
    auto = getattr(transformers, f"AutoModel{AUTO.get(kind, 'ForCausalLM')}")
    torch.manual_seed(seed)
    return auto.from_config(config).eval()
