"""The prose: every number and formula of a page has an owner that says the same."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from verified_transformer.engine.account import ledger
from verified_transformer.engine.commands.prose import drafting, pages, said
from verified_transformer.engine.commands.prose.owners import Page, faults, owners
from verified_transformer.engine.commands.prose.tokens import tokens

ROOT = Path(__file__).parent.parent
SOURCES = frozenset(
    re.findall(r"@\w+\{([^,\s]+),", (ROOT / "book/references.bib").read_text(encoding="utf-8"))
)
DECIMALS = Path(__file__).with_name("free_decimals.txt")  # may only become shorter
PAGES = [
    *(path.relative_to(ROOT).as_posix() for path in ledger.notebooks(ROOT)),
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "book").glob("*.md"))),
]


TEXTS = sorted({p.relative_to(ROOT).as_posix() for some in said.PATTERNS for p in ROOT.glob(some)})


@pytest.mark.parametrize("name", TEXTS)
def test_every_sentence_is_as_somebody_took_it_up(name: str) -> None:
    fresh = said.faults(ROOT / name, said.read(ROOT).get(name, ""))
    assert fresh == [], 'make lock REASON="…" takes up what is said, after you have read it'


def test_no_file_is_gone_whose_sentences_are_locked() -> None:
    assert sorted(said.read(ROOT)) == TEXTS


def free_decimals(text: str) -> list[str]:
    """The numbers with a decimal point, or in per cent, that a text calls free."""
    free = [number for number, owner in owners(text) if owner == "free"]
    return [number for number in free if re.search(r"\d\.\d|%", number)]


def test_a_decimal_is_a_result_unless_the_list_has_it() -> None:
    found = [
        f"{page}: {number}"
        for page in PAGES
        for text in _texts(ROOT / page)
        for number in free_decimals(text)
    ]
    assert sorted(found) == DECIMALS.read_text(encoding="utf-8").splitlines()


def _texts(path: Path) -> list[str]:
    if path.suffix == ".md":
        return [path.read_text(encoding="utf-8")]
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


@pytest.mark.canary
def test_a_decimal_that_is_called_free_is_seen() -> None:
    text = "Two of 0.57 or 3 %.\n<!-- owners\nTwo <- free\n0.57; 3 % <- free\n-->"
    assert free_decimals(text) == ["0.57", "3 %"]


@pytest.mark.canary
def test_a_name_for_all_that_a_display_says_owns_nothing() -> None:
    text = "$$L=2d.$$\n<!-- owners\ndisplay 1 <- computed for L\n-->"
    assert "nothing is computed" in faults(text, Page())[0]
    assert faults(text.replace("2d.", r"2d,\qquad L-d=d."), Page()) == []


ELSEWHERE = """In the notebook it is {number}.
<!-- owners
{number} <- printed "log n" in {notebook}
-->"""


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
    page.write_text(ELSEWHERE.format(number=number, notebook=notebook), encoding="utf-8")
    found = list(pages.text_faults(page))
    assert fault in found[0] if fault else found == []


SAYS = r"""
The variance is $\operatorname{Var}\lVert w\rVert^2=2d\sigma^4$: at $d=3$ it is 0.16, twice
$d\sigma^4$, and BERT has 0.143. Of 50 257 tokens three (6 %) remain, and
$\sqrt{\frac{2}{768}}\approx0.051$. With eight keys it is 0.82, and $\sqrt{2\ln T/d}$ is larger.

