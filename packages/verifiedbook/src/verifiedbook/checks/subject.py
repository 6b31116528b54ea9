"""What is decided: one claim, a case of it, or its truth; and the record that a check leaves."""

from __future__ import annotations

import contextlib
import html
import math
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import sympy as sp

from ..account import registry
from ..account.code import how_made
from ..account.reading import Reading
from ..account.records.ran import model_fault
from ..account.records.record import Estimate, Record, Recorded, Score, Volatile
from ..account.rendering import cards as rendering
from ..account.rendering import plain
from ..exact.definitions import definition, in_words, is_law_of, same_definition, under
from ..exact.formulas.evaluation import Point, equivalent, number, place
from ..exact.formulas.mutants import Mutant, formula_mutants
from ..exact.formulas.notation import parse
from ..exact.judging import Comparison, Judgement, digits_match, judge
from ..exact.moments import Expectation
from ..serving import served
from .what_ran import log, seconds, spot, versions_of, what_ran

if TYPE_CHECKING:
    from ..account.recordings import Recording
    from ..exact.laws import Law
    from ..sampling.measuring import Measurement

Predicate = Callable[[Any], bool]
_ENGINE = Path(__file__).parents[1]


class ClaimFailed(AssertionError):
    """A check of a claim failed: the article, the library or the check is wrong."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the reader's line that asked, and what came out.

        IPython asks an exception for this. The thirty lines that lead through the library from
        there say nothing of the reader's slip, and hide the sentence that does.
        """
        frames = traceback.extract_tb(self.__traceback__)
        ours = tuple(map(str, filter(None, (_ENGINE, served().package))))
        outside = takewhile(lambda frame: not frame.filename.startswith(ours), frames)
        asked = [frame for frame in outside if frame.filename != contextlib.__file__][-1:]
        lines = [f"----> {frame.lineno} {frame.line}" for frame in asked]
        return [*lines, "", f"\x1b[0;31m{type(self).__name__}\x1b[0m: {self}"]


