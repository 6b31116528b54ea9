"""The four families by name, and sizes for them that are quick to look up and to score with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from .base import FactorisedEmbedding, Options
from .kronecker import KroneckerEmbedding
from .low_rank import LowRankEmbedding
from .shapes import balanced_factors, covering_factors
from .tensor_product import TensorProductEmbedding
from .tensor_train import TensorTrainEmbedding

FAMILIES: dict[str, Any] = {
    "low rank": LowRankEmbedding,
    "tensor product": TensorProductEmbedding,
    "Kronecker": KroneckerEmbedding,
    "tensor train": TensorTrainEmbedding,
}


def factorised_table(
    family: str,
    num_embeddings: int,
    embedding_dim: int,
    rank: int,
    *,
    factors: int = 2,
    **options: Unpack[Options],
) -> FactorisedEmbedding:
    """Return a table of a family, with sizes that are chosen for speed.

    The digits of a token are nearly equal. Of the columns, the last factor has half: the others
    together have about as many, so that a row is one product of two matrices that are alike, and
    the digits before the last are multiplied out once for all tokens. A train of three cores,
    rank 16 and width 768 looks up and scores in half the time that equal columns take.

    Args:
        family: ``"low rank"``, ``"tensor product"``, ``"Kronecker"`` or ``"tensor train"``.
        num_embeddings: number of tokens n.
        embedding_dim: length d of an embedding.
        rank: of the family: of the matrix, number of terms, or all inner ranks of the train.
        factors: how many; low rank always has two.
        options: of `FactorisedEmbedding`.

    Raises:
        TypeError: an option that no table has.
        ValueError: no such family; a rank larger than both sizes; low rank with other than two
            factors.

    Example:
        >>> factorised_table("tensor train", 50_257, 768, 16, factors=3, device="meta").column_sizes
        (4, 6, 32)
    """
    if family not in FAMILIES:
        raise ValueError(f"family: got {family!r}; accepted: {', '.join(FAMILIES)}")
    if unknown := set(options) - set(Options.__annotations__):
        accepted = ", ".join(["factors", *Options.__annotations__])
        raise TypeError(f"factorised_table: got {min(unknown)}=; accepted: {accepted}")
    kind, n, d = FAMILIES[family], num_embeddings, embedding_dim
    if kind is LowRankEmbedding:
        if factors != 2:
            raise ValueError(f"factors: got {factors}; accepted: 2, for a table of low rank")
        return LowRankEmbedding(n, d, rank, **options)
    columns = balanced_factors(d, factors)
    if factors > 2:
        others, last = balanced_factors(d, 2)
        columns = (*balanced_factors(others, factors - 1), last)
    if kind is TensorProductEmbedding:
        return TensorProductEmbedding(n, columns, rank, **options)
    made: FactorisedEmbedding = kind(
        covering_factors(n, factors), columns, rank, num_embeddings=n, **options
    )
    return made


def table_from(settings: Mapping[str, Any], **options: Unpack[Options]) -> FactorisedEmbedding:
    """Return a fresh table of the sizes that `FactorisedEmbedding.settings` gave.

    Args:
        settings: as they are, or as JSON gives them back.
        options: instead of those that they name.

    Raises:
        ValueError: they name no family.
    """
    kinds = {kind.__name__: kind for kind in FAMILIES.values()}
    given = dict(settings)
    family = given.pop("family", None)
    if family not in kinds:
        raise ValueError(f"settings: got family {family!r}; accepted: {', '.join(kinds)}")
    made: FactorisedEmbedding = kinds[family](**given | options)
    return made
