"""Real models at small sizes: the classes that people use, in float64, in evaluation mode.

`tiny` gives one as its class initialises it; `randomised` gives every parameter random values,
gains and biases included, because defaults (gain 1, bias 0) hide most mistakes of a weight
transformation.
"""

from __future__ import annotations

import copy
import io
import pickle
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from operator import itemgetter
from typing import Any, TypeVar

import torch
from torch import nn

from verifiedbook.seeds import generator, seed_of

_ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
_SIZES = {
    "hidden_size": 12, "intermediate_size": 10, "num_attention_heads": 3, "num_hidden_layers": 1,
}  # fmt: skip
_BERT = {**_SIZES, **_ENDS, "max_position_embeddings": 16}
_LLAMA = {**_SIZES, **_ENDS, "hidden_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2}
_GPT2 = {**_ENDS, "n_embd": 12, "n_layer": 1, "n_head": 3, "n_positions": 16}
_T5 = {
    "eos_token_id": 2, "pad_token_id": 0, "decoder_start_token_id": 0, "d_model": 10, "d_ff": 7,
    "d_kv": 5, "num_heads": 3, "num_layers": 1,
}  # fmt: skip
_GATED = {**_T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
TINY: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("BertForMaskedLM", _BERT),
    "albert": ("AlbertForMaskedLM", {**_BERT, "embedding_size": 5}),
    "rembert": (
        "RemBertForMaskedLM",
        {**_BERT, "input_embedding_size": 8, "output_embedding_size": 24},
    ),
    "gpt": ("OpenAIGPTLMHeadModel", _GPT2),
    "gpt2": ("GPT2LMHeadModel", _GPT2),
    "t5": ("T5ForConditionalGeneration", _T5),
    "t5-1.1": ("T5ForConditionalGeneration", _GATED),
    "mt5": ("MT5ForConditionalGeneration", _GATED),
    "llama": ("LlamaForCausalLM", _LLAMA),
    "qwen2": ("Qwen2ForCausalLM", _LLAMA),
    "gemma": ("GemmaForCausalLM", {**_LLAMA, "head_dim": 4}),
    "roformer": ("RoFormerForMaskedLM", _BERT),
}
_BUILT: dict[str, _Written] = {}  # by what was asked for
_KEPT = 64
_EMBEDDING = re.compile(r"embed|\.wte|\.wpe|shared")
_GAIN = re.compile(r"norm\.weight|ln_\w*\.weight", re.IGNORECASE)

Module = TypeVar("Module", bound=nn.Module)


class _Written(pickle.Pickler):
    """A model that is read again and again, its tensors aside: what is read is a copy.

    A class takes ten times as long to build one, and a deep copy four times.
    """

    def __init__(self, model: nn.Module) -> None:
        self.text, self.tensors = io.BytesIO(), dict[int, torch.Tensor]()
        super().__init__(self.text)
        self.dump(model)

    def persistent_id(self, part: Any) -> int | None:
        if not isinstance(part, torch.Tensor):
            return None
        self.tensors[id(part)] = part
        return id(part)


class _Read(pickle.Unpickler):
    """Gives a model as it was written, with tensors of its own; what was one stays one."""

    def __init__(self, kept: _Written) -> None:
        super().__init__(io.BytesIO(kept.text.getbuffer()))
        self.persistent_load = cache(  # type: ignore[method-assign]
            lambda number: copy.deepcopy(kept.tensors[number])
        )


def tiny(kind: str, *, vocab_size: int = 19, **changes: Any) -> Any:
    """Return a small model of a real class, initialised as the class does, in float64.

    Args:
        kind: a key of `TINY`, such as ``"bert"``.
        vocab_size: number of tokens.
        changes: settings of the class's configuration that are to be others.

    Returns:
        The model of transformers, in evaluation mode, the same at every call.

    Raises:
        ValueError: another kind; nothing is guessed.

    Example:
        >>> tiny("gpt2", n_embd=24).lm_head.weight.shape
        torch.Size([19, 24])
    """
    from .hugging_face import transformers

    if kind not in TINY:
        raise ValueError(f"kind: got {kind!r}; accepted: {', '.join(TINY)}")
    name, sizes = TINY[kind]
    settings = {"vocab_size": vocab_size, **sizes, **changes}
    build = partial(_built, getattr(transformers, name), kind, settings)
    return built_once(build, kind, settings)


def built_once(build: Callable[[], Any], kind: str, settings: Mapping[str, Any]) -> Any:
    """Return what was built for a kind of model and its settings, as a copy; built but once.

    Args:
        build: makes the model, from the two alone.
        kind, settings: of the model, by which it is known again.
    """
    where = torch.get_default_device(), torch.get_default_dtype()
    asked = repr((kind, where, sorted(settings.items(), key=itemgetter(0))))
    if asked not in _BUILT:
        if len(_BUILT) == _KEPT:
            _BUILT.clear()
        _BUILT[asked] = _Written(build())
    return _Read(_BUILT[asked]).load()


def _built(cls: Any, kind: str, settings: dict[str, Any]) -> Any:
    implementation = settings.get("attn_implementation")
    others = {name: value for name, value in settings.items() if name != "attn_implementation"}
    config = cls.config_class(**others)
    if implementation:
        config._attn_implementation = implementation
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(f"tiny {kind}") % 2**63)
        return cls(config).double().eval()


def randomised(module: Module, name: str, *, scale: float = 0.5, embeddings: float = 1.0) -> Module:
    """Give every parameter random values, in place: gains about 1, everything else about 0.

    What does not learn while other parameters do, such as a table of sines, stays as it is.

    Args:
        module: any torch module; it is turned to float64 and evaluation mode.
        name: what the seed is derived from.
        scale: standard deviation of the values.
        embeddings: standard deviation of embedding tables, told by their names.

    Returns:
        The module.

    Raises:
        TypeError: no torch module.
        ValueError: a spread that is negative or not finite.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module: got {type(module).__name__}; accepted: a torch module")
    for argument, spread in (("scale", scale), ("embeddings", embeddings)):
        if not 0 <= spread < float("inf"):
            raise ValueError(f"{argument}: got {spread!r}; accepted: a finite number, 0 or more")
    source = generator(name)
    module.double().eval()
    learnt = [pair for pair in module.named_parameters() if pair[1].requires_grad]
    with torch.no_grad():
        for key, parameter in learnt or module.named_parameters():
            drawn = torch.randn(parameter.shape, generator=source, dtype=torch.float64)
            wide = embeddings if _EMBEDDING.search(key) else scale
            parameter.copy_((1.0 if _GAIN.search(key) else 0.0) + wide * drawn)
    return module
