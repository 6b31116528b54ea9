"""What the factorised embeddings have in common: the interface of a drop-in `nn.Embedding`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, Self, TypedDict, TypeVar

import torch
from torch import nn

from ..accepted import require_floating, require_positive, require_real, require_tokens
from .scoring import NUMBER, by_rows

Family = TypeVar("Family", bound="FactorisedEmbedding")
Shape = tuple[int, ...]


class Options(TypedDict, total=False):
    """What every family takes beside its sizes; `FactorisedEmbedding` says what they mean."""

    padding_idx: int | None
    σ: float
    generator: torch.Generator | None
    device: torch.device | str | None
    dtype: torch.dtype | None


class FromDense(NamedTuple, Generic[Family]):
    """A table's factorisation.

    ``relative_error`` is $\\lVert W-\\hat W\\rVert_F/\\lVert W\\rVert_F$, measured on the table
    of the module as it is returned (rounding included), the padding row left out of both; 0 for a
    table of zeros that is met exactly.
    """

    module: Family
    relative_error: float


class WithoutWeight(nn.Module):
    """A module instead of one with a ``weight``, which says what to do to who asks for it."""

    def __getattr__(self, name: str) -> Any:
        if name == "weight":
            raise AttributeError(
                f"weight: {type(self).__name__} keeps factors and no table; accepted: "
                "`num_embeddings` and `embedding_dim` for its sizes, `parameters()` for dtype, "
                "device and what learns, `dense()` for the table, made when it is asked for"
            )
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "weight":
            raise AttributeError(
                f"weight: {type(self).__name__} keeps factors, which a weight cannot replace; "
                "accepted: a table by `from_dense`, put into its model by `set_table`"
            )
        super().__setattr__(name, value)


class FactorisedEmbedding(WithoutWeight):
    """A table of n rows of length d that exists only as factors.

    In place of ``nn.Embedding`` it differs in three things: the row of ``padding_idx`` is zero
    whatever the parameters are, where torch lets it be overwritten; there is no ``weight``; and
    gradients are never sparse, for tokens share factors.

    Args:
        num_embeddings: number of tokens n.
        embedding_dim: length d of an embedding.
        shapes: of each parameter, by name; of a list of parameters, a list.
        terms: how many products of one entry from each parameter an entry of the table adds up.
        padding_idx: the token whose row is zero and takes no gradient; from the end if negative.
        σ: standard deviation of every entry of the table at the start.
        generator: source of the entries.
        device, dtype: of the parameters.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        shapes: Mapping[str, Shape | list[Shape]],
        terms: int,
        *,
        padding_idx: int | None = None,
        σ: float = 1.0,
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        require_positive(num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        require_real(σ=σ)
        if not σ > 0:
            raise ValueError(f"σ: got {σ}; accepted: a positive number")
        if dtype is not None and not dtype.is_floating_point:
            raise ValueError(f"dtype: got {dtype}; accepted: one of floats")
        self.num_embeddings, self.embedding_dim, self.σ = num_embeddings, embedding_dim, σ
        self.padding_idx, self._terms = checked_padding(padding_idx, num_embeddings), terms

        def empty(shape: Shape) -> nn.Parameter:
            return nn.Parameter(torch.empty(shape, device=device, dtype=dtype))

        for name, shape in shapes.items():
            if isinstance(shape, list):
                setattr(self, name, nn.ParameterList([empty(one) for one in shape]))
            else:
                setattr(self, name, empty(shape))
        self.reset_parameters(generator)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the embeddings of tokens.

        Args:
            tokens: any shape, int32 or int64.

        Returns:
            (\\*shape, d). Neither this nor its gradient ever makes the table: what they make is
            O(tokens · d) beside the parameters' own size. It can be differentiated once, by
            autograd: ``torch.func`` refuses all families but the low-rank one, and
            ``torch.compile(fullgraph=True)`` the tensor train, which plain ``torch.compile`` runs.

        Raises:
            TypeError: tokens are of another dtype.
            IndexError: a token is not in 0 to n - 1; on CUDA, where a check would wait for the
                device, it is a device-side assertion instead, as with ``nn.Embedding``.
        """
        require_tokens(tokens=tokens)
        flat = tokens.reshape(-1)
        dropped = None if self.padding_idx is None else flat == self.padding_idx
        return self._lookup(flat, dropped).view(*tokens.shape, self.embedding_dim)

    def attend(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the logits of a tied head, ``hidden @ table.T``.

        `scores_by` says how: through the factors, or by making the rows, a block at a time.

        Args:
            hidden: (…, d).

        Returns:
            (…, n); zero for ``padding_idx``, whose row is zero.

        Raises:
            ValueError: the last size of ``hidden`` is not d.
        """
        require_floating(hidden=hidden)
        d = self.embedding_dim
        if hidden.shape[-1:] != (d,):
            raise ValueError(f"hidden: got shape {tuple(hidden.shape)}; accepted: (…, {d})")
        flat = hidden.reshape(hidden.shape[:-1].numel(), d)
        if self.scores_by(len(flat)) == "factors":
            logits = self._scores(flat)
        else:
            factors, n = [*self.parameters()], self.num_embeddings
            logits = by_rows(self._rows, self._part, flat, *factors, n=n, unit=self._unit())
        if self.padding_idx is not None:
            logits[:, self.padding_idx] = 0
        return logits.reshape(*hidden.shape[:-1], self.num_embeddings)

    def scores_by(self, states: int) -> Literal["factors", "rows"]:
        """Say how `attend` scores so many hidden states: the way that takes less time.

        By ``"factors"`` the table is never made, and a state costs what it costs alone. By
        ``"rows"`` all rows are made, a block at a time, and then multiplied as by a dense head:
        for thousands of states it is as fast as one, for a few (a token at a time, say) much
        slower, and then a dense table (``dense()`` once, or `make_dense`) is the better head.

        Args:
            states: how many.
        """
        n, d = self.num_embeddings, self.embedding_dim
        through, made = self._score_work()
        factors = states * (through + NUMBER * made)
        dense = self._row_work() + NUMBER * n * d + states * (n * d + NUMBER * n)
        return "factors" if factors <= dense else "rows"

    def dense(self) -> torch.Tensor:
        """Return the whole table, (n, d): for small tables and for tests."""
        table = self._rows([*self.parameters()])[: self.num_embeddings]
        if self.padding_idx is None:
            return table
        rows = torch.arange(self.num_embeddings, device=table.device)
        return table.masked_fill((rows == self.padding_idx)[:, None], 0)

    def resized(self, num_embeddings: int, generator: torch.Generator | None = None) -> Self:
        """Return a table of another number of tokens, the rows of those that stay unchanged.

        Args:
            num_embeddings: n; more tokens get factors of their own (low rank, tensor product) or
                further leading digits (Kronecker, tensor train), drawn with the root mean square
                that this factor has now. All other digits they share with tokens that were there.
            generator: source of the new entries.
        """
        like: Any = next(self.parameters())
        settings = self.settings() | self._sizes(num_embeddings)
        del settings["family"]
        table = type(self)(**settings, device="meta", dtype=like.dtype)
        found = {}
        for (name, new), old in zip(table.named_parameters(), self.parameters(), strict=True):
            spread = old.detach().float().square().mean().sqrt().item()
            value = nn.init.normal_(old.new_empty(new.shape), std=spread, generator=generator)
            kept = tuple(slice(min(sizes)) for sizes in zip(new.shape, old.shape, strict=True))
            value[kept] = old.detach()[kept]
            found[name] = value
        table.load_state_dict(found, assign=True)
        for new, old in zip(table.parameters(), self.parameters(), strict=True):
            new.requires_grad_(old.requires_grad)
        return table.train(self.training)

    def settings(self) -> dict[str, Any]:
        """Return what makes a table of these sizes again, in numbers and texts that JSON has."""
        own = {"family": type(self).__name__, "padding_idx": self.padding_idx, "σ": self.σ}
        return own | self._sizes(self.num_embeddings)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all factors afresh, so that every entry of the table has variance σ².

        Args:
            generator: source of the entries; torch's own by default.
        """
        for parameter in self.parameters():
            if not parameter.is_meta:  # there is nothing to draw, and torch would take a second
                nn.init.normal_(parameter, std=self._spread(), generator=generator)

    def extra_repr(self) -> str:
        """The sizes."""
        first = f"{self.num_embeddings}, {self.embedding_dim}"
        sizes = self._sizes(self.num_embeddings)
        own = {name: size for name, size in sizes.items() if "embedding" not in name}
        padding = {} if self.padding_idx is None else {"padding_idx": self.padding_idx}
        return ", ".join([first, *(f"{name}={size}" for name, size in (own | padding).items())])

    def _filled(self, factors: Iterable[torch.Tensor], table: torch.Tensor) -> FromDense[Self]:
        """The module, off the meta device with these factors, and how far it is from a table."""
        # not `to_empty`, which on the meta device loads torch's symbolic shapes, hence SymPy
        pairs = zip(self.named_parameters(), factors, strict=True)
        found = {
            name: factor.detach()
            .to(parameter.dtype)
            .reshape(parameter.shape)
            .clone(memory_format=torch.contiguous_format)
            for (name, parameter), factor in pairs
        }
        self.load_state_dict(found, assign=True)
        with torch.no_grad():
            left = self.dense().to(table.dtype) - table
        largest = table.abs().max().item() or 1.0  # squares of entries may be out of range
        norm = torch.linalg.vector_norm(table / largest, dtype=torch.float64).item()
        missed = torch.linalg.vector_norm(left / largest, dtype=torch.float64).item()
        return FromDense(self, missed / norm if norm else missed and math.inf)

    def _lookup(self, tokens: torch.Tensor, dropped: torch.Tensor | None) -> torch.Tensor:
        """Embeddings (T, d) of tokens (T,); zero, without a gradient, where ``dropped``."""
        raise NotImplementedError

    def _scores(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits (T, n) of hidden states (T, d) by factors, a tensor that may be written to."""
        raise NotImplementedError

    def _score_work(self) -> tuple[int, int]:
        """Multiplications of `_scores` for one state, and the numbers that it makes."""
        raise NotImplementedError

    @staticmethod
    def _rows(factors: Sequence[torch.Tensor]) -> torch.Tensor:
        """Rows (m, d) of factors, or of a part of them."""
        raise NotImplementedError

    def _row_work(self) -> int:
        """Multiplications of `_rows` for the whole table."""
        raise NotImplementedError

    def _unit(self) -> int:
        """Number of rows that one index of the first factor makes."""
        return 1

    @staticmethod
    def _part(factors: Sequence[torch.Tensor], first: int, last: int) -> list[torch.Tensor]:
        """Views of the factors for indices of the first factor from one to before another."""
        raise NotImplementedError

    def _sizes(self, n: int) -> dict[str, Any]:
        """What the constructor takes for a table of n tokens that is like this one."""
        raise NotImplementedError

    def _spread(self) -> float:
        """Standard deviation of a factor's entry at the start."""
        return float((self.σ**2 / self._terms) ** (0.5 / len([*self.parameters()])))


def prepared(
    weight: torch.Tensor | nn.Embedding, padding_idx: int | None
) -> tuple[torch.Tensor, Options]:
    """Return a weight as it is to be factorised, and how to make the module for it.

    The table is in float64 where the weight is float64, else in float32, and its padding row, by
    default the embedding's, is zero. The module is made on the meta device, so that no random
    number is drawn for it. A weight that is no matrix of finite floating point is refused.
    """
    if isinstance(weight, nn.Embedding):
        padding_idx = weight.padding_idx if padding_idx is None else padding_idx
        weight = weight.weight
    if not isinstance(weight, torch.Tensor):
        raise TypeError(
            f"weight: got a {type(weight).__name__}; accepted: a tensor or an nn.Embedding"
        )
    if weight.ndim != 2 or not weight.is_floating_point():
        raise ValueError(
            f"weight: got {weight.dtype} of shape {tuple(weight.shape)}; accepted: floating "
            "point of shape (n, d)"
        )
    if weight.is_meta:
        raise ValueError("weight: got one on the meta device; accepted: one with numbers")
    if not weight.isfinite().all():
        raise ValueError("weight: got entries that are infinite or no number; accepted: finite")
    table = weight.detach().to(torch.promote_types(weight.dtype, torch.float32), copy=True)
    padding_idx = checked_padding(padding_idx, len(weight))
    if padding_idx is not None:
        table[padding_idx] = 0
    options: Options = {"padding_idx": padding_idx, "device": "meta", "dtype": weight.dtype}
    return table.contiguous(), options


def checked_padding(padding_idx: int | None, n: int) -> int | None:
    """Return ``padding_idx`` counted from the front; refuse what is not in -n to n - 1."""
    if padding_idx is None:
        return None
    if not -n <= padding_idx < n:
        raise ValueError(f"padding_idx: got {padding_idx}; accepted: {-n} to {n - 1}")
    return padding_idx % n
