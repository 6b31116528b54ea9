"""How long a call takes, apart from other work on the machine, and a lookup beside its model."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ....models.factorised import TensorProductEmbedding
from ....seeds import seed_of


def median_seconds(call: Callable[[], Any], times: int = 5) -> float:
    """Return the median over several runs of the processor time of a call, in seconds.

    Raises:
        ValueError: ``times`` is not positive.
    """
    if times < 1:
        raise ValueError(f"times: got {times}; accepted: a positive number")
    spent = []
    for _ in range(times):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return statistics.median(spent)


@torch.no_grad()
def shares_of_time(seed: int) -> dict[str, float]:
    """Time a look-up and the rest of a small model of four encoder layers of torch, on one thread.

    The width is 256, which eight factors of length 2 make; two sequences of 64 tokens; medians of
    five runs.

    Returns:
        The shares of ``"rest"`` and ``"lookup"`` in the time of both.
    """
    torch.manual_seed(seed_of(f"lookup in time {seed}"))
    look, tokens = TensorProductEmbedding(1000, [2] * 8), torch.randint(1000, (2, 64))
    layers = [nn.TransformerEncoderLayer(256, 4, 1024, 0.0, batch_first=True) for _ in range(4)]
    rest, embedded = nn.Sequential(*layers, nn.Linear(256, 1000)).eval(), look(tokens)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        spent = [median_seconds(call) for call in (lambda: rest(embedded), lambda: look(tokens))]
    finally:
        torch.set_num_threads(threads)
    return dict(zip(("rest", "lookup"), (part / sum(spent) for part in spent), strict=True))
