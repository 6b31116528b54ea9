"""Faults planted in fresh models: which the first loss shows, `diagnose`, and `audit_init`.

    python bench/planted_faults.py planted 2 [FIRST LAST]   a range of the faults, or all
    python bench/planted_faults.py fresh 12 [FIRST LAST]    a range of the sound classes, or all
    python bench/planted_faults.py odd 8 [FIRST LAST]       the same classes, at odd options
    python bench/planted_faults.py picture                  the manual's drawing

What each fault or class answers is kept in `planted_faults.json` as soon as it is there, so that a
run that was stopped goes on with a range; the manual's table is written of it. Models are those of
`first_loss_models.py` of its tests, small and random, and four that are written by hand; half of
the fresh ones have the wide initialiser of that file, the others their class's own. The odd ones
have sizes, deviations and options drawn at random, a few words to some thousands.
"""

from __future__ import annotations

import copy
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
from weightwise import Body, audit_init, body_of, diagnose, draft_body, initial_loss
from weightwise.first_loss.diagnosis.watching import is_matrix, stacks_of

sys.path.insert(0, str(Path(__file__).parents[1] / "packages" / "weightwise" / "tests"))
from first_loss_models import MADE, made
from handwritten_models import Apart, D, Gated, Model

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


class Norm(nn.RMSNorm):
    """As in models that are written by hand, under a name that says what it is."""

    def __init__(self) -> None:
        super().__init__(D, 1e-6)


class Own(Model):
    """A model that is written by hand, whose two ends are found as those of transformers are."""

    def get_input_embeddings(self) -> nn.Embedding:
        return self.table

    def get_output_embeddings(self) -> nn.Linear:
        return self.head


OWN: dict[str, dict[str, Any]] = {
    "nanoGPT's form": {},
    "Llama's form": {"norm": Norm, "attention": Apart, "forward": Gated, "tied": False,
                     "positions": False},
    "Post Norm": {"form": "post", "last": False},
    "parallel branches": {"form": "parallel", "norm": Norm, "attention": Apart},
}  # fmt: skip
Fault = Callable[[Any], "dict[str, torch.Tensor] | torch.optim.Optimizer | bool | None"]


def model_of(title: str, seed: int) -> tuple[Any, Body | None]:
    """A sound model, and its draft, where it is of no class that is known."""
    if title in OWN:
        torch.manual_seed(seed)
        model = Own(**OWN[title]).eval()
        return model, draft_body(model)
    kind, more = CLASSES[title]
    own = {"initializer_range": 0.02} if "initializer_range" in MADE[kind] else {}
    return made(kind, seed, **own, **more), None


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
            "output.dense", "attention.dense", "attention.wo", "mlp.down", "mlp.w2")  # fmt: skip
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
    functions = [
        each for layer in layers(model) for each in layer.modules() if hasattr(each, "act")
    ]
    for each in functions if isinstance(model, Own) else []:
        each.act = lambda x: x
    return bool(found) or (isinstance(model, Own) and bool(functions))


def mask(model: Any) -> bool | dict[str, torch.Tensor]:
    if isinstance(model, Own):
        return False  # takes none
    body = body_of(model.config)
    if not body.stack.causal or body.encoder is not None or body.name in ("opt", "bloom"):
        return False  # two of these make positions of the mask
    tokens = torch.randint(body.n, (2, 64))
    return {"input_ids": tokens, "labels": tokens, "attention_mask": torch.zeros(2, 1, 64, 64)}


def shifted(model: Any) -> bool | dict[str, torch.Tensor]:
    if isinstance(model, Own):
        return False  # whoever writes a model shifts labels elsewhere
    body = body_of(model.config)
    if not body.stack.causal or body.encoder is not None:
        return False
    tokens = torch.randint(body.n, (2, 64))
    return {"input_ids": tokens, "labels": torch.cat([tokens[:, :1], tokens[:, :-1]], 1)}