<!-- owners
$\operatorname{Var}\lVert w\rVert^2=2d\sigma^4$ <- LOSS-14
$d=3$ <- definition
0.16 <- LOSS-14 at d=3, sigma=0.4041
twice <- 2
$d\sigma^4$ <- LOSS-20
0.143 <- printed "BERT-base"
50 257 <- @radford2019language
three <- free
6 % <- 3/50
$\sqrt{\frac{2}{768}}\approx0.051$ <- sqrt(2/768)
eight; 0.82 <- ATTN-08[drawn].told
$\sqrt{2\ln T/d}$ <- BOOK-50.told
-->
"""
KNOWN = Page(("sizes 1 2", "BERT-base: 0.1432 of all"), frozenset({"radford2019language"}))


def test_a_text_with_its_owners_has_no_fault() -> None:
    assert faults(SAYS, KNOWN) == []


ALTERED = {
    "a sign": ("=2d\\sigma^4$:", "=-2d\\sigma^4$:"),
    "an exponent": ("=2d\\sigma^4$:", "=2d\\sigma^2$:"),
    "a digit": ("0.143. Of", "0.134. Of"),
    "a word for a number": ("twice", "half"),
    "a per cent": ("(6 %)", "(7 %)"),
    "a value": ("0.051$.", "0.015$."),
    "a size": ("50 257", "50 275"),
    "a number that is told": ("is 0.82", "is 0.83"),
}
IN_BOTH = {
    "a sign": ("=2d\\sigma^4", "=-2d\\sigma^4", "LOSS-14: it would be"),
    "a digit": ("0.143", "0.134", "what is printed: BERT-base: 0.1432"),
    "a value of a claim": ("0.16", "0.17", "it is 0.1"),
    "a value": ("0.051$", "0.015$", "it is 0.0510"),
    "a word": ("twice", "half", "it is 2"),
    "a per cent": ("6 %", "7 %", "it is 0.06"),
    "a source": ("radford2019language", "nobody1999", "not in the bibliography"),
    "a claim": ("LOSS-20", "LOSS-99", "LOSS-99"),
    "a number that is told": ("0.82", "0.83", "do not have this number"),
    "a formula that is told": (r"\sqrt{2\ln T/d}", r"\sqrt{2\ln T}", "do not have this formula"),
    "an owner that is none": ("three <- free", "three <- ?", "text: '?'"),
    "a formula made free": ("$d=3$ <- definition", "$d=3$ <- free", "states something"),
}


@pytest.mark.canary
@pytest.mark.parametrize("change", ALTERED)
def test_a_change_of_the_text_alone_is_red(change: str) -> None:
    text, comment = SAYS.split("<!-- owners", 1)
    old, new = ALTERED[change]
    assert text.count(old) == 1
    found = faults(f"{text.replace(old, new)}<!-- owners{comment}", KNOWN)
    assert len(found) == 2
    assert "has no owner" in found[0]
    assert "is not in the text" in found[1]


@pytest.mark.canary
@pytest.mark.parametrize("change", IN_BOTH)
def test_a_change_of_text_and_owners_disagrees_with_the_owner(change: str) -> None:
    old, new, says = IN_BOTH[change]
    assert any(says in fault for fault in faults(SAYS.replace(old, new), KNOWN))


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
    found = faults(f"It is {formula}.\n<!-- owners\n{formula} <- {owner}\n-->", Page())
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
    text = "It is <br> $$a<\\frac{b}{r}$$ and $a<b$, $c>d$.\n<!-- owners\n-->"
    assert [token.text for token in tokens(text)] == ["$$a<\\frac{b}{r}$$", "$a<b$", "$c>d$"]


def test_a_large_bracket_is_no_relation() -> None:
    formula = r"$\frac{\left(\frac{d}{k}\right)^k}{d}=\frac{d^{k-1}}{k^k}$"
    comment = f"<!-- owners\n{formula} <- (d/k)**k/d = d**(k-1)/k**k\n-->"
    assert faults(f"It is {formula}.\n\n{comment}", Page()) == []


def test_a_draft_fills_in_what_it_finds(tmp_path: Path) -> None:
    import nbformat.v4 as form

    cell = form.new_code_cell('claim("LOSS-14")', execution_count=1)
    cell.outputs = [form.new_output("stream", text="share of BERT: 0.143\n")]
    prose = form.new_markdown_cell("It is $V=2d\\sigma^4$ and 0.14, seven times.")
    path = tmp_path / "x.ipynb"
    nbformat = pytest.importorskip("nbformat")
    nbformat.write(form.new_notebook(cells=[cell, prose]), path)
    assert drafting.draft(path) == 1
    assert drafting.draft(path) == 0
    written = pages.read(path).cells[1].source
    assert "$V=2d\\sigma^4$ <- LOSS-14" in written
    assert '0.14 <- printed "share of BERT:"' in written
    assert "seven <- ?" in written
    assert [fault for fault in pages.notebook_faults(path) if "seven" in fault]


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

<!-- owners
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
two <- free
-->
"""


def test_displays_are_held_against_what_owns_them() -> None:
    assert faults(DISPLAYS, Page()) == []


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
    assert any(says in fault for fault in faults(DISPLAYS.replace(old, new), Page()))


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
