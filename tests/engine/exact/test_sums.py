"""Sums in closed form."""

import pytest
import sympy as sp

from verified_transformer import sum_geometric_series

k, q, T = sp.symbols("k q T", positive=True)


def test_a_geometric_series_is_summed_with_its_constant() -> None:
    found = sum_geometric_series(3 + sp.Sum(5 * q ** (2 * k), (k, 1, T)))
    by_hand = 3 + sum(5 * 0.7 ** (2 * n) for n in range(1, 5))
    assert float(found.subs({q: 0.7, T: 4})) == pytest.approx(by_hand)


def test_another_series_is_refused() -> None:
    with pytest.raises(ValueError, match="is not geometric; accepted: a constant ratio"):
        sum_geometric_series(sp.Sum(k * q**k, (k, 1, T)))
