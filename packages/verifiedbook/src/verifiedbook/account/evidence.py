"""The table of evidence and the table of verdicts: what each kind weighs, and how it looks.

Verdict rules, outputs in Jupyter, the book's style sheet and the tables in *How to read this book*
follow from these rows. A new kind of evidence is a row here and a function that makes its records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Weight(Enum):
    """What a record can do to a claim."""

    DERIVES = "decides equations and numbers where something observed stands beside it"
    OBSERVES = "stands beside a derivation, which equations and numbers need"
    ENUMERATES = "decides equations and numbers that say how many there are"
    EQUATES = "decides equations between arrays"
    COUNTS = "decides numbers that say something of the world"
    SUPPORTS = "supports statements, but neither equations nor numbers"
    REFUTES = "refutes; the right statement must be decided in its turn"
    LIMITS = "shows that a condition is needed"
    MEETS = "shows that the article's own setting meets a condition"
    TRIES = "decides empirical remarks, by the sign of an effect that is clear of zero"
    SETS_ASIDE = "says that there is nothing to decide"
    ATTEMPTS = "keeps a claim open"


SUPPORTING = frozenset({
    Weight.DERIVES, Weight.OBSERVES, Weight.ENUMERATES, Weight.EQUATES, Weight.COUNTS,
    Weight.SUPPORTS,
})  # fmt: skip


@dataclass(frozen=True)
class Colour:
    """A colour and the one thing that it means, in Jupyter and in the book.

    Attributes:
        name: as style sheets call it.
        meaning: what it says.
        ground, ink: of a badge; their contrast is at least 4.5.
        line: at the left of a record; it shows on a light and on a dark page.
    """

    name: str
    meaning: str
    ground: str
    ink: str
    line: str


GREEN = Colour("green", "derived, true as read", "#00624a", "#ffffff", "#2f9e7d")
BLUE = Colour("blue", "observed", "#0a559c", "#ffffff", "#3d8bd4")
AMBER = Colour("amber", "only under a condition", "#f2c14e", "#1d1d1d", "#b07d10")
RED = Colour("red", "refuted", "#a82315", "#ffffff", "#d9534a")
VIOLET = Colour("violet", "observed otherwise", "#6b2f8a", "#ffffff", "#a566c8")
BROWN = Colour("brown", "judged by a person", "#6b4423", "#ffffff", "#a9744f")
GREY = Colour("grey", "nothing decided", "#ffffff", "#333333", "#7d8590")
COLOURS = (GREEN, BLUE, AMBER, RED, VIOLET, BROWN, GREY)


@dataclass(frozen=True)
class Kind:
    """A kind of evidence.

    Attributes:
        name: as records and style sheets call it.
        verbs: the methods of ``claim(…)`` that make such a record.
        label: its name for people.
        shows: what it shows, in a line.
        weight: what it can do to a claim.
        needs: what a verdict needs of it, in a line.
        colour: of its records.
        outcomes: the outcomes that a record of this kind may have.
        judged: whether a person judges, so that a verdict by it alone is counted apart.
    """

    name: str
    verbs: tuple[str, ...]
    label: str
    shows: str
    weight: Weight
    needs: str
    colour: Colour
    outcomes: tuple[str, ...] = ("supports",)
    judged: bool = False


_ROWS = (
    Kind(
        "proof", ("prove", "derive"), "proof",
        "an engine derives it, or a chain of checked steps that fails from changed definitions",
        Weight.DERIVES, "agreement with an exact oracle, which rejects every mutant", GREEN,
    ),
    Kind(
        "exact", ("check", "check_that"), "exact",
        "the definition with all its terms, at a few small points",
        Weight.DERIVES, "every mutant, or a broken version, is rejected", GREEN,
    ),
    Kind(
        "count", ("count",), "count",
        "the objects themselves are counted: parameters of a built module, entries of a table",
        Weight.ENUMERATES, "every mutant of the formula gives another number", GREEN,
    ),
    Kind(
        "equality", ("same",), "equality",
        "two arrays are equal on random weights and inputs: their difference has mean square zero",
        Weight.EQUATES, "another layout of the array, or noise on it, makes a difference", GREEN,
    ),
    Kind(
        "measurement", ("measure",), "measurement",
        "PyTorch samples the definition",
        Weight.OBSERVES, "draws enough to see an error of 1 %", BLUE,
    ),
    Kind(
        "sampled", ("sampled_that",), "sampled",
        "a predicate is true on every one of many random draws",
        Weight.SUPPORTS, "the number of draws, their seeds, and the effect they would have caught",
        BLUE,
    ),
    Kind(
        "counterexample", ("refute", "refute_that"), "counter-example",
        "a run in which the claim is false",
        Weight.REFUTES, "the right statement holds there", RED, ("contradicts",),
    ),
    Kind(
        "witness", ("fails_without",), "witness",
        "a run in which the claim fails without its condition",
        Weight.LIMITS, "the condition stands in the reading", AMBER, ("fails",),
    ),
    Kind(
        "met", ("meets",), "condition met",
        "a run in the article's own setting, where the condition is met and the claim holds",
        Weight.MEETS, "setting and condition stand in the reading, with what meets it", AMBER,
        ("meets",),
    ),
    Kind(
        "experiment", ("experiment",), "experiment",
        "the effect in independent runs, live or recorded, with its 99 % interval",
        Weight.TRIES, "zero outside the interval, of live runs by half its width", BLUE,
        ("supports", "contradicts", "unsettled"),
    ),
    Kind(
        "census", ("census",), "census",
        "published data are counted, each with its source",
        Weight.COUNTS, "at least two data, on which the count depends", BLUE,
    ),
    Kind(
        "citation", ("cited",), "citation",
        "a person compares the claim with a quotation from a source",
        Weight.SUPPORTS, "key, place and the deciding words", BROWN,
        ("supports", "contradicts", "partly"), judged=True,
    ),
    Kind(
        "set-aside", ("set_aside",), "set aside",
        "the claim is a definition, plan, opinion or picture",
        Weight.SETS_ASIDE, "the reason, and no other record", GREY, ("none",),
    ),
    Kind(
        "attempt", ("attempt",), "attempt",
        "what was tried",
        Weight.ATTEMPTS, "the smallest effect that it could have seen", GREY, ("none",),
    ),
)  # fmt: skip
KINDS: dict[str, Kind] = {row.name: row for row in _ROWS}


@dataclass(frozen=True)
class Verdict:
    """A verdict.

    Attributes:
        name: as the ledger calls it.
        mark: a sign that needs no colour.
        label: its words on a badge.
        plural: its words after a number.
        colour: of its badge.
        border: of its badge: "round", "square", "dashed" or "none".
        means, takes: what it means, and what it takes.
        carries: whether another claim may rest on one with this verdict.
    """

    name: str
    mark: str
    label: str
    plural: str
    colour: Colour
    border: str
    means: str
    takes: str
    carries: bool = False


_VERDICTS = (  # the best first
    Verdict(
        "holds", "✓", "holds", "hold", GREEN, "round", "true as read",
        "for equations and numbers a proof or an exact computation, with a measurement beside it; "
        "what says how many there are is counted, and so are numbers of the world", carries=True,
    ),
    Verdict(
        "reproduced", "↻", "reproduced", "reproduced", BLUE, "round",
        "an empirical remark, tried and seen",
        "an experiment, live or recorded, whose effect is clear of zero", carries=True,
    ),
    Verdict(
        "holds-if", "◐", "holds if", "hold if", AMBER, "round",
        "true under a condition that the article leaves out and its own setting can meet",
        "the condition, a run in the article's setting that meets it, and one that fails without "
        "it; or a claim on which it rests has a condition", carries=True,
    ),
    Verdict(
        "not-truth-apt", "–", "not truth-apt", "not truth-apt", GREY, "none",
        "a definition, plan, opinion or picture: nothing to be true or false",
        "the reason, in a line", carries=True,
    ),
    Verdict(
        "open", "?", "open", "open", GREY, "dashed", "tried and not settled",
        "the experiment tried, and the effect it could have seen",
    ),
    Verdict(
        "not-reproduced", "⊘", "not reproduced", "not reproduced", VIOLET, "square",
        "an empirical remark, tried, and the opposite was seen",
        "an experiment, live or recorded, whose effect is clear of zero",
    ),
    Verdict(
        "wrong", "✗", "wrong", "wrong", RED, "square", "false as read",
        "the right statement, decided in its turn, and a counter-example that runs",
    ),
    Verdict(
        "undecided", "·", "undecided", "undecided", GREY, "none",
        "no cell decides it yet", "nothing",
    ),
)  # fmt: skip
VERDICTS: dict[str, Verdict] = {row.name: row for row in _VERDICTS}


def missing(claim_kind: str, kinds: Sequence[str]) -> str | None:
    """Say what a claim still needs to hold, or return None where its evidence suffices.

    Args:
        claim_kind: "equation", "number", or another kind of statement.
        kinds: the kinds of its records that support it.
    """
    weights = {KINDS[name].weight for name in kinds}
    if claim_kind == "number" and Weight.COUNTS in weights:
        return None  # a number about the world is measured by counting it
    if claim_kind in ("equation", "number"):
        if Weight.ENUMERATES in weights:
            return None  # how many there are is counted; sampling an integer would add nothing
        if claim_kind == "equation" and Weight.EQUATES in weights:
            return None  # a mean square of zero has no spread that a measurement could add
        if Weight.DERIVES not in weights:
            return "a proof or an exact check"
        return None if Weight.OBSERVES in weights else "a measurement beside it"
    return None if weights & {*SUPPORTING, Weight.TRIES} else "evidence"
