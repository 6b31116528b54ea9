"""What `grow` makes of each class: exact, or refused by name, and never silently wrong.

    python bench/growth.py             both tables; a minute of one processor
    python bench/growth.py known       one of them, or drafted

Tiny models, all parameters drawn (gains about 1, biases about 0, both far from default), of the
tests' configurations. ``known`` are classes that `grow` knows; ``drafted`` are others, by the draft
of `describe` as it stands. An error is relative to the largest logit, the largest of: tokens with
padding, a step with a cache, positions up to the last, training mode, all in clean float64. Beside
it both models run as their class runs, on tokens of this file's own: where `grow` accepts and that
differs by more than 1e-3, the row says WRONG, and the command ends with 1.

Rows are kept in `growth.json`, of which the manual's tables are written.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers

from verifiedbook.writing import write_whole
from weightwise.growth import compare, describe, grow
from weightwise.growth.sizes import size_of

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "packages/weightwise/tests"))
from growth_models import EVERY, KINDS, TODAY, model, randomise  # noqa: E402

RESULT = Path(__file__).with_suffix(".json")
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
WIDE = {**ENDS, "vocab_size": 19, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 20,
        "max_position_embeddings": 40}  # fmt: skip
GROUPED = {**WIDE, "num_key_value_heads": 2}
GPT = {**ENDS, "vocab_size": 19, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 40}
BART = {**ENDS, "vocab_size": 19, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 20,
        "decoder_ffn_dim": 20, "max_position_embeddings": 40,
        "decoder_start_token_id": 0}  # fmt: skip
MIXTURE = {"moe_intermediate_size": 12, "num_experts": 3, "num_experts_per_tok": 2}
VIT = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "patch_size": 3,
       "intermediate_size": 20, "image_size": 6, "num_channels": 2}  # fmt: skip
OTHERS: dict[str, dict[str, Any]] = {
    "BartForConditionalGeneration": BART,
    "BartForConditionalGeneration, untied": {**BART, "tie_word_embeddings": False},
    "MBartForConditionalGeneration": BART,
    "PegasusForConditionalGeneration": BART,
    "M2M100ForConditionalGeneration": BART,
    "StableLmForCausalLM": GROUPED,
    "Starcoder2ForCausalLM": GROUPED,
    "PhiForCausalLM": WIDE,
    "PersimmonForCausalLM": WIDE,
    "GPTJForCausalLM": {**GPT, "rotary_dim": 2},
    "CodeGenForCausalLM": {**GPT, "rotary_dim": 2},
    "GPTNeoForCausalLM": {**ENDS, "vocab_size": 19, "hidden_size": 16, "num_layers": 2,
                          "num_heads": 4, "attention_types": [[["global", "local"], 1]],
                          "max_position_embeddings": 40},
    "GPTBigCodeForCausalLM": GPT,
    "BloomForCausalLM": {**ENDS, "vocab_size": 19, "hidden_size": 16, "n_layer": 2, "n_head": 4},
    "MptForCausalLM": {"vocab_size": 19, "d_model": 16, "n_layers": 2, "n_heads": 4},
    "FalconForCausalLM": {**{name: size for name, size in WIDE.items() if "inter" not in name},
                          "ffn_hidden_size": 20, "multi_query": False},
    "CohereForCausalLM": GROUPED,
    "OlmoForCausalLM": GROUPED,
    "Olmo3ForCausalLM": GROUPED,
    "GraniteForCausalLM": GROUPED,
    "NemotronForCausalLM": GROUPED,
    "GlmForCausalLM": {**GROUPED, "head_dim": 4},
    "SmolLM3ForCausalLM": GROUPED,
    "HeliumForCausalLM": {**GROUPED, "head_dim": 8},
    "ArceeForCausalLM": GROUPED,
    "SeedOssForCausalLM": {**GROUPED, "head_dim": 4},
    "Exaone4ForCausalLM": GROUPED,
    "Ernie4_5ForCausalLM": GROUPED,
    "Qwen2MoeForCausalLM": {**GROUPED, **MIXTURE, "shared_expert_intermediate_size": 12},
    "Qwen3MoeForCausalLM": {**GROUPED, **MIXTURE, "head_dim": 4},
    "GptOssForCausalLM": {**GROUPED, "head_dim": 4, "num_local_experts": 3,
                          "num_experts_per_tok": 2},
    "OpenAIGPTLMHeadModel": GPT,
    "BioGptForCausalLM": WIDE,
    "XGLMForCausalLM": {**ENDS, "vocab_size": 19, "d_model": 16, "num_layers": 2,
                        "attention_heads": 4, "ffn_dim": 20, "max_position_embeddings": 40},
    "ElectraForMaskedLM": WIDE,
    "DistilBertForMaskedLM": {**ENDS, "vocab_size": 19, "dim": 16, "n_layers": 2, "n_heads": 4,
                              "hidden_dim": 20, "max_position_embeddings": 40},
    "AlbertForMaskedLM": {**WIDE, "embedding_size": 8},
    "XLMRobertaForMaskedLM": WIDE,
    "MPNetForMaskedLM": WIDE,
    "DebertaV2ForMaskedLM": WIDE,
    "MambaForCausalLM": {**ENDS, "vocab_size": 19, "hidden_size": 16, "num_hidden_layers": 2},
    "Cohere2ForCausalLM": {**GROUPED, "sliding_window": 4},
    "ApertusForCausalLM": GROUPED,
    "BitNetForCausalLM": GROUPED,
    "NanoChatForCausalLM": GROUPED,
    "Glm4ForCausalLM": {**GROUPED, "head_dim": 8},
    "MinistralForCausalLM": {**GROUPED, "head_dim": 8},
    "DiffLlamaForCausalLM": GROUPED,
    "ModernBertDecoderForCausalLM": {**WIDE, "cls_token_id": 1, "sep_token_id": 2},
    "EuroBertForMaskedLM": GROUPED,
    "GPTNeoXJapaneseForCausalLM": {**WIDE, "intermediate_multiple_size": 2},
    "CTRLLMHeadModel": {**GPT, "dff": 20},
    "VaultGemmaForCausalLM": {**GROUPED, "head_dim": 8},
    "HunYuanDenseV1ForCausalLM": {**GROUPED, "head_dim": 8},
    "GraniteMoeForCausalLM": {**GROUPED, "num_local_experts": 3, "num_experts_per_tok": 2},
    "OlmoeForCausalLM": {**GROUPED, "num_experts": 3, "num_experts_per_tok": 2},
    "FlexOlmoForCausalLM": {**GROUPED, "num_experts": 3, "num_experts_per_tok": 2},
    "CamembertForMaskedLM": WIDE,
    "ErnieForMaskedLM": WIDE,
    "EsmForMaskedLM": {**WIDE, "mask_token_id": 3, "position_embedding_type": "rotary"},
    "MegatronBertForMaskedLM": WIDE,
    "RemBertForMaskedLM": {**WIDE, "input_embedding_size": 8, "output_embedding_size": 8},
    "RobertaPreLayerNormForMaskedLM": WIDE,
    "SqueezeBertForMaskedLM": {**WIDE, "embedding_size": 32},
    "FNetForMaskedLM": WIDE,
    "DeiTForImageClassification": {**VIT},
    "BlenderbotForConditionalGeneration": BART,
    "MarianMTModel": BART,
    "PLBartForConditionalGeneration": BART,
    "UMT5ForConditionalGeneration": {"eos_token_id": 2, "pad_token_id": 0, "vocab_size": 19,
                                     "decoder_start_token_id": 0, "d_model": 16, "d_ff": 20,
                                     "d_kv": 4, "num_heads": 4, "num_layers": 2},
    "ProphetNetForConditionalGeneration": {**ENDS, "vocab_size": 19, "hidden_size": 16,
                                           "encoder_ffn_dim": 20, "decoder_ffn_dim": 20,
                                           "num_encoder_layers": 2, "num_decoder_layers": 2,
                                           "num_encoder_attention_heads": 4,
                                           "num_decoder_attention_heads": 4,
                                           "decoder_start_token_id": 0},
}  # fmt: skip


def made(name: str) -> Any:
    """A tiny model of one of the other classes, all parameters drawn, in float64."""
    kind = getattr(transformers, name.partition(",")[0])
    config = kind.config_class(**OTHERS[name])
    config._experts_implementation = "eager"  # the others know no float64
    found = kind(config).double().eval()
    randomise(found)
    return found


def as_run(small: Any, large: Any) -> float:
    """How far two models are apart on some tokens or pictures, as their class runs."""
    generator = torch.Generator().manual_seed(1)
    if small.main_input_name == "pixel_values":
        size, channels = small.config.image_size, small.config.num_channels
        drawn = torch.randn(2, channels, size, size, generator=generator)
        given = {"pixel_values": drawn.to(small.dtype)}
    else:
        given = {"input_ids": torch.randint(3, 19, (3, 9), generator=generator)}
        if small.config.is_encoder_decoder:
            given["decoder_input_ids"] = given["input_ids"].flip(1)
    with torch.no_grad():
        one, other = (each(**given) for each in (small, large))
    if "logits" not in one:  # states that have grown: every k-th is the small one
        k = other[0].shape[-1] // one[0].shape[-1]
        return float((other[0][..., ::k] - one[0]).abs().max() / one[0].abs().max())
    return float((other.logits - one.logits).abs().max() / one.logits.abs().max())


def found(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a try finds, or by what it is refused."""
    try:
        return work()
    except (ValueError, AssertionError) as error:
        return {"refused": " ".join(f"{type(error).__name__}: {error}".split())[:400]}
    except Exception as error:  # neither exact nor refused
        return {"WRONG": " ".join(f"{type(error).__name__}: {error}".split())[:400]}


