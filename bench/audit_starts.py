"""Which language models of transformers do not draw what their settings ask, and planted faults.

    python bench/audit_starts.py [--draws 2] [--seconds 3600] [class …]

Every class is built small, with `initializer_range` 0.05 where it has one, in a process of its own
(60 s, 8 GiB). A row that disagrees in all draws is the class's; one that disagrees in some is a
false alarm. Then faults are planted in each of four classes: seen, and named in the row of its
place. It writes bench/audit_starts.txt, and the manual's table. A run that was stopped goes on
where it was: what a class answered is kept below _build, under versions, draws, and the code that
audits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import re
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "packages" / "weightwise" / "tests"))

import torch  # noqa: E402
import transformers  # noqa: E402
from torch import nn  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING  # noqa: E402
from untied_models import NAMES, SMALL  # noqa: E402

from weightwise import audit, audit_init  # noqa: E402
from weightwise.writing import write_whole  # noqa: E402

LIMIT, MEMORY, DEVIATION = 60, 8 * 2**30, 0.05
PAGE = Path(__file__).with_suffix(".txt")
TABLE = ROOT / "book" / "audit-starts-table.txt"
KEPT = ROOT / "_build" / "audit_starts.json"
KNOWN = ("openai-gpt", "modernbert-decoder", "mamba", "afmoe", "gpt_oss", "deepseek_v4")  # first
SOUND = ("gpt2", "llama", "qwen3", "olmo2")  # faults are planted in these


SIZES = {
    "hidden_size": 64, "d_model": 64, "vocab_size": 500, "pad_token_id": 0,
    "initializer_range": DEVIATION, "init_std": DEVIATION, "encoder_layers": 2,
    "decoder_layers": 2, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "ffn_dim": 96,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4,
}  # fmt: skip


BOUND: dict[str, dict[str, Any]] = {  # to other settings
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "gemma3n_text": {"num_kv_shared_layers": 0},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "mamba2": {"num_heads": 8, "head_dim": 16, "n_groups": 1},
}  # fmt: skip


def settings(usual: Any) -> dict[str, Any]:
    """Small sizes of a configuration, and of those that it holds, as far as it has them."""
    known, kind = usual.to_dict(), type(usual)
    given = {
        name: value for name, value in (SMALL | SIZES).items()
        if name in known or (
            hasattr(kind, name) and not isinstance(getattr(kind, name), property)
        ) or name in getattr(kind, "attribute_map", {})
    }  # fmt: skip
    for name in ("layer_types", "mlp_layer_types", "layers_block_type"):
        if isinstance(known.get(name), list):  # one layer of each kind
            given[name] = (list(dict.fromkeys(known[name])) * 2)[:2]
    for name in getattr(kind, "sub_configs", {}):
        held = getattr(usual, name, None)
        if held is not None:
            given[name] = settings(held) | {"model_type": held.model_type}
    return given


def small(kind: str, seed: int) -> Any:
    """A small model of a class, as the sweeps build it."""
    usual = CONFIG_MAPPING[kind]()
    given = settings(usual) | BOUND.get(kind, {})
    for less in ("", "layer_types", "head_dim", "image_token_id"):  # bound to other settings
        given = {name: value for name, value in given.items() if name != less}
        with suppress(Exception):
            config = type(usual)(**given)
            break
    else:
        config = type(usual)(**given)
    made = getattr(transformers, NAMES[kind])
    if not isinstance(config, made.config_class):  # of the text alone
        config = config.get_text_config()
    torch.manual_seed(seed)
    return made(config).eval()


def audited(kind: str, draws: int) -> dict[str, Any]:
    """Rows of a class that always disagree, those that sometimes do, and what has no rule."""
    always: dict[str, str] = {}
    seen: dict[str, int] = {}
    rows = bare = 0
    for seed in range(draws):
        found = audit_init(small(kind, seed))
        rows, bare = len(found.rows), len(found.no_rule)
        for row in found.disagree:
            seen[row.name] = seen.get(row.name, 0) + 1
            always[row.name] = "; ".join(row.faults)
    some = [name for name, count in seen.items() if count < draws]
    kept = {name: said for name, said in always.items() if name not in some}
    return {"kind": kind, "rows": rows, "bare": bare, "wrong": kept, "false": some}


def apart(work: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
    """What a forked process answers in time, or why it does not."""
    ours, theirs = multiprocessing.Pipe(False)

    def run() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            theirs.send(work(*given))
        except BaseException as error:
            lines = str(error).strip().splitlines() or [""]
            theirs.send({"kind": given[0], "error": f"{type(error).__name__}: {lines[0][:60]}"})

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    theirs.close()
    told = {"kind": given[0], "error": f"no answer in {LIMIT} s"}
    try:
        if ours.poll(LIMIT):
            told = ours.recv()
    except EOFError:
        told = {"kind": given[0], "error": "the process died"}
    process.kill()
    process.join()
    return told


@torch.no_grad()
def faults(model: Any) -> dict[str, tuple[Callable[[], Any], str, str]]:
    """Faults by name: what plants it, where it is, and what the row must say."""
    inner = {n: m for n, m in model.named_modules() if re.search(r"\.\d+\.", n)}
    maps = [(n, m.weight) for n, m in inner.items()
            if isinstance(m, nn.Linear) or type(m).__name__ == "Conv1D"]  # fmt: skip
    (one, a), (two, b) = maps[0], maps[-1]
    norm, gain = next((n, m.weight) for n, m in inner.items() if "Norm" in type(m).__name__)
    (word, table), σ = next(
        (n, m.weight) for n, m in model.named_modules() if isinstance(m, nn.Embedding)
    ), DEVIATION  # fmt: skip

    def cut(tensor: torch.Tensor, at: float, σ: float) -> None:
        nn.init.trunc_normal_(tensor, std=σ, a=-at * σ, b=at * σ)

    def untie() -> None:
        head = model.get_output_embeddings()
        if head.weight is table:
            head.weight = nn.Parameter(table.clone())
        else:
            head.weight = table

    def bias() -> None:
        module = inner[one]
        module.bias = nn.Parameter(torch.randn(max(module.weight.shape)) * σ)

    deviation = float(a.double().std())
    return {
        "times 1.2": (lambda: a.mul_(1.2), one, "times as wide"),
        "times 0.85": (lambda: b.mul_(0.85), two, "times as wide"),
        "times √d": (lambda: a.mul_(8), one, "times as wide"),
        "over √d": (lambda: a.div_(8), one, "times as wide"),
        "the table at deviation 1": (lambda: table.normal_(), word, "times as wide"),
        "torch's own start": (lambda: nn.init.kaiming_uniform_(b, a=5**0.5), two, "as wide"),
        "one zero row": (lambda: a[3].zero_(), one, "rows of zeros"),
        "one zero row of the table": (lambda: table[7].zero_(), word, "rows of zeros"),
        "one NaN": (lambda: b.view(-1)[5].fill_(float("nan")), two, "NaN"),
        "one infinite": (lambda: table.view(-1)[9].fill_(float("inf")), word, "NaN or infinite"),
        "an entry of 100 σ": (lambda: a.view(-1)[11].fill_(100 * deviation), one, "an entry of"),
        "an entry of 12 σ": (lambda: table.view(-1)[8].fill_(-12 * σ), word, "an entry of"),
        "cut at 2 σ": (lambda: cut(a, 2, deviation), one, "times as wide"),
        "cut at 1 σ": (lambda: cut(table, 1, σ), word, "times as wide"),
        "a mean": (lambda: a.add_(0.3 * deviation), one, "mean"),
        "all zero": (lambda: b.zero_(), two, "not drawn"),
        "all one": (lambda: a.fill_(1), one, "not drawn"),
        "a gain of 0.9": (lambda: gain.fill_(0.9), norm, "0.9 everywhere"),
        "a gain drawn": (lambda: gain.normal_(1, 0.1), norm, "drawn"),
        "a bias drawn": (bias, f"{one}.bias", "drawn"),
        "a tie that is another": (untie, "the tie", "parameter"),
        "memory as it was": (lambda: a.copy_(torch.full_like(a, 1e-38)), one, "not drawn"),
        "rows repeated": (lambda: table[20:30].copy_(table[5:6].expand(10, -1)), word, "repeat"),
    }


def planted(kind: str) -> dict[str, Any]:
    """Which faults of a class are seen, and named where they are."""
    missed, names = [], list(faults(small(kind, 0)))
    for seed, name in enumerate(names):
        model = small(kind, 100 + seed)
        work, place, words = faults(model)[name]
        with torch.no_grad():
            work()
        rows = audit_init(model).disagree
        if not any(row.name.startswith(place) and words in "; ".join(row.faults) for row in rows):
            missed.append(name)
    return {"kind": kind, "planted": len(names), "missed": missed}


class Answers:
    """What classes have answered before, to this code, under these versions."""

    def __init__(self, draws: int) -> None:
        code = b"".join(
            path.read_bytes() for path in sorted(Path(audit.__file__).parent.glob("*.py"))
        )
        digest = hashlib.sha256(code).hexdigest()[:12]
        self.key = f"{transformers.__version__} {torch.__version__} {draws} {digest}"
        kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        self.of: dict[str, dict[str, Any]] = kept.get(self.key, {})

    def keep(self, told: dict[str, Any]) -> None:
        """Add what a class answers."""
        self.of[told["kind"]] = told
        KEPT.parent.mkdir(exist_ok=True)
        write_whole(KEPT, json.dumps({self.key: self.of}))


def places_of(told: dict[str, Any]) -> dict[str, list[str]]:
    """What does not agree, by place, whatever the layer."""
    found: dict[str, list[str]] = {}
    for name, said in told["wrong"].items():
        found.setdefault(re.sub(r"\.\d+\.", ".N.", name), []).append(said)
    return found


def table(wrong: list[dict[str, Any]]) -> str:
    """What the manual shows of the classes that do not draw what they ask."""
    lines = ["| class | where | starts |", "|---|---|---|"]
    for each in wrong:
        places = places_of(each)
        (name, (said, *_)), *others = places.items()
        more = f", and {len(others)} more" if others else ""
        name = f"`{name.replace('.N.', '.')}`" if "." in name else name
        said = re.sub(r"^drawn: .*", "drawn", said.split(";")[0])
        lines.append(f"| {each['kind']} | {name}{more} | {said} |")
    return "\n".join(lines) + "\n"


def line(told: dict[str, Any]) -> str:
    """A class and what it does not draw."""
    if "error" in told:
        return f"{told['kind']:26} not built: {told['error']}"
    places = places_of(told)
    said = "; ".join(f"{name} ({what[0]})" for name, what in list(places.items())[:3])
    more = f"; and {len(places) - 3} more places" if len(places) > 3 else ""
    count = f"{len(told['wrong']):3} of {told['rows']:3}, {told['bare']:3} without a rule"
    return f"{told['kind']:26} {count}: {said}{more}"


def main() -> int:
    """Sweep, plant, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3600, help="then no class is begun")
    parser.add_argument("kinds", nargs="*", default=[*KNOWN, *sorted({*NAMES} - {*KNOWN})])
    given = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    answers, end = Answers(given.draws), time.monotonic() + given.seconds
    for kind in given.kinds:
        if "error" in answers.of.get(kind, {"error": "not tried"}) and time.monotonic() < end:
            answers.keep(apart(audited, kind, given.draws))
            print(line(answers.of[kind]), flush=True)
    told = [answers.of[kind] for kind in given.kinds if kind in answers.of]
    built = [each for each in told if "error" not in each]
    sound = [each for each in built if not each["wrong"] and not each["false"]]
    wrong = [each for each in built if each["wrong"]]
    false = [f"{each['kind']} {name}" for each in built for name in each["false"]]
    versions = f"transformers {transformers.__version__}, torch {torch.__version__}"
    lines = [
        f"{versions}; initializer_range = {DEVIATION:g} where it is a setting; {given.draws} draws",
        f"{len(told)} of {len(NAMES)} classes tried, {len(built)} built: {len(sound)} without a "
        f"row that disagrees, {len(wrong)} with",
        f"rows that disagree in one draw and not in another: {len(false)}",
        *false, "",
    ]  # fmt: skip
    for kind in SOUND:
        each = apart(planted, kind)
        if "error" in each:
            lines.append(f"planted in {kind}: {each['error']}")
            continue
        seen = each["planted"] - len(each["missed"])
        lines.append(f"planted in {kind}: {seen} of {each['planted']} seen and named"
                     f"{', not ' * bool(each['missed'])}{', '.join(each['missed'])}")  # fmt: skip
    lines += ["", *map(line, wrong), "", *(line(each) for each in told if "error" in each)]
    text = "\n".join(each.rstrip() for each in lines) + "\n"
    print(text)
    if len(given.kinds) == len(NAMES):
        write_whole(PAGE, text)
        write_whole(TABLE, table(wrong))
    return 0


if __name__ == "__main__":
    sys.exit(main())
