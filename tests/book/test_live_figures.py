"""Live figures: what is refused and how, tables that keep their error, sizes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import sympy as sp

from verified_transformer import claim, symbols
from verified_transformer.book import (
    choice,
    iterated,
    live,
    pile,
    points_of,
    slider,
    stack,
    tabulated,
)
from verifiedbook.account import ledger
from verifiedbook.live_figures import Live, source
from verifiedbook.live_figures.__main__ import rewritten
from verifiedbook.live_figures.curves import evaluated
from verifiedbook.live_figures.simulated import Stack
from verifiedbook.live_figures.tables import filled, interpolated
from verifiedbook.live_figures.translation import script_of

ROOT = Path(__file__).parents[2]
d, n, σ = symbols("d n sigma")
SCALE = slider(σ, "scale σ", 0.01, 1, log=True)


def shown(**given: object) -> Live:
    more: dict[str, object] = {
        "curves": {"law": d * σ}, "x": SCALE, "y": "loss", "caption": "c", "alt": "a",
        "sliders": [slider(d, "width d", 1, 9, whole=True), slider(n, "n", stops=[2, 3])],
    }  # fmt: skip
    return live(**more | given)  # type: ignore[arg-type]


LAYERS, h = slider(σ, "layer", stops=range(3)), sp.Function("h")


def run(step: object = n, **given: object) -> Stack:
    more: dict[str, object] = {"unit": sp.Symbol("i"), "state": h, "drawn": {}, "units": 1}
    return stack(step, **more | given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: shown(curves={}), "curves: got none"),
        (lambda: shown(curves={"law": sp.Symbol("h")}), r"'law'\]: has h.*accepted: sigma, d, n"),
        (lambda: shown(curves={"law": sp.zeta(σ)}), r"curves\['law'\]: no JavaScript for zeta"),
        (lambda: shown(curves={"law": sp.Function("g")(σ)}), "no JavaScript for g"),
        (lambda: shown(curves={"law": sp.I * σ}), "no JavaScript for ImaginaryUnit"),
        (lambda: shown(curves={"law": sp.Sum(d, (n, 1, 10**6))}), "no JavaScript for Sum"),
        (lambda: shown(curves={"law": {"a": σ, "b": d}}), "accepted: the names of a choice"),
        (lambda: shown(breaks={"off": sp.Symbol("h")}), r"breaks\['off'\]: has h"),
        (lambda: shown(presets={"a": {sp.Symbol("h"): 1}}), r"'a'\]: has h, which nothing moves"),
        (lambda: shown(presets={"a": {}}), "accepted: a name and values"),
        (lambda: shown(presets={"a": {n: 4}}), r"got 4 for n; accepted: one of the stops"),
        (lambda: shown(presets={"a": {d: 10}}), r"got 10 for d; accepted: 1 to 9, whole"),
        (lambda: shown(presets={"a": {d: "wide"}}), "accepted: a number"),
        (lambda: shown(caption=" "), "caption: got nothing"),
        (lambda: shown(alt=""), "alt: got nothing"),
        (lambda: shown(sliders=[SCALE]), "two move the same symbol"),
        (lambda: shown(measured=[points_of("lax", [1], [1])]), "points of 'lax'; accepted: law"),
        (lambda: shown(measured=[points_of("law", [1], [1], where={n: 4})]), "the slider's stops"),
        (lambda: shown(measured=[points_of("law", [1], [1], where={σ: 1})]), "where has sigma"),
        (lambda: shown(measured=[points_of("law", [0.1], [0.6], [0.01])]), "points on their curve"),
        (lambda: points_of("law", [1, 2], [1]), "got 2, 1 and 2 numbers"),
        (lambda: points_of("law", [1], [math.nan]), "accepted: finite"),
        (lambda: slider(d, "d", 3, 1), "low, high: got 3, 1"),
        (lambda: slider(d, "d", 0, 1, log=True), "low: got 0"),
        (lambda: slider(d, "d", 1, 9, start=10), "start: got 10; accepted: 1 to 9"),
        (lambda: slider(d, "d", stops=[3, 1]), "stops: got"),
        (lambda: slider(d, "d", stops=[1, 3], start=2), "accepted: one of the stops"),
        (lambda: choice(d, "d", ["a", "a"]), "different names"),
        (lambda: choice(d, "d", ["a", "b"], start="c"), "start: got 'c'"),
        (lambda: tabulated(math.sin, σ, error=0), "error: got 0"),
        (lambda: tabulated(math.sin, error=1), "of: got"),
        (lambda: shown(curves={"law": tabulated(math.sin, sp.Symbol("h"), error=1)}), "a table of"),
        (lambda: shown(curves={"law": tabulated(lambda s: s > 0.1, σ, error=1e-3)}), "accepted: e"),
        (lambda: run(drawn={h: "cauchy"}), r"drawn\[h\]: got 'cauchy'; accepted: normal"),
        (lambda: run(units=0), "units: got 0; accepted: one or more"),
        (lambda: shown(layers=run()), "x: got a slider without stops; accepted: one stop for each"),
        (lambda: shown(x=LAYERS, layers=run({"a": n})), "step: got .* accepted: the names of a c"),
        (lambda: shown(x=LAYERS, layers=run(sp.Symbol("g"))), "step: has g, which nothing moves"),
        (lambda: shown(curves={str(k): k * σ for k in range(60)}), "accepted: 15000 at most"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_refused(made: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        made()


@pytest.mark.parametrize("given", [lambda s: s, object(), d < 1])
def test_what_is_no_formula_is_refused(given: object) -> None:
    with pytest.raises(TypeError, match=r"curves\['law'\]: got .* accepted: a SymPy expression"):
        shown(curves={"law": given})


def test_a_map_is_iterated_in_a_symbol() -> None:
    with pytest.raises(TypeError, match="state: got 1; accepted: a SymPy symbol"):
        iterated(n, 1)  # type: ignore[arg-type]


def test_the_still_picture_walks_to_a_fixed_point() -> None:
    made = shown(curves={"after": sp.sqrt(σ)}, x=slider(σ, "q", 0.1, 4, start=0.2), steps=30).html
    assert re.search(r'class="steps" d="M[^"]*H(\d+)', made)


def test_the_registry_s_formulas_are_taken_as_they_are() -> None:
    loss = claim("LOSS-32")
    figures = [
        shown(curves={"law": one}) for one in (loss, loss.formula, "log(exp(d*sigma) + n - 1)")
    ]
    assert len({figure.html for figure in figures}) == 1


def test_a_table_keeps_its_error_everywhere() -> None:
    def law(scale: float, width: float) -> float:
        return math.log1p(math.exp(width * scale - 3))

    sizes = [slider(d, "d", 4.0, 16.0), slider(n, "n", stops=[2, 3])]
    made = filled(tabulated(law, σ, d, error=1e-3), [SCALE, *sizes], "curves")
    worst = 0.0
    for s in range(41):
        for w in range(23):
            at = [SCALE.value(s / 40), 4 + 12 * w / 22, 2]
            worst = max(worst, abs(interpolated(made, at) - law(at[0], at[1])))
    assert 1e-6 < worst < 1e-3


def test_the_same_every_time_and_small() -> None:
    made = [
        shown(measured=[points_of("law", [0.1], [0.5], [0.01])])._repr_html_() for _ in range(2)
    ]
    assert made[0] == made[1]
    assert len(source("live.js").encode()) <= 19_000  # curves, piles, stacks, dials
    assert "//" not in source("live.js").replace("http://", "") and "/*" not in source("live.css")


@pytest.mark.parametrize("notebook", ledger.notebooks(ROOT), ids=lambda path: path.stem)
def test_stored_figures_carry_the_present_script(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    if "vt-live-script" in text:
        for cell in json.loads(text)["cells"]:
            for output in cell.get("outputs", []):
                html = "".join(output.get("data", {}).get("text/html", ""))
                assert html == rewritten(html), "make live-outputs"


def test_text_of_a_figure_cannot_become_markup() -> None:
    made = shown(curves={"a<b>": σ}, caption="</figcaption><script>x", alt='"><i>').html
    assert "<b>" not in made.replace("<b></b>", "") and "<i>" not in made
    assert made.count("<script") == 1 and made.count("</script") == 1


def test_large_exponents_do_not_overflow() -> None:
    loss = sp.log(sp.exp(d * σ) + n - 1)
    assert script_of(loss, ["sigma", "d", "n"]) == "lse(v[1]*v[0], Math.log(v[2] - 1))"
    assert evaluated(loss, ["sigma", "d", "n"])([1.0, 4096.0, 2.0]) == 4096.0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"drawn": {sp.Function("w"): "cauchy"}}, "drawn[w]: got 'cauchy'; accepted: normal,"),
        ({"limits": (2, 1)}, "limits: got (2, 1); accepted: two numbers that rise"),
        ({"breaks": {"no": ("median", 1)}}, "breaks['no']: got 'median'; accepted: mean, spread"),
        ({"quantity": sp.Function("v")(1)}, "quantity: no JavaScript for v: v(1)"),
        ({"mean": sp.Symbol("b")}, "mean: has b, which nothing moves; accepted: a"),
    ],
)
def test_a_pile_says_what_it_takes(more: dict[str, object], said: str) -> None:
    w, a = sp.Function("w"), sp.Symbol("a")
    given = {
        "quantity": a * w(1), "drawn": {w: "normal"}, "y": "y", "mean": 0, "spread": a,
        "limits": (-3, 3), "seen": [1.0], "sliders": [slider(a, "scale a", 1, 2)], "caption": "c",
        "alt": "a",
    }  # fmt: skip
    with pytest.raises(ValueError, match=re.escape(said)):
        pile(**given | more)
