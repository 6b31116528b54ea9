"""The prose: every number and formula of a page has an owner that says the same."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from verifiedbook.account.verdicts import lock
from verifiedbook.commands.prose import certified, drafting, meanings, pages, words
from verifiedbook.commands.prose.meanings import parts
from verifiedbook.commands.prose.needless import Around, settings
from verifiedbook.commands.prose.owners import (
    Owned,
    Page,
    faults,
    owners_text,
    read_owners,
)
from verifiedbook.commands.prose.tokens import tokens
from verifiedbook.exact import balls

ROOT = Path(__file__).parent.parent
TEXTS = words.files(ROOT)
OWNERS = "\n=== owners\n"  # between a text and what stands beside it, in these tests


def held(both: str, page: Page | None = None, following: tuple[str, ...] = ()) -> list[str]:
    """What is wrong with a text and its owners, of which it is parted by `OWNERS`."""
    text, _, rows = both.partition(OWNERS)
    return faults(text, read_owners(rows)[""], page or Page(), following)


def test_every_file_says_what_somebody_took_up() -> None:
    locked = lock.read_words()
    fresh = [
        fault for name in TEXTS for fault in words.said_otherwise(ROOT, name, locked.get(name))
    ]
    assert fresh == [], 'make lock REASON="…" takes up what is said, after you have read it'
    assert sorted(locked) == TEXTS


@pytest.mark.canary
def test_a_name_for_all_that_a_display_says_owns_nothing() -> None:
    text = f"$$L=2d.$${OWNERS}display 1 <- computed for L"
    assert "nothing is computed" in held(text)[0]
    assert held(text.replace("2d.", r"2d,\qquad L-d=d.")) == []


@pytest.mark.parametrize(
    ("number", "notebook", "fault"),
    [
        ("10.82", "notebooks/3-first-loss/4-the-first-loss.ipynb", ""),
        pytest.param(
            "10.28", "notebooks/3-first-loss/4-the-first-loss.ipynb", "what is printed: gpt2",
            marks=pytest.mark.canary,
        ),
        pytest.param(
            "10.82", "notebooks/3-first-loss/no-such.ipynb", "there is no notebook",
            marks=pytest.mark.canary,
        ),
    ],
)  # fmt: skip
def test_a_page_may_say_what_a_notebook_prints(
    tmp_path: Path, number: str, notebook: str, fault: str
) -> None:
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    page = tmp_path / "book" / "a.md"
    page.parent.mkdir()
    page.write_text(f"In the notebook it is {number}.", encoding="utf-8")
    owner = f'{number} <- printed "log n" in {notebook}'
    page.with_suffix(".owners").write_text(owner, encoding="utf-8")
    found = list(pages.text_faults(page))
    assert fault in found[0] if fault else found == []


SAYS = r"""
The variance is $\operatorname{Var}\lVert w\rVert^2=2d\sigma^4$: at $d=3$ it is 0.16, twice
$d\sigma^4$, and BERT has 0.143. Of 50 257 tokens three (6 %) remain, and
$\sqrt{\frac{2}{768}}\approx0.051$. With eight keys it is 0.82, and $\sqrt{2\ln T/d}$ is larger.
=== owners
$\operatorname{Var}\lVert w\rVert^2=2d\sigma^4$ <- LOSS-14
$d=3$ <- definition
0.16 <- LOSS-14 at d=3, sigma=0.4041
twice <- 4/2
$d\sigma^4$ <- LOSS-20
0.143 <- printed "BERT-base"
50 257 <- @radford2019language
6 % <- 3/50
$\sqrt{\frac{2}{768}}\approx0.051$ <- sqrt(2/768)
eight <- ATTN-08[drawn].told
0.82 <- ATTN-08[drawn].told
$\sqrt{2\ln T/d}$ <- BOOK-50.told
"""
KNOWN = Page(
    ("sizes 1 2", "BERT-base: 0.1432 of all"),
    {"radford2019language": "The vocabulary is expanded to 50,257."},
)


def test_a_text_with_its_owners_has_no_fault() -> None:
    assert held(SAYS, KNOWN) == []


ALTERED = {
    "a sign": ("=2d\\sigma^4$:", "=-2d\\sigma^4$:"),
    "a digit": ("0.143. Of", "0.134. Of"),
    "a word for a number": ("twice", "half"),
}
IN_BOTH = {
    "a sign": ("=2d\\sigma^4", "=-2d\\sigma^4", "LOSS-14: it would be"),
    "a digit": ("0.143", "0.134", "what is printed: BERT-base: 0.1432"),
    "a value of a claim": ("0.16", "0.17", "it is 0.1"),
    "a value": ("0.051$", "0.015$", "it is 0.0510"),
    "a word": ("twice", "half", "it is 2"),
    "a bound": (r"\approx0.051$", r"\le0.051$", r"not \le that"),
    "a per cent": ("6 %", "7 %", "it is 0.06"),
    "a number of a source": ("50 257", "50 275", "its annote in the bibliography"),
    "a source": ("radford2019language", "nobody1999", "not in the bibliography"),
    "a claim": ("LOSS-20", "LOSS-99", "LOSS-99"),
    "a number that is told": ("0.82", "0.83", "do not have this number"),
    "a formula that is told": (r"\sqrt{2\ln T/d}", r"\sqrt{3\ln T/d}", "do not have this formula"),
    "a number that is its own": ("0.051$ <- sqrt(2/768)", "0.051$ <- 0.051", "owns nothing"),
    "a line by a letter": ('printed "BERT-base"', 'printed "B"', "three letters or more"),
    "an owner that is none": ("50 257 <- @radford2019language", "50 257 <- ?", "text: '?'"),
    "a formula made free": ("$d=3$ <- definition", "$d=3$ <- free", "or free: and why"),
    "a decimal made free": ('0.143 <- printed "BERT-base"', "0.143 <- free", "or free: and why"),
    "a left side": ("\\frac{2}{768}}", "\\frac{3}{768}}", "is 0.0625"),
}


@pytest.mark.canary
@pytest.mark.parametrize("change", ALTERED)
def test_a_change_of_the_text_alone_is_red(change: str) -> None:
    text, rows = SAYS.split("=== owners", 1)
    old, new = ALTERED[change]
    assert text.count(old) == 1
    found = held(f"{text.replace(old, new)}=== owners{rows}", KNOWN)
    assert "is not in the text" in found[-1]
    assert len(found) == 2 or "word" in change  # a word needs no owner, and has left one behind
    assert "has no owner" in found[0] or "word" in change


@pytest.mark.canary
@pytest.mark.parametrize(
    ("one", "other"),
    [("0.16", "0.143"), ("0.143", "6 %"), ("twice", "eight"), ("$d=3$", r"$d\sigma^4$")],
)
def test_two_that_change_places_are_red(one: str, other: str) -> None:
    text, rows = SAYS.split("=== owners", 1)
    swapped = text.replace(one, "@").replace(other, one).replace("@", other)
    found = held(f"{swapped}=== owners{rows}", KNOWN)
    assert any("stands elsewhere in the text: owners are in its order" in fault for fault in found)


COMPARED = (
    "GPT-2 has a longer vector than BERT, and twice its own.\n=== owners\n"
    'compare GPT-2 has a longer vector than BERT: printed "GPT-2" > printed "BERT"\n'
    "compare twice its own: 1 < 2"
)
LINES = Page(("BERT 0.42", "GPT-2 0.5"))


def test_a_comparison_is_held_against_its_numbers() -> None:
    (fault,) = held(COMPARED, LINES)
    assert fault.endswith("has 0 of the words that say a direction; accepted: one")


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("longer", "shorter", "'shorter' says <"),
        ("GPT-2 has a longer vector than BERT", "BERT has a longer vector than GPT-2",
         "does not name the first of the two lines before the second"),
        ("longer", "less long and no longer", "denies"),
        (" > ", " < ", "'longer' says >"),
        ('"GPT-2" > printed "BERT"', '"BERT" > printed "GPT-2"', "does not name the first"),
        ('printed "BERT"', "LOSS-14 at d=3, sigma=1", "they are 0.5 and 6"),
        ('printed "BERT"', 'printed "T5"', "no line that is printed has a number behind 'T5'"),
    ],
)  # fmt: skip
def test_a_false_comparison_is_red(old: str, new: str, says: str) -> None:
    assert any(says in fault for fault in held(COMPARED.replace(old, new), LINES))
    (fault, *_) = held(COMPARED.replace("has a longer", "has the longer", 1), LINES)
    assert fault.endswith("is not in the text")


NEXT = ("GPT-2 0.31 of 12 layers", "BERT 0.42")


@pytest.mark.parametrize(
    ("text", "ownerless"),
    [
        ("Two heads, half of them; in a million twice.", []),
        (r"$w_1,\dots,w_n$, $\mathbf w$ and $\tilde W'$", []),
        (r"$d\,\sigma^4$, $2^{-1}\sigma^4$, $v=\tfrac d2$ and, of the code, $m^{-1/2}$", []),
        ("With 768 of 50 257, $d=768$ and $n=50\\,257$", []),
        ("First 0.31, then 0.42.", []),
        (r"Let $$s=\frac1{\sqrt m},\qquad f(m)=m^{-1/2}.$$", []),
        (r"The half is $\frac12d\sigma^4$, as in $V=\frac12d\sigma^4$.", []),
        pytest.param("First 0.42, then 0.31.", ["0.42"], marks=pytest.mark.canary),
        pytest.param(
            r"$$s=\frac1{\sqrt d}.$$", [r"$$s=\frac1{\sqrt d}.$$"], marks=pytest.mark.canary
        ),
        pytest.param("A share of 0.32.", ["0.32"], marks=pytest.mark.canary),
        pytest.param("With 786 and 768 %.", ["786", "768 %"], marks=pytest.mark.canary),
        pytest.param("At $d=786$, $d<768$.", ["$d=786$", "$d<768$"], marks=pytest.mark.canary),
        pytest.param("At $n=768$, $m=768$.", ["$n=768$"], marks=pytest.mark.canary),
        pytest.param(
            r"$\frac13d\sigma^4$, $V=\frac13d\sigma^4$",
            [r"$\frac13d\sigma^4$", r"$V=\frac13d\sigma^4$"], marks=pytest.mark.canary,
        ),
        pytest.param(
            r"$d\,\sigma^3$, $v=\tfrac d3$, $v\approx\tfrac d2$, $m^{-1/3}$",
            [r"$d\,\sigma^3$", r"$v=\tfrac d3$", r"$v\approx\tfrac d2$", r"$m^{-1/3}$"],
            marks=pytest.mark.canary,
        ),
    ],
)  # fmt: skip
def test_what_states_nothing_or_is_said_beside_it_needs_no_owner(
    text: str, ownerless: list[str]
) -> None:
    meant = parts(r"V=\frac12d\sigma^4") | meanings.parts_of_code("w = 1 / sqrt(m)")
    sets = settings("d, n = 768, 50_257")
    around = Around(
        frozenset({768.0, 50257.0}), sets, [r"V=\frac12d\sigma^4."], parts("m^{-1/2}"), meant
    )
    page = Page(around=around)
    assert held(text, page, NEXT) == [f"{one} has no owner" for one in ownerless]


@pytest.mark.canary
def test_owners_in_the_text_own_nothing_and_those_of_no_cell_are_red(tmp_path: Path) -> None:
    texts = {"a": "It is 0.5.", "b": "It is 0.5.\n<!-- owners\n0.5 <- 1/2\n-->"}
    cells = [nbformat.v4.new_markdown_cell(text, id=id) for id, text in texts.items()]
    path = tmp_path / "x.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    path.with_suffix(".owners").write_text("[a]\n0.5 <- 1/2\n[c]\n0.5 <- 1/2\n", "utf-8")
    assert [fault.split(": ", 1)[1] for fault in pages.notebook_faults(path)] == [
        "0.5 has no owner",
        "no text of x.ipynb has the id 'c'",
    ]


@pytest.mark.canary
@pytest.mark.parametrize("change", IN_BOTH)
def test_a_change_of_text_and_owners_disagrees_with_the_owner(change: str) -> None:
    old, new, says = IN_BOTH[change]
    assert any(says in fault for fault in held(SAYS.replace(old, new), KNOWN))


@pytest.mark.parametrize(
    ("formula", "owner", "fault"),
    [
        (r"$(r+u)^2=r^2+2ru+u^2$", "computed", ""),
        (r"$(r+u)^2\ge r^2+u^2$", "computed", ""),
        (r"$m\sigma^2=1$", "definition", ""),
        (r"$d\ge2r$", "definition", ""),
        (r"$y=x\,\Phi(x)$", "definition", ""),
        pytest.param(r"$(r+u)^2=r^2+u^2$", "computed", "is false at", marks=pytest.mark.canary),
        pytest.param(
            r"$(r+u)^2=r^2+2ru+u^2$", "definition", "is true whatever", marks=pytest.mark.canary
        ),
        pytest.param(
            r"$$\Phi(x)+\Phi(-x)=1$$", "definition", "is true whatever", marks=pytest.mark.canary
        ),
    ],
)
def test_what_is_true_by_itself_is_computed_and_no_definition(
    formula: str, owner: str, fault: str
) -> None:
    found = held(f"It is {formula}.{OWNERS}{formula} <- {owner}")
    assert fault in found[0] if fault else found == []


def test_names_and_symbols_need_no_owner() -> None:
    text = (
        "1. GPT-2 (2019), section 3.2 and LOSS-14 of chapter 3, `x[3]`, $d$, $\\sigma_i^2$, "
        "[a link](page-12.html), {claim}`LOSS-14`, https://arxiv.org/abs/1607.06450"
    )
    assert list(tokens(text)) == []
    assert [token.text for token in tokens("with (1) and (12 of 13)")] == ["12", "13"]


def test_a_power_of_ten_is_no_name() -> None:
    assert [token.text for token in tokens("GPT-2 at 1e-5")] == ["1e-5"]


def test_a_width_of_2048_is_no_year() -> None:
    assert [token.text for token in tokens("In 2019 a width of 2048")] == ["2048"]


def test_a_formula_with_less_than_is_no_tag() -> None:
    text = "It is <br> $$a<\\frac{b}{r}$$ and $a<b$, $c>d$."
    assert [token.text for token in tokens(text)] == ["$$a<\\frac{b}{r}$$", "$a<b$", "$c>d$"]


def test_a_large_bracket_is_no_relation() -> None:
    formula = r"$\frac{\left(\frac{d}{k}\right)^k}{d}=\frac{d^{k-1}}{k^k}$"
    assert held(f"It is {formula}.{OWNERS}{formula} <- computed") == []


DRAFTED = """[a]
let w: Normal(0, 1)
$V(w)=2d\\sigma^4$ <- LOSS-14
0.14 <- printed "share of BERT:"
0.5 <- ? 7/14
7 <- 14/2
$\\frac1d$ <- ?
$k=\\frac1d$ <- ?
"""


def test_a_draft_is_in_the_order_of_the_text_and_fills_in_what_it_finds(tmp_path: Path) -> None:
    cell = nbformat.v4.new_code_cell('claim("LOSS-14")', execution_count=1)
    cell.outputs = [nbformat.v4.new_output("stream", text="share of BERT: 0.143\n")]
    text = "It is $V(w)=2d\\sigma^4$ and 0.14, then 0.5 and 7, two of $\\frac1d$, $k=\\frac1d$."
    path = tmp_path / "x.ipynb"
    prose = nbformat.v4.new_markdown_cell(text, id="a")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell, prose]), path)
    beside = path.with_suffix(".owners")
    beside.write_text("[a]\nlet w: Normal(0, 1)\n7 <- 14/2\n0.5 <- 7/14\ntwo <- free\n", "utf-8")
    for _ in range(2):  # what is drafted stays
        assert drafting.draft(path) == 3
        assert beside.read_text(encoding="utf-8") == DRAFTED
    moved, unknown, _ = pages.notebook_faults(path)
    assert "0.5 <- ? 7/14: has changed its place" in moved and "text: '?'" in unknown


@pytest.mark.canary
def test_two_that_change_places_are_red_after_a_draft_as_well(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    path.with_suffix(".owners").write_text("[a]\n0.25 <- 1/4\n0.5 <- 1/2\n", "utf-8")
    for text, red in (("0.25, then 0.5", 0), ("0.5, then 0.25", 1)):
        prose = nbformat.v4.new_markdown_cell(text, id="a")
        nbformat.write(nbformat.v4.new_notebook(cells=[prose]), path)
        assert drafting.draft(path) == len([*pages.notebook_faults(path)]) == red


def test_what_is_said_twice_and_owned_once_is_not_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    said = '[b]\n0.25 <- printed "a share"\n'
    path.with_suffix(".owners").write_text(said, "utf-8")
    prose = nbformat.v4.new_markdown_cell("Here 0.25, and there 0.25.", id="b")
    printed = nbformat.v4.new_output("stream", name="stdout", text="a share 0.25\n")
    code = nbformat.v4.new_code_cell("print('a share', 1 / 4)", outputs=[printed])
    nbformat.write(nbformat.v4.new_notebook(cells=[prose, code]), path)
    assert drafting.draft(path) == len([*pages.notebook_faults(path)]) == 0


def test_owners_are_read_as_they_are_written() -> None:
    page = Owned([("0.5", ["1/2"]), ("(1)", ["LOSS-14", "computed at d=3"])], ["x: real"])
    assert read_owners(owners_text({"": page})) == {"": page}
    assert read_owners(owners_text({"a": page, "b": page})) == {"": Owned(), "a": page, "b": page}


DISPLAYS = r"""
The square is summed,
$$\operatorname{Var}\lVert w\rVert^2=\mathbb{E}\lVert w\rVert^4
-\bigl(\mathbb{E}\lVert w\rVert^2\bigr)^2=2d\sigma^4,\tag{1}$$
and its terms are of two kinds:
$$
\begin{aligned}
\mathbb{E}\Bigl[\Bigl(\sum_{i=1}^d w_i^2\Bigr)^2\Bigr]
&= \sum_{i,j}\mathbb{E}[w_i^2w_j^2] \\
&= d\,\mathbb{E}[w_1^4]+d(d-1)\,\mathbb{E}[w_1^2]^2 && (i=j,\ i\ne j) \\
&= d(d+2)\sigma^4.
\end{aligned}
$$
At the start $$L_0=\log n,\tag{3}$$ and $$\sqrt{2/768}\approx 0.051.\tag{4}$$ Classes have
$$P=\prod_{k=1}^{m}\Bigl(1-\frac{k-1}{N}\Bigr),\qquad \log P\approx-\frac{m(m-1)}{2N}.\tag{5}$$
The article prints $$\mathbb{E}(w\cdot v)^2=\frac{1}{d^3}.\tag{6}$$ The logistic function
$$s(x)=\frac{1}{1+e^{-x}}\tag{7}$$ has $$1-s(x)=s(-x)\le 1,\tag{8}$$ and a gradient
$$\lVert\nabla L\rVert^2=2d\sigma^4.\tag{9}$$
=== owners
let w: Tensor(Normal(0, sigma), d); v: Tensor(Normal(0, sigma), d); i: Index(d); j: Index(d)
let x: real
(1) <- LOSS-14
display 2 <- computed
(3) <- definition
(4) <- computed
(5) <- computed for P at m=23, N=365 within 0.03
(6) <- LOSS-21
(7) <- definition
(8) <- computed
(9) <- LOSS-14 for \lVert\nabla L\rVert^2
"""


def test_displays_are_held_against_what_owns_them() -> None:
    assert held(DISPLAYS) == []


MISTYPED = {
    "a sign of a result": ("=2d\\sigma^4,", "=-2d\\sigma^4,", "(1) <- LOSS-14"),
    "a sign of a step": ("\n-\\bigl", "\n+\\bigl", "(1) <- LOSS-14"),
    "a variance for a mean": ("\\operatorname{Var}", "\\mathbb{E}", "(1) <- LOSS-14"),
    "an exponent in a sum": ("w_i^2w_j^2", "w_i^2w_j^3", "display 2"),
    "a sign in a sum": ("+d(d-1)", "-d(d-1)", "display 2"),
    "an off-by-one": ("d(d+2)", "d(d+1)", "display 2"),
    "a digit": ("0.051", "0.052", "(4) <- computed"),
    "a sign of an estimate": ("\\approx-", "\\approx+", "(5)"),
    "what is quoted": ("d^3", "d^2", "(6) <- LOSS-21: it would be"),
    "a definition": ("e^{-x}}\\tag", "e^{-2}}\\tag", "(8) <- computed"),
    "a relation": ("\\le 1", "\\ge 1", "(8) <- computed"),
    "a name": ("\n$$\\lVert\\nabla L", "\n$$\\lVert\\nabla M", "(9) <- LOSS-14"),
    "a display that nobody owns": (
        "(4) <- computed\n",
        "",
        "0.051.\\tag{4}$$ has no owner",
    ),
    "a display that is gone": ("(4) <- computed", "(14) <- computed", "is not in the text"),
    "a display made free": ("(8) <- computed", "(8) <- free", "accepted: a claim, computed"),
    "a result made a definition": ("(8) <- computed", "(8) <- definition", "has a meaning already"),
    "a statement made a definition": ("$$L_0=\\log n", "$$L_0+L_1=\\log n", "states something"),
    "a false end of a definition": ("$$L_0=\\log n", "$$L_0=\\log n=\\log 2n", "(3) <- definition"),
    "what is drawn": ("sigma), d); v", "2*sigma), d); v", "(1) <- LOSS-14"),
}


@pytest.mark.canary
@pytest.mark.parametrize("change", MISTYPED)
def test_a_change_of_a_display_is_red_and_names_its_owner(change: str) -> None:
    old, new, says = MISTYPED[change]
    assert DISPLAYS.count(old) == 1
    assert any(says in fault for fault in held(DISPLAYS.replace(old, new)))


@pytest.mark.canary
def test_prose_may_say_what_a_chart_tells_and_not_what_a_drawing_says() -> None:
    def book(told: str) -> nbformat.NotebookNode:
        data = {"text/plain": told, "text/html": "<figure>9.9</figure>"}
        output = nbformat.v4.new_output("display_data", data)
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=[output])])

    assert pages.page(book("[chart] Layers.\nGPT-2: 5.4")).printed == (
        "[chart] Layers.", "GPT-2: 5.4",
    )  # fmt: skip
    assert pages.page(book("[drawing] Layers.\nGPT-2: 5.4")).printed == ()


@pytest.mark.canary
def test_a_number_that_is_typed_to_be_printed_owns_nothing() -> None:
    told = "Qwen: 44 %\nLlama: 45 %\nBERT 46 %\nGPT-2: 5.4\n"
    code = "print('Qwen: 44 %')\nprint(f'Llama: {45} %')\nprint('BERT', 46, '%')\n"
    output = nbformat.v4.new_output("stream", text=told)
    cell = nbformat.v4.new_code_cell(code + "print(f'GPT-2: {share}')")
    cell.outputs = [output]
    book = nbformat.v4.new_notebook(cells=[cell])
    assert pages.page(book).printed == ("GPT-2: 5.4",)


# ------------------------------------------------------------------ digits


UNSETTLED = [
    ("0.8796", "sqrt(0.77374)", ""),
    ("0.87962", "sqrt(0.77374)", "does not settle it"),  # more digits than it has
    ("$\\sqrt2\\approx1.41421356$", "sqrt(2)", ""),
    ("$\\sqrt2\\approx1.41421357$", "sqrt(2)", "it is 1.4142136"),  # seen in no float's print
    ("4.39", "log(1 + exp(15.36 - 768*0.02**2/2)/50257)", "does not settle it"),
]


@pytest.mark.canary
@pytest.mark.parametrize(("said", "owner", "fault"), UNSETTLED)
def test_a_digit_that_no_ball_settles_is_red(said: str, owner: str, fault: str) -> None:
    found = [*certified.uncertified(f"It is {said}.", Owned([(said, [owner])]), Page())]
    assert fault in found[0] if fault else found == []


@pytest.mark.canary
@pytest.mark.slow
def test_a_last_digit_that_is_moved_is_red_wherever_it_stands() -> None:
    paths = [*(ROOT / "notebooks").glob("*/*.ipynb"), *(ROOT / "book").glob("*.md")]
    stand = [one for path in paths for one in certified.certified_in(path)]
    irrational = [one for one in stand if not one.formula.is_Rational]
    assert len(irrational) >= 200
    assert [one for one in stand if one.fault] == []
    now, stored = certified.digits_of(ROOT), ROOT / "tests/status/digits.json"
    kept = json.loads(stored.read_text(encoding="utf-8"))
    assert {part: kept[part] for part in now} == now, "make digits"
    for one in irrational:
        said, unit = one.digits
        for moved in (said + unit, said - unit):
            assert balls.settles(one.formula, moved, unit, one.within), one
