"""Small models of the classes of which `initial_loss` reads the head alone."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as NAMES

from weightwise.first_loss.initial.recipes import RECIPES, untied

FACTORS = {  # what else moves their logits
    "beam": {"final_logit_softcapping": 1.0},
    "falcon_h1": {"lm_head_multiplier": 1.7},
    "granitemoe": {"logits_scaling": 0.6},
    "granitemoe_swa": {"logits_scaling": 0.6},
    "granitemoeshared": {"logits_scaling": 0.6},
    "hyperclovax": {"logits_scaling": 1.7},
    "nanochat": {"final_logit_softcapping": 1.0},
}
SMALL = {
    "intermediate_size": 96, "moe_intermediate_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "num_experts": 4,
    "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1,
    "topk_group": 1, "first_k_dense_replace": 1, "shared_expert_intermediate_size": 32,
    "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8,
    "v_head_dim": 16, "max_position_embeddings": 256, "linear_num_key_heads": 2,
    "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
    "mamba_n_heads": 4, "mamba_d_head": 32, "mamba_n_groups": 1, "mamba_d_state": 8,
    "mamba_d_ssm": 128, "mamba_chunk_size": 16, "index_n_heads": 2, "index_head_dim": 16,
    "index_topk": 16, "num_shared_experts": 1, "n_shared_experts": 1, "moe_num_experts": 4,
    "moe_topk": 2, "moe_k": 2, "moe_shared_expert_intermediate_size": 32, "pad_token_id": None,
    "bos_token_id": 1, "eos_token_id": 2, "image_token_id": None, "decoder_sparse_step": 1,
}  # fmt: skip
ALONE = sorted(
    kind for kind, recipe in RECIPES.items() if getattr(recipe, "func", recipe) is untied
)
BEFORE = ("deepseek_v3", "gpt_oss", "llama4_text", "mixtral", "olmoe", "qwen2_moe", "qwen3_moe")
NEW = [kind for kind in ALONE if kind not in BEFORE]


def small(kind: str, draw: int, **more: Any) -> Any:
    """A model of one of two shapes: 1000 words and σ = 0.02, or 700 and 0.06."""
    usual = CONFIG_MAPPING[kind]()
    known = usual.to_dict()
    given = {name: value for name, value in SMALL.items() if hasattr(usual, name)}
    given |= {"hidden_size": (64, 96)[draw % 2], "vocab_size": (1000, 700)[draw % 2]}
    given |= {"initializer_range": (0.02, 0.06)[draw % 2]}
    for name in ("layer_types", "mlp_layer_types", "layers_block_type"):
        if isinstance(known.get(name), list):  # one layer of each kind
            given[name] = (list(dict.fromkeys(known[name])) * 2)[:2]
    try:
        config = type(usual)(**given | more)
    except Exception:  # where kinds of layers are bound to their places
        given.pop("layer_types")
        config = type(usual)(**given | more)
    torch.manual_seed(draw)
    return getattr(transformers, NAMES[kind])(config).eval()
