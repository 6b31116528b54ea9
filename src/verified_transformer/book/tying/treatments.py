"""What is done to tied models, and the flag of transformers."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, parametrizations, vector_to_parameters

from ...models import is_tied
from ...seeds import device
from ..real_models.hugging_face import transformers
from ..real_models.released import on_meta
from ..real_models.tiny import tiny
from .ties import (
    TiedModel,
    Treatment,
    converted,
    head_copied,
    head_from,
    load,
    load_file,
    new_data,
    new_embedding,
    normed,
    pruned,
    said_by,
    seeded,
    then,
    through_file,
    through_pickle,
    through_safetensors,
    to_empty,
    twice,
    twice_removed,
)


def _untied() -> TiedModel:
    return TiedModel(tie=False)


def _empty() -> TiedModel:
    return on_meta(TiedModel)


def _flattened(model: Any, *, by_layer: bool) -> Any:
    """Copy parameters into flat vectors and put views of them in their places, as sharding does."""
    units = list(model.children()) if by_layer else [model]
    for unit in units:
        flat = nn.Parameter(parameters_to_vector(unit.parameters()).detach().clone())
        start, made = 0, {}
        for layer in unit.modules():
            for name, old in list(layer.named_parameters(recurse=False)):
                if id(old) not in made:
                    view = flat.data[start : start + old.numel()].view_as(old)
                    made[id(old)], start = (nn.Parameter(view), old), start + old.numel()
                setattr(layer, name, made[id(old)][0])
    return model


def _pair(take: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], Any]:
    return lambda: head_from(TiedModel(n=5, d=5), lambda E: take(E.detach()))


PAIRS: dict[str, Callable[[], Any]] = {
    "tied": TiedModel,
    "equal values": _pair(torch.clone),
    "same memory": _pair(lambda E: E),
    "same memory, transposed": _pair(torch.t),
    "same memory, shifted": _pair(lambda E: E[1:]),
    "head computed as 2 * E": lambda: twice(TiedModel()),
    "weight norm on both": lambda: normed(_untied()),
    "untied": _untied,
}
COPIES: dict[str, Treatment] = {
    "deepcopy(model)": copy.deepcopy,
    "deepcopy(lm_head)": head_copied,
    "pickle": through_pickle,
    "torch.save, torch.load": lambda m: through_file(m, weights_only=False),
    "one flat vector": lambda m: _flattened(m, by_layer=False),
    "flat, layer by layer": lambda m: _flattened(m, by_layer=True),
}
STATE_DICTS: dict[str, Treatment] = {
    "tied into tied": lambda m: load(TiedModel(), m),
    "tied into untied": lambda m: load(_untied(), m),
    "untied into tied": lambda m: load(m, _untied()),
    "tied, assign=True": lambda m: load(TiedModel(), m, assign=True),
    "… from a file": lambda m: load_file(TiedModel(), m, assign=True),
    "… onto meta": lambda m: load(_empty(), m, assign=True),
    "untied, assign=True": lambda m: load(m, _untied(), assign=True),
}
FILES: dict[str, Treatment] = {
    "save_file(state_dict)": through_safetensors,
    "save_model, into tied": lambda m: through_safetensors(m, TiedModel()),
    "…, into untied": lambda m: through_safetensors(m, _untied()),
    "…, strict=False": lambda m: through_safetensors(m, _untied(), strict=False),
}
_FUTURE = torch.__future__
CONVERSIONS: dict[str, Treatment] = {
    ".to(torch.float64)": lambda m: m.to(torch.float64),
    ".half()": lambda m: m.half(),
    ".to(device())": lambda m: m.to(device()),
    ".to_empty on the CPU": to_empty,
    "meta, then .to_empty": lambda _: to_empty(_empty()),
    ".to('meta'), .to_empty": lambda m: to_empty(m.to("meta")),
    ".to(…), overwriting": converted(_FUTURE.set_overwrite_module_params_on_conversion),
    ".to(…), swapping": converted(_FUTURE.set_swap_module_params_on_conversion),
}


def _from_vector(model: Any) -> Any:
    vector_to_parameters(torch.randn(48), model.parameters())
    return model


SETTING: dict[str, Treatment] = {
    "xavier_uniform_(…)": lambda m: then(m, nn.init.xavier_uniform_(m.lm_head.weight)),
    "head.reset_parameters()": lambda m: then(m, m.lm_head.reset_parameters()),
    "weight.data = numbers": new_data,
    "requires_grad_(False)": lambda m: m.requires_grad_(False).requires_grad_(True),
    "vector_to_parameters": _from_vector,
    "Parameter(clone)": lambda m: head_from(m, lambda E: E.detach().clone()),
    "Parameter(weight.data)": lambda m: head_from(m, lambda E: E.data),
    "Parameter(weight)": lambda m: head_from(m, lambda E: E),
    "from_pretrained(weight)": new_embedding,
}
COMPUTED: dict[str, Treatment] = {
    "weight_norm(head)": lambda m: then(m, parametrizations.weight_norm(m.lm_head)),
    "spectral_norm(head)": lambda m: then(m, parametrizations.spectral_norm(m.lm_head)),
    "orthogonal(head)": lambda m: then(m, parametrizations.orthogonal(m.lm_head)),
    "one's own: 2 * weight": twice,
    "…, removed": twice_removed,
    "pruning": pruned,
    "…, made permanent": lambda m: pruned(m, remove=True),
}


def undone() -> dict[str, Callable[[], Any]]:
    """Return three treatments that undo a tie without a word, as makers of treated models."""
    return {
        "load_state_dict(assign=True)": lambda: load(TiedModel(), TiedModel(), assign=True),
        "to_empty after meta": lambda: to_empty(_empty()),
        "weight_norm of the head": lambda: COMPUTED["weight_norm(head)"](TiedModel()),
    }


def changed_entries() -> str:
    """Return a table: how many of the embedding's entries change with a treatment of the head."""
    names = ("pruning", "…, made permanent", "orthogonal(head)")
    lines = []
    for name in names:
        model = seeded(name, TiedModel)
        before = model.embedding.weight.detach().clone()
        changed = int((before != COMPUTED[name](model).embedding.weight.detach()).sum())
        lines.append(f"{name:18} {changed:2} of {before.numel()} entries changed")
    return "\n".join(lines)


