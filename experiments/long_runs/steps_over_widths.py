r"""How far does a step move each layer's output, and is it as far at every width?

A tied GPT-2, an untied Llama and a tied Qwen3 of four layers take three steps on one batch: by the
recipe of `weightwise.spectral_start` and ``spectral_groups``, and by AdamW at one rate for all
parameters from the class's own start. At each step the output of each linear layer, of the table
and of the blocks is compared with what it was: the RMS of the change over the RMS of the output.

Written down before the run. Flat is what changes by less than a tenth from the least to the
largest of the four widths, two seeds averaged. Of the logits the change itself decides as well, in
the rows "logits, absolute": they start small by design, and the smaller the wider the model, so
that their relative change has to grow. (Six runs of one seed, to see how long they take, were seen
before: Llama at the least and the largest width was level, but for its logits.)

torch's Muon takes its five turns in bfloat16, for which most processors have no instructions: a
matrix of side 1024 takes 20 s, of which a step has dozens. So the turns are taken in float32 here,
and on the few directions that a gradient of 32 tokens has (`Turns`). At the least width torch's own
runs as well, in the arm "recipe, as released".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from verifiedbook.account.parts import part
from verifiedbook.seeds import generator, seed_of
from weightwise import spectral_groups, spectral_start

SEEDS = {"weights and batch": [0, 1]}
WIDTHS = (128, 256, 512, 1024)
RELEASED = (128,)  # at which torch's own Muon runs, too
DEPTH, STEPS, VOCABULARY, TEXT = 4, 3, 256, (2, 16)
RATE = {"recipe": 0.02, "recipe, as released": 0.02, "AdamW": 1e-3}
KINDS = ["gpt2, tied", "llama, untied", "qwen3, tied"]


class Turns(torch.optim.Optimizer):
    """torch's Muon without decay, its five turns in float32 on the directions that there are.

    Args:
        groups: with ``params`` and ``lr``.
        rank: no gradient, nor a sum of those so far, has more directions.
    """

    def __init__(self, groups: list[dict[str, Any]], rank: int) -> None:
        super().__init__(groups, {})
        self.rank = rank

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Take a step.

        Args:
            closure: none is used.
        """
        for group in self.param_groups:
            for p in group["params"]:
                mean = self.state[p].setdefault("mean", torch.zeros_like(p))
                mean.lerp_(p.grad, 0.05)
                turned = five_turns(p.grad.lerp(mean, 0.95), self.rank)
                p.sub_(turned, alpha=group["lr"] * max(1, len(p) / p.shape[1]) ** 0.5)


def five_turns(matrix: torch.Tensor, rank: int) -> torch.Tensor:
    """Return what five turns of Muon's polynomial make of a matrix.

    Args:
        matrix: of two axes.
        rank: its, or more; 8 directions are taken beside those.
    """
    basis, few = None, rank + 8
    if few < min(matrix.shape):
        probe = torch.randn(matrix.shape[1], few, generator=generator("directions of a gradient"))
        basis, _ = torch.linalg.qr(matrix @ probe)
        matrix = basis.T @ matrix
    turned = matrix / matrix.norm()
    for _ in range(5):
        square = turned @ turned.T
        turned = 3.4445 * turned + (-4.7750 * square + 2.0315 * square @ square) @ turned
    return turned if basis is None else basis @ turned


def drawn(kind: str, width: int, seed: int, head: int = 64) -> Any:
    """Return a model as its class draws it.

    Args:
        kind: of `KINDS`.
        width: of the states, a multiple of two heads.
        seed: of the weights.
        head: size of a head.
    """
    import transformers

    name, _, tie = kind.partition(", ")
    same = {
        "vocab_size": VOCABULARY, "tie_word_embeddings": tie == "tied", "bos_token_id": 0,
        "eos_token_id": 0, "num_hidden_layers": DEPTH, "hidden_size": width,
        "num_attention_heads": width // head,
    }  # fmt: skip
    own: dict[str, Any] = {"intermediate_size": 2 * width}
    if name == "gpt2":
        own = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    if name == "qwen3":
        own |= {"num_key_value_heads": width // head // 2, "head_dim": head}
    title = {"gpt2": "GPT2", "llama": "Llama", "qwen3": "Qwen3"}[name]
    config = getattr(transformers, f"{title}Config")(**same, **own)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(f"steps over widths, {kind}, {width}, {seed}"))
        ending = "LMHeadModel" if name == "gpt2" else "ForCausalLM"
        return getattr(transformers, title + ending)(config)


def optimisers(model: Any, arm: str, rank: int, seed: int) -> list[torch.optim.Optimizer]:
    """Start a model as an arm does, and return what takes its steps.

    Args:
        model: fresh.
        arm: of `RATE`.
        rank: of the gradients, at most.
        seed: of the start.
    """
    if arm == "AdamW":
        return [torch.optim.AdamW(model.parameters(), lr=RATE[arm], weight_decay=0)]
    spectral_start(model, generator(f"steps over widths, start {seed}"))
    hidden, rest = spectral_groups(model, lr=RATE[arm])
    mine = torch.optim.Muon(hidden) if arm.endswith("released") else Turns(hidden, rank)
    return [mine, torch.optim.AdamW(rest)]


