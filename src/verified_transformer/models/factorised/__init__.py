"""Factorised embeddings: tables of n rows of length d that never exist as a whole.

Each family stands in for ``nn.Embedding``: ``module(tokens)`` looks rows up, ``module.attend``
scores all tokens as a tied head does, ``from_dense`` factorises a table that exists.

| family | parameters in place of n d | source |
|---|---|---|
| `LowRankEmbedding` | r (n + d) | Lan et al. 2020 (ALBERT) |
| `TensorProductEmbedding` | n r Σ q_j | Panahi et al. 2020 (word2ket) |
| `KroneckerEmbedding` | r Σ n_j q_j | Panahi et al. 2020 (word2ketXS) |
| `TensorTrainEmbedding` | Σ r_{j-1} n_j q_j r_j | Oseledets 2011; Khrulkov et al. 2020 |
"""

from .base import FactorisedEmbedding, FromDense
from .families import factorised_table, table_from
from .kronecker import KroneckerEmbedding
from .low_rank import LowRankEmbedding
from .shapes import balanced_factors, covering_factors
from .tensor_product import TensorProductEmbedding
from .tensor_train import TensorTrainEmbedding

__all__ = [
    "FactorisedEmbedding",
    "FromDense",
    "KroneckerEmbedding",
    "LowRankEmbedding",
    "TensorProductEmbedding",
    "TensorTrainEmbedding",
    "balanced_factors",
    "covering_factors",
    "factorised_table",
    "table_from",
]
