"""What the library takes beside the plain way to the same thing, in one run: ``make bench``.

    python bench/side_by_side.py [PART …]      accepted: estimate, first-loss, models, tables

The ways of a row take turns on one thread, so that another load of the machine meets all alike, and
processor seconds count. A figure is the median over the turns of a way's seconds over its peer's,
with the least and the largest. ``_build/bench.json`` keeps all of it, with versions.

- estimate: a calibrated measurement against the generator alone, filling buffers of 2¹⁶ and 2²⁰.
- first-loss: the streamed loss of tokens against drawing the rows and multiplying with them.
- models: `initial_loss` against a forward pass with its cross-entropy, `grow` against making the
  larger class and copying the small arrays into it.
- tables: lookup, head and training step of every family against a dense table, three sizes, four
  ranks: from which size on a family pays.

Limits: a head of 50 257 tokens at most, 64 states; no GPU; the streamed loss on a sixteenth of the
vocabulary of `first_loss_streamed.py`, which has all of it; `factorised_tables.py` has more sizes.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from first_loss_streamed import D, N, slice_of

from verifiedbook.writing import write_whole
from weightwise import factorised_table, grow, initial_loss
from weightwise.factorised.families import FAMILIES
from weightwise.first_loss import DrawnVocabulary

ROOT = Path(__file__).parent.parent
Ways = dict[str, Callable[[], Any]]
TURNS = 5
SIZES = ((2000, 64), (10_000, 256), (50_257, 768))
RANKS = (4, 8, 16, 32)


def ratios(ways: Ways, peers: tuple[str, ...]) -> dict[str, Any]:
    """Each way's processor seconds over those of its peers together: median, least, largest."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(TURNS + 1):
        for name, run in ways.items():
            started = time.process_time()
            run()
            if turn:  # the first warms up
                spent[name].append(time.process_time() - started)
    both = [sum(turn) for turn in zip(*(spent[name] for name in peers), strict=True)]
    found: dict[str, Any] = {"peer": " + ".join(peers), "its seconds": statistics.median(both)}
    for name in (other for other in ways if other not in peers):
        over = sorted(s / max(peer, 1e-9) for s, peer in zip(spent[name], both, strict=True))
        found[name] = [round(x, 3) for x in (statistics.median(over), over[0], over[-1])]
    return found