def tried(small: Any, k: int, description: str | None = None, **sizes: int) -> dict[str, Any]:
    """Grow a model in float64 and compare."""
    large = grow(small, k, description=description, **sizes)
    told = compare(small, large, description=description)
    apart = as_run(small, large)
    said = {"error": told.worst, "as run": apart, "compared": "; ".join(told.elsewhere)}
    return said | ({"WRONG": told.broken or "as run"} if apart > 1e-3 else {})


def saved(small: Any, k: int) -> dict[str, Any]:
    """Grow, save, load, and compare."""
    with tempfile.TemporaryDirectory() as folder:
        grow(small, k).save_pretrained(folder)
        loaded = type(small).from_pretrained(folder, dtype=torch.float64)
    loaded.config._experts_implementation = "eager"
    return {"error": compare(small, loaded).worst}


def halved(kind: str, k: int) -> dict[str, Any]:
    """Grow in bfloat16, and say what its rounding costs and what bfloat16 itself does."""
    small, exact = model(kind, dtype=torch.bfloat16), model(kind)
    told = compare(small, grow(small, k, check=False))
    return {"error": told.clean, "predicted": told.predicted, "rounded": told.rounded,
            "bfloat16": as_run(exact, small.double())}  # fmt: skip


def known(kinds: list[str] | None = None) -> list[dict[str, Any]]:
    """Every class that `grow` knows, tied and untied; or some."""
    every = [kind for kind in EVERY if kind in KINDS or kind.startswith("ViT")]
    every += [f"{kind}, {how}" for kind in TODAY for how in ("tied", "untied")]
    rows = []
    for kind in kinds or every:
        row: dict[str, Any] = {"class": kind, "name": EVERY[kind][0]}
        for k in (2, 3):
            row[f"k = {k}"] = found(lambda kind=kind, k=k: tried(model(kind), k))
        row["saved, k = 2"] = found(lambda kind=kind: saved(model(kind), 2))
        for k in (2, 3, 4):
            row[f"bfloat16, k = {k}"] = found(lambda kind=kind, k=k: halved(kind, k))
        rows.append(row)
        print(line(row), flush=True)
    return rows


