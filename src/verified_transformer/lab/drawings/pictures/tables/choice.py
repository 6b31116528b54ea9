"""Which table for which model: questions from above to below, and where each leads."""

from __future__ import annotations

from ...drawing import Panel, Panels, picture
from ...labels import text
from ...parts import arrow, box

_QUESTIONS = (
    (("Is the table a large", "part of the model?"), "no", "plain", ("nothing", "to gain")),
    (("Should the head", "be faster, too?"), "yes", "low rank", ("faster head",)),
    (("Must each token keep", "numbers of its own?"), "yes", "product", ("each token",)),
    (("Choose its size", "by one number?"), "yes", "train", ("bonds *r*",)),
)


@picture(
    "Start at the top. The first question decides most cases.",
    "A ladder of four questions. Is the table a large part of the model? If not, keep the plain "
    "table. Should the head be faster, too? Then low rank. Must each token keep numbers of its "
    "own? Then a tensor product for each token. Do you want to choose the size by one number? "
    "Then a tensor train. At the foot: Kronecker products, where memory is everything.",
)
def which_table() -> Panels:
    """Return a ladder of four questions that leads to a family of tables."""
    marks = ""
    for place, (question, answer, table, why) in enumerate(_QUESTIONS):
        top = 36 + 92 * place
        marks += box(4, top, 176, 52, role="quiet")
        marks += "".join(
            text(92, top + 17 + 19 * k, words, size=14) for k, words in enumerate(question)
        )
        marks += arrow((180, top + 26), (224, top + 26)) + text(200, top + 14, answer, size=13)
        marks += box(226, top + 4, 90, 44, table, role="weight")
        marks += "".join(
            text(271, top + 60 + 15 * k, words, size=12) for k, words in enumerate(why)
        )
        marks += arrow((92, top + 52), (92, top + 90))
        marks += text(104, top + 70, "yes" if answer == "no" else "no", anchor="start", size=13)
    marks += box(40, 404, 104, 40, "Kronecker", role="weight")
    marks += text(92, 458, "memory is everything", size=12)
    return Panel(320, 470, marks, title="which table?")
