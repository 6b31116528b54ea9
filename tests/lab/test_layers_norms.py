"""PyTorch's three norms are one function of data and axes."""

import pytest
import torch

from verified_transformer.lab.layers import IMAGES, norm_over, three_norms


@pytest.mark.parametrize("law", ["normal", "lopsided", "small"])
@pytest.mark.parametrize("name", ["batch", "instance", "layer"])
def test_a_norm_is_the_function_over_its_axes(name: str, law: str) -> None:
    norm, dims = three_norms(training=True)[name]
    assert torch.allclose(norm(IMAGES[law]), norm_over(IMAGES[law], dims), atol=1e-9)
    assert not torch.allclose(norm(IMAGES[law]), norm_over(IMAGES[law], (1,)), atol=1e-2)


def test_batch_norm_that_predicts_uses_stored_statistics() -> None:
    norm, _ = three_norms(training=False)["batch"]
    assert torch.allclose(norm(IMAGES["normal"]), IMAGES["normal"], rtol=1e-4)
