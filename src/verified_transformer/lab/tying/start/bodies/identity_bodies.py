"""How near to the identity a body is at its start: residual techniques, and real models."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from .....models.first_loss import first_loss, two_gram_loss
from .....seeds import generator, seed_of

# place of the norm, factor on the stream, scales of a branch's inner and outer matrix
Technique = Callable[[int], tuple[str, float, float, float]]
TECHNIQUES: dict[str, Technique] = {
    "DeepNorm": lambda n: ("post", (2 * n) ** 0.25, (8 * n) ** -0.25, (8 * n) ** -0.25),
    "Fixup": lambda n: ("none", 1.0, n**-0.5, 0.0),
    "SkipInit, ReZero": lambda n: ("none", 1.0, 1.0, 0.0),
    "T-Fixup": lambda n: ("none", 1.0, 0.67 * n**-0.25, 0.67 * n**-0.25),
    "GPT-2's factor": lambda n: ("pre", 1.0, 1.0, (2 * n) ** -0.5),
    "none, Pre Norm": lambda n: ("pre", 1.0, 1.0, 1.0),
    "none, Post Norm": lambda n: ("post", 1.0, 1.0, 1.0),
}

WORDS = 8192  # tokens of the models below, where their own vocabularies are larger
_ENDS = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "GPT-2": ("GPT2LMHeadModel", _ENDS),
    "BERT": ("BertForMaskedLM", {"vocab_size": WORDS, "num_hidden_layers": 6}),
    "T5": ("T5ForConditionalGeneration", {"vocab_size": WORDS, "num_layers": 3}),
    "Llama, tied": ("LlamaForCausalLM", {
        "vocab_size": WORDS, "hidden_size": 768, "num_hidden_layers": 4, "num_attention_heads": 12,
        "intermediate_size": 2048, "tie_word_embeddings": True}),
}  # fmt: skip
_GEMMA = {
    "hidden_size": 2048, "intermediate_size": 16384, "num_hidden_layers": 4, "vocab_size": WORDS,
    "num_attention_heads": 8, "num_key_value_heads": 1,
}  # fmt: skip
_COLUMNS = {
    "kept": ("cosine with the first state", 2),
    "last": ("cosine with the token's row", 2),
    "full": ("own logit of an identity", 1),
    "own": ("own logit of the model", 1),
    "two_gram": ("excess of an identity", 2),
    "excess": ("excess of the model", 2),
}


def kept_cosine(
    technique: str, layers: int, draw: int | str, d: int = 256, tokens: int = 64
) -> float:
    """Return the mean cosine between the final state and the input of a drawn residual stack.

    Args:
        technique: a key of `TECHNIQUES`.
        layers: of two branches each.
        draw: which weights, a number or a name.
        d: width.
        tokens: inputs averaged over.

    Raises:
        ValueError: another technique.
    """
    if technique not in TECHNIQUES:
        raise ValueError(f"technique: got {technique!r}; accepted: {', '.join(TECHNIQUES)}")
    place, scale, inner, outer = TECHNIQUES[technique](layers)
    source = generator(f"{technique} {layers} {draw}")
    start = x = F.layer_norm(torch.randn(tokens, d, generator=source), (d,))
    for _ in range(2 * layers):
        first, second = torch.randn(2, d, d, generator=source) / d**0.5
        seen = F.layer_norm(x, (d,)) if place == "pre" else x
        x = scale * x + seen @ (inner * first) @ (outer * second)
        x = F.layer_norm(x, (d,)) if place == "post" else x
    return torch.cosine_similarity(x, start, dim=-1).mean().item()


def without_weights(kind: str, **settings: Any) -> Any:
    """Build a tied model of transformers whose weights are not drawn yet.

    Args:
        kind: name of a class, such as ``"GPT2LMHeadModel"``.
        settings: of its configuration.

    Raises:
        ValueError: its head is not its embedding.
    """
    from ....real_models.hugging_face import transformers

    no_init_weights = import_module("transformers.initialization").no_init_weights

    cls = getattr(transformers, kind)
    with no_init_weights():
        model = cls(cls.config_class(**settings)).eval()
    model.tie_weights()
    if model.get_output_embeddings().weight is not model.get_input_embeddings().weight:
        raise ValueError(f"kind: {kind} with {settings} is not tied; accepted: a tied model")
    return model


def draw_weights(model: Any, name: str) -> None:
    """Draw all weights of a model by its own initialiser, with the seed of a name."""
    tied = model.get_output_embeddings()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed_of(name) % 2**63)
        for part in reversed(list(model.modules())):  # the parts before the whole
            if part is not tied:
                model._init_weights(part)


def states_and_features(model: Any, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the states after each layer and what meets the table.

    Args:
        model: of transformers.
        tokens: (T,); an encoder reads them backwards.

    Returns:
        States, (layers + 1, T, d), and features, (T, d).
    """
    given: dict[str, torch.Tensor] = {}
    head = model.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda part, inputs: given.update(features=inputs[0]))
    decoder = model.config.is_encoder_decoder
    more = {"decoder_input_ids": tokens[None]} if decoder else {}
    source = tokens.flip(0) if decoder else tokens
    with torch.no_grad():
        output = model(input_ids=source[None], output_hidden_states=True, **more)
    hook.remove()
    states = output.decoder_hidden_states if decoder else output.hidden_states
    return torch.cat(states), given["features"][0]


