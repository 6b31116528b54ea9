"""Descriptions: for each class that can grow, the role and the axes of every module, as data.

A line of a table is a path, a rule of `rules`, the axis that is written and the one that is read.
Layer numbers are ``#``, the last layer's is ``-1``; a path that ends in a parameter's name speaks
of it alone. A parameter
without a line is refused, so that nothing is grown by guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..accepted import wrapped
from .rules import Axes, Row
from .sizes import PLAIN, SIZES, Attention, head_size, widened


class GrowthRefused(ValueError):
    """A model, a module or an option is outside what the rules are known to grow exactly."""


@dataclass(frozen=True)
class Description:
    """What is known of one class.

    ``rows`` gives each module its role; ``options`` are the values that an option may have;
    ``attention`` is what the axes need; ``output`` is the axis of what a class without a head
    returns; ``names`` is what its configuration calls a size, where that is none of `SIZES`.
    """

    rows: Mapping[str, Row]
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    attention: Attention = PLAIN
    output: str = "features"
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Description:
        """Read a description as `describe` writes it.

        Lines that begin with ``# `` are remarks; ``rotary: halves`` and the like are settings:
        fields of `Attention`, ``output``, or a size of `SIZES` and the option that holds it; every
        other line is one of a table.

        Raises:
            GrowthRefused: a line is none of these, or still has a question mark.
        """
        told: dict[str, Any] = {}
        table = []
        for line in filter(None, map(str.strip, text.splitlines())):
            setting = re.fullmatch(r"([\w -]+): *(\S.*)", line)
            known = setting and setting[1] in (*Attention._fields, "output", *SIZES)
            if setting and known and "?" not in line:
                told[setting[1]] = {"yes": True, "no": False}.get(setting[2], setting[2])
            elif setting or len(re.split(r" {2,}", line)) not in (3, 4) or "?" in line:
                if not line.startswith("# "):
                    raise GrowthRefused(
                        f"description: got {line!r}; accepted: a path, a rule, the axis that is "
                        "written and the one that is read, two spaces apart; or a setting: "
                        + ", ".join((*Attention._fields, "output", *SIZES))
                    )
            elif not line.startswith("# "):
                table.append(line)
        attention = {name: told[name] for name in Attention._fields if name in told}
        return cls(
            _rows("", "\n".join(table)),
            attention=Attention(**attention),
            output=told.get("output", "features"),
            names={what: name for what, name in told.items() if what in SIZES},
        )

    def __str__(self) -> str:
        """The text that `read` reads, options left out."""
        told = {**self.attention._asdict(), **self.names}
        usual = PLAIN._asdict()
        words = {True: "yes", False: "no"}
        settings = [
            f"{name}: {words.get(value, value)}"
            for name, value in told.items()
            if name not in usual or value != usual[name]
        ]
        width = max(map(len, self.rows), default=0)
        return "\n".join(
            [*settings, *(
                f"{path:{width}}  " + "  ".join(filter(None, row))
                for path, row in self.rows.items()
            )]
        )  # fmt: skip

    def row(self, path: str) -> Row | None:
        """The row of a module or of a parameter, by its path in a model.

        ``#`` stands for every number; or for the first, where a row names the others.
        """
        ways = (re.sub(r"\.\d+(?=\.|$)", ".#", path, count=n) for n in (0, 1))
        return self.rows.get(path) or next(filter(None, map(self.rows.get, ways)), None)

    def of(self, model: Any) -> Description:
        """The same for one model: where a row speaks of the last layer, ``-1``, its number."""
        rows = {}
        for path, row in self.rows.items():
            stack, last, rest = path.partition(".-1.")
            if last:
                path = f"{stack}.{len(model.get_submodule(stack)) - 1}.{rest}"
            rows[path] = row
        return replace(self, rows=rows)

    def axes(self, small: Any, large: Any, tied: bool, table: float = 1.0) -> Axes:
        """The axes, by name, of a model that grows from one configuration to another.

        Raises:
            GrowthRefused: the sizes in the configurations do not allow them.
        """
        try:
            return widened(small, large, tied, self.attention, table=table, names=self.names)
        except ValueError as error:
            raise GrowthRefused(f"config: {error}") from error

    def require_frequencies(self, small: Any, large: Any) -> None:
        """Refuse larger heads that do not have the rotary frequencies of the small ones."""
        rotary = any(row.rule == "frequencies" for row in self.rows.values())
        larger = head_size(small, self.names) != head_size(large, self.names)
        if rotary and larger and getattr(small, "rope_parameters", None):
            _require_options(
                small, _ROPE, "; a larger head has its pairs' speeds only where these are a "
                "function of 2m / head size (section 4.5), and heads= leaves heads as they are",
            )  # fmt: skip


def described(model: Any, description: Description | str | None = None) -> Description:
    """Return the description of a model's class, or the one that is given.

    Raises:
        TypeError: the one that is given is none.
        GrowthRefused: the class has none, or an option has a value that is not covered.
    """
    kind = type(model)
    if description is not None:
        if not isinstance(description, Description | str):
            got = type(description).__name__
            raise TypeError(f"description: got {got}; accepted: a Description or its text")
        if not hasattr(model, "config"):
            raise GrowthRefused(
                f"model: got {kind.__qualname__} without .config; accepted: a module that its "
                "class makes from its configuration, type(model)(model.config)"
            )
        told = Description.read(description) if isinstance(description, str) else description
        try:
            return told.of(model)
        except (AttributeError, TypeError) as error:
            raise GrowthRefused(f"description: a row of the last layer, -1: {error}") from error
    found = DESCRIPTIONS.get(f"{kind.__module__}.{kind.__qualname__}")
    if found is None and (inside := wrapped(model)):
        raise GrowthRefused(
            f"model: got a {kind.__qualname__} around a model; accepted: what it holds, {inside}"
        )
    if found is None:
        known = ", ".join(sorted(name.rpartition(".")[2] for name in DESCRIPTIONS))
        raise GrowthRefused(
            f"model: got {kind.__module__}.{kind.__qualname__}; accepted: {known} of "
            "transformers, and no subclass; others with description=, which `describe` drafts"
        )
    _require_options(model.config, found.options)
    return found


def _require_options(config: Any, options: Mapping[str, tuple[Any, ...]], why: str = "") -> None:
    for option, accepted in options.items():
        for place, value in _options(config, option.split(".")):
            if value not in accepted:
                raise GrowthRefused(
                    f"config.{place} of {type(config).__name__}: got {value!r}; accepted: "
                    + ", ".join(map(repr, accepted))
                    + why
                )


def _options(config: Any, path: list[str]) -> list[tuple[str, Any]]:
    """The values at a path; where a kind of layer has its own, those of all kinds."""
    first, *rest = path
    value = config.get(first) if isinstance(config, dict) else getattr(config, first, None)
    if not rest:
        return [(first, value)]
    if isinstance(value, dict) and any(isinstance(part, dict) for part in value.values()):
        found = [(f"{kind}.{place}", each) for kind, part in value.items() if part
                 for place, each in _options(part, rest)]  # fmt: skip
    else:
        found = _options(value, rest)
    return [(f"{first}.{place}", each) for place, each in found]


def _rows(prefix: str, table: str) -> dict[str, Row]:
    """Read a table; its columns stand two spaces apart."""
    lines = [re.split(r" {2,}", line.strip()) for line in table.strip().splitlines()]
    return {f"{prefix}{path}": Row(*columns) for path, *columns in lines}


_ATTENTION_OUT = "layers.#.self_attn.o_proj        linear  stream  attended"
_SEPARATE = f"""
layers.#.self_attn.q_proj        linear  query   stream
layers.#.self_attn.k_proj        linear  key     stream
layers.#.self_attn.v_proj        linear  value   stream
{_ATTENTION_OUT}"""
_NORMED = f"""
layers.#.self_attn.q_proj        linear  query before its norm  stream
layers.#.self_attn.q_norm        norm  query   query before its norm
layers.#.self_attn.k_proj        linear  key before its norm    stream
layers.#.self_attn.k_norm        norm  key     key before its norm
layers.#.self_attn.v_proj        linear  value   stream
{_ATTENTION_OUT}"""
_NORMED_BY_HEAD = re.sub(
    "  norm  .*",
    lambda of: of[0].replace("query", "query of a head").replace("key", "key of a head"),
    _NORMED,
)
_GATED = """
layers.#.mlp.gate_proj           linear  feed-forward  stream
layers.#.mlp.up_proj             linear  feed-forward  stream
layers.#.mlp.down_proj           linear  stream  feed-forward"""
_BEFORE = """
layers.#.input_layernorm           norm  stream  stream
layers.#.post_attention_layernorm  norm  stream  stream"""
_AFTER = """
layers.#.post_attention_layernorm    norm  stream  branch
layers.#.post_feedforward_layernorm  norm  stream  branch"""
_ENDS = """
embed_tokens                     embedding    stream
rotary_emb                       frequencies  query
norm                             norm         features  stream"""
_GEMMA_ENDS = """
embed_tokens.weight              embedding    table
embed_tokens.embed_scale         own          table
rotary_emb                       frequencies  query
norm                             norm         features  stream"""
_LLAMA = _ENDS + _BEFORE + _SEPARATE + _GATED
_QWEN3 = _ENDS + _BEFORE + _NORMED_BY_HEAD + _GATED