class Subject:
    """One claim (or one case of it, or its truth), with its formula and the formula's mutants.

    Args:
        ids: the claim's id, or several for a joint claim.
        case: name of a case of the reading.
        of: "reading" for what the article says, "truth" for the right statement.

    Raises:
        KeyError: an id is not in the registry, or is retired.
        ValueError: no ids, ids with different formulas, an unknown case, or no reading.
    """

    def __init__(self, ids: Sequence[str], case: str | None = None, of: str = "reading") -> None:
        self.statements = [registry.statement(id) for id in ids]
        if not self.statements:
            raise ValueError("ids: none given; accepted: at least one id such as 'LOSS-14'")
        self._case, self.of = case, of
        self._until: str | None = None
        readings = [self._reading_of(s) for s in self.statements if s.reading]
        if len({(r.formula, r.truth_formula, r.quantity) for r in readings}) > 1:
            raise ValueError(f"ids: {' '.join(ids)} have different formulas; decide them apart")

    def case(self, name: str) -> Self:
        """Return the named case of the reading."""
        return type(self)([s.id for s in self.statements], name, self.of)

    @property
    def truth(self) -> Self:
        """The right statement that the reading puts instead of a wrong one."""
        return type(self)([s.id for s in self.statements], self._case, "truth")

    @property
    def name(self) -> str:
        """Ids and case, as messages show them."""
        ids = " ".join(s.id for s in self.statements)
        return ids + (f" [{self._case}]" if self._case else "")

    def _reading_of(self, statement: registry.Statement) -> Reading:
        if statement.reading is None:
            raise ValueError(f"{statement.id}: has no reading in the registry; write it first")
        if self._case is None:
            return statement.reading
        if self._case not in statement.reading.cases:
            accepted = ", ".join(statement.reading.cases) or "none"
            raise ValueError(f"case: {statement.id} has no {self._case!r}; accepted: {accepted}")
        return statement.reading.cases[self._case]

    @cached_property
    def reading(self) -> Reading:
        """The registry's reading of this claim or case."""
        return self._reading_of(self.statements[0])

    @cached_property
    def formula(self) -> sp.Expr:
        """The formula under test, as the registry has it."""
        text = self.reading.formula if self.of == "reading" else self.reading.truth_formula
        if text is None:
            cases = ", ".join(name for name, case in self.reading.cases.items() if case.formula)
            raise ValueError(
                f"{self.name}: its reading has no formula for the {self.of}"
                + (f"; accepted: a case that has one, case(…) of {cases}" if cases else "")
            )
        return parse(text)

    @cached_property
    def quantity(self) -> Expectation | sp.Expr | None:
        """What the reading defines, as the checks take it; None where it defines nothing so."""
        text, where = self.reading.quantity, self.reading.where
        return definition(text, where) if text else None

    @cached_property
    def mutants(self) -> list[Mutant]:
        """Wrong versions of the formula; for a truth, the article's own formula among them."""
        found = formula_mutants(self.formula)
        if self.of == "truth" and self.reading.formula:
            found.append(Mutant("the article's formula", parse(self.reading.formula)))
        return found

    def _defined(self, given: Any, laws: Mapping[str, Law] | None = None) -> Any:
        """What a check computes: the reading's own quantity, or the cell's where it has none.

        Args:
            given: the cell's quantity or derivation, or None; beside a quantity of the reading, the
                same once more.
            laws: laws for the tensors of the reading's quantity.
        """
        stated = self.quantity
        if stated is None:
            if given is None:
                raise TypeError(
                    f"quantity: none given, and the reading of {self.name} defines none; accepted: "
                    "an engine's expectation or a derivation"
                )
            return given
        if not isinstance(stated, Expectation):
            return self._begun(given, stated)
        if given is not None:
            self._check_defined(given, stated)
        for name, law in (laws or {}).items():
            if name in stated.draws and not is_law_of(law, stated.draws[name].law):
                raise ValueError(
                    f"laws: got {law.name} for {name}, of which the reading of {self.name} does "
                    f"not speak: it has {stated.draws[name].law.name}"
                )
        return under(stated, laws) if laws else stated

    def _check_defined(self, given: Any, stated: Expectation) -> None:
        """Refuse what is not the definition of the reading once more, by whatever names."""
        if not isinstance(given, Expectation):
            raise TypeError(
                f"quantity: got {type(given).__name__}; accepted: what the reading of {self.name} "
                f"defines, {in_words(stated)}"
            )
        if same_definition(given, stated):
            return
        ours = {symbol.name: symbol for symbol in stated.free_symbols}
        others = sorted({s.name for s in given.free_symbols if ours.get(s.name, s) != s})
        raise self._failed(
            f"the cell gives {in_words(given)}, the reading defines {in_words(stated)}"
            + (f"; {', '.join(others)}: take symbols from symbols(…)" if others else "")
        )

    def _begun(self, given: Any, stated: sp.Expr) -> Any:
        """A derivation that begins with what the reading defines."""
        start = getattr(given, "start", None)
        if start is None:
            raise TypeError(
                f"derived: got {type(given).__name__}; accepted: a Derivation that begins with "
                f"what the reading of {self.name} defines: {stated}"
            )
        if not equivalent(start, stated):
            raise self._failed(f"the derivation begins with {start}, the reading defines {stated}")
        return given

    def _stated(self, text: Any, predicate: Any) -> tuple[str, Any]:
        """The statement of a check in a line, and its predicate: the reading's where none is given.

        Args:
            text: the statement; or the predicate, where the cell leaves the statement out.
            predicate: the check, or None where it stands instead of the text.
        """
        if predicate is None and callable(text):
            said = self.reading.text if self.of == "reading" else self.reading.truth
            text, predicate = said, text
        require_text(
            f"what is decided, in a line, or nothing, where the reading of {self.name} says it",
            text=text,
        )
        require_functions("a function that returns True or False", predicate=predicate)
        return text, predicate

    def _refuse_formula(self) -> None:
        if self.reading.formula and self.of == "reading":
            raise ValueError(f"{self.name}: has a formula; use prove, check or measure")

    def _failed(self, why: str) -> ClaimFailed:
        return ClaimFailed(f"{self.name} ({self.of}): {why}")

    def _judged(
        self, oracle: Callable[[Point], object], at: Sequence[Point], *, counted: bool = False
    ) -> Score:
        """Let an exact oracle judge the formula and reject all of its mutants."""
        found: Judgement = judge(self.formula, self.mutants, oracle, at, counted=counted)
        if found.first_disagreement:
            difference = apart(found.first_disagreement, self.formula)
            look = "count again" if counted else "look at the definition, then at the formula"
            raise self._failed(f"{difference}; {look}")
        if found.survivors:
            pass_ = "give the same count" if counted else "pass the exact check"
            raise self._failed(
                f"mutants {pass_}: {', '.join(found.survivors)}; add points at which they differ "
                "from the formula"
            )
        return Score(len(found.killed), len(found.killed))

    def _check_digits(self) -> None:
        """Compare printed digits with what they are digits of, for every claim of a joint one."""
        readings = [self._reading_of(s) for s in self.statements] if self.of == "reading" else []
        for formula, printed in {pair for reading in readings for pair in reading.digits}:
            value = number(parse(formula), {}, 25)
            if value is None or not digits_match(value, printed):
                raise self._failed(
                    f"{formula} = {value}, but {printed} is printed; look at the formula, then at "
                    "the digits in the reading"
                )

    def _emit(
        self,
        kind: str,
        outcome: str,
        statement: str,
        detail: str,
        *,
        given: Sequence[object] = (),
        rows: Sequence[Mapping[str, str]] = (),
        estimates: Sequence[Estimate] = (),
        recorded: Recording | None = None,
        **fields: Any,
    ) -> Record:
        """Make the record and display it: the only place where one is made.

        Args:
            given: what the cell gave to the check, which may be a model or have some, without the
                broken versions in which it has to fail; nothing where no code decides.
            rows, estimates: of the record's volatile part.
            recorded: the recording on which the outcome rests.
            fields: others of the record.

        Raises:
            ClaimFailed: another model ran than those of which the reading speaks.
        """
        at = spot()
        ran = what_ran(given, at)
        if fault := model_fault(ran, self.reading.models, kind):
            raise self._failed(fault)
        record = Record(
            claims=tuple(s.id for s in self.statements),
            readings=tuple(s.hash for s in self.statements),
            kind=kind, of=self.of, case=self._case, outcome=outcome,
            statement=statement, detail=detail, uses=tuple(self.reading.uses),
            recorded=Recorded(recorded.name, recorded.hash) if recorded else None,
            until=self._until, ran=ran, made=how_made(at.lines) if given else None,
            volatile=Volatile(tuple(rows), tuple(estimates), seconds(), versions_of(ran)),
            **fields,
        )  # fmt: skip
        shown = log().shown
        for decided in self.statements:  # above its first record a claim has its card
            if decided.id not in shown:
                shown.add(decided.id)
                display(*rendering.card(decided, None))
        display(*rendering.record_output(record))
        return record

    def _repr_mimebundle_(self, **_: Any) -> rendering.Bundle:
        log().shown.add(self.statements[0].id)
        return rendering.card(self.statements[0], self._case)


