"""From a configuration of transformers to what is known of the model at step 0, class by class.

Each recipe says what the class's own initialiser does (``_init_weights``, read in transformers
5.23): biases are zero, gains one (Gemma's are 1 + w with w = 0), dropout is off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..body import Body
from ..settings import Settings
from .encoders import albert, bert, distilbert, narrow_bert, t5
from .gated import gemma, glm, granite, headed, llama, mistral, qwen, square, unnamed
from .head_alone import untied
from .layered import (
    bigcode,
    cohere,
    falcon,
    gpt,
    gpt2,
    gpt_neo,
    layered,
    nemotron,
    neox,
    opt,
    persimmon,
    stablelm,
    starcoder2,
)
from .sloped import bloom, mpt

_ASKED = """Of another class one would have to know:
  - the scale and the factor of the embedding, of positions, of token types (initialiser);
  - the form of a layer (pre-, post-, sandwich- or parallel-norm), kind and ε of its norms, depth;
  - the deviations of the matrices of attention and feed-forward, whether depth scales them;
  - the activation, gates, how attention's logits are scaled, capped or normalised;
  - the head: tied or not, its own matrix, a transform before it, a scale or a cap on its logits.
Say it as a verified_transformer.models.Body, and give that instead, or beside a model as body=…"""


def body_of(given: Any) -> Body:
    """Return what is known of a model at step 0.

    Args:
        given: a `Body` (returned as it is), a configuration of transformers, a dictionary with its
            settings, the path of a ``config.json``, or of a folder that holds one.

    Raises:
        TypeError: it is none of these.
        ValueError: its class is not known, or a setting is missing or unknown.
    """
    if isinstance(given, Body):
        return given
    if not isinstance(given, Mapping | str | Path) and not hasattr(given, "to_dict"):
        accepted = "a model or a configuration of transformers, a dictionary, the path of a JSON"
        raise TypeError(f"model_or_config: got {type(given).__name__}; accepted: {accepted}")
    settings = Settings(given)
    kind = settings.get("model_type")
    if kind not in RECIPES:
        known = ", ".join(sorted(RECIPES))
        raise ValueError(f"model_or_config: got the class {kind!r}; accepted: {known}.\n{_ASKED}")
    return RECIPES[kind](settings)


RECIPES: dict[str, Callable[[Settings], Body]] = {
    "albert": albert,
    "arcee": square,
    "bert": bert,
    "bloom": bloom,
    "camembert": partial(bert, activation="gelu"),
    "codegen": partial(gpt, form="parallel"),
    "cohere": cohere,
    "cohere2": cohere,
    "deepseek_v3": untied,
    "distilbert": distilbert,
    "electra": partial(narrow_bert, activation="gelu"),
    "ernie4_5": partial(headed, tied=True),
    "falcon": falcon,
    "gemma": partial(gemma, generation=1),
    "gemma2": partial(gemma, generation=2),
    "gemma3": partial(gemma, generation=3),
    "gemma3_text": partial(gemma, generation=3),
    "glm": partial(glm, form="pre"),
    "glm4": partial(glm, form="sandwich"),
    "gpt-sw3": gpt2,
    "gpt2": gpt2,
    "gpt_bigcode": bigcode,
    "gpt_neo": gpt_neo,
    "gpt_neox": neox,
    "gpt_oss": untied,
    "gptj": partial(gpt, form="parallel"),
    "granite": granite,
    "helium": headed,
    "hunyuan_v1_dense": partial(llama, normed=True),
    "internlm3": llama,
    "llama": llama,
    "llama4_text": untied,
    "ministral": mistral,
    "mistral": mistral,
    "mixtral": untied,
    "mpt": mpt,
    "mt5": partial(t5, scaled=False),
    "nemotron": nemotron,
    "olmo": unnamed,
    "olmo2": partial(llama, form="after", normed=True),
    "olmo3": partial(mistral, form="after", normed=True),
    "olmoe": untied,
    "opt": opt,
    "persimmon": persimmon,
    "phi": partial(layered, form="parallel"),
    "phi3": mistral,
    "qwen2": partial(qwen, normed=False),
    "qwen2_moe": untied,
    "qwen3": partial(qwen, normed=True),
    "qwen3_moe": untied,
    "roberta": partial(bert, activation="gelu"),
    "seed_oss": headed,
    "smollm3": partial(mistral, tied=True),
    "stablelm": stablelm,
    "starcoder2": starcoder2,
    "t5": partial(t5, scaled=None),
    "xlm-roberta": partial(bert, activation="gelu"),
}