@torch.no_grad()
def positions(model: Any) -> bool:
    tables = [each for each in model.named_modules() if isinstance(each[1], nn.Embedding)]
    found = [module for name, module in tables
             if "position" in name or "wpe" in name or name == "places"]  # fmt: skip
    for each in found:
        each.weight.zero_()
    return bool(found)


def loss(model: Any, change: Callable[[Any], torch.Tensor]) -> bool:
    if isinstance(model, Own):
        return False  # gives back no loss by that name

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
             if name.endswith(("q_proj", ".q", ".query", ".wq"))]  # fmt: skip
    return times(found, factor)


def unscaled(model: Any) -> bool:
    found = [
        (each, name) for layer in layers(model) for each in layer.modules()
        for name in ("scaling", "scale") if isinstance(getattr(each, name, None), float)
    ]  # fmt: skip
    for each, name in found:
        setattr(each, name, 1.0)
    return bool(found)


@torch.no_grad()
def outlier(model: Any) -> bool:
    weight = lasts(model)[0].weight
    weight.view(-1)[7] = 100 * weight.std()
    return True


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
    "one entry of 100 deviations": outlier,
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


def by_loss(model: Any, body: Body | None) -> bool:
    """Whether the first loss alone shows it, as `assert_initial_loss` did."""
    answer = initial_loss(model, measure=True, length=64, body=body)
    found = answer.measured
    assert found is not None
    room = 1e-3 * answer.loss + 3 * math.hypot(answer.error, found.error)
    return not abs(found.loss - answer.loss) <= room


def planted(seeds: int, name: str) -> dict[str, Any]:
    """How often a fault is seen, class by class, and what the first reading to leave is of."""
    row: dict[str, Any] = {"tried": {}, "loss": {}, "diagnose": {}, "audit": {}, "by": Counter()}
    for title in (*CLASSES, *OWN):
        for seed in range(seeds):
            model, body = model_of(title, seed)
            given = FAULTS[name](model)
            if not given:
                break
            batch = given if isinstance(given, dict) else None
            optimiser = given if isinstance(given, torch.optim.Optimizer) else None
            said = diagnose(model, batch, optimiser=optimiser, seed=seed, body=body)
            for what, seen in (
                ("tried", True), ("loss", by_loss(model, body)), ("diagnose", not said.fits),
                ("audit", bool(audit_init(model).disagree)),
            ):  # fmt: skip
                row[what][title] = row[what].get(title, 0) + seen
            row["by"].update([each.what for each in said.wrong[:1]] or
                             ["a parameter not reached"] * bool(said.unreached))  # fmt: skip
    return row


def fresh(seeds: int, kind: str) -> dict[str, Any]:
    """How many sound models of a class are called broken, and how far their readings lie."""
    row: dict[str, Any] = {"models": seeds, "broken": 0, "readings": {}}
    for seed in range(seeds):
        own = {"initializer_range": 0.02} if seed % 2 and "initializer_range" in MADE[kind] else {}
        model = made(kind, 100 + seed, **own)
        said = diagnose(model, optimiser=sound(model, seed), seed=seed)
        row["broken"] += not said.fits
        for reading in said.readings:
            n, square = row["readings"].get(reading.what, (0, 0.0))
            row["readings"][reading.what] = n + 1, square + reading.off**2
        if not said.fits:
            print(kind, seed, said, flush=True)
    return row


HEADS, LAYERS = ("num_attention_heads", "n_head", "num_heads", "n_heads"), (
    "num_hidden_layers", "n_layer", "num_layers", "n_layers")  # fmt: skip
WIDTHS, INNER = ("hidden_size", "n_embd", "d_model", "dim"), (
    "intermediate_size", "d_ff", "ffn_dim", "hidden_dim")  # fmt: skip