def drafted(names: list[str] | None = None) -> list[dict[str, Any]]:
    """Other classes, or some, by the draft of `describe` as it stands."""
    rows = []
    for name in names or OTHERS:
        row: dict[str, Any] = {"class": name}
        try:
            small = made(name)
            draft = describe(small)
        except ValueError as error:
            row["draft"] = "refused: " + " ".join(str(error).split())[:300]
            row["k = 2"] = row["k = 3"] = {"refused": row["draft"]}
        else:
            row["draft"] = draft.splitlines()[0].partition(": ")[2]
            row["asks"] = [one for one in draft.splitlines() if "?" in one and one[:2] != "# "]
            for k in (2, 3):
                row[f"k = {k}"] = found(lambda k=k, m=small, d=draft: tried(m, k, d))
            if "refused" in row["k = 2"]:
                heads = 2 * (size_of(small.config, "heads") or 0)
                row["heads, k = 2"] = found(
                    lambda m=small, d=draft, h=heads: tried(m, 2, d, heads=h)
                )
        rows.append(row)
        print(line(row), row["draft"][:150], flush=True)
    return rows


def line(row: dict[str, Any]) -> str:
    """A row of a table."""
    cells = [cell(value) for key, value in row.items() if isinstance(value, dict)]
    return f"| {row['class']} | " + " | ".join(cells) + " |"


