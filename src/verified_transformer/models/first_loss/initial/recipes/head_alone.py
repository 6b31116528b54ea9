"""Classes of whose body no budget is known, where it drops out: an untied head behind a norm."""

from __future__ import annotations

from ..body import Body, Norm, Stack
from ..settings import Settings


def untied(s: Settings) -> Body:
    """The head and the last norm alone; with a tie the body counts, and the class is refused."""
    kind = s.get("model_type")
    if s.get("tie_word_embeddings", default=False):
        raise ValueError(
            f"model_or_config: got {kind} with tie_word_embeddings = True, where the body counts, "
            "whose budget is not known; accepted: an untied head, or a Body"
        )
    σ = s.deviation("initializer_range", default=0.02)
    norm = Norm("rms", 0.0)
    note = "the head is not tied, so that its body does not move the loss; nothing of it is read"
    return Body(
        str(kind), s.whole("vocab_size"), s.whole("hidden_size"), σ,
        Stack((), "pre", norm, last=norm), tied=False, head=σ, notes=(note,),
    )  # fmt: skip