def display(data: dict[str, str], metadata: dict[str, Any]) -> None:
    """Display an output where this runs in a notebook."""
    try:
        from IPython import display as shell
        from IPython import get_ipython
    except ImportError:
        return
    if get_ipython() is not None:
        shell.display(data, raw=True, metadata=metadata)  # type: ignore[no-untyped-call]


def require_functions(accepted: str, **given: object) -> None:
    """Refuse, by its name, what cannot be called."""
    for name, thing in given.items():
        if not callable(thing):
            raise TypeError(f"{name}: got {brief(thing)}; accepted: {accepted}")


def brief(thing: object) -> str:
    """Return a thing as a message shows it: its name, itself, or where that is long its class."""
    text = getattr(thing, "__name__", None) or repr(thing)
    return text if len(text) <= 60 else f"a {type(thing).__name__}"


def require_text(accepted: str, **given: object) -> None:
    """Refuse, by its name, what is no text, or an empty one."""
    for name, text in given.items():
        if not isinstance(text, str) or not text.strip():
            raise TypeError(f"{name}: got {text!r}; accepted: {accepted}")


def accept(name: str, value: str, accepted: tuple[str, ...]) -> None:
    """Refuse a word that is not one of those accepted."""
    if value not in accepted:
        raise ValueError(f"{name}: got {value!r}; accepted: {', '.join(accepted)}")