def _normed_after(table: str) -> str:
    """A table whose branches end in a norm."""
    return re.sub("linear  stream  (attended|feed-forward)", r"linear  branch  \1", table)


_OLMO2 = _ENDS + _AFTER + _normed_after(_NORMED + _GATED)
_EXPERTS = """
layers.#.mlp.gate                  linear  experts   stream
layers.#.mlp.experts.gate_up_proj  linear  gate, up  stream
layers.#.mlp.experts.down_proj     linear  stream    feed-forward"""
_MIXTRAL = _ENDS + _BEFORE + _SEPARATE + _EXPERTS
_QWEN3_MIXTURE = _ENDS + _BEFORE + _NORMED_BY_HEAD + _EXPERTS
_PHI3 = _ENDS + _BEFORE + f"""
layers.#.self_attn.qkv_proj      linear  query, key, value  stream
{_ATTENTION_OUT}
layers.#.mlp.gate_up_proj        linear  gate, up  stream
layers.#.mlp.down_proj           linear  stream    feed-forward"""  # fmt: skip
_FOUR = _AFTER + """
layers.#.input_layernorm             norm  stream  stream
layers.#.pre_feedforward_layernorm   norm  stream  stream"""  # fmt: skip
_GEMMA, _GEMMA2, _GEMMA3 = (
    re.sub("(?<=  )norm(?=  )", "shifted norm", _GEMMA_ENDS + part)
    for part in (
        _BEFORE + _SEPARATE + _GATED,
        _FOUR + _normed_after(_SEPARATE + _GATED),
        _FOUR + _normed_after(_NORMED_BY_HEAD + _GATED),
    )
)
_GPT_NEOX = _BEFORE + """
embed_in                            embedding    stream
rotary_emb                          frequencies  query
layers.#.attention.query_key_value  linear  query, key, value of each head  stream
layers.#.attention.dense            linear  stream  attended
layers.#.mlp.dense_h_to_4h          linear  feed-forward  stream
layers.#.mlp.dense_4h_to_h          linear  stream  feed-forward
final_layer_norm                    norm    features  stream"""  # fmt: skip
_OPT = _SEPARATE.replace("o_proj", "out_proj") + """
embed_tokens                     embedding  embedding
embed_positions                  embedding  stream
project_in                       linear     stream    embedding
layers.#.self_attn_layer_norm    norm       stream    stream
layers.#.fc1                     linear     feed-forward  stream
layers.#.fc2                     linear     stream    feed-forward
layers.#.final_layer_norm        norm       stream    stream
final_layer_norm                 norm       last of the stream  stream
project_out                      linear     features  stream"""  # fmt: skip
_BERT = """
embeddings.word_embeddings                embedding    embedding
embeddings.token_type_embeddings          embedding    embedding
embeddings.position_embeddings            embedding    embedding
embeddings.LayerNorm                      norm    embedding  embedding
embeddings_project                        linear  stream  embedding
encoder.embed_positions                   frequencies  query
encoder.layer.#.attention.self.query      linear  query   stream
encoder.layer.#.attention.self.key        linear  key     stream
encoder.layer.#.attention.self.value      linear  value   stream
encoder.layer.#.attention.output.dense    linear  stream  attended
encoder.layer.#.attention.output.LayerNorm  norm  stream  sum
encoder.layer.#.intermediate.dense        linear  feed-forward  stream
encoder.layer.#.output.dense              linear  stream  feed-forward
encoder.layer.#.output.LayerNorm          norm    stream  sum
pooler.dense                              linear  stream  stream"""
_GPT2 = """
wte              embedding   stream
wpe              embedding   stream
h.#.ln_1         norm        stream  stream
h.#.attn.c_attn  transposed  query, key, value  stream
h.#.attn.c_proj  transposed  stream  attended
h.#.ln_2         norm        stream  stream
h.#.mlp.c_fc     transposed  feed-forward  stream
h.#.mlp.c_proj   transposed  stream  feed-forward
ln_f             norm        features  stream"""
_T5 = """
shared                    embedding  stream
encoder.final_layer_norm  norm       stream    stream
decoder.final_layer_norm  norm       features  stream""" + "".join(
    f"""
{stack}.embed_tokens                    embedding  stream
{stack}.block.#.layer.#.layer_norm      norm    stream  stream
{stack}.block.#.layer.#.DenseReluDense.wi    linear  feed-forward  stream
{stack}.block.#.layer.#.DenseReluDense.wi_0  linear  feed-forward  stream
{stack}.block.#.layer.#.DenseReluDense.wi_1  linear  feed-forward  stream
{stack}.block.#.layer.#.DenseReluDense.wo    linear  stream  feed-forward"""
    + "".join(f"""
{stack}.block.#.layer.#.{attention}.q   linear  query   stream
{stack}.block.#.layer.#.{attention}.k   linear  key     stream
{stack}.block.#.layer.#.{attention}.v   linear  value   stream
{stack}.block.#.layer.#.{attention}.o   linear  stream  attended
{stack}.block.#.layer.#.{attention}.relative_attention_bias  embedding  heads"""
              for attention in ("SelfAttention", "EncDecAttention"))
    for stack in ("encoder", "decoder")
)  # fmt: skip
_VIT = """
embeddings.cls_token                    embedding    stream
embeddings.mask_token                   embedding    stream
embeddings.position_embeddings          embedding    stream
embeddings.patch_embeddings.projection  convolution  stream
layers.#.attention.q_proj  linear  query   stream
layers.#.attention.k_proj  linear  key     stream
layers.#.attention.v_proj  linear  value   stream
layers.#.attention.o_proj  linear  stream  attended
layers.#.layernorm_before  norm    stream  stream
layers.#.layernorm_after   norm    stream  stream
layers.#.mlp.fc1           linear  feed-forward  stream
layers.#.mlp.fc2           linear  stream  feed-forward
layernorm                  norm    stream  stream
pooler.dense               linear  pooled  stream"""
_MODERNBERT = """
embeddings.tok_embeddings  embedding    stream
embeddings.norm            norm         stream  stream
rotary_emb                 frequencies  query
layers.#.attn_norm         norm    stream  stream
layers.#.attn.Wqkv         linear  query, key, value  stream
layers.#.attn.Wo           linear  stream  attended
layers.#.mlp_norm          norm    stream  stream
layers.#.mlp.Wi            linear  gate, up  stream
layers.#.mlp.Wo            linear  stream  feed-forward
final_norm                 norm    stream  stream"""

