"""Are the error bars of `initial_loss` right? z-scores of random configurations against N(0, 1).

    python bench/calibrated_errors.py [COUNT [FIRST]]

Each configuration is drawn: a class, its width, depth, vocabulary, length of a text, initialiser
and, where the class allows it, the tie. One model of it is drawn and measured on one text, and
``z`` is the difference from the prediction in units of the predicted error. A last line, which the
manual shows, has their mean and deviation, the share beyond two and the p-value of a test of
Kolmogorov and Smirnov against N(0, 1); the worst are printed before it. For the manual its plot is
drawn as well, and other ways are asked for the same losses.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from initial_loss import of_ways, peers, summary
from scipy.stats import kstest, norm

from verifiedbook.writing import write_whole
from weightwise import initial_loss
from weightwise.first_loss.diagnosis.readings import framed

BOOK = Path(__file__).parents[1] / "book"
TEXT, PLOT = BOOK / "initial-loss-calibration.txt", BOOK / "figures/initial-loss-calibration.svg"
FAMILY = BOOK / "initial-loss-family.txt"
CLASSES = {
    "GPT2LMHeadModel": ("n_embd", "n_layer", "n_head"),
    "GPTNeoXForCausalLM": ("hidden_size", "num_hidden_layers", "num_attention_heads"),
    "OPTForCausalLM": ("hidden_size", "num_hidden_layers", "num_attention_heads"),
    "LlamaForCausalLM": ("hidden_size", "num_hidden_layers", "num_attention_heads"),
    "Qwen3ForCausalLM": ("hidden_size", "num_hidden_layers", "num_attention_heads"),
    "GemmaForCausalLM": ("hidden_size", "num_hidden_layers", "num_attention_heads"),
    "Gemma2ForCausalLM": ("hidden_size", "num_hidden_layers", "num_attention_heads"),
    "BertForMaskedLM": ("hidden_size", "num_hidden_layers", "num_attention_heads"),
    "T5ForConditionalGeneration": ("d_model", "num_layers", "num_heads"),
}


def drawn(seed: int) -> tuple[Any, int]:
    """A model of a configuration that a seed chooses, and the length of a text."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice([*CLASSES]))
    width, depth, heads = CLASSES[name]
    d = 16 * int(rng.integers(3, 13))
    kind = getattr(transformers, name)
    scale = float(np.exp(rng.uniform(np.log(0.01), np.log(0.15))))
    options = {
        width: d, depth: int(rng.integers(1, 5)), heads: 4,
        "vocab_size": int(rng.integers(300, 4000)), "tie_word_embeddings": bool(rng.integers(2)),
        "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0,
    }  # fmt: skip
    if name.startswith("T5"):
        options |= {"d_kv": d // 4, "d_ff": 3 * d, "initializer_factor": 10 * scale}
        options |= {"tie_word_embeddings": True}  # the library ties its head in any case
    elif name.startswith("OPT"):
        options |= {"ffn_dim": 3 * d, "word_embed_proj_dim": d, "init_std": scale}
    else:
        options |= {"initializer_range": scale}
        if not name.startswith("GPT2"):
            options |= {"intermediate_size": 3 * d}
        if "num_key_value_heads" in vars(kind.config_class()):
            options |= {"num_key_value_heads": 4, "head_dim": d // 4}
    if name.startswith("Gemma2"):
        options |= {"final_logit_softcapping": float(rng.choice([3.0, 10.0, 30.0]))}
    torch.manual_seed(seed)
    return kind(kind.config_class(**options)).eval(), int(rng.choice([16, 32, 64]))


def main(count: int = 200, first: int = 0) -> None:
    found, rows = [], {}
    for seed in range(first, first + count):
        model, length = drawn(seed)
        answer = initial_loss(model, length=length, measure=True, texts=1, seed=seed)
        assert answer.measured is not None
        off = answer.measured.loss - answer.loss
        c, kind = model.config, type(model).__name__
        what = (
            f"{kind:27} d={c.hidden_size:3} layers={c.num_hidden_layers} "
            f"tied={c.tie_word_embeddings!s:5} rho={answer.cosine:.2f} s={answer.spread:.2f} "
            f"off {100 * off / answer.loss:+.3f} % ± {100 * answer.error / answer.loss:.3f} %"
        )
        found.append((off / answer.error, what))
        rows[f"{kind}, draw {seed}, s = {answer.spread:.2g}"] = {
            "predicted": answer.loss, "measured": answer.measured.loss, "spread": answer.spread,
            **peers(kind, c.to_dict()),
        }  # fmt: skip
    z = np.array([each for each, _ in found])
    for value, what in sorted(found, key=lambda each: -abs(each[0]))[:12]:
        print(f"z {value:+6.2f}  {what}")
    said = (
        f"Of {count} random configurations, drawn and measured on one text each, z has the mean "
        f"{z.mean():+.2f} and the deviation {z.std(ddof=1):.2f}; {100 * (abs(z) > 2).mean():.1f} % "
        f"lie beyond two, the farthest at {z[abs(z).argmax()]:+.1f} (Kolmogorov and Smirnov "
        f"against N(0, 1): p = {kstest(z, 'norm').pvalue:.2g})."
    )
    table = "\n".join(of_ways(summary(rows), len(rows)))
    print(f"{said}\n\n{table}")
    if (count, first) == (200, 0):
        write_whole(TEXT, said + "\n")
        write_whole(FAMILY, table + "\n")
        write_whole(PLOT, plotted(np.sort(z)) + "\n")


def plotted(z: np.ndarray) -> str:
    """Sorted z against the quantiles of N(0, 1), as an SVG."""
    due = norm.ppf((np.arange(len(z)) + 0.5) / len(z))
    rows = ['<path d="M40 280L320 0" stroke="currentColor" opacity=".5"/>']
    for at in range(-3, 4):
        x, y = 180 + 40 * at, 140 - 40 * at
        rows.append(f'<text x="{x}" y="296" text-anchor="middle">{at}</text>'
                    f'<text x="28" y="{y + 4}" text-anchor="end">{at}</text>')  # fmt: skip
    rows += [
        f'<circle cx="{180 + 40 * a:.1f}" cy="{140 - 40 * b:.1f}" r="2.5" fill="#4f81bd"/>'
        for a, b in zip(due, z, strict=True)
    ]
    said = f"{len(z)} z-scores in their order lie along the quantiles of a normal number"
    return framed(rows, 340, 300, said)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    main(*map(int, sys.argv[1:]))