def cell(told: dict[str, Any]) -> str:
    """What a table says of a try."""
    if "WRONG" in told:
        return f"WRONG: {told['WRONG']}"
    return "refused" if "refused" in told else digit(told["error"])


def digit(error: float) -> str:
    """One digit and its power of ten, which no line breaks in two."""
    return f"{error:.0e}".replace("e-0", "e-").replace("-", "−")


def pages(told: dict[str, Any]) -> dict[str, str]:
    """The manual's tables, by file."""
    tries = ("k = 2", "k = 3", "saved, k = 2", *(f"bfloat16, k = {k}" for k in (2, 3, 4)))
    known = [f"| class | {' | '.join(tries)} | bfloat16 itself | with a cache |",
             "|---|" + "--:|" * 7 + "---|"]  # fmt: skip
    for row in told["known"]:
        own = row["bfloat16, k = 2"].get("bfloat16")
        cached = "cache" in row["k = 2"].get("compared", "")
        known.append(f"{line(row)} {digit(own)} | {'yes' if cached else 'it has none'} |")
    off = [
        abs(it["error"] / it["predicted"] - 1)
        for row in told["known"] for what, it in row.items()
        if what.startswith("bfloat16") and it.get("predicted")
    ]  # fmt: skip
    known += ["", f"In {len(off)} tries with bfloat16 some weights were rounded anew. What that "
              f"cost is what was predicted, to {digit(max(off))} of it."]  # fmt: skip
    exact = [row for row in told["drafted"] if "error" in row["k = 2"] and "error" in row["k = 3"]]
    worst = max(row[k]["error"] for row in exact for k in ("k = 2", "k = 3"))
    names = ", ".join(re.sub("For.*|LMHead.*", "", row["class"]) for row in exact
                      if "," not in row["class"])  # fmt: skip
    drafted = [f"Of {len(told['drafted'])} tries with classes that `grow` does not know, "
               f"{len(exact)} are exact by the draft of `describe` as it stands, for $k=2$ and 3, "
               f"to {digit(worst)}: {names}. The others:", "",
               "| class | what stands in the way | $k=2$ with twice as many heads |",
               "|---|---|--:|"]  # fmt: skip
    for row in told["drafted"]:
        if row in exact:
            continue
        why = row["k = 2"].get("refused", "").partition(": ")[2]
        if row.get("asks"):
            asked = [one.split()[0] for one in row["asks"] if "?  (" in one]
            why = f"no role is known for {', '.join(f'`{one}`' for one in asked[:3])}"
            why += f" and {len(asked) - 3} more" if len(asked) > 3 else ""
        more = cell(row["heads, k = 2"]) if "heads, k = 2" in row else ""
        drafted.append(f"| {row['class']} | {why.split('; accepted')[0][:200]} | {more} |")
    return {
        "grow-classes.txt": "\n".join(known) + "\n",
        "grow-drafts.txt": "\n".join(drafted) + "\n",
    }


def main(*what: str) -> int:
    """Run a part, and keep it with the others."""
    transformers.logging.set_verbosity_error()
    told = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    parts = {"known": known, "drafted": drafted}
    begun = time.process_time()
    for name in what or parts:
        told[name] = parts[name]()
    print(f"{time.process_time() - begun:.0f} processor seconds")
    return keep(told)


def keep(told: dict[str, Any]) -> int:
    """Write the rows and the manual's tables; 1 where a row is wrong."""
    told["made with"] = {"torch": torch.__version__, "transformers": transformers.__version__}
    text = json.dumps(told, indent=1, ensure_ascii=False)
    text = re.sub(r"\{[^][{}]*\}|\[[^][{}]*\]", lambda of: re.sub(r"\n *", " ", of[0]), text)
    write_whole(RESULT, text + "\n")
    if {"known", "drafted"} <= set(told):
        for name, text in pages(told).items():
            write_whole(ROOT / "book" / name, text)
    wrong = [row["class"] for name in ("known", "drafted") for row in told.get(name, [])
             if any("WRONG" in it for it in row.values() if isinstance(it, dict))]  # fmt: skip
    print(f"silently wrong: {wrong or 'none'}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