# heads, by the end of a class's name: what holds the body, and the lines of the head
_LM = "lm_head  linear  vocabulary  scored"
_SCORE = "score   linear  classes     scored"
_CAUSAL = {"Model": ("", ""), "ForCausalLM": ("model.", _LM)} | dict.fromkeys(
    ("ForSequenceClassification", "ForTokenClassification"), ("model.", _SCORE)
)
_CLASSIFIER = "classifier  linear  classes  stream"


def _masked(body: str, head: str) -> str:
    """BERT's and RoFormer's head of language modelling; with a bias beside that of its map."""
    return f"""
{head}.transform.dense      linear  embedding   stream
{head}.transform.LayerNorm  norm    features    embedding
{head}.decoder              linear  vocabulary  scored
{head}                      kept    vocabulary"""


_BERT_HEADS = {
    "Model": ("", ""),
    "ForMaskedLM": ("bert.", _masked("bert", "cls.predictions")),
    "ForSequenceClassification": ("bert.", _CLASSIFIER),
    "ForTokenClassification": ("bert.", _CLASSIFIER),
}
_ROBERTA_HEADS = {
    "Model": ("", ""),
    "ForMaskedLM": ("roberta.", """
lm_head.dense       linear  embedding   stream
lm_head.layer_norm  norm    features    embedding
lm_head.decoder     linear  vocabulary  scored
lm_head             kept    vocabulary"""),
    "ForSequenceClassification": ("roberta.", """
classifier.dense     linear  stream   stream
classifier.out_proj  linear  classes  stream"""),
    "ForTokenClassification": ("roberta.", _CLASSIFIER),
}  # fmt: skip
_MODERNBERT_HEAD = """
head.dense  linear  stream    stream
head.norm   norm    features  stream
"""
_MODERNBERT_HEADS = {
    "Model": ("", ""),
    "ForMaskedLM": ("model.", _MODERNBERT_HEAD + "decoder  linear  vocabulary  scored"),
} | dict.fromkeys(
    ("ForSequenceClassification", "ForTokenClassification"),
    ("model.", _MODERNBERT_HEAD + "classifier  linear  classes  scored"),
)

