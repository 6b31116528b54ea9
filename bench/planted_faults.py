"""Faults planted in fresh models of real classes: which the first loss shows, and which `diagnose`.

    python bench/planted_faults.py planted 2 [FIRST LAST]   a range of the faults, or all
    python bench/planted_faults.py fresh 12 [FIRST LAST]    a range of the sound classes, or all
    python bench/planted_faults.py picture                  the manual's drawing

Results of parts are kept together in `planted_faults.json`, of which the manual's table is written.
Models are those of `first_loss_models.py` of its tests, small and random; half of the fresh ones
have the wide initialiser of that file, the others their class's own.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import math
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
import transformers
from torch import nn

from verifiedbook.writing import write_whole
from weightwise import body_of, diagnose, initial_loss
from weightwise.first_loss.diagnosis.watching import is_matrix, stacks_of

MADE = Path(__file__).parents[1] / "packages/weightwise/tests/first_loss_models.py"
RESULT = Path(__file__).with_suffix(".json")
TABLE = Path(__file__).parents[1] / "book" / "planted-faults-table.txt"
DRAWING = Path(__file__).parents[1] / "book" / "figures" / "diagnosis.svg"
CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "GPT-2": ("gpt2", {}), "Llama tied": ("llama", {"tie_word_embeddings": True}),
    "Llama": ("llama", {"tie_word_embeddings": False}), "BERT": ("bert", {}),
    "T5": ("t5", {"initializer_factor": 1.0}), "Gemma": ("gemma", {}), "Gemma 2": ("gemma2", {}),
    "NeoX": ("gpt_neox", {}), "OPT": ("opt", {"init_std": 0.02}), "BLOOM": ("bloom", {}),
    "Qwen3": ("qwen3", {}), "OLMo 2": ("olmo2", {}),
}  # fmt: skip
Fault = Callable[[Any], "dict[str, torch.Tensor] | torch.optim.Optimizer | bool | None"]


def made() -> Any:
    """The models of the tests."""
    spec = importlib.util.spec_from_file_location("made", MADE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.made, module.MADE


def layers(model: Any) -> list[nn.Module]:
    return [layer for stack in stacks_of(model).values() for layer in stack]


def matrices(module: nn.Module) -> list[Any]:
    return [each for each in module.modules() if is_matrix(each)]


def norms(module: nn.Module) -> list[Any]:
    return [each for each in module.modules() if "norm" in type(each).__name__.lower()
            and getattr(each, "weight", None) is not None]  # fmt: skip


def lasts(model: Any) -> list[Any]:
    """The matrices that end a branch."""
    ends = ("o_proj", "c_proj", "out_proj", "down_proj", "fc2", "dense_4h_to_h", ".o", ".wo",
            "output.dense", "attention.dense")  # fmt: skip
    return [module for layer in layers(model) for name, module in layer.named_modules()
            if f".{name}".endswith(ends) and is_matrix(module)]  # fmt: skip


@torch.no_grad()
def default(modules: list[Any]) -> bool:
    for each in modules:
        fan_in = each.weight.shape[0 if type(each).__name__ == "Conv1D" else 1]
        each.weight.uniform_(-(fan_in**-0.5), fan_in**-0.5)
        if each.bias is not None:
            each.bias.uniform_(-(fan_in**-0.5), fan_in**-0.5)
    return bool(modules)


@torch.no_grad()
def times(modules: list[Any], factor: float) -> bool:
    for each in modules:
        each.weight.mul_(factor)
    return bool(modules)


@torch.no_grad()
def gains(modules: list[Any], value: float) -> bool:
    for each in modules:  # some multiply by one plus a weight
        added = bool((each.weight == 0).all()) or "1P" in type(each).__name__
        each.weight.fill_(value - 1 if added else value)
    return bool(modules)


@torch.no_grad()
def bias(model: Any) -> bool:
    found = [each for each in matrices(layers(model)[0]) if each.bias is not None]
    for each in found:
        each.bias.fill_(0.05)
    return bool(found)


def passed(model: Any, change: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> bool:
    """The output of the first layer of the last stack, changed."""

    def hook(_: Any, inputs: Any, more: Any, out: Any) -> Any:
        before = inputs[0] if inputs else more["hidden_states"]
        bare = isinstance(out, torch.Tensor)
        state = change(before, out if bare else out[0])
        return state if bare else (state, *out[1:])

    last = list(stacks_of(model).values())[-1]
    last[0].register_forward_hook(hook, with_kwargs=True)
    return True


def activation(model: Any) -> bool:
    words = ("elu", "silu")
    found = [
        each
        for layer in layers(model)
        for each in layer.modules()
        if not list(each.children()) and any(w in type(each).__name__.lower() for w in words)
    ]
    for each in found:
        each.forward = lambda x: x
    return bool(found)


def mask(model: Any) -> bool | dict[str, torch.Tensor]:
    body = body_of(model.config)
    if not body.stack.causal or body.encoder is not None or body.name in ("opt", "bloom"):
        return False  # two of these make positions of the mask
    tokens = torch.randint(body.n, (2, 64))
    return {"input_ids": tokens, "labels": tokens, "attention_mask": torch.zeros(2, 1, 64, 64)}


def shifted(model: Any) -> bool | dict[str, torch.Tensor]:
    body = body_of(model.config)
    if not body.stack.causal or body.encoder is not None:
        return False
    tokens = torch.randint(body.n, (2, 64))
    return {"input_ids": tokens, "labels": torch.cat([tokens[:, :1], tokens[:, :-1]], 1)}


@torch.no_grad()
def positions(model: Any) -> bool:
    tables = [each for each in model.named_modules() if isinstance(each[1], nn.Embedding)]
    found = [module for name, module in tables if "position" in name or "wpe" in name]
    for each in found:
        each.weight.zero_()
    return bool(found)


def loss(model: Any, change: Callable[[Any], torch.Tensor]) -> bool:
    def hook(_: Any, __: Any, out: Any) -> Any:
        if out.loss is not None:
            out.loss = change(out)
        return out

    model.register_forward_hook(hook)
    return True


def smoothed(out: Any) -> torch.Tensor:
    return 0.9 * out.loss - 0.1 * F.log_softmax(out.logits.float(), -1).mean()


def untied(model: Any) -> bool:
    head = model.get_output_embeddings()
    if head.weight is not model.get_input_embeddings().weight:
        return False
    head.weight = nn.Parameter(head.weight.detach().clone())
    return True


@torch.no_grad()
def orthogonal(model: Any) -> bool:
    for each in matrices(layers(model)[0]):
        size = float(each.weight.std())
        nn.init.orthogonal_(each.weight)
        each.weight.mul_(size / each.weight.std())
    return True


def queries(model: Any, factor: float) -> bool:
    found = [module for layer in layers(model) for name, module in layer.named_modules()
             if name.endswith(("q_proj", ".q", ".query"))]  # fmt: skip
    return times(found, factor)


def unscaled(model: Any) -> bool:
    found = [each for layer in layers(model) for each in layer.modules()
             if isinstance(getattr(each, "scaling", None), float)]  # fmt: skip
    for each in found:
        each.scaling = 1.0  # type: ignore[assignment]
    return bool(found)


def adam(model: Any, rate: float = 1e-3, **more: float) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), rate, **more)


def frozen(model: Any) -> torch.optim.Optimizer:
    layers(model)[0].requires_grad_(requires_grad=False)
    return adam(model)


def left_out(model: Any) -> torch.optim.Optimizer:
    own = {id(each) for each in layers(model)[-1].parameters()}
    return torch.optim.AdamW([each for each in model.parameters() if id(each) not in own])


def twice(model: Any) -> torch.optim.Optimizer:
    half = [*model.parameters()]
    found = torch.optim.AdamW([{"params": half[:3]}, {"params": half[3:]}])
    found.param_groups[1]["params"].append(half[1])
    return found


def sound(model: Any, seed: int) -> torch.optim.Optimizer:
    """An optimiser at random, of a rate that is usual for models of this width."""
    draw = random.Random(seed)
    kind, low, high = draw.choice([(torch.optim.Adam, 1e-5, 3e-3), (torch.optim.AdamW, 1e-5, 3e-3),
                                   (torch.optim.SGD, 1e-3, 0.3)])  # fmt: skip
    rate = math.exp(draw.uniform(math.log(low), math.log(high)))
    return kind(model.parameters(), rate, weight_decay=draw.choice([0.0, 0.01, 0.1]))


def table(model: Any) -> nn.Module:
    found: nn.Module = model.get_input_embeddings()
    return found


FAULTS: dict[str, Fault] = {
    "all blocks at PyTorch's defaults": lambda m: default(
        [x for y in layers(m) for x in matrices(y)]),
    "one layer at PyTorch's defaults": lambda m: default(matrices(layers(m)[-1])),
    "one matrix at PyTorch's default": lambda m: default(lasts(m)[-1:]),
    "one layer zeroed": lambda m: times(matrices(layers(m)[-1]), 0),
    "one matrix zeroed": lambda m: times(lasts(m)[-1:], 0),
    "blocks × 10": lambda m: times([x for y in layers(m) for x in matrices(y)], 10),
    "blocks × 2": lambda m: times([x for y in layers(m) for x in matrices(y)], 2),
    "blocks × 1.1": lambda m: times([x for y in layers(m) for x in matrices(y)], 1.1),
    "residual outputs × √(2L)": lambda m: times(lasts(m), math.sqrt(2 * len(layers(m)))),
    "queries × 4": lambda m: queries(m, 4),
    "gains × 3": lambda m: gains([x for y in layers(m) for x in norms(y)], 3),
    "one gain at 0.9": lambda m: gains(norms(layers(m)[-1])[-1:], 0.9),
    "last norm's gain × 2": lambda m: gains(
        [x for x in norms(m) if not any(x is y for z in layers(m) for y in z.modules())][-1:], 2),
    "biases at 0.05": bias,
    "no residual connection": lambda m: passed(m, lambda x, y: y - x),
    "a layer skipped": lambda m: passed(m, lambda x, y: x),
    "a layer detached": lambda m: passed(m, lambda x, y: y.detach()),
    "a residual connection detached": lambda m: passed(m, lambda x, y: y - x + x.detach()),
    "a layer's gradient × 2": lambda m: passed(m, lambda x, y: 2 * y - y.detach()),
    "stream × 1.5": lambda m: passed(m, lambda x, y: 1.5 * y),
    "no activation": activation,
    "no causal mask": mask,
    "attention not scaled": unscaled,
    "positions left out": positions,
    "table at PyTorch's default": lambda m: bool(nn.init.normal_(table(m).weight) is not None),
    "table × 1.5": lambda m: times([table(m)], 1.5),
    "tie lost, numbers equal": untied,
    "loss: sum for mean": lambda m: loss(m, lambda out: 126 * out.loss),
    "loss: labels not shifted": shifted,
    "loss: smoothing of 0.1": lambda m: loss(m, smoothed),
    "loss: 0.05 added": lambda m: loss(m, lambda out: out.loss + 0.05),
    "optimiser: a rate of 0.03": lambda m: adam(m, 0.03),
    "optimiser: an ε of 1e-3": lambda m: adam(m, eps=1e-3),
    "optimiser: of a copy of the model": lambda m: adam(copy.deepcopy(m)),
    "optimiser: a layer left out": left_out,
    "optimiser: a layer frozen": frozen,
    "optimiser: a parameter stepped twice": twice,
    "optimiser: SGD at a rate of 100": lambda m: torch.optim.SGD(m.parameters(), 100.0),
    "orthogonal start, same size": orthogonal,
}  # fmt: skip


def by_loss(model: Any) -> bool:
    """Whether the first loss alone shows it, as `assert_initial_loss` did."""
    answer = initial_loss(model, measure=True, length=64)
    found = answer.measured
    assert found is not None
    room = 1e-3 * answer.loss + 3 * math.hypot(answer.error, found.error)
    return not abs(found.loss - answer.loss) <= room


def planted(seeds: int, first: int = 0, last: int = len(FAULTS)) -> dict[str, Any]:
    """How often each fault of a range is seen, class by class."""
    make, settings = made()
    found: dict[str, Any] = {}
    for name, fault in [*FAULTS.items()][first:last]:
        row = found[name] = {"tried": {}, "loss": {}, "diagnose": {}, "by": Counter()}
        for title, (kind, more) in CLASSES.items():
            own = {"initializer_range": 0.02} if "initializer_range" in settings[kind] else {}
            for seed in range(seeds):
                model = make(kind, seed, **own, **more)
                given = fault(model)
                if not given:
                    break
                batch = given if isinstance(given, dict) else None
                optimiser = given if isinstance(given, torch.optim.Optimizer) else None
                said = diagnose(model, batch, optimiser=optimiser, seed=seed)
                for what, seen in (
                    ("tried", True), ("loss", by_loss(model)), ("diagnose", not said.fits)
                ):  # fmt: skip
                    row[what][title] = row[what].get(title, 0) + seen
                row["by"].update([each.what for each in said.wrong[:1]] or
                                 ["a parameter not reached"] * bool(said.unreached))  # fmt: skip
        print(name, row, flush=True)
    return found


def fresh(seeds: int, first: int = 0, last: int = 10**6) -> dict[str, Any]:
    """How many sound models of a range of classes are called broken, and how far readings lie."""
    make, settings = made()
    found: dict[str, Any] = {}
    for kind, given in [*settings.items()][first:last]:
        row = found[kind] = {"models": seeds, "broken": 0, "readings": {}}
        for seed in range(seeds):
            own = {"initializer_range": 0.02} if seed % 2 and "initializer_range" in given else {}
            model = make(kind, 100 + seed, **own)
            said = diagnose(model, optimiser=sound(model, seed), seed=seed)
            row["broken"] += not said.fits
            for reading in said.readings:
                n, square = row["readings"].get(reading.what, (0, 0.0))
                row["readings"][reading.what] = n + 1, square + reading.off**2
            if not said.fits:
                print(kind, seed, said, flush=True)
    return found


def page(known: dict[str, Any]) -> str:
    """What the manual shows: the faults that some class hides, and how many there were in all."""
    lines, always = ["| planted | not seen in |", "|---|---|"], []
    total: Counter[str] = Counter()
    for name in FAULTS:
        row = known["planted"][name]
        total.update({what: sum(row[what].values()) for what in ("tried", "loss", "diagnose")})
        seen = [title for title, count in row["tried"].items() if row["diagnose"][title] == count]
        hidden = ", ".join(title for title in row["tried"] if title not in seen)
        if not hidden:
            always.append(name)
            continue
        if 2 * len(seen) < len(row["tried"]):
            hidden = f"every class{' but ' * bool(seen)}{', '.join(seen)}"
        lines.append(f"| {name} | {hidden} |")
    said = f"`diagnose` calls {total['diagnose']} broken, and the first loss alone {total['loss']}."
    lines = [
        f"Of {total['tried']} broken models {said} {len(always)} of {len(FAULTS)} faults are seen "
        f"in every class that has such a part: {'; '.join(always)}. The others:", "", *lines, "",
    ]  # fmt: skip
    rows = known["fresh"].values()
    sums: dict[str, list[float]] = {}
    for row in rows:
        for what, pair in row["readings"].items():
            sums[what] = [a + b for a, b in zip(sums.get(what, [0, 0]), pair, strict=True)]
    said = ", ".join(f"{what} {math.sqrt(square / n):.2f}" for what, (n, square) in sums.items())
    lines.append(
        f"Of {sum(row['models'] for row in rows)} sound models of {len(known['fresh'])} classes it "
        f"calls {sum(row['broken'] for row in rows)} broken, on {sum(n for n, _ in sums.values())} "
        f"readings. Root mean squares of their distances, in deviations: {said}."
    )
    return "\n".join(lines) + "\n"


def main(what: str, seeds: int, *part: int) -> None:
    """Run a part, keep it with the others, and write the page of all."""
    found = {"planted": planted, "fresh": fresh}[what](seeds, *part)
    known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    known[what] = known.get(what, {}) | found
    known["made with"] = {"torch": torch.__version__, "transformers": transformers.__version__,
                          "command": "python bench/planted_faults.py"}  # fmt: skip
    text = json.dumps(known, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[^][{}]*\]", lambda of: " ".join(of[0].split()), text)  # a list on one line
    write_whole(RESULT, text + "\n")
    if set(known.get("planted", {})) == set(FAULTS) and "fresh" in known:
        write_whole(TABLE, page(known))


def picture() -> None:
    """Draw the diagnosis of the manual's GPT-2, whose third feed-forward part was left at zero."""
    model = made()[0]("gpt2", n_layer=4, initializer_range=0.02)
    nn.init.zeros_(model.transformer.h[2].mlp.c_proj.weight)
    write_whole(DRAWING, diagnose(model).picture() + "\n")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    if sys.argv[1:] == ["picture"]:
        picture()
    else:
        main(sys.argv[1], *map(int, sys.argv[2:]))
