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
GPT: dict[str, Any] = {
    "vocab_size": N, "n_embd": D, "n_layer": 2, "n_head": 4, "bos_token_id": 0, "eos_token_id": 0,
}  # fmt: skip
T5: dict[str, Any] = {
    "vocab_size": N, "d_model": D, "d_kv": 32, "d_ff": 3 * D, "num_layers": 1, "num_heads": 4,
}  # fmt: skip
BARE = {name: SIZES[name] for name in SIZES if name not in ("head_dim", "num_key_value_heads")}
WIDE, LOUD = {"initializer_range": 0.06}, {"initializer_range": 0.09}
# Model type: class of the model: the settings that it is made with; a wide σ makes the body matter
MADE: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2LMHeadModel", {**GPT, **WIDE}),
    "gptj": ("GPTJForCausalLM", {**GPT, **WIDE, "rotary_dim": 16, "tie_word_embeddings": True}),
    "gpt_neo": (
        "GPTNeoForCausalLM",
        {**WIDE, "vocab_size": N, "hidden_size": D, "num_layers": 2, "num_heads": 4,
         "attention_types": [[["global", "local"], 1]], "window_size": 8, "bos_token_id": 0,
         "eos_token_id": 0},
    ),
    "gpt_neox": ("GPTNeoXForCausalLM", {**BARE, **WIDE}),
    "opt": ("OPTForCausalLM", {**BARE, "ffn_dim": 3 * D, "init_std": 0.06,
                               "word_embed_proj_dim": D}),
    "bert": ("BertForMaskedLM", {**BARE, **WIDE}),
    "roberta": ("RobertaForMaskedLM", {**BARE, **WIDE, "pad_token_id": 1}),
    "t5": ("T5ForConditionalGeneration", {**T5, "initializer_factor": 0.7}),
    "mt5": ("MT5ForConditionalGeneration", {**T5, "initializer_factor": 0.3}),
    "llama": ("LlamaForCausalLM", {**SIZES, **WIDE, "tie_word_embeddings": True}),
    "mistral": ("MistralForCausalLM", {**SIZES, **WIDE, "sliding_window": 8}),
    "qwen2": ("Qwen2ForCausalLM", {**BARE, **WIDE, "num_key_value_heads": 2}),
    "qwen3": ("Qwen3ForCausalLM", {**SIZES, **WIDE, "tie_word_embeddings": True}),
    "gemma": ("GemmaForCausalLM", {**SIZES, "initializer_range": 0.05}),
    "gemma2": ("Gemma2ForCausalLM", {**SIZES, "final_logit_softcapping": 3.0, **WIDE}),
    "gemma3_text": ("Gemma3ForCausalLM", {**SIZES, **WIDE, "sliding_window": 8}),
    "cohere": ("CohereForCausalLM", {**BARE, **WIDE, "logit_scale": 0.5}),
    "granite": (
        "GraniteForCausalLM",
        {**BARE, **WIDE, "num_key_value_heads": 4, "tie_word_embeddings": True,
         "embedding_multiplier": 6.0, "residual_multiplier": 0.3, "logits_scaling": 2.0,
         "attention_multiplier": 0.05},
    ),
    "olmo2": ("Olmo2ForCausalLM", {**BARE, **WIDE, "num_key_value_heads": 4}),
    "phi": ("PhiForCausalLM", {**BARE, **WIDE}),
    "smollm3": ("SmolLM3ForCausalLM", {**BARE, **WIDE, "num_key_value_heads": 4}),
    "starcoder2": ("Starcoder2ForCausalLM", {**BARE, "num_key_value_heads": 2}),
    "albert": ("AlbertForMaskedLM", {**BARE, **WIDE, "embedding_size": 48}),
    "arcee": ("ArceeForCausalLM", {**SIZES, **WIDE, "tie_word_embeddings": True}),
    "bloom": ("BloomForCausalLM", {**GPT, "hidden_size": D, "n_head": 16, **LOUD}),
    "codegen": ("CodeGenForCausalLM", {**GPT, **WIDE, "rotary_dim": 16}),
    "cohere2": (
        "Cohere2ForCausalLM",
        {**BARE, **WIDE, "num_key_value_heads": 4, "sliding_window": 8, "logit_scale": 0.5},
    ),
    "distilbert": (
        "DistilBertForMaskedLM",
        {**WIDE, "vocab_size": N, "dim": D, "hidden_dim": 3 * D, "n_layers": 2, "n_heads": 4},
    ),
    "electra": ("ElectraForMaskedLM", {**BARE, **WIDE, "embedding_size": 48}),
    "ernie4_5": ("Ernie4_5ForCausalLM", {**SIZES, **WIDE, "num_key_value_heads": 2}),
    "falcon": ("FalconForCausalLM", {**BARE, **WIDE}),
    "glm": ("GlmForCausalLM", {**SIZES, **WIDE, "tie_word_embeddings": True}),
    "glm4": ("Glm4ForCausalLM", {**SIZES, **WIDE, "tie_word_embeddings": True}),
    "gpt_bigcode": ("GPTBigCodeForCausalLM", {**GPT, **WIDE}),
    "helium": ("HeliumForCausalLM", {**SIZES, **WIDE, "tie_word_embeddings": True}),
    "hunyuan_v1_dense": (
        "HunYuanDenseV1ForCausalLM", {**SIZES, **WIDE, "tie_word_embeddings": True}
    ),
    "ministral": ("MinistralForCausalLM", {**SIZES, **WIDE, "sliding_window": 8}),
    "mpt": (
        "MptForCausalLM",
        {**LOUD, "vocab_size": N, "n_layers": 2, "n_heads": 12,
         "bos_token_id": 0, "eos_token_id": 0, "d_model": 144},
    ),
    "nemotron": ("NemotronForCausalLM", {**SIZES, "tie_word_embeddings": True}),
    "olmo": ("OlmoForCausalLM", {**BARE, **WIDE, "tie_word_embeddings": True}),
    "olmo3": ("Olmo3ForCausalLM", {**BARE, **WIDE, "sliding_window": 8,
                                   "tie_word_embeddings": True}),
    "persimmon": ("PersimmonForCausalLM", {**BARE, **WIDE, "tie_word_embeddings": True}),
    "phi3": ("Phi3ForCausalLM", {**BARE, **WIDE, "tie_word_embeddings": True}),
    "seed_oss": ("SeedOssForCausalLM", {**SIZES, **WIDE}),
    "stablelm": (
        "StableLmForCausalLM",
        {**BARE, **WIDE, "num_key_value_heads": 4, "use_parallel_residual": True},
    ),
}  # fmt: skip


def made(kind: str, seed: int = 0, **more: Any) -> Any:
    name, settings = MADE[kind]
    torch.manual_seed(seed)
    cls = getattr(transformers, name)
    return cls(cls.config_class(**{**settings, **more})).eval()