def estimate() -> Iterator[tuple[str, dict[str, Any]]]:
    """A measurement of the variance of a squared length, and the generator alone."""
    import sympy as sp
    from norm_variance_at_scale import SCALE, squared_norm

    from verifiedbook.exact.formulas.notation import symbols
    from verifiedbook.exact.laws import Normal
    from verifiedbook.exact.moments import Index, Tensor, total, variance
    from verifiedbook.sampling import measuring

    d, σ = symbols("d sigma")
    i = Index("i", d)
    quantity = variance(total(Tensor("w", Normal(0, σ), d)[i] ** 2, i))
    for width in (8, 64):
        point = {d: sp.Integer(width), σ: SCALE}
        value = float(2 * width * SCALE**4)

        def measured(point: Any = point, value: float = value, width: int = width) -> Any:
            return measuring.measure(quantity, squared_norm, point, value, name=f"bench {width}")

        normals = 2 * measured().n * width

        def alone(entries: int, count: int = normals) -> None:
            buffer, source = torch.empty(entries), torch.Generator().manual_seed(0)
            for _ in range(count // entries):
                buffer.normal_(generator=source)

        ways: Ways = {
            "measured": measured, "generator, 2^16": lambda: alone(1 << 16),
            "generator, 2^20": lambda: alone(1 << 20),
        }  # fmt: skip
        yield f"variance of a squared length, d = {width}", ratios(ways, ("generator, 2^16",))


def streamed() -> Iterator[tuple[str, dict[str, Any]]]:
    """The streamed first loss against its two parts."""
    for tokens in (64, 512, 4096):
        table = DrawnVocabulary(N // 16, D, σ=D**-0.5, seed=0)
        ways = slice_of(torch.randn(tokens, D), table)
        yield f"first loss, {tokens} tokens", ratios(dict(ways), ("generation", "GEMM"))


def models() -> Iterator[tuple[str, dict[str, Any]]]:
    """What is done with whole models."""
    from transformers import GPT2Config, GPT2LMHeadModel

    ends = {"bos_token_id": None, "eos_token_id": None}
    config = GPT2Config(vocab_size=5000, n_embd=256, n_layer=4, n_head=4, n_positions=128, **ends)
    larger = GPT2Config(vocab_size=5000, n_embd=512, n_layer=4, n_head=4, n_positions=128, **ends)
    torch.manual_seed(0)
    model, tokens = GPT2LMHeadModel(config).eval(), torch.randint(5000, (4, 128))

    @torch.no_grad()
    def forward() -> torch.Tensor:
        logits = model(tokens).logits
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())

    @torch.no_grad()
    def filled() -> torch.nn.Module:
        made = GPT2LMHeadModel(larger)
        for new, old in zip(made.parameters(), model.parameters(), strict=True):
            for axis, (size, before) in enumerate(zip(new.shape, old.shape, strict=True)):
                old = old.repeat_interleave(size // before, axis)
            new.copy_(old)
        return made

    ways: Ways = {
        "forward": forward, "predicted": lambda: initial_loss(config),
        "measured": lambda: initial_loss(model, measure=True),
    }  # fmt: skip
    yield "initial_loss, GPT-2 of four layers", ratios(ways, ("forward",))
    ways = {"made and filled": filled, "grown": lambda: grow(model, 2, check=False)}
    yield "grow, twice as wide", ratios(ways, ("made and filled",))


def tables() -> Iterator[tuple[str, dict[str, Any]]]:
    """Factorised tables against a dense one."""
    for n, d in SIZES:
        ids, states = torch.randint(n, (2048,)), torch.randn(64, d)
        dense = torch.nn.Embedding(n, d)
        made: dict[str, Any] = {
            f"{family}, rank {rank}": factorised_table(family, n, d, rank, σ=0.02)
            for family in FAMILIES
            for rank in RANKS
        }

        def head(table: Any, hidden: torch.Tensor) -> torch.Tensor:
            attend = getattr(table, "attend", None)
            return attend(hidden) if attend else hidden @ table.weight.T  # type: ignore[no-any-return]

        def step(table: Any, ids: torch.Tensor = ids) -> None:
            F.cross_entropy(head(table, table(ids[:64])), ids[64:128]).backward()
            table.zero_grad()

        def plain(work: Callable[[Any], Any], table: Any) -> None:
            with torch.no_grad():
                work(table)

        works: dict[str, Callable[[Any], Any]] = {
            "lookup of 2048": lambda t, ids=ids: plain(lambda t: t(ids), t),
            "head of 64": lambda t, s=states: plain(lambda t: head(t, s), t),
            "training step of 64": step,
        }
        for work, do in works.items():
            ways: Ways = {
                name: lambda t=table, do=do: do(t)
                for name, table in {"dense": dense, **made}.items()
            }
            yield f"{work}, n = {n}, d = {d}", ratios(ways, ("dense",))


PARTS = {"estimate": estimate, "first-loss": streamed, "models": models, "tables": tables}


def main(names: list[str]) -> int:
    """Run the parts, print a line for each way, and keep the whole."""
    if unknown := set(names) - PARTS.keys():
        print(f"got {', '.join(sorted(unknown))}; accepted: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = {}
    for name in names or PARTS:
        for title, found in PARTS[name]():
            rows[title] = found
            print(f"{title}; 1 is {found['peer']}, {found['its seconds']:.3g} s")
            for way, over in found.items():
                if isinstance(over, list):
                    print(f"  {way:28} {over[0]:8.2f}   {over[1]:.2f} … {over[2]:.2f}", flush=True)
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    target = ROOT / "_build" / "bench.json"
    target.parent.mkdir(exist_ok=True)
    kept = {"versions": versions, "processor": platform.processor() or platform.machine()}
    text = json.dumps({**kept, "turns": TURNS, "rows": rows}, indent=1)
    write_whole(target, text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