def in_two_groups() -> str:
    """Return what SGD says to a tied pair that is listed by both names."""
    model = TiedModel()
    E, H = model.embedding.weight, model.lm_head.weight
    ways: dict[str, Any] = {
        "both names in one group": [E, H],
        "both names in two groups": [{"params": [E]}, {"params": [H]}],
        "model.parameters()": list(model.parameters()),
    }
    said = {way: said_by(lambda given=given: torch.optim.SGD(given, lr=0.1))  # type: ignore[misc]
            for way, given in ways.items()}  # fmt: skip
    return "\n".join(f"{way:25} {answer}" for way, answer in said.items())


def decayed(half: bool, steps: int, rate: float) -> list[float]:
    """Return a weight after each of some steps of AdamW with zero gradients.

    Args:
        half: whether two Parameters over one memory are trained, not one.
        steps: how many.
        rate: learning rate times weight decay.
    """
    w = nn.Parameter(torch.ones(1, dtype=torch.float64))
    owners = [w, nn.Parameter(w.data)] if half else [w]
    adam, found = torch.optim.AdamW(owners, lr=rate, weight_decay=1.0), []
    for _ in range(steps):
        for owner in owners:
            owner.grad = torch.zeros_like(owner)
        adam.step()
        found.append(w.item())
    return found


# ------------------------------------------------------------------------------ the library's flag

NAMES = """OpenAIGPTLMHeadModel GPT2LMHeadModel GPTJForCausalLM GPTNeoXForCausalLM OPTForCausalLM
BloomForCausalLM LlamaForCausalLM FalconForCausalLM MistralForCausalLM PhiForCausalLM
Qwen2ForCausalLM GemmaForCausalLM MambaForCausalLM BertForMaskedLM RobertaForMaskedLM
AlbertForMaskedLM BartForConditionalGeneration T5ForConditionalGeneration""".split()
SILENT: dict[str, dict[str, Any]] = {
    "BigBirdPegasusForCausalLM": {}, "xLSTMForCausalLM": {},
    "NemotronHForCausalLM": {"layers_block_type": ["mlp"]},
}  # fmt: skip
BY_FLAG: dict[str, dict[str, bool]] = {
    "True": {"tie_word_embeddings": True}, "False": {"tie_word_embeddings": False}, "default": {},
}  # fmt: skip


def built(name: str, **flag: Any) -> Any:
    """Build a class of transformers with one layer, without memory, from its configuration."""
    kind = getattr(transformers, name)
    return on_meta(lambda: kind(kind.config_class(num_hidden_layers=1, **flag)))


def llama(tied: bool) -> Any:
    """Return a small Llama, tied or not by its configuration."""
    return tiny("llama", vocab_size=40, tie_word_embeddings=tied).float()


def reloaded(model: Any, **flag: Any) -> Any:
    """Save a model of transformers and load it again."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        return type(model).from_pretrained(folder, **flag)


def _flag_later(model: Any, flag: bool) -> Any:
    model.config.tie_word_embeddings = flag
    return model


def _equal_values(model: Any) -> Any:
    return then(model, model.lm_head.weight.data.copy_(model.model.embed_tokens.weight))


def _new_input(model: Any) -> Any:
    return then(model, model.set_input_embeddings(copy.deepcopy(model.get_input_embeddings())))


_TIED, _UNTIED = BY_FLAG["True"], BY_FLAG["False"]
_STORY: dict[str, tuple[bool, Treatment]] = {
    "on: saved, loaded": (True, reloaded),
    "on: loaded with off": (True, lambda m: reloaded(m, **_UNTIED)),
    "on, later off": (True, lambda m: _flag_later(m, False)),
    "… saved and loaded": (True, lambda m: reloaded(_flag_later(m, False))),
    "on: more tokens": (True, lambda m: then(m, m.resize_token_embeddings(44))),
    "on: a new input layer": (True, _new_input),
    "… tie_weights()": (True, lambda m: then(m := _new_input(m), m.tie_weights())),
    "off, later on": (False, lambda m: _flag_later(m, True)),
    "…, tie_weights()": (False, lambda m: then(_flag_later(m, True), m.tie_weights())),
    "off: loaded with on": (False, lambda m: reloaded(m, **_TIED)),
    "…, equal values": (False, lambda m: reloaded(m, **_TIED)),
}


def flag_story() -> dict[str, tuple[bool, bool]]:
    """Return, for what is done with the flag, whether a Llama is tied then, and the same."""

    def logits(model: Any) -> torch.Tensor:
        with torch.no_grad():
            return torch.as_tensor(model(torch.tensor([[3, 5, 8]])).logits[..., :40])

    found = {}
    for name, (flag, treat) in _STORY.items():
        model = _equal_values(llama(flag)) if "equal" in name else llama(flag)
        before = logits(model)
        after = treat(model)
        found[name] = (is_tied(after), torch.allclose(before, logits(after), atol=1e-6))
    return found
