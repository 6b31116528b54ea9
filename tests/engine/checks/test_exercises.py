"""Exercises: every answer follows from what is proved, every hint is given, bad input is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sympy as sp
import yaml

from verified_transformer import exercise, symbols
from verified_transformer.engine.checks.exercises import asked, questions, sound
from verified_transformer.engine.checks.exercises.answers import read
from verified_transformer.engine.checks.exercises.asked import chapter_5
from verified_transformer.engine.checks.exercises.questions import ExerciseError, Question

ROOT = Path(__file__).parents[3]
EVERY = questions.load()
SECTIONS = ("1.2", "1.3", "3.3", "3.4", "4.5", "5.5")


@pytest.mark.parametrize("id", EVERY)
def test_an_exercise_is_sound(id: str) -> None:
    assert sound.faults(EVERY[id]) == []


def test_every_section_has_exercises_of_several_kinds_from_easy_to_hard() -> None:
    for section in SECTIONS:
        here = [q for q in EVERY.values() if q.id.startswith(f"{section}.")]
        assert len(here) >= 4, section
        assert len({q.stars for q in here}) >= 2, section
        assert any(q.kind in ("formula", "number", "function") for q in here), section
        assert all((ROOT / "notebooks" / f"{q.notebook}.ipynb").exists() for q in here)


def test_problems_and_functions_belong_together() -> None:
    used = {q.problem for q in EVERY.values() if q.problem}
    assert used == set(asked.PROBLEMS)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("id", "changed", "fault"),
    [
        ("3.3.1", {"answer": "d*sigma**4"}, "answer d*sigma**4, but 2*d*sigma**4 follows"),
        ("3.4.3", {"answer": "1536/100", "known": {}}, "answer 15.360000, but "),
        ("3.4.4", {"answer": "log(n)/d", "known": {}}, "log(n)/d does not solve the equation"),
        ("3.3.1", {"known": {"sigma**4*(d + d)": "No."}}, "sigma**4*(d + d) is told "),
    ],
    ids=["a solution", "a number", "a root of another equation", "a right answer that is refused"],
)
def test_a_wrong_exercise_is_found(id: str, changed: dict[str, object], fault: str) -> None:
    (found,) = sound.faults(Question(**{**vars(EVERY[id]), **changed}))  # type: ignore[arg-type]
    assert found.startswith(f"{id}: {fault}")


# ------------------------------------------------------------------ answers


@pytest.mark.parametrize(
    "given",
    ["2*d*sigma**4", "2*d*σ^4", "σ**4·2·d", 2 * sp.Symbol("d") * sp.Symbol("sigma") ** 4,
     2 * symbols("d") * symbols("sigma") ** 4],
)  # fmt: skip
def test_a_formula_may_be_written_in_several_ways(given: object) -> None:
    assert exercise("3.3.1").answer(given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "d*sigma**4",
            "Only a constant factor is wrong: you have $\\frac{1}{2}$ times the answer.",
        ),
        ("-2*d*sigma**4", "The sign is wrong, and nothing else."),
        ("2*d*sigma**3", "Only the exponent of $\\sigma$ is wrong: $1$ too little."),
        ("4*d**2*sigma**8", "That is the square of the answer: a variance where its root is asked"),
        ("sqrt(2*d)*sigma**2", "That is the root of the answer: a standard deviation where a"),
        ("2*(d - 1)*sigma**4", "Off by one in $d$"),
        ("2*d*sigma**4 + 1", "You are off by exactly one."),
        ("2*sigma*d**4", "Two symbols have changed places"),
        ("sigma**4*exp(d)", "At $d="),
    ],
)
def test_a_wrong_formula_is_told_what_is_wrong_with_it(given: str, said: str) -> None:
    judgement = exercise("3.3.1").answer(given)
    assert not judgement
    assert judgement.say.startswith(said)


def test_numbers_have_a_tolerance_and_their_own_hints() -> None:
    asked = exercise("3.4.1")
    assert asked.answer(10.33)
    assert asked.answer("log(30522)")
    assert asked.answer(14.9).say.startswith("Those are bits.")
    assert asked.answer(-10.33).say == "The sign is wrong, and nothing else."
    assert asked.answer(20.65).say == "You are off by a factor of 2: too large."
    assert asked.answer(8).say == "Too small."


def test_a_function_is_tried_and_may_fail() -> None:
    asked = exercise("5.11.4")
    assert asked.answer(chapter_5.multiply_out)
    assert "lays the vectors side by side" in asked.answer(chapter_5._joined).say
    assert asked.answer(lambda vectors: 1 / 0).say.endswith("ZeroDivisionError: division by zero.")
    assert "it gives [1.0], not [2.0, -2.0, 3.0, -3.0]" in asked.answer(lambda vectors: [1.0]).say


def test_bad_input_is_named() -> None:
    with pytest.raises(KeyError, match=r"'3.3.99' is no exercise; accepted: 3.3.1, 3.3.2"):
        exercise("3.3.99")
    with pytest.raises(ValueError, match="answer: uses n; accepted: d, sigma"):
        exercise("3.3.1").answer("2*n*sigma**4")
    with pytest.raises(ValueError, match=r"is no formula; write products with \*"):
        exercise("3.3.1").answer("2 d sigma")
    with pytest.raises(ValueError, match=r"answer: .* has the part"):
        exercise("3.3.1").answer("__import__('os').getcwd()")
    with pytest.raises(TypeError, match="answer: got list; accepted: a formula or a number"):
        exercise("3.3.1").answer([1])
    with pytest.raises(ValueError, match="answer: uses d; accepted: numbers alone"):
        exercise("3.4.1").answer("log(d)")
    with pytest.raises(TypeError, match="answer: got int; accepted: a function"):
        exercise("5.11.4").answer(3)
    with pytest.raises(ValueError, match="answer: got 'e'; accepted: a, b, c, d"):
        exercise("1.3.4").answer("e")
    with pytest.raises(TypeError, match="got bool"):
        read(True)


# ------------------------------------------------------------------ what is shown


@pytest.mark.parametrize("id", EVERY)
def test_an_exercise_shows_itself_as_markdown_without_holes(id: str) -> None:
    bundle = exercise(id)._repr_mimebundle_()
    assert set(bundle) == {"text/markdown", "text/plain"}
    shown = bundle["text/markdown"]
    assert "★" * EVERY[id].stars in shown
    assert shown.count("<details>") == shown.count("</details>") == 1 + bool(EVERY[id].nudge)
    assert shown.count("<div") == shown.count("</div>") == 1
    assert "{answer}" not in shown and "{code}" not in shown
    assert not re.search(r"(?<![`\w])\*\*[a-z0-9]", re.sub(r"```.*?```", "", shown, flags=re.S))


def test_a_judgement_shows_itself_too() -> None:
    judgement = exercise("3.3.1").answer("2*d*sigma**4")
    assert judgement._repr_mimebundle_()["text/markdown"].startswith("✓ **Right.** $2 d")


# ------------------------------------------------------------------ the files

GOOD = {
    "id": "1.1.1", "stars": 1, "title": "t", "ask": "a", "kind": "number", "answer": 2,
    "because": {"claim": "LOSS-14", "at": {"d": 1, "sigma": 1}}, "solution": "${answer}$",
}  # fmt: skip


def loaded(folder: Path, *entries: dict[str, object]) -> dict[str, Question]:
    section = {"section": "1.1", "notebook": "n", "exercises": list(entries)}
    (folder / "chapter-1.yaml").write_text(yaml.safe_dump([section]), encoding="utf-8")
    return questions.load.__wrapped__(folder)


def test_a_whole_exercise_is_read(tmp_path: Path) -> None:
    assert loaded(tmp_path, GOOD)["1.1.1"].answer == "2"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "essay"}, "kind is 'essay'; accepted: formula, number, choice"),
        ({"stars": 4}, "stars is 4; accepted: 1, 2, 3"),
        ({"id": "2.1.1"}, "accepted in section 1.1"),
        ({"title": None, "hints": []}, "a number has no hints"),
        ({"because": {"claim": "LOSS-99"}}, "LOSS-99 is not in the registry"),
        ({"because": {"value": 2}}, "because has"),
        ({"solution": "two"}, "the solution does not end in {answer}"),
        ({"ask": "$x"}, "an unpaired dollar sign"),
    ],
)
def test_an_exercise_that_breaks_a_rule_is_refused(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    with pytest.raises(ExerciseError, match=re.escape(said)):
        loaded(tmp_path, {**GOOD, **change})


def test_missing_keys_and_double_ids_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExerciseError, match="answer is missing"):
        loaded(tmp_path, {k: v for k, v in GOOD.items() if k != "answer"})
    with pytest.raises(ExerciseError, match=r"1\.1\.1 is there twice"):
        loaded(tmp_path, GOOD, GOOD)