ODD: dict[str, tuple[Any, ...]] = {  # options that some class has, and what they may be
    **dict.fromkeys(
        ("tie_word_embeddings", "attention_bias", "mlp_bias", "use_bias", "bias", "use_qk_norm",
         "parallel_attn", "use_parallel_residual", "use_qkv_bias", "qk_layernorm",
         "scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn", "do_layer_norm_before"),
        (True, False)),
    **dict.fromkeys(("hidden_act", "activation_function", "activation"),
                    ("gelu", "relu", "silu", "gelu_new")),
    **dict.fromkeys(("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon"), (1e-12, 1e-6, 1e-5)),
    **dict.fromkeys(("attention_dropout", "resid_pdrop", "hidden_dropout_prob"), (0.0, 0.1)),
    "feed_forward_proj": ("relu", "gated-gelu"), "final_logit_softcapping": (None, 4.0, 30.0),
    "query_pre_attn_scalar": (8, 64, 256), "sliding_window": (4, 32, 4096),
    "pad_token_id": (None, 0, 3),
    "logit_scale": (0.1, 1.0), "clip_qkv": (None, 6.0), "type_vocab_size": (1, 2, 3),
    "inner_group_num": (1, 2), "num_hidden_groups": (1, 2), "partial_rotary_factor": (0.5, 1.0),
}  # fmt: skip


def options(kind: str, draw: random.Random) -> dict[str, Any]:
    """Sizes, deviations and options of a class, drawn as nobody would choose them."""
    heads, size, layers = draw.choice([1, 2, 3, 4, 6]), draw.choice([8, 16, 24, 32]), 0
    heads, layers = (4, 2) if kind in ("bloom", "mpt", "gpt_neo") else (heads, draw.randint(1, 4))
    given = dict(MADE[kind])
    values: dict[tuple[str, ...], Any] = {
        HEADS: heads, LAYERS: layers, WIDTHS: heads * size, INNER: draw.randint(37, 400),
        ("num_key_value_heads",): draw.choice([k for k in range(1, heads + 1) if heads % k == 0]),
        ("vocab_size",): round(math.exp(draw.uniform(math.log(30), math.log(4000)))),
        ("head_dim", "d_kv"): size if draw.random() < 0.6 else draw.choice([8, 16, 24]),
        ("rotary_dim",): size // 2, ("word_embed_proj_dim",): heads * size,
        ("embedding_size",): draw.choice([24, 40, heads * size]),
        ("initializer_range", "init_std"): math.exp(draw.uniform(math.log(0.005), math.log(0.15))),
        ("initializer_factor",): draw.uniform(0.2, 1.5),
    }  # fmt: skip
    given |= {name: value for names, value in values.items() for name in names if name in given}
    known = transformers.AutoConfig.for_model(kind).to_dict()
    for name, choices in ODD.items():
        if name in known and draw.random() < 0.3:
            given[name] = draw.choice(choices)
    return given


def odd(seeds: int, kind: str) -> dict[str, Any]:
    """How many sound models of a class, at odd options and small sizes, are called broken."""
    row: dict[str, Any] = {"models": 0, "not built": 0, "refused": {}, "broken": 0, "audit": 0}
    for seed in range(seeds):
        draw = random.Random(f"{kind} {seed}")
        given, length = options(kind, draw), draw.choice([5, 17, 64, 100])
        try:
            model, tokens = made(kind, 1000 + seed, **given), torch.zeros(1, 5, dtype=torch.long)
            decoder = {"decoder_input_ids": tokens} if model.config.is_encoder_decoder else {}
            model(input_ids=tokens, **decoder)
        except Exception as error:  # which options go together, the class says
            row["not built"] += 1
            print(kind, seed, "not built:", f"{error}".splitlines()[0], flush=True)
            continue
        try:
            said = diagnose(model, optimiser=sound(model, seed), seed=seed, length=length)
        except ValueError as error:
            why = re.sub(r"[\d.e-]+", "#", str(error).splitlines()[0])
            row["refused"][why] = row["refused"].get(why, 0) + 1
            continue
        asked = audit_init(model)
        row["models"] += 1
        row["broken"] += not said.fits
        row["audit"] += bool(asked.disagree)
        if not said.fits or asked.disagree:
            print(kind, seed, length, given, said, asked, sep="\n", flush=True)
    return row