_ENCODER = {"is_decoder": (False, None), "add_cross_attention": (False, None)}
# these change each frequency alone; the others look at the head size or at the length
_ROPE = {"rope_parameters.rope_type": ("default", "linear", "llama3")}
_HALVES = Attention("halves")
_UNSCALED = Attention("halves", scaled=False)  # by a number of their own, not by √(head size)
_FUSED = Attention("halves", fused=True)
_T5_OPTIONS: dict[str, tuple[Any, ...]] = {"is_encoder_decoder": (True,)}


def _family(
    module: str,
    name: str,
    body: str,
    heads: Mapping[str, tuple[str, str]],
    **more: Any,
) -> dict[str, Description]:
    """The descriptions of classes with one body, by full name."""
    place = f"transformers.models.{module}.modeling_{module}.{name}"
    return {
        f"{place}{end}": Description(
            _rows(prefix, body) | (_rows("", head) if head else {}), **more
        )
        for end, (prefix, head) in heads.items()
    }


def _decoders() -> dict[str, Description]:
    """Decoders of the kind of Llama: a base model, a language model and classifiers."""
    found: dict[str, Description] = {}
    for module, name, body, attention in (
        ("llama", "Llama", _LLAMA, _HALVES),
        ("mistral", "Mistral", _LLAMA, _HALVES),
        ("mixtral", "Mixtral", _MIXTRAL, _HALVES),
        ("qwen2", "Qwen2", _LLAMA, _HALVES),
        ("qwen3", "Qwen3", _QWEN3, _HALVES),
        ("olmo2", "Olmo2", _OLMO2, _HALVES),
        ("phi3", "Phi3", _PHI3, _FUSED),
        ("gemma", "Gemma", _GEMMA, _HALVES),
        ("gemma2", "Gemma2", _GEMMA2, _UNSCALED),
    ):
        heads = {
            end: told for end, told in _CAUSAL.items() if (name, end[:8]) != ("Olmo2", "ForToken")
        }
        found |= _family(module, name, body, heads, attention=attention)
    found |= _family(
        "qwen3_moe", "Qwen3Moe", _QWEN3_MIXTURE, _CAUSAL, attention=_HALVES,
        names={"feed-forward": "moe_intermediate_size"},
        options={"mlp_only_layers": ([], None), "decoder_sparse_step": (1,)},
    )  # fmt: skip
    heads = {"TextModel": ("", ""), "ForCausalLM": ("model.", _LM)}
    found |= _family("gemma3", "Gemma3", _GEMMA3, heads, attention=_UNSCALED)
    heads = {"Model": ("", ""), "ForCausalLM": ("gpt_neox.", _LM)}
    found |= _family("gpt_neox", "GPTNeoX", _GPT_NEOX, heads, attention=_FUSED)
    return found