def observed(model: Any, tokens: torch.Tensor) -> dict[str, Any]:
    """Return how near to the identity a model's body is, and its first loss beside the two-gram's.

    Args:
        model: tied, of transformers.
        tokens: (T,), all different.

    Returns:
        Cosines with the token's embedding after each layer ("along"), of the last state ("last"),
        and of the last state with the first ("kept"); root mean squares of the states ("length");
        first loss less log n and own logit of the model ("excess", "own") and of its embeddings
        alone ("two_gram", "full").
    """
    states, features = states_and_features(model, tokens)
    table = model.get_input_embeddings().weight.detach()
    scale = table.shape[1] ** -0.5 if model.config.is_encoder_decoder else 1.0
    found = first_loss(features, table, own=tokens)
    alone = two_gram_loss(table, tokens, features=lambda h: scale * h)
    along = torch.cosine_similarity(states, table[tokens], dim=-1).mean(1)
    last_first = torch.cosine_similarity(states[-1], states[0], dim=-1)
    uniform = math.log(len(table))
    assert found.own_logit is not None and alone.own_logit is not None
    return {
        "along": along.numpy(), "last": along[-1].item(), "kept": last_first.mean().item(),
        "length": states.pow(2).mean((1, 2)).sqrt().numpy(),
        "excess": found.loss.mean().item() - uniform, "own": found.own_logit.mean().item(),
        "two_gram": alone.loss.mean().item() - uniform, "full": alone.own_logit.mean().item(),
    }  # fmt: skip


def observed_over_draws(model: Any, name: str, draws: int = 3) -> dict[str, np.ndarray]:
    """Return `observed`'s numbers for independent draws of a model's weights, stacked.

    Args:
        model: from `without_weights`; its weights are drawn anew.
        name: what the seeds are derived from.
        draws: how many.
    """
    rows = []
    for draw in range(draws):
        draw_weights(model, f"{name} {draw}")
        words = model.get_input_embeddings().weight.shape[0]
        tokens = torch.randperm(words - 1, generator=generator(f"{name} tokens {draw}"))[:8] + 1
        rows.append(observed(model, tokens))
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def table_of(seen: dict[str, dict[str, np.ndarray]]) -> str:
    """Return a table of what `observed_over_draws` found, a model a column, means over the draws.

    Args:
        seen: by the name of the model.
    """
    lines = [f"{'':28}" + "".join(f"{name:>12}" for name in seen)]
    for key, (text, digits) in _COLUMNS.items():
        found = "".join(f"{of[key].mean():12.{digits}f}" for of in seen.values())
        lines.append(f"{text:28}" + found)
    return "\n".join(lines)


def gemma_by_layer(draws: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return what a tied Gemma of the width of the 2B model would say after each first layer.

    Args:
        draws: of all weights, averaged over.

    Returns:
        Cosine with the token's row, and first loss less log n, if the model ended there: (4,) each.
    """
    gemma, found = without_weights("GemmaForCausalLM", **_GEMMA), []
    shown, rows = torch.arange(1, 9) * 1000, gemma.get_input_embeddings().weight.detach()
    for draw in range(draws):
        draw_weights(gemma, f"Gemma {draw}")
        states, _ = states_and_features(gemma, shown)
        states[:-1] = F.rms_norm(states[:-1], (_GEMMA["hidden_size"],))  # the last has its norm
        losses = [first_loss(state, rows, own=shown).loss.mean().item() for state in states[1:]]
        near = torch.cosine_similarity(states[1:], rows[shown], dim=-1).mean(1)
        found.append((near.numpy(), np.array(losses) - math.log(WORDS)))
    cosine, excess = np.mean(found, 0)
    return cosine, excess


@torch.no_grad()
def llama_states(model: Any, factor: float, tokens: torch.Tensor, name: str) -> torch.Tensor:
    """Return a Llama's last states, the output matrices of all branches drawn anew and scaled.

    Args:
        model: a Llama; its output matrices are overwritten.
        factor: on the library's standard deviation of 0.02.
        tokens: (T,).
        name: what the seed is derived from.

    Returns:
        States behind the final norm, (T, d).
    """
    source = generator(name)
    for layer in model.model.layers:
        for part in (layer.self_attn.o_proj, layer.mlp.down_proj):
            part.weight.normal_(0.0, 0.02 * factor, generator=source)
    return states_and_features(model, tokens)[0][-1]


def stays_aligned(model: Any, factor: float, name: str) -> bool:
    """Whether each of eight tokens leaves `llama_states` with a cosine above 0.9 to its row."""
    shown = _some_tokens(name)
    rows = model.get_input_embeddings().weight.detach()[shown]
    states = llama_states(model, factor, shown, name)
    return torch.cosine_similarity(states, rows, dim=-1).min().item() > 0.9


def knows_one_token(model: Any, factor: float, name: str) -> bool:
    """Whether the last of eight states is its token's normalised row, whatever the tokens before.

    Args:
        model, factor, name: see `llama_states`.
    """
    shown = _some_tokens(name)
    other = torch.cat([shown[:-1] + 100, shown[-1:]])
    first, second = (llama_states(model, factor, tokens, name)[-1] for tokens in (shown, other))
    own = model.get_input_embeddings().weight.detach()[shown[-1]]
    alone = F.rms_norm(own, own.shape, eps=model.config.rms_norm_eps)
    return torch.allclose(first, second) and torch.allclose(first, alone, atol=1e-5)


def _some_tokens(name: str) -> torch.Tensor:
    return torch.randperm(WORDS - 200, generator=generator(f"tokens {name}"))[:8] + 1
