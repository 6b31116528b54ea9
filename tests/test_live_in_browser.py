"""Live figures in a real browser: what is drawn, by mouse, by keyboard, and without a script."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
import sympy as sp
from live_faults import live_faults
from playwright.sync_api import Browser, Page
from sympy.codegen.cfunctions import expm1, log1p
from test_browser import Tab

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
from verifiedbook.live_figures import Live
from verifiedbook.live_figures.pile import Pile

x, a, n, f = sp.symbols("x a n f", positive=True)


def small(**more: object) -> Live:
    """A figure with everything that a figure may have."""
    given: dict[str, object] = {
        "curves": {
            "chosen": {"grows": sp.exp(a * x) / n, "bends": tabulated(math.tanh, x, error=1e-4)},
            "law": sp.log(sp.exp(900 * a * x) + n - 1) / 900,
        },
        "x": slider(x, "place x", 0.01, 2, log=True, start=0.5),
        "y": "height, nats",
        "sliders": [
            slider(a, "speed a", 0.5, 2, start=1),
            slider(n, "tokens n", stops=[2, 30, 50_257]),
            choice(f, "shape", ["grows", "bends"]),
        ],
        "measured": [points_of("law", [0.5, 1], [0.5, 1.0], [0.001, 0.001], where={n: 30})],
        "breaks": {"twice as fast": 2 * a * x},
        "rules": {"one": 1},
        "presets": {"GPT-2": {x: 0.02, n: 50_257}, "bent": {a: 1.5, f: "bends"}},
        "caption": "Look at x = 1.",
        "alt": "Two curves that rise.",
    }
    return live(**given | more)  # type: ignore[arg-type]


def standing_alone(folder: Path, *figures: Live | str) -> Path:
    """A page with nothing but outputs, as the isolated frames of Colab have one each."""
    body = "".join(one if isinstance(one, str) else one._repr_html_() for one in figures)
    file = folder / "page.html"
    head = "<!doctype html><html lang=en><meta charset=utf-8><title>t</title>"
    file.write_text(f"{head}<body><article>{body}</article>", encoding="utf-8")
    return file


SEEDED = "let s = 1; Math.random = () => (s = s * 16807 % 2147483647) / 2147483647"
Opened = Callable[..., Page]


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Tab]:
    """A tab in which all pages of figures are shown, whose draws are the same in each."""
    with Tab(browser, 800, "light") as tab:
        tab.page.add_init_script(SEEDED)
        yield tab


@pytest.fixture
def opened(tab: Tab, tmp_path: Path) -> Iterator[Opened]:
    """Opens a page of figures; nothing goes wrong in any."""
    page = tab.page

    def show(
        *figures: Live | str, width: int = 800, scheme: str = "light", motion: str = "null"
    ) -> Page:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, reduced_motion=motion)  # type: ignore[arg-type]
        page.goto(standing_alone(tmp_path, *figures).as_uri())
        return page

    yield show
    found, tab.found = tab.found, []
    assert found == []


def batched(given: Iterator[sp.Expr], size: int) -> Iterator[list[sp.Expr]]:
    while some := list(islice(given, size)):
        yield some


def functions() -> Iterator[sp.Expr]:
    """What the translation knows, each in a place where a careless one would be off."""
    k = sp.Symbol("k")
    yield from (sp.erf(x - 1), sp.erfc(5 * x), sp.erf(x / 1000), sp.loggamma(40 * x), sp.gamma(x))
    yield from (sp.digamma(x), sp.harmonic(n), sp.binomial(n, 3), sp.factorial(2 * x))
    yield sp.gamma((800 * x + 1) / 2) / sp.gamma(400 * x) / sp.sqrt(400 * x)
    yield from (log1p(x / 10**9), expm1(x / 10**9), sp.Piecewise((x, x > 1), (x**2 - 3, True)))
    yield from (sp.Sum(a * x**k / k, (k, 1, n)), sp.Sum(n * k * x, (n, 1, 3), (k, 1, 4)))
    yield from (sp.log(sp.exp(2000 * x) + n * sp.exp(1000 * x) - 1), sp.Max(x, 1), sp.floor(5 * x))
    yield from (sp.asin(x / 3), sp.atan2(x, a), sp.tanh(x), sp.acosh(1 + x), sp.Abs(x - 1))
    yield from (sp.sec(x / 2), x ** sp.Rational(7, 3), sp.GoldenRatio * sp.E * sp.pi * x)
    yield from (sp.log(n - 1 + sp.exp(-900 * x)), sp.Mod(10 * x, 3), sp.sign(x - 1), sp.sqrt(x))


def test_every_function_that_is_translated_is_right(opened: Opened) -> None:
    given = [{str(e): e for e in some} for some in batched(functions(), 9)]
    steps = [slider(a, "a", 0.5, 2), slider(n, "n", stops=[2, 5, 30])]
    figures = [
        live(curves, x=slider(x, "x", 0.01, 2), y="y", sliders=steps, caption="c", alt="a")
        for curves in given
    ]
    page = opened(*figures, width=1280)
    assert live_faults(page) == (len(given), [])


@pytest.mark.parametrize("width", [1280, 360])
def test_a_figure_by_itself(opened: Opened, width: int) -> None:
    page = opened(small(), small(log=True, limits=(0.01, 9)), width=width, scheme="dark")
    assert live_faults(page) == (2, [])
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_by_keyboard(opened: Opened) -> None:
    page = opened(small())
    page.get_by_label("speed a").focus()
    page.keyboard.press("End")
    assert page.get_by_label("speed a").get_attribute("aria-valuetext") == "2"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.get_by_label("tokens n").get_attribute("aria-valuetext") == "50\u2009257"
    assert page.get_by_text("Nothing was measured at this setting").is_visible()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("switch", name="Break it: twice as fast").focus()
    page.keyboard.press("Space")
    wrong = page.locator(".vt-live-key li").filter(has_text="twice as fast")
    assert wrong.is_visible() and "misses a point by" in wrong.inner_text()
    said = page.locator(".vt-live-said")
    said.filter(has_text="speed a 2").wait_for(state="attached")
    assert "twice as fast: 2" in said.inner_text()


def test_whole_numbers_on_a_logarithmic_slider_move_step_by_step(opened: Opened) -> None:
    steps = [slider(a, "layers a", 2, 96, start=12, log=True, whole=True)]
    made = small(curves={"law": a * x}, sliders=steps, measured=[], breaks={}, presets=None)
    page = opened(made)
    layers = page.get_by_label("layers a")
    for _ in range(12):
        layers.press("ArrowRight")
    assert layers.get_attribute("aria-valuetext") in ("14", "15")
    assert live_faults(page) == (1, [])


def test_a_preset_sets_what_it_names_and_says_whether_it_is_set(opened: Opened) -> None:
    page = opened(small(), small(presets=None), width=360, scheme="dark")
    assert page.get_by_role("group", name="Set to").count() == 1
    page.get_by_role("button", name="GPT-2", pressed=False).focus()
    page.keyboard.press("Enter")
    assert page.get_by_role("button", name="GPT-2", pressed=True).is_visible()
    figure = page.locator("vt-live").first
    assert figure.get_by_label("place x").get_attribute("aria-valuetext") == "0.02"
    assert figure.get_by_label("tokens n").get_attribute("aria-valuetext") == "50\u2009257"
    assert figure.get_by_label("speed a").get_attribute("aria-valuetext") == "1"
    figure.locator(".vt-live-said").filter(has_text="tokens n 50").wait_for(state="attached")
    page.get_by_role("button", name="bent").click()
    assert figure.get_by_label("shape").input_value() == "1"
    assert page.get_by_role("button", pressed=True).count() == 2, "they do not contradict"
    figure.get_by_label("tokens n").press("ArrowLeft")
    assert page.get_by_role("button", name="GPT-2", pressed=False).is_visible()
    box = page.get_by_role("button", name="bent").bounding_box()
    assert box and box["height"] >= 24


def test_pointing_reads_the_curves(opened: Opened) -> None:
    page = opened(small())
    box = page.locator(".vt-live-plot").bounding_box()
    assert box
    page.mouse.move(box["x"] + 10, box["y"] + 50)
    assert page.get_by_label("place x").get_attribute("aria-valuetext") == "0.01"


def heap(**more: object) -> Pile:
    """Lengths of rows, and the variance that each distribution of the entries predicts."""
    w, i, law = sp.Function("w"), sp.Symbol("i"), sp.Symbol("law")
    which = choice(law, "entries", ["normal", "uniform", "±1"])
    steps, unit = (
        [slider(n, "width n", stops=[4, 30]), slider(a, "scale a", 1, 2)],
        a / sp.sqrt(2 * n),
    )
    given: dict[str, object] = {
        "quantity": sp.Sum(a * w(i) ** 2 / n, (i, 1, n)),
        "drawn": {w: which}, "y": "squared length", "mean": a, "limits": (0, 4),
        "spread": {"normal": 2 * unit, "uniform": unit * sp.sqrt(sp.Rational(8, 5)), "±1": 0},
        "seen": [0.9, 1.1, 1.3], "breaks": {"twice that": ("spread", 4 * unit)}, "caption": "Draw.",
        "sliders": [*steps, which], "alt": "Three numbers.",
    }  # fmt: skip
    return pile(**given | more)  # type: ignore[arg-type]


def test_what_is_drawn_piles_up_where_it_is_predicted(opened: Opened) -> None:
    page = opened(heap(), width=360, scheme="dark")
    assert live_faults(page) == (1, [])
    for law in ("normal", "uniform", "±1"):
        page.get_by_label("entries").select_option(law)
        for _ in range(4):
            page.get_by_role("button", name="Draw 200").press("Enter")
            page.wait_for_function("performance.now()")
        assert page.locator(".vt-live-note").filter(has_text="drawn: mean").is_visible()
        assert ("spread 0." in page.locator(".vt-live-note").inner_text()) or law != "±1"
        assert "misses" not in page.locator(".vt-live-key").inner_text()
    page.get_by_label("entries").select_option("uniform")
    page.get_by_role("switch").press("Space")
    wrong = page.locator(".vt-live-key li").filter(has_text="twice that")
    assert "misses what is drawn by" in wrong.inner_text()


@pytest.mark.canary
def test_a_pile_of_another_law_is_found(opened: Opened) -> None:
    html = heap()._repr_html_().replace('"laws":[2]', '"laws":["uniform"]')
    page = opened(html)
    page.get_by_label("width n").press("Home")
    page.get_by_role("button", name="Draw 200").press("Enter")
    assert "misses" in page.locator(".vt-live-key").inner_text()


def test_the_largest_of_some_draws_piles_up(opened: Opened) -> None:
    e, k = sp.Function("e"), sp.Symbol("k")  # minus the logarithm of the first of n rings
    made = heap(
        quantity=-sp.log(e(k)), drawn={e: "exponential"}, largest=(k, 1, n), breaks={},
        mean=sp.log(n) + sp.EulerGamma, spread=sp.pi / sp.sqrt(6), limits=(-3, 9),
        sliders=[slider(n, "clocks n", stops=[4, 30])],
    )  # fmt: skip
    page = opened(made)
    assert live_faults(page) == (1, [])
    page.get_by_role("button", name="Draw 200").press("Enter")
    assert "misses" not in page.locator(".vt-live-key").inner_text()
    assert page.locator("circle.point.s5").count() == 29


def layered(**more: object) -> Live:
    """Three linear layers of sixteen units: each multiplies the mean square by a."""
    w, h, i, j, q = sp.Function("w"), sp.Function("h"), *sp.symbols("i j q")
    step = sp.sqrt(a) * sp.Sum(w(i, j) * h(j), (j, 1, 16)) / 4
    run = stack(step, unit=i, state=h, drawn={w: "normal"}, units=16, **more)  # type: ignore[arg-type]
    return live(
        {"predicted": iterated(a * q, q)}, x=slider(x, "layer", stops=range(4), start=3), y="q",
        sliders=[slider(a, "variance a", 0.5, 2, start=1)], layers=run, caption="c", alt="a",
    )  # fmt: skip


RUNS = """([times, place]) => {
  const figure = document.querySelector("vt-live");
  let sum = 0;
  for (let k = 0; k < times; k++) { figure.run(); sum += figure.squares()[place][1]; }
  return [figure.squares().map(p => p[0]), sum / times];
}"""


@pytest.mark.parametrize(("law", "back"), [("normal", False), ("uniform", True)])
def test_stacks_are_run_as_predicted(opened: Opened, law: str, back: bool) -> None:
    html = layered(back=back)._repr_html_().replace('"laws":["normal"]', f'"laws":["{law}"]')
    page = opened(html, motion="reduce")
    assert live_faults(page) == (1, [])
    page.get_by_label("variance a").press("End")
    assert page.get_by_text("One run, drawn here").is_visible()
    numbers, found = page.evaluate(RUNS, [400, 3])
    assert numbers == ([3, 2, 1, 0] if back else [0, 1, 2, 3])
    assert abs(found - 8) < 1.2  # five standard errors


def test_a_stack_is_run_layer_by_layer_where_motion_is_welcome(opened: Opened) -> None:
    page = opened(layered(), width=360, scheme="dark", motion="no-preference")
    assert page.locator("path.steps").count() == 0
    page.get_by_role("button", name="Run again").press("Enter")
    page.wait_for_function("document.querySelector('vt-live').stack.length === 4")
    assert page.locator("path.steps").count() == 1


@pytest.mark.canary
def test_a_stack_of_another_law_is_found(opened: Opened) -> None:
    html = layered()._repr_html_().replace('"laws":["normal"]', '"laws":["exponential"]')
    page = opened(html, motion="reduce")
    assert abs(page.evaluate(RUNS, [400, 3])[1] - 1) > 0.2


def test_a_dial_is_turned_by_hand(opened: Opened) -> None:
    given = {"curves": {"pair": sp.cos(x), "both": (sp.cos(x) + sp.cos(a * x)) / 2}}
    made = small(**given, hands={"it": x, "copy": a * x}, x=slider(x, "turned x", 0, 20, start=0),
                 sliders=[slider(a, "speed a", 0.5, 2, start=0.5)], measured=[], breaks={},
                 presets=None, rules={})  # fmt: skip
    page = opened(made, width=360)
    assert live_faults(page) == (1, [])
    box = page.locator(".vt-live-dial").bounding_box()
    assert box
    around = [(box["x"] + 88 + 50 * math.sin(t / 5), box["y"] + 88 - 50 * math.cos(t / 5))
              for t in range(48)]  # fmt: skip
    page.mouse.move(*around[0])
    page.mouse.down()
    for place in around:
        page.mouse.move(*place)
    page.mouse.up()
    turned = page.evaluate("document.querySelector('vt-live').at[0]")
    assert abs(turned - 47 / 5) < 0.05, "one turn and a half"
    tips = page.locator(".vt-live-dial circle.point")
    assert tips.count() == 3
    heights = [float(tip.get_attribute("cy") or 0) / -88 for tip in tips.all()]
    assert heights[2] == pytest.approx((math.cos(turned) + math.cos(turned / 2)) / 2, abs=1e-3)


def test_a_fixed_point_is_walked_to(opened: Opened) -> None:
    made = small(
        curves={"after": sp.sqrt(x)}, sliders=[], measured=[], breaks={}, presets=None, steps=30
    )
    page = opened(made)
    across, one = page.evaluate("""() => {
      const f = document.querySelector("vt-live"), [left, , wide] = f.frame;
      const d = f.querySelector(".vt-live-plot .steps").getAttribute("d");
      return [+d.match(/H([\\d.]+)$/)[1], left + wide * f.place(f.spec.sliders[0], 1)];
    }""")
    assert abs(across - one) < 0.2


def test_without_a_script_and_in_print(browser: Browser, tmp_path: Path) -> None:
    file = standing_alone(tmp_path, small())
    for script, medium in ((False, "screen"), (True, "print")):
        context = browser.new_context(
            java_script_enabled=script, viewport={"width": 360, "height": 800}
        )
        page = context.new_page()
        page.goto(file.as_uri())
        page.emulate_media(media=medium)  # type: ignore[arg-type]
        assert page.get_by_role("img", name="Two curves that rise.").locator("path").count() == 3
        assert page.get_by_text("Drawn at speed a 1, tokens n 30, shape grows.").is_visible()
        assert page.locator("input:visible, select:visible, button:visible").count() == 0
        context.close()


@pytest.mark.canary
@pytest.mark.parametrize("spoilt", ["-", "1.000002*"])
def test_another_curve_in_the_script_is_found(opened: Opened, spoilt: str) -> None:
    html = small()._repr_html_().replace('"js":"', f'"js":"{spoilt}')
    page = opened(html)
    count, faults = live_faults(page)
    assert count == 1 and any("law: drawn" in fault for fault in faults), faults


@pytest.mark.canary
def test_small_letters_are_found(opened: Opened) -> None:
    html = small()._repr_html_() + "<style>vt-live p { font-size: 7px !important; }</style>"
    page = opened(html)
    assert live_faults(page) == (1, ["letters of 7.0 px, smaller than 11"])
