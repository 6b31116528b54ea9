"""The tensor product of vectors, against torch's own, entry by entry and in batches."""

from __future__ import annotations

from functools import reduce

import pytest
import torch

from verified_transformer.models.factorised.products import tensor_product


def test_it_is_the_kronecker_product_of_vectors():
    vectors = [torch.tensor([2.0, 3.0]), torch.tensor([5.0, 7.0]), torch.tensor([1.0, 10.0, 100.0])]
    assert torch.equal(tensor_product(vectors), reduce(torch.kron, vectors))
    assert tensor_product(vectors)[:4].tolist() == [10, 100, 1000, 14]


def test_batches_are_products_one_by_one():
    left, right = torch.rand(4, 3, 2), torch.rand(4, 3, 5)
    alone = [
        [torch.kron(a, b) for a, b in zip(*rows, strict=True)]
        for rows in zip(left, right, strict=True)
    ]
    assert torch.equal(tensor_product([left, right]), torch.stack([torch.stack(a) for a in alone]))


def test_one_vector_is_itself_and_none_is_refused():
    vector = torch.rand(3)
    assert tensor_product([vector]) is vector
    with pytest.raises(ValueError, match="at least one"):
        tensor_product([])
