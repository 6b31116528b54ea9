"""Models at the sizes in which they were released, without memory for their weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn

Built = TypeVar("Built", bound=nn.Module)


def on_meta(build: Callable[[], Built]) -> Built:
    """Build a module that has shapes but no memory.

    Args:
        build: makes the module.

    Raises:
        TypeError: no function.

    Example:
        >>> parameters(on_meta(lambda: nn.Embedding(50257, 768)))
        38597376
    """
    if not callable(build):
        got = type(build).__name__
        raise TypeError(f"build: got {got}; accepted: a function that makes a module")
    with torch.device("meta"):
        return build()


def parameters(module: nn.Module) -> int:
    """Return how many parameters a module has, a shared one counted once."""
    return sum(p.numel() for p in module.parameters())


def of_kind(kind: str, *, auto: str = "ForCausalLM", **settings: Any) -> Any:
    """Build a model of transformers without memory, from the name of its kind.

    Args:
        kind: as transformers' configurations call it, such as ``"llama"``.
        auto: which of its auto-classes: ``"ForCausalLM"``, ``"ForMaskedLM"``, ``"ForSeq2SeqLM"``,
            or ``""`` for the trunk without a head.
        settings: of its configuration; what is not said is the kind's default. The ids of special
            tokens are put inside a vocabulary of less than a thousand.

    Raises:
        ValueError: transformers knows no such kind, or has no such class of it.
    """
    from .hugging_face import transformers

    if not hasattr(transformers, f"AutoModel{auto}"):
        raise ValueError(f"auto: got {auto!r}; accepted: what follows AutoModel in a class's name")

    if settings.get("vocab_size", 1000) < 1000:
        settings = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2, **settings}
    config = transformers.AutoConfig.for_model(kind, **settings)
    maker = getattr(transformers, f"AutoModel{auto}")
    return on_meta(lambda: maker.from_config(config))


def _gpt2(d: int, layers: int) -> tuple[str, dict[str, Any]]:
    return "gpt2", {"n_embd": d, "n_layer": layers, "n_head": d // 64}


def _pythia(d: int, layers: int) -> tuple[str, dict[str, Any]]:
    sizes = {"hidden_size": d, "num_hidden_layers": layers, "intermediate_size": 4 * d}
    return "gpt_neox", {"vocab_size": 50304, **sizes}


def _llama(d: int, layers: int, inner: int, n: int = 32000, **more: Any) -> tuple[str, Any]:
    sizes = {"hidden_size": d, "num_hidden_layers": layers, "intermediate_size": inner}
    heads = {"num_attention_heads": d // 128}
    return "llama", {"vocab_size": n, **sizes, **heads, **more}


def _bloom(d: int, layers: int, heads: int) -> tuple[str, dict[str, Any]]:
    return "bloom", {"hidden_size": d, "n_layer": layers, "n_head": heads}


def _qwen(d: int, layers: int, inner: int, heads: int, groups: int, n: int = 152064) -> Any:
    sizes = {"hidden_size": d, "num_hidden_layers": layers, "intermediate_size": inner}
    ends = {"num_attention_heads": heads, "num_key_value_heads": groups}
    return "qwen2", {"vocab_size": n, **sizes, **ends, "tie_word_embeddings": n == 151936}


RELEASED: dict[str, tuple[str, dict[str, Any]]] = {
    "BERT base": ("bert", {"auto": "ForMaskedLM"}),
    "mT5 small": (
        "mt5",
        {"vocab_size": 250112, "d_model": 512, "d_ff": 1024, "num_layers": 8, "num_heads": 6,
         "feed_forward_proj": "gated-gelu", "auto": "ForSeq2SeqLM"},
    ),
    "GPT-2 124M": _gpt2(768, 12), "GPT-2 355M": _gpt2(1024, 24), "GPT-2 774M": _gpt2(1280, 36),
    "GPT-2 1.5B": _gpt2(1600, 48),
    "Pythia 70M": _pythia(512, 6), "Pythia 160M": _pythia(768, 12),
    "Pythia 410M": _pythia(1024, 24), "Pythia 1B": _pythia(2048, 16),
    "Pythia 2.8B": _pythia(2560, 32),
    "BLOOM 560M": _bloom(1024, 24, 16), "BLOOM 1.1B": _bloom(1536, 24, 16),
    "BLOOM 1.7B": _bloom(2048, 24, 16), "BLOOM 3B": _bloom(2560, 30, 32),
    "BLOOM 7.1B": _bloom(4096, 30, 32),
    "LLaMA 7B": _llama(4096, 32, 11008), "LLaMA 13B": _llama(5120, 40, 13824),
    "LLaMA 33B": _llama(6656, 60, 17920), "LLaMA 65B": _llama(8192, 80, 22016),
    "Llama 2 70B": _llama(8192, 80, 28672, num_key_value_heads=8),
    "Llama 3 8B": _llama(4096, 32, 14336, 128256, num_key_value_heads=8),
    "Qwen2.5 0.5B": _qwen(896, 24, 4864, 14, 2, 151936),
    "Qwen2.5 1.5B": _qwen(1536, 28, 8960, 12, 2, 151936),
    "Qwen2.5 3B": _qwen(2048, 36, 11008, 16, 2, 151936),
    "Qwen2.5 7B": _qwen(3584, 28, 18944, 28, 4), "Qwen2.5 14B": _qwen(5120, 48, 13824, 40, 8),
    "Qwen2.5 32B": _qwen(5120, 64, 27648, 40, 8), "Qwen2.5 72B": _qwen(8192, 80, 29568, 64, 8),
}  # fmt: skip


def released(name: str, **changes: Any) -> Any:
    """Build a model at the size in which it was released, without memory for its weights.

    Args:
        name: a key of `RELEASED`; a family's name and a blank, such as ``"GPT-2 124M"``.
        changes: settings that are to be others, such as ``tie_word_embeddings``.

    Raises:
        ValueError: another name.

    Example:
        >>> parameters(released("GPT-2 124M"))
        124439808
    """
    if name not in RELEASED:
        raise ValueError(f"name: got {name!r}; accepted: {', '.join(RELEASED)}")
    kind, settings = RELEASED[name]
    return of_kind(kind, **{**settings, **changes})


def family(name: str, **changes: Any) -> dict[str, Any]:
    """Build all models of `RELEASED` whose name begins with a family's, from small to large.

    Args:
        name: such as ``"Qwen2.5"``.
        changes: settings that are to be others.

    Raises:
        ValueError: there is none.
    """
    names = [known for known in RELEASED if known.startswith(f"{name} ")]
    found = {known: released(known, **changes) for known in names}
    if not found:
        families = sorted({known.rsplit(" ", 1)[0] for known in RELEASED})
        raise ValueError(f"name: got {name!r}; accepted: {', '.join(families)}")
    return found
