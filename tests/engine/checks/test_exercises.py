"""Exercises: every answer follows from what is proved, every hint is given, bad input is named."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
import yaml

from verified_transformer import exercise, parse, symbols
from verifiedbook.account import questions
from verifiedbook.account.questions import ExerciseError, Question
from verifiedbook.account.registry import contents
from verifiedbook.checks.exercises import sound
from verifiedbook.checks.exercises.answers import functions
from verifiedbook.checks.exercises.key import EXERCISE_KEY, key, key_in_a_line
from verifiedbook.checks.exercises.typed import Unreadable, read_answer

ROOT = Path(__file__).parents[3]
EVERY = questions.load_questions()
ANSWERS = contents(ROOT / "tests" / "answers.yaml")
SECTIONS = ("1.2", "1.3", "3.3", "3.4", "4.5", "5.5")


@pytest.mark.parametrize("id", EVERY)
def test_an_exercise_is_sound(id: str) -> None:
    assert sound.exercise_faults(EVERY[id]) == []


def test_every_section_has_exercises_of_several_kinds_from_easy_to_hard() -> None:
    for section in SECTIONS:
        here = [q for q in EVERY.values() if q.id.startswith(f"{section}.")]
        assert len(here) >= 4, section
        assert len({q.stars for q in here}) >= 2, section
        assert any(q.kind in ("formula", "number", "function") for q in here), section
        assert all((ROOT / "notebooks" / f"{q.notebook}.ipynb").exists() for q in here)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("id", "changed", "fault"),
    [
        ("3.3.1", {"answer": "d*sigma**4"}, "answer d*sigma**4, but 2*d*sigma**4 follows"),
        ("3.4.3", {"answer": "1536/100", "known": {}}, "answer 15.360000, but "),
        ("3.4.4", {"answer": "log(n)/d", "known": {}}, "log(n)/d does not solve the equation"),
        ("3.3.1", {"known": {"sigma**4*(d + d)": "No."}}, "sigma**4*(d + d) is told "),
        ("4.1.3", {"known": {"np.kron(W, np.ones((k, k)) / k)": "No."}}, "np.kron(W, np.ones"),
        ("2.1.1", {"answer": "d", "known": {}}, "the answer is d, and what is right ['b']"),
        ("2.1.1", {"solution": r"So $3\cdot0.02^2=0.0013$."}, r"3\cdot0.02^2 is 0.0012, not"),
        ("5.7.4", {"numbers": 'said = {"27": 3**2}'}, "27 is 9"),
    ],
    ids=[
        "a solution",
        "a number",
        "a root of another equation",
        "a right answer that is refused",
        "a right function that is refused",
        "a wrong letter",
        "a sum in a solution",
        "a number of an open solution",
    ],
)
def test_a_wrong_exercise_is_found(id: str, changed: dict[str, object], fault: str) -> None:
    (found,) = sound.exercise_faults(Question(**{**vars(EVERY[id]), **changed}))  # type: ignore[arg-type]
    assert found.startswith(f"{id}: {fault}")


# ------------------------------------------------------------------ answers


@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: f"{row[0]} {row[1]}")
def test_what_is_said_to_an_answer(row: list[Any]) -> None:
    id, given, right, begins = row
    judgement = exercise(id).answer(given)
    assert judgement.right is right and judgement.say.startswith(begins), judgement


def test_one_plus_is_never_told_as_one_minus() -> None:
    """Of 0.0086, in 1.4.2, it was: 1.0087 is within a fiftieth of 0.9914."""
    numbers = [q for q in EVERY.values() if q.kind == "number"]
    told = [q.id for q in numbers if "one minus" in exercise(q.id).answer(f"1 + {q.answer}").say]
    assert len(numbers) > 50 and told == []


def test_a_fraction_is_the_decimal_that_it_equals() -> None:
    for fraction, decimal in (("1/2", "0.5"), ("1/20", "0.05"), ("-7/8", "-0.875"), ("6/2", "3")):
        assert read_answer(fraction).slack == read_answer(decimal).slack
    assert (
        read_answer("1/3").slack == read_answer("1/2 + 1/4").slack == read_answer("1/0").slack == 0
    )


def test_an_answer_may_be_a_number_or_an_expression() -> None:
    assert exercise("3.3.1").answer(2 * sp.Symbol("d") * sp.Symbol("sigma") ** 4)
    assert exercise("3.3.1").answer(2 * symbols("d") * symbols("sigma") ** 4)
    assert exercise("2.8.2").answer(parse(EVERY["2.8.2"].answer))
    assert exercise("3.4.1").answer(10.33)


def test_a_choice_may_be_typed_in_words() -> None:
    asked = exercise("2.3.2")  # a: 3 and 5, b: 7, c: 3, 5 and 7, d: all
    assert asked.answer("All.") and asked.answer("(d) all")
    assert "The softmax takes" in asked.answer("3, 5 and").say
    assert asked.answer("3").say == asked.answer("all rows").say == "Choose one of a, b, c, d."


def test_nothing_that_is_typed_raises() -> None:
    letters = "0123456789.,e+-*/^()% dσσxn√²{}\\$=?"
    source = random.Random(0)
    for id in ("3.3.1", "3.3.2", "1.3.4", "3.3.7"):
        for _ in range(300):
            text = "".join(source.choices(letters, k=source.randint(1, 12)))
            assert str(getattr(exercise(id).answer(f"1{text}"), "say", ""))
    for odd in ([1], {}, True, math.nan, math.inf, "(" * 5000, "9^" * 99 + "9", b"5"):
        assert isinstance(exercise("3.3.1").answer(odd).say, str)


def test_an_answer_shows_its_question_above() -> None:
    shown = exercise("3.3.1").answer("2 d σ⁴")._repr_mimebundle_()["text/markdown"]
    assert shown.startswith('<div class="vt-exercise"') and "✓ **Right.** $2 d" in shown
    assert exercise("3.3.1").answer(" ")._repr_mimebundle_()[1]  # the exercise itself, and its key


@pytest.mark.slow
@pytest.mark.parametrize("notebook", sorted({q.notebook for q in EVERY.values()}))
def test_the_stored_keys_are_those_of_today(notebook: str) -> None:
    text = (ROOT / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8")
    outputs = [o for cell in json.loads(text)["cells"] for o in cell.get("outputs", ())]
    stored = [o.get("metadata", {}).get(EXERCISE_KEY) for o in outputs]
    assert [text for text in stored if text] == [
        key_in_a_line(key(q)) for q in EVERY.values() if q.notebook == notebook
    ]


def test_a_function_is_tried_and_may_fail() -> None:
    asked = exercise("5.11.4")
    right, wrong = functions(EVERY["5.11.4"])
    assert asked.answer(right)
    assert "lays the vectors side by side" in asked.answer(wrong["np.concatenate(vectors)"]).say
    assert asked.answer(lambda vectors: 1 / 0).say.endswith("ZeroDivisionError: division by zero.")
    assert "it returns nothing: does it end" in asked.answer(lambda vectors: None).say
    assert asked.answer(lambda vectors: [1.0]).say == (
        "With `[np.array([2.0, 3.0]), np.array([1.0, -1.0])]` it gives [1.0], "
        "not [2.0, -2.0, 3.0, -3.0]."
    )


def test_bad_input_is_named() -> None:
    with pytest.raises(KeyError, match=r"'3.3.99' is no exercise; accepted: 3.3.1, 3.3.2"):
        exercise("3.3.99")
    assert exercise("1.3.4").answer("e").say == "Choose one of a, b, c, d."
    assert exercise("1.3.4").answer(" (C) ")
    assert exercise("5.11.4").answer(3).say == "Write a function, and give its name: `3` is none."
    with pytest.raises(Unreadable, match="longer than any answer"):
        read_answer("(" * 99)


# ------------------------------------------------------------------ what is shown


@pytest.mark.parametrize("id", EVERY)
def test_an_exercise_shows_itself_as_markdown_without_holes(id: str) -> None:
    bundle, metadata = exercise(id)._repr_mimebundle_()
    assert json.loads(metadata[EXERCISE_KEY]) == key(EVERY[id])
    assert set(bundle) == {"text/markdown", "text/plain"}
    shown = bundle["text/markdown"]
    assert "★" * EVERY[id].stars in shown
    assert shown.count("<details>") == shown.count("</details>") == 1 + bool(EVERY[id].nudge)
    assert shown.count("<div") == shown.count("</div>") == 1
    assert "{answer}" not in shown
    assert not re.search(r"(?<![`\w])\*\*[a-z0-9]", re.sub(r"```.*?```", "", shown, flags=re.S))


# ------------------------------------------------------------------ the files

GOOD = {
    "id": "1.1.1", "stars": 1, "title": "t", "ask": "a", "kind": "number", "answer": 2,
    "because": {"claim": "LOSS-14", "at": {"d": 1, "sigma": 1}}, "solution": "${answer}$",
}  # fmt: skip


def loaded(folder: Path, *entries: dict[str, object]) -> dict[str, Question]:
    section = {"section": "1.1", "notebook": "n", "exercises": list(entries)}
    (folder / "chapter-1.yaml").write_text(yaml.safe_dump([section]), encoding="utf-8")
    return questions.load_questions.__wrapped__(folder)


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