def page(known: dict[str, Any]) -> str:
    """What the manual shows: the faults that some class hides, and how many there were in all."""
    lines, always = ["| planted | not seen in |", "|---|---|"], []
    total: Counter[str] = Counter()
    for name in FAULTS:
        row = known["planted"][name]
        total.update({what: sum(row[what].values()) for what in row if what != "by"})
        seen = [title for title, count in row["tried"].items() if row["diagnose"][title] == count]
        hidden = ", ".join(title for title in row["tried"] if title not in seen)
        if not hidden:
            always.append(name)
            continue
        if 2 * len(seen) < len(row["tried"]):
            hidden = f"every class{' but ' * bool(seen)}{', '.join(seen)}"
        lines.append(f"| {name} | {hidden} |")
    said = (
        f"`diagnose` calls {total['diagnose']} broken, `audit_init`, which looks at parameters "
        f"alone, {total['audit']}, and the first loss alone {total['loss']}."
    )
    lines = [
        f"Of {total['tried']} broken models {said} {len(always)} of {len(FAULTS)} faults are seen "
        f"in every class that has such a part: {'; '.join(always)}. The others:", "", *lines, "",
    ]  # fmt: skip
    rows, odd = known["fresh"].values(), [*known["odd"].values()]
    sums: dict[str, list[float]] = {}
    for row in rows:
        for what, pair in row["readings"].items():
            sums[what] = [a + b for a, b in zip(sums.get(what, [0, 0]), pair, strict=True)]
    said = ", ".join(f"{what} {math.sqrt(square / n):.2f}" for what, (n, square) in sums.items())
    count = {what: sum(row[what] for row in rows) for what in ("models", "broken")}
    lines.append(
        f"Of {count['models']} sound models of {len(known['fresh'])} classes `diagnose` calls "
        f"{count['broken']} broken, on {sum(n for n, _ in sums.values())} readings. Root mean "
        f"squares of their distances, in deviations: {said}."
    )
    count = {what: sum(row[what] for row in odd) for what in ("models", "broken", "audit")}
    refused = sum(sum(row["refused"].values()) for row in odd)
    lines += ["", (
        f"Of {count['models']} more, with options, deviations and sizes that nobody would choose "
        f"(one layer, 30 words, a width of 8), `diagnose` calls {count['broken']} broken and "
        f"`audit_init` {count['audit']}; {refused} it refuses by name."
    )]  # fmt: skip
    return "\n".join(lines) + "\n"


def main(what: str, seeds: int, *part: int) -> None:
    """Run a range, keep what each answers with what is known, and write the page of all."""
    work, names = {"planted": (planted, FAULTS), "fresh": (fresh, MADE), "odd": (odd, MADE)}[what]
    for name in [*names][slice(*part or (None,))]:
        row = work(seeds, name)
        print(name, row, flush=True)
        keep(what, name, row)


def keep(what: str, name: str, row: dict[str, Any]) -> None:
    """Add what a fault or a class answers to what is known, and write the page if that is whole."""
    known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    known.setdefault(what, {})[name] = row
    known["made with"] = {"torch": torch.__version__, "transformers": transformers.__version__,
                          "command": "python bench/planted_faults.py"}  # fmt: skip
    text = json.dumps(known, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[^][{}]*\]", lambda of: " ".join(of[0].split()), text)  # a list on one line
    write_whole(RESULT, text + "\n")
    if set(known.get("planted", {})) == set(FAULTS) and {"fresh", "odd"} <= set(known):
        write_whole(TABLE, page(known))


def picture() -> None:
    """Draw the diagnosis of the manual's GPT-2, whose third feed-forward part was left at zero."""
    model = made("gpt2", n_layer=4, initializer_range=0.02)
    nn.init.zeros_(model.transformer.h[2].mlp.c_proj.weight)
    write_whole(DRAWING, diagnose(model).picture() + "\n")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    if sys.argv[1:] == ["picture"]:
        picture()
    else:
        main(sys.argv[1], *map(int, sys.argv[2:]))