def outputs(model: Any, tokens: torch.Tensor) -> dict[str, list[torch.Tensor]]:
    """Return what each kind of layer gives, a tensor for each layer of it.

    Args:
        model: any of the three classes.
        tokens: (rows, length).
    """
    found: dict[str, list[torch.Tensor]] = {}

    def keep(name: str, module: nn.Module, given: Any, out: Any) -> None:
        out = (out if isinstance(out, torch.Tensor) else out[0]).detach()
        names = ("queries", "keys", "values") if name == "c_attn" else (name,)
        for each, values in zip(names, out.chunk(len(names), -1), strict=True):
            found.setdefault(each, []).append(values.clone())

    hooks = []
    for path, module in model.named_modules():
        name = path.rpartition(".")[2]
        linear = isinstance(module, nn.Linear | nn.Embedding) or type(module).__name__ == "Conv1D"
        if linear or name.isdigit():
            owner = path.split(".")[-2] + "." if name == "c_proj" else ""
            name = "block" if name.isdigit() else "logits" if name == "lm_head" else owner + name
            hooks.append(module.register_forward_hook(partial(keep, name)))
    with torch.no_grad():
        model(input_ids=tokens)
    for hook in hooks:
        hook.remove()
    return found


def moved(
    kind: str, arm: str, width: int, *, seeds: int, steps: int = STEPS, head: int = 64,
    text: tuple[int, int] = TEXT,
) -> dict[str, list[float]]:  # fmt: skip
    """Return the mean relative change of each kind of output at a step, a number for each seed.

    Args:
        kind, arm, width: what steps.
        seeds, steps, head, text: sizes of the run; the last, rows and length of the batch.
    """
    found: dict[str, list[float]] = {}
    for seed in range(seeds):
        draw = generator(f"steps over widths, batch {seed}")
        tokens = torch.randint(VOCABULARY, text, generator=draw)
        model = drawn(kind, width, seed, head)
        taken = optimisers(model, arm, tokens.numel() * steps, seed)
        changes: dict[str, list[float]] = {}
        now = outputs(model, tokens)
        for _ in range(steps):
            model.zero_grad()
            model(input_ids=tokens, labels=tokens).loss.backward()
            for optimiser in taken:
                optimiser.step()
            before, now = now, outputs(model, tokens)
            for name in now:
                for a, b in zip(before[name], now[name], strict=True):
                    changes.setdefault(name, []).append(((b - a).norm() / a.norm()).item())
            step = (now["logits"][0] - before["logits"][0]).square().mean().sqrt().item()
            changes.setdefault("logits, absolute", []).append(step)
        for name, each in changes.items():
            found.setdefault(name, []).append(round(sum(each) / len(each), 5))
    return found


def compare(
    kinds: Sequence[str], widths: Sequence[int], *, seeds: Sequence[int],
    released: Sequence[int] = (), **setting: Any,
) -> dict[str, dict[str, dict[int, Any]]]:  # fmt: skip
    """Return by kind, arm and width what `moved` returns.

    Args:
        kinds: of `KINDS`.
        widths: of both arms.
        seeds: of each.
        released: widths of the arm "recipe, as released".
        setting: of `moved`.
    """
    at = {arm: released if arm.endswith("released") else widths for arm in RATE}
    return {
        kind: {
            arm: {
                width: part(
                    f"{kind}, {arm}, {width}",
                    partial(moved, kind, arm, width, seeds=len(seeds), **setting),
                    seeds=seeds,
                )
                for width in at[arm]
            }
            for arm in RATE
        }
        for kind in kinds
    }


def over_widths(found: Mapping[int, Mapping[str, Sequence[float]]]) -> dict[str, float]:
    """Return by kind of output the largest over the least of the widths, seeds averaged, less one.

    Args:
        found: by width what `moved` returns.
    """
    means = [{name: sum(rows) for name, rows in each.items()} for each in found.values()]
    return {
        name: max(mean[name] for mean in means) / min(mean[name] for mean in means) - 1
        for name in means[0]
    }


def run() -> dict[str, Any]:
    """The recorded check."""
    runs = compare(KINDS, WIDTHS, seeds=SEEDS["weights and batch"], released=RELEASED)
    return {
        "setting": {"depth": DEPTH, "steps": STEPS, "rates": RATE, "tokens": TEXT[0] * TEXT[1]},
        "runs": runs,
        "over widths": {
            kind: {arm: over_widths(arms[arm]) for arm in ("recipe", "AdamW")}
            for kind, arms in runs.items()
        },
    }


def fingerprint() -> dict[str, Any]:
    """Both arms at toy sizes; with few tokens, of which gradients have few directions."""
    small: dict[str, Any] = {"head": 8, "steps": 2, "text": (1, 6)}
    return {
        kind: {
            arm: {str(width): each for width, each in found.items()} for arm, found in arms.items()
        }
        for kind, arms in compare(
            ["gpt2, tied", "qwen3, untied"], (16, 32), seeds=range(2), **small
        ).items()
    }
