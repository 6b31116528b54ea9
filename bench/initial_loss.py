"""The first loss of real models: predicted from the configuration, and measured on the class.

    python bench/initial_loss.py [NAME …]      measure these, or all
    python bench/initial_loss.py --predict     predict all again, and measure none

Configurations are those of the released models (`SOURCES` says where each was read), at their own
n and d; where two cores cannot hold all layers, layers are cut, and both numbers are given. Each
model is drawn anew several times, in a process of its own, in float32; the loss is streamed by
`initial_loss(model, measure=True)` on random tokens, and the stream's second moment is read behind
every layer. `z` is the difference in units of what the mean of so many draws may lie off, as it is
predicted for draws of one text each. `book/real_models/first_losses.json` is the result, with its
provenance; models that are named are measured again, the others stay.
"""

from __future__ import annotations

import json
import math
import platform
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from verified_transformer.book import real_models
from verifiedbook.writing import write_whole
from weightwise import expected_first_loss, initial_loss

LENGTH, TEXTS = 128, 8
RESULT = Path(real_models.__file__).with_name("first_losses.json")
TABLE = Path(__file__).parents[1] / "book" / "initial-loss-table.txt"
# name: class, settings, layers of the released model, draws
GPT2 = {"vocab_size": 50257, "n_embd": 768, "n_layer": 12, "n_head": 12}
BERT = {
    "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072,
}  # fmt: skip
GEMMA = {"rms_norm_eps": 1e-6, "vocab_size": 256000}
MODELS: dict[str, tuple[str, dict[str, Any], int, int]] = {
    "GPT-2": ("GPT2LMHeadModel", GPT2, 12, 4),
    "OPT-125m": ("OPTForCausalLM", {
        "vocab_size": 50272, "hidden_size": 768, "num_hidden_layers": 12, "ffn_dim": 3072,
        "num_attention_heads": 12, "word_embed_proj_dim": 768}, 12, 8),
    "OPT-350m": ("OPTForCausalLM", {
        "vocab_size": 50272, "hidden_size": 1024, "num_hidden_layers": 8, "ffn_dim": 4096,
        "num_attention_heads": 16, "word_embed_proj_dim": 512, "do_layer_norm_before": False},
        24, 2),
    "BERT base": ("BertForMaskedLM", {**BERT, "vocab_size": 30522}, 12, 2),
    "RoBERTa base": ("RobertaForMaskedLM", {
        **BERT, "vocab_size": 50265, "type_vocab_size": 1, "layer_norm_eps": 1e-5,
        "max_position_embeddings": 514}, 12, 2),
    "T5 small": ("T5ForConditionalGeneration", {
        "vocab_size": 32128, "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6,
        "num_heads": 8, "tie_word_embeddings": True}, 6, 16),
    "T5 1.1 small": ("T5ForConditionalGeneration", {
        "vocab_size": 32128, "d_model": 512, "d_kv": 64, "d_ff": 1024, "num_layers": 8,
        "num_heads": 6, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}, 8, 60),
    "mT5 small": ("MT5ForConditionalGeneration", {
        "vocab_size": 250112, "d_model": 512, "d_kv": 64, "d_ff": 1024, "num_layers": 8,
        "num_heads": 6, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}, 8, 6),
    "Llama 7B": ("LlamaForCausalLM", {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 2, "num_attention_heads": 32}, 32, 2),
    "Mistral 7B": ("MistralForCausalLM", {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 2, "num_attention_heads": 32, "num_key_value_heads": 8,
        "rms_norm_eps": 1e-5}, 32, 2),
    "SmolLM2 135M": ("LlamaForCausalLM", {
        "vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536,
        "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
        "rms_norm_eps": 1e-5, "initializer_range": 1 / 24, "tie_word_embeddings": True}, 30, 2),
    "Qwen2 0.5B": ("Qwen2ForCausalLM", {
        "vocab_size": 151936, "hidden_size": 896, "intermediate_size": 4864,
        "num_hidden_layers": 8, "num_attention_heads": 14, "num_key_value_heads": 2,
        "tie_word_embeddings": True}, 24, 2),
    "Qwen3 0.6B": ("Qwen3ForCausalLM", {
        "vocab_size": 151936, "hidden_size": 1024, "intermediate_size": 3072, "head_dim": 128,
        "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 8,
        "tie_word_embeddings": True}, 28, 2),
    "Gemma 2B": ("GemmaForCausalLM", {
        **GEMMA, "hidden_size": 2048, "intermediate_size": 16384, "num_hidden_layers": 2,
        "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256}, 18, 4),
    "Gemma 2 2B": ("Gemma2ForCausalLM", {
        **GEMMA, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 2,
        "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256}, 26, 2),
    "Gemma 3 1B": ("Gemma3ForCausalLM", {
        **GEMMA, "vocab_size": 262144, "hidden_size": 1152, "intermediate_size": 6912,
        "num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 1,
        "head_dim": 256, "sliding_window": 512}, 26, 2),
    "Pythia 160M": ("GPTNeoXForCausalLM", {
        **BERT, "vocab_size": 50304, "rotary_pct": 0.25}, 12, 2),
    "GPT-NeoX 20B": ("GPTNeoXForCausalLM", {
        "vocab_size": 50432, "hidden_size": 6144, "intermediate_size": 24576,
        "num_hidden_layers": 1, "num_attention_heads": 64, "hidden_act": "gelu_fast"}, 44, 2),
    "BLOOM 560M": ("BloomForCausalLM", {
        "vocab_size": 250880, "hidden_size": 1024, "n_layer": 2, "n_head": 16}, 24, 2),
}  # fmt: skip
SOURCES = {
    "defaults of the configuration class in transformers 5.23": (
        "GPT-2, OPT-125m, BERT base, T5 small, mT5 small, Llama 7B, Mistral 7B, GPT-NeoX 20B, "
        "Gemma 2 2B"
    ),
    "as public repositories quote the released model": (
        "OPT-350m, T5 1.1 small, SmolLM2 135M, Qwen2 0.5B, Qwen3 0.6B, Gemma 2B, Gemma 3 1B, "
        "Pythia 160M, BLOOM 560M"
    ),
    "a copy of the released config.json (AYaroshevskii/Tweet-Sentiment, roberta-base, on GitHub)": (
        "RoBERTa base"
    ),
}


def tokens_fit(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with special tokens inside the vocabulary and no padding row."""
    return {**settings, "bos_token_id": 0, "eos_token_id": 0}


def one(name: str) -> dict[str, Any]:
    """Predict, draw and measure a model."""
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    kind, settings, layers, draws = MODELS[name]
    cls = getattr(transformers, kind)
    config = cls.config_class(**tokens_fit(settings))
    start = time.perf_counter()
    answer = initial_loss(config, length=LENGTH)
    seconds = time.perf_counter() - start
    losses, streams = [], []
    for draw in range(draws):
        torch.manual_seed(draw)
        model = cls(config).eval()
        second = watched(model)
        found = initial_loss(model, length=LENGTH, texts=TEXTS, measure=True, seed=draw).measured
        assert found is not None
        losses.append(found.loss)
        streams.append([float(np.mean(each)) for each in second.values()])
        del model
    expected, deviations = np.array(list(after_layers(answer.steps).values())).T
    off = np.abs(np.array(streams).mean(0) / expected - 1)
    mean, error = float(np.mean(losses)), float(np.std(losses, ddof=1) / math.sqrt(draws))
    return {
        "class": kind, "settings": settings, "of": layers,
        "layers": settings.get("num_hidden_layers") or settings.get("n_layer") or layers,
        "draws": draws, "texts": TEXTS,
        "predicted": answer.loss, "one draw": answer.error, "measured": mean, "error": error,
        "losses": losses, "relative": answer.loss / mean - 1,
        **peers(kind, settings),
        "cosine": answer.cosine, "spread": answer.spread,
        "parts": {part.name: part.worth for part in answer.parts},
        "z": (answer.loss - mean) / answer.error * math.sqrt(draws),
        "layers off by, mean over draws": float(off.max()),
        "layers off by, beyond their own deviation": float(
            np.maximum(off - 3 * deviations / math.sqrt(draws), 0).max()
        ),
        "seconds": seconds, "GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }  # fmt: skip


def peers(kind: str, settings: dict[str, Any]) -> dict[str, Any]:
    """What others say of a model: log n, the article (kexue 9698, eq. 9), and the identity."""
    n, wide = settings["vocab_size"], ("word_embed_proj_dim", "d_model", "n_embd", "hidden_size")
    d = next(settings[name] for name in wide if name in settings)
    scales = ("init_std", "initializer_factor", "initializer_range")
    σ = next((settings[s] for s in scales if s in settings), 1.0 if "T5" in kind else 0.02)
    # what a class does where its settings say nothing
    ties = not kind.startswith(("Llama", "Mistral", "Qwen", "GPTNeoX"))
    tied = "T5" in kind or settings.get("tie_word_embeddings", ties)
    return {
        "n": n, "d": d, "σ": σ, "tied": tied, "log n": math.log(n),
        "article": float(np.logaddexp(d * σ, math.log(n - 1))) if tied else math.log(n),
        "identity": expected_first_loss(n, d, σ=σ, tied=tied),
    }  # fmt: skip


def watched(model: torch.nn.Module) -> dict[str, list[float]]:
    """Second moments of what leaves each layer, filled as the model runs."""
    found: dict[str, list[float]] = {}
    stacks = [
        (name, module) for name, module in model.named_modules()
        if isinstance(module, torch.nn.ModuleList)
        and name.split(".")[-1] in ("h", "layers", "layer", "block")
        and name.count("layer") + name.count("block") < 2
    ]  # fmt: skip
    for name, stack in stacks:
        for index, layer in enumerate(stack):
            place = found.setdefault(f"{name} {index}", [])

            def keep(_: Any, __: Any, out: Any, place: list[float] = place) -> None:
                state = out[0] if isinstance(out, tuple) else out
                place.append(float(state.square().mean()))

            layer.register_forward_hook(keep)
    return found


def after_layers(steps: Any) -> dict[str, tuple[float, float]]:
    """The predicted second moment behind each layer, and its deviation in one draw, a share."""
    last = {}
    for step in steps:
        words = step.name.split()
        if "layer" in words:
            place = " ".join(words[: words.index("layer") + 2])
            last[place] = (step.stream, step.deviation)
    return last


def summary(rows: dict[str, Any]) -> dict[str, Any]:
    """Median and worst error of each way over the models."""
    ways: dict[str, Callable[[dict[str, Any]], float]] = {
        "initial_loss": lambda row: row["predicted"], "log n": lambda row: row["log n"],
        "log n + s²/2": lambda row: row["log n"] + row["spread"] ** 2 / 2,
        "the article": lambda row: row["article"],
        "expected_first_loss": lambda row: row["identity"],
    }  # fmt: skip
    found = {}
    for way, said in ways.items():
        off = {name: abs(said(row) / row["measured"] - 1) for name, row in rows.items()}
        worst = max(off, key=lambda name: off[name])
        found[way] = {
            "median": float(np.median(list(off.values()))),
            "beyond 1 %": sum(each > 0.01 for each in off.values()),
            "worst": off[worst],
            "at": worst,
        }
    return found


def table(known: dict[str, Any]) -> str:
    """The result as the page of the book shows it."""
    lines = [
        "| model | tokens | width | layers | predicted | measured | off | one draw | blocks |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, row in known["models"].items():
        layers = f"{row['layers']} of {row['of']}" if row["layers"] < row["of"] else row["of"]
        lines.append(
            f"| {name} | {row['n']} | {row['d']} | {layers} | {row['predicted']:.4f} | "
            f"{row['measured']:.4f} ± {row['error']:.4f} | {100 * row['relative']:+.3f} % | "
            f"{100 * row['one draw'] / row['predicted']:.3f} % | "
            f"{100 * row['layers off by, mean over draws']:.1f} % |"
        )
    return "\n".join([*lines, "", *of_ways(known["summary"], len(known["models"]))]) + "\n"


def of_ways(found: dict[str, Any], count: int) -> list[str]:
    """A summary as lines of a table."""
    return ["| way | median error | beyond 1 % | worst error | at |", "|---|--:|--:|--:|---|"] + [
        f"| {way} | {100 * row['median']:.4f} % | {row['beyond 1 %']} of {count} | "
        f"{100 * row['worst']:.2f} % | {row['at']} |"
        for way, row in found.items()
    ]


def predicted_again(row: dict[str, Any]) -> dict[str, Any]:
    """What was measured, beside what is predicted today."""
    config = getattr(transformers, row["class"]).config_class(**tokens_fit(row["settings"]))
    answer = initial_loss(config, length=LENGTH)
    off = answer.loss - row["measured"]
    return {
        **row, "predicted": answer.loss, "one draw": answer.error,
        "relative": answer.loss / row["measured"] - 1,
        "z": off / answer.error * math.sqrt(row["draws"]),
        "cosine": answer.cosine, "spread": answer.spread,
        "parts": {part.name: part.worth for part in answer.parts},
    }  # fmt: skip


def write(known: dict[str, Any]) -> None:
    """Keep what is known, in the order of `MODELS`, with its summary and its provenance."""
    known["models"] = {key: known["models"][key] for key in MODELS if key in known["models"]}
    known["summary"] = summary(known["models"])
    known["sources"] = SOURCES
    known["made with"] = {
        "command": "python bench/initial_loss.py", "device": "cpu", "dtype": "float32",
        "processor": platform.processor() or platform.machine(),
        "torch": torch.__version__, "transformers": transformers.__version__,
        "numpy": np.__version__, "python": platform.python_version(), "seeds": "0 …",
        "length": LENGTH,
    }  # fmt: skip
    write_whole(RESULT, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    write_whole(TABLE, table(known))


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2])))
        return
    known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {"models": {}}
    if sys.argv[1:2] == ["--predict"]:
        for name, row in known["models"].items():
            known["models"][name] = predicted_again(row)
        write(known)
        return
    for name in sys.argv[1:] or MODELS:
        done = subprocess.run(
            [sys.executable, __file__, "--one", name],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            print(name, done.stderr[-800:])
            continue
        row = known["models"][name] = json.loads(done.stdout.splitlines()[-1])
        print(f"{name:14} n {row['n']:6} d {row['d']:4} layers {row['layers']:2} predicted "
              f"{row['predicted']:9.4f} ± {row['one draw']:.4f} measured {row['measured']:9.4f} ± "
              f"{row['error']:.4f} off {100 * row['relative']:+.3f} % layers "
              f"{100 * row['layers off by, mean over draws']:.1f} % log n {row['log n']:.3f} "
              f"article {row['article']:.3f} identity {row['identity']:.3f} {row['GiB']:.1f} GiB",
              flush=True)  # fmt: skip
        write(known)
    print(json.dumps(known["summary"], indent=1))


if __name__ == "__main__":
    main()