# ------------------------------------------------------------------ how checks say what they saw


_LONGEST_SHOWN = 20  # operations in a quantity that is typeset; longer ones are named in words
_LONGEST_LAW = 80  # characters


def amount(things: Sequence[Any], noun: str) -> str:
    """Return how many things there are, such as "2 points"."""
    return f"{len(things)} {noun}{'s' if len(things) != 1 else ''}"


def instead(point: Point, found: float, said: float) -> str:
    """Return what a formula should have given at a point."""
    where = f"{place(point)}: " if point else ""
    return f"{where}{found:.6g}, not {said:.6g}"


def apart(found: Comparison, formula: sp.Expr) -> str:
    """Say where a definition and a formula differ, and by how much."""
    where = f" at {place(found.point)}" if found.point else ""
    definition = f"the definition gives {found.exact.value:.12g}{where}, the formula {formula}"
    if found.said is None:
        return f"{definition} has no finite value there"
    said = float(found.said)
    return f"{definition} gives {said:.12g}: {as_much(said, found.exact.value)}"


def as_much(first: float, second: float) -> str:
    """Return how many times a second number the first is, or how far off where that says less.

    Example:
        >>> as_much(0.831945, 0.597635), as_much(1.001, 1.0), as_much(0.5, 0.0)
        ('1.39 times as much', 'off by 0.1 %', 'off by 0.5')
    """
    if not second or not math.isfinite(first) or not math.isfinite(second):
        return f"off by {abs(first - second):.3g}"
    times = first / second
    if abs(times - 1) < 0.02:
        return f"off by {100 * abs(times - 1):.3g} %"
    return f"{times:.3g} times as much"


def laws_of(quantity: Any) -> str:
    """Return the laws of a quantity's random inputs in a line."""

    def short(law: Any) -> str:
        return law.name if len(law.name) < _LONGEST_LAW else f"{type(law).__name__}(…)"

    draws = getattr(quantity, "draws", {})
    return "; ".join(f"{name} ~ {short(item.law)}" for name, item in sorted(draws.items()))


def _latex(formula: sp.Expr) -> str:
    """Return a formula as LaTeX, without evaluating integrals on the way."""
    # to sort terms SymPy evaluates every integral among them, which can take minutes
    return str(sp.latex(formula, order="none" if formula.has(sp.Integral) else None))


def equation(quantity: Any, formula: sp.Expr, relation: str = "=") -> str:
    """Return "quantity = formula" as LaTeX; a long quantity is named in words."""
    statistic = getattr(quantity, "statistic", None)
    if isinstance(statistic, sp.Expr) and sp.count_ops(statistic) < _LONGEST_SHOWN:
        sign = r"\mathbb{E}" if quantity.estimator == "mean" else r"\operatorname{Var}"
        return rf"{sign}\left[{_latex(statistic)}\right] {relation} {_latex(formula)}"
    # TeX refuses a circumflex in a text
    name = re.sub(r"[_#%&{}$]", r"\\\g<0>", quantity.quantity.replace("^", "**"))
    return rf"\text{{{name}}} {relation} {_latex(formula)}"


def step(expression: sp.Expr | str) -> str:
    """Return a step of a derivation as HTML, with its LaTeX for the book."""
    if isinstance(expression, str):
        return html.escape(expression)
    return plain.with_latex(_latex(expression))


def row(point: Point, found: Measurement) -> dict[str, str]:
    """Return the row of a measurement's table."""
    return {
        "point": place(point) or "–",
        "formula": f"{found.expected:.8g}",
        "measured": f"{found.mean:.8g}",
        "standard error": f"{found.standard_error:.2g}",
        "z": f"{found.z:+.2f}",
        "draws": f"{found.n:,}".replace(",", "\u202f"),
        "would have caught": f"{found.detectable:.2%}",
        "seconds": f"{found.seconds:.2f}",
        "device": found.device + (" (second draw)" if found.redrawn else ""),
    }
