"""What `initial_loss` answers: the loss, its error, and why it is what it is."""

from __future__ import annotations

from dataclasses import dataclass

from .stream import Step

MOVED = 5e-4  # what moves the loss of one draw by more than this share is told


@dataclass(frozen=True)
class LossPart:
    """What one cause adds to the loss, in nats, and a few words on it."""

    name: str
    worth: float
    why: str


@dataclass(frozen=True)
class MeasuredLoss:
    """A loss that was streamed on the model itself.

    ``error`` is the standard error over texts, for these weights; ``tokens`` how many there were.
    """

    loss: float
    error: float
    tokens: int


@dataclass(frozen=True, repr=False)
class InitialLoss:
    """The loss of a model at step 0, predicted from its configuration.

    Attributes:
        name: the class.
        loss: expected cross-entropy in nats, over draws of the weights and texts of random tokens.
        error: how far one draw of the weights, on one text, may lie from it: a standard deviation.
        log_n: the loss of a uniform guess.
        cosine: between the last state and the row that the head has for the input token (mean).
        spread: standard deviation of the logits of the other tokens (mean over places).
        parts: what it is made of, in nats; `log_n` is the first, and they add up to `loss`.
        moves: what `error` is made of, in nats; its square is the sum of theirs.
        steps: second moment of every branch, and of the stream after it.
        length: tokens in a text.
        notes: what of the class or of the configuration is worth knowing.
        measured: what was found on the model, where that was asked for.

    Example:
        >>> from weightwise import initial_loss
        >>> gpt2 = {"model_type": "gpt2", "vocab_size": 50_257, "n_embd": 768, "n_layer": 12,
        ...         "n_head": 12}
        >>> round(initial_loss(gpt2).loss, 2)
        10.98
    """

    name: str
    loss: float
    error: float
    log_n: float
    cosine: float
    spread: float
    parts: tuple[LossPart, ...]
    moves: tuple[LossPart, ...]
    steps: tuple[Step, ...]
    length: int
    notes: tuple[str, ...] = ()
    measured: MeasuredLoss | None = None

    @property
    def excess(self) -> float:
        """What the loss is above that of a uniform guess."""
        return self.loss - self.log_n

    def __str__(self) -> str:
        error = f"{self.error:.4f}" if self.error >= 5e-5 else f"{self.error:.1g}"
        head = f"{self.name}: first loss {self.loss:.4f} ± {error}"
        lines = [f"{head}, log n {self.log_n:.4f}, excess {self.excess:+.4f}"]
        if self.measured is not None:
            found = self.measured
            off = 100 * (self.loss / found.loss - 1)
            text = f"{found.loss:.4f} ± {found.error:.4f} on {found.tokens} tokens"
            lines.append(f"  measured {text}; the prediction is off by {off:+.3f} %")
        shown = [part for part in self.parts if abs(part.worth) >= 5e-5]
        lines += [f"  {part.worth:+9.4f}  {part.name}: {part.why}" for part in shown]
        moved = [part for part in self.moves if part.worth >= MOVED * self.loss]
        lines += [f"  ±{part.worth:8.4f}  {part.why}" for part in moved]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    __repr__ = __str__  # a notebook shows it as `print` does
