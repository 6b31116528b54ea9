"""How a claim is read: definition, formula, condition, what would make it false; its clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .citations import Citation, age_fault, checked_day, read_citations
from .records.ran import NamedModel, read_models
from .rendering.formulas import latex
from .rules import Refuse, check_rules

_READING_KEYS = {
    "text", "setting", "quantity", "where", "formula", "false_if", "digits", "condition", "truth",
    "uses", "discharges", "decides", "cases",
    "citations", "day", "without", "model",
}  # fmt: skip
_OF_THE_WHOLE = ("uses", "discharges", "without")  # and of no case
_REASONED = {"discharges": "the condition is met here", "without": "it says nothing"}
_PRINTED, _EXISTS = "as printed", "exists"
_PLACE = re.compile(r"\{(quantity|formula|truth|claimed)\}")


@dataclass(frozen=True)
class Reading:
    """How a claim, or one case of it, is read.

    Attributes:
        text: the quantity and its domain, in words with LaTeX. Here and in the other texts of a
            reading ``{quantity}``, ``{formula}``, ``{truth}`` and ``{claimed}`` stand for the LaTeX
            of what the checks take, so that text and check cannot part.
        setting: the article's own: sizes, scales, laws and models that it uses or implies. A case
            inherits it.
        quantity: the definition from which the checks start, as text; see `exact.definitions`.
        where: what the names of the quantity stand for: laws and sizes. A case inherits both.
        formula: what the claim says the quantity is, as SymPy text; None where it is no formula.
        false_if: the observation that would make the claim false.
        digits: pairs (formula, printed digits) that the article prints.
        condition: the condition that the article leaves out, for a claim that holds only under it.
        met_by: what of the setting meets the condition.
        claimed: what the claim would give where the condition fails, if not ``formula``; with the
            tolerance ``within`` that the claim allows itself.
        truth: the right statement, where the claim is wrong, and its formula.
        left_open: what the truth itself leaves open: units of experiments that do not settle it.
        uses: ids of the claims on which this one rests.
        discharges: by id of a claim whose condition this one would inherit, why it is met here.
        decides: where experiments differ, the one closest to the article's words: the name of its
            recording, its unit, or its case, with the others beside it. Written before they run.
        cases: named readings that must all be decided; the verdict is the worst of theirs. Of a
            recipe, "as printed" decides, and "exists" is shown beside it.
        citations: sources that a person has compared the statement with.
        day: of which the claim speaks: the article's own, for a claim about practice. What is
            younger is no evidence. A case inherits it.
        models: the real classes of which it speaks, one of which is what runs (key `model`).
        without: by name of a recording of an experiment that others of the claim's recordings
            belong to, why it says nothing of the claim.
    """

    text: str
    setting: str | None = None
    quantity: str | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    formula: str | None = None
    false_if: str | None = None
    digits: tuple[tuple[str, str], ...] = ()
    condition: str | None = None
    met_by: str | None = None
    claimed: str | None = None
    within: float | None = None
    truth: str | None = None
    truth_formula: str | None = None
    left_open: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    discharges: Mapping[str, str] = field(default_factory=dict)
    decides: str | None = None
    cases: Mapping[str, Reading] = field(default_factory=dict)
    citations: tuple[Citation, ...] = ()
    day: str | None = None
    without: Mapping[str, str] = field(default_factory=dict)
    models: tuple[NamedModel, ...] = ()

    @property
    def told(self) -> str:
        """The text, with the formula behind it where the text does not show it."""
        if not self.formula or latex(self.formula) in self.text:
            return self.text
        left = f"{latex(self.quantity)}=" if self.quantity else ""
        return f"{self.text} In a formula: ${left}{latex(self.formula)}$."

    @property
    def deciding(self) -> dict[str | None, Reading]:
        """The readings that must be decided: the cases by name, or the reading itself."""
        return {
            name: case
            for name, case in self.parts.items()
            if (name or not self.cases) and name not in self.beside
        }

    @property
    def beside(self) -> dict[str | None, Reading]:
        """The cases that are shown beside the one that decides: of a recipe, what exists."""
        if {_PRINTED, _EXISTS} <= set(self.cases):
            return {_EXISTS: self.cases[_EXISTS]}
        if self.decides not in self.cases:
            return {}
        return {name: case for name, case in self.cases.items() if name != self.decides}

    @property
    def parts(self) -> dict[str | None, Reading]:
        """The reading itself, then its cases by name."""
        parts: dict[str | None, Reading] = {None: self}
        parts.update(self.cases)
        return parts


def read_reading(data: Mapping[str, Any], refuse: Refuse) -> Reading:
    """Read a reading as a claims file has it.

    Args:
        data: the reading, or a case of it, with what it inherits.
        refuse: makes the error of a broken rule, which names file and claim.

    Raises:
        RegistryError: a key is unknown or missing, or a text shows a formula that is not there.
    """
    condition, truth, cases = (data.get(key) or {} for key in ("condition", "truth", "cases"))
    for part, keys in (
        (condition, {"text", "met_by", "claimed", "within"}), (truth, {"text", "formula", "open"}),
        *((item, {"of", "printed"}) for item in data.get("digits", ())),
    ):  # fmt: skip
        accepted = f"accepted: {sorted(keys)}" + ", text being needed" * ("text" in keys)
        if part and not isinstance(part, Mapping):
            raise refuse(f"{part!r} in a reading, where a mapping has to stand; {accepted}")
        if part and (("text" in keys and not part.get("text")) or set(part) - keys):
            raise refuse(f"{sorted(part)} in a reading; {accepted}")
    check_rules(refuse, {
        f"unknown keys in reading: {sorted(set(data) - _READING_KEYS)}": set(data) - _READING_KEYS,
        "a reading needs a text": not data.get("text"),
        **{f"{key} stand in the reading, not in a case of it":
           any(key in case for case in cases.values()) for key in _OF_THE_WHOLE},
        "model stands in the cases, of which each has its own": cases and "model" in data,
        f"decides: got {data.get('decides')!r}; accepted: {', '.join(cases)}":
            cases and data.get("decides", _PRINTED) not in (*cases, _PRINTED),
        f"a case {_EXISTS!r} stands beside a case {_PRINTED!r}, which decides":
            _EXISTS in cases and _PRINTED not in cases,
        **{f"{key}: why {what} is missing": not all(map(_text, data.get(key, {}).values()))
           for key, what in _REASONED.items()},
        "a reading has either a condition or a truth, not both": condition and truth,
        "citations stand beside a formula, which a check decides":
            data.get("citations") and data.get("formula"),
        "where says what the names of a quantity stand for, and there is no quantity":
            data.get("where") and not data.get("quantity"),
    })  # fmt: skip
    shown = {
        "quantity": data.get("quantity"), "formula": data.get("formula"),
        "truth": truth.get("formula"), "claimed": condition.get("claimed"),
    }  # fmt: skip

    def told(text: object) -> str | None:
        try:
            return _told(text, shown)
        except ValueError as error:
            raise refuse(str(error)) from error

    inherited = {key: data[key] for key in ("setting", "quantity", "where", "day") if key in data}
    citations = read_citations(data.get("citations", ()), refuse)
    return Reading(
        text=told(data["text"]) or "",
        setting=told(data.get("setting")),
        false_if=told(data.get("false_if")),
        quantity=_text(data.get("quantity")),
        where={name: str(thing) for name, thing in data.get("where", {}).items()},
        formula=_text(data.get("formula")),
        digits=tuple((item["of"], str(item["printed"])) for item in data.get("digits", ())),
        condition=told(condition.get("text")),
        met_by=told(condition.get("met_by")),
        claimed=_text(condition.get("claimed")),
        within=condition.get("within"),
        truth=told(truth.get("text")),
        truth_formula=_text(truth.get("formula")),
        left_open=tuple(truth.get("open", ())),
        uses=tuple(data.get("uses", ())),
        discharges={id: told(why) or "" for id, why in data.get("discharges", {}).items()},
        decides=_text(data.get("decides")),
        cases={key: read_reading({**inherited, **case}, refuse) for key, case in cases.items()},
        citations=citations,
        day=_day(data.get("day"), citations, refuse),
        without={name: told(why) or "" for name, why in data.get("without", {}).items()},
        models=read_models(data.get("model"), refuse),
    )


def _day(given: object, citations: Sequence[Citation], refuse: Refuse) -> str | None:
    """The day of which a claim speaks, which nothing that it cites is younger than."""
    try:
        day = None if given is None else checked_day(given)
    except ValueError as error:
        raise refuse(str(error)) from error
    for item in citations:
        if fault := age_fault(item.until, day, f"the citation of {item.key} (until)"):
            raise refuse(fault)
    return day


def _told(text: object, shown: Mapping[str, object]) -> str | None:
    """A text of a reading, with the LaTeX of its formulas in their places."""

    def formula(found: re.Match[str]) -> str:
        given = shown[found.group(1)]
        if given is None:
            raise ValueError(f"{found.group()} stands in a text, and the reading has none")
        return latex(str(given))

    clean = _text(text)
    return clean and _PLACE.sub(formula, clean)


def _text(value: object) -> str | None:
    return None if value is None else " ".join(str(value).split())


# ------------------------------------------------------------------ clauses
# The verdict on a claim is the worst of its cases, so that a case which is missing makes it better.
# Therefore every word of the statement stands in a clause, and every case decides one: whoever
# drops a case leaves words that nothing decides. A reading without cases decides all but what is
# said not to be judged.


_NOT = "not judged: "
_JOINS = {"and", "but", "or", "so", "then", "hence", "thus", "therefore", "while"}
_WORD = re.compile(r"[^\s,;:.]+")


@dataclass(frozen=True)
class Clause:
    """Words of a statement.

    Attributes:
        words: as they stand in the statement.
        cases: names of the cases of the reading that decide them.
        why: why they are not judged, where no case decides them.
    """

    words: str
    cases: tuple[str, ...] = ()
    why: str | None = None


def read_clauses(
    given: Mapping[str, object], says: str, reading: Reading, refuse: Refuse
) -> tuple[Clause, ...]:
    """Read the clauses of a statement as a claims file has them.

    Args:
        given: words of the statement, each with a case, a list of cases, or ``not judged: why``.
        says: the statement.
        reading: whose cases decide it.
        refuse: makes the error of a broken rule, which names file and claim.

    Raises:
        RegistryError: a clause does not stand in the statement once, or names no case that decides;
            a case decides no clause; or words other than those that join stand in no clause.
    """
    clauses = tuple(_clause(" ".join(words.split()), by) for words, by in given.items())
    accepted = ", ".join(reading.cases) or "none"
    for clause in clauses:
        times, unknown = says.count(clause.words), [*{*clause.cases} - {*reading.cases}]
        check_rules(refuse, {
            f"clauses: “{clause.words}” stands {times} times in what is said": times != 1,
            f"clauses: got the case {', '.join(map(repr, unknown))}; accepted: {accepted}": unknown,
            f"clauses: no case decides “{clause.words}”; accepted: one, or {_NOT}why":
                not (clause.why or {*clause.cases} & {*reading.deciding}),
        })  # fmt: skip
    decided = {case for clause in clauses for case in clause.cases}
    if left := [case for case in reading.cases if case not in decided]:
        raise refuse(f"clauses: none names the case {left[0]!r}; accepted: the words it decides")
    if reading.cases and (words := " … ".join(_outside(says, clauses))):
        raise refuse(f"clauses: none has the words “{words}” of what is said")
    return clauses


def _clause(words: str, by: object) -> Clause:
    if isinstance(by, str) and by.startswith(_NOT):
        return Clause(words, why=by.removeprefix(_NOT))
    return Clause(words, tuple(map(str, by)) if isinstance(by, list) else (str(by),))


def _outside(says: str, clauses: tuple[Clause, ...]) -> Iterator[str]:
    """The words that stand in no clause, but for those that only join."""
    places = [says.index(clause.words) for clause in clauses]
    ends = [at + len(clause.words) for at, clause in zip(places, clauses, strict=True)]
    for word in _WORD.finditer(says):
        inside = any(at <= word.start() < end for at, end in zip(places, ends, strict=True))
        if not inside and word.group().lower() not in _JOINS:
            yield word.group()
