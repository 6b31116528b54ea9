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

from .base import FactorisedEmbedding as FactorisedEmbedding
from .base import FromDense as FromDense
from .families import factorised_table as factorised_table
from .families import table_from as table_from
from .kronecker import KroneckerEmbedding as KroneckerEmbedding
from .low_rank import LowRankEmbedding as LowRankEmbedding
from .shapes import balanced_factors as balanced_factors
from .shapes import covering_factors as covering_factors
from .tensor_product import TensorProductEmbedding as TensorProductEmbedding
from .tensor_train import TensorTrainEmbedding as TensorTrainEmbedding