DESCRIPTIONS = {
    **_family(
        "bert", "Bert", _BERT, _BERT_HEADS, output="stream",
        # an old configuration may ask for relative positions, which the class ignores today
        options={**_ENCODER, "position_embedding_type": (None, "absolute")},
    ),
    **_family("roberta", "Roberta", _BERT, _ROBERTA_HEADS, output="stream", options=_ENCODER),
    **_family(
        "roformer", "RoFormer", _BERT,
        {"ForMaskedLM": ("roformer.", _masked("roformer", "cls.predictions"))},
        options=_ENCODER,
        attention=Attention("interleaved", rotary_value="rotary_value"),
    ),
    **_family(
        "gpt2", "GPT2", _GPT2, {"Model": ("", ""), "LMHeadModel": ("transformer.", _LM),
                                "ForSequenceClassification": ("transformer.", _SCORE)},
        attention=Attention(scaled="scale_attn_weights", fused=True),
        # upcasting rounds scores to float32, and no check could see through it
        options={"add_cross_attention": (False,), "reorder_and_upcast_attn": (False,)},
    ),
    **_family(
        "opt", "OPT", _OPT,
        {"Model": ("decoder.", ""), "ForCausalLM": ("model.decoder.", _LM),
         "ForSequenceClassification": ("model.decoder.", _SCORE)},
    ),
    **_family(
        "vit", "ViT", _VIT, {"Model": ("", ""), "ForImageClassification": ("vit.", _CLASSIFIER)},
        output="stream",
    ),
    **_family(
        "modernbert", "ModernBert", _MODERNBERT, _MODERNBERT_HEADS, output="stream",
        attention=_FUSED,
    ),
    **_family(
        "t5", "T5", _T5, {"ForConditionalGeneration": ("", _LM)}, options=_T5_OPTIONS,
        attention=Attention(scaled=False, scaled_head="scale_decoder_outputs"),
    ),
    **_family(
        "mt5", "MT5", _T5, {"ForConditionalGeneration": ("", _LM)}, options=_T5_OPTIONS,
        attention=Attention(scaled=False),
    ),
    **_decoders(),
}  # fmt: skip
