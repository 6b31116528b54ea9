"""What a tied pair takes: parameters, bytes in a file, in memory and in training."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from ...real_models.hugging_face import transformers

Seen = TypeVar("Seen")


class Ends(nn.Module):
    """The two ends of a language model, without what is between them.

    Args:
        n: size of the vocabulary.
        d: width.
        tied: whether the head's parameter is the embedding's.
    """

    def __init__(self, n: int, d: int, tied: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d)
        self.lm_head = nn.Linear(d, n, bias=False)
        if tied:
            self.lm_head.weight = self.embedding.weight


def occupied(model: nn.Module) -> int:
    """Return the bytes of memory behind a model's parameters, each block of memory once."""
    owned = [w for module in model.modules() for w in module.parameters(recurse=False)]
    blocks = [w.untyped_storage() for w in owned]
    return sum({block.data_ptr(): block.nbytes() for block in blocks}.values())


def in_torch_archive(model: nn.Module) -> int:
    """Return the bytes of arrays in the archive that `torch.save` writes of the state dict."""
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    entries = zipfile.ZipFile(file).infolist()
    return sum(e.file_size for e in entries if e.filename.split("/")[-2] == "data")


def in_numpy_archive(model: nn.Module) -> int:
    """Return the bytes of the arrays that NumPy writes of the state dict, name by name."""
    file = io.BytesIO()
    np.savez(file, **{name: w.numpy() for name, w in model.state_dict().items()})
    file.seek(0)
    return sum(array.nbytes for array in np.load(file).values())


def through_a_folder(n: int, d: int, tied: bool, look: Callable[[Path], Seen]) -> Seen:
    """Save a small Llama with transformers and look at the folder.

    Args:
        n: size of the vocabulary.
        d: width.
        tied: its switch.
        look: what is done with the folder.
    """
    config = transformers.AutoConfig.for_model(
        "llama", vocab_size=n, hidden_size=d, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, tie_word_embeddings=tied,
        bos_token_id=0, eos_token_id=1, pad_token_id=2,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
        return look(Path(folder))


def in_safetensors(folder: Path) -> int:
    """Return the bytes of arrays in a folder's ``model.safetensors``."""
    data = (folder / "model.safetensors").read_bytes()
    header = int.from_bytes(data[:8], "little")
    arrays: dict[str, Any] = json.loads(data[8 : 8 + header])
    stored = [a["data_offsets"][1] for name, a in arrays.items() if name != "__metadata__"]
    assert max(stored) == len(data) - 8 - header, "the offsets do not end where the file does"
    return int(max(stored))


def in_training(n: int, d: int, tied: bool) -> tuple[int, int]:
    """Return the bytes of weights, gradients and Adam's averages after a step; and of the scores.

    Args:
        n: size of the vocabulary, at least 20.
        d: width.
        tied: see `Ends`.
    """
    model = Ends(n, d, tied)
    adam = torch.optim.Adam(model.parameters())
    scores = model.lm_head(model.embedding(torch.arange(20)))
    scores.logsumexp(-1).sum().backward()
    adam.step()
    averages = [s for state in adam.state.values() for s in state.values() if s.numel() > 1]
    gradients = [w.grad for w in model.parameters() if w.grad is not None]
    return sum(t.nbytes for t in (*model.parameters(), *gradients, *averages)), scores.nbytes


def random_parameter_is_the_heads(model: nn.Module, u: torch.Tensor) -> torch.Tensor:
    """Return whether a parameter drawn at random lies in ``lm_head.weight``, one answer a draw.

    Args:
        model: with a head of this name.
        u: uniform numbers between 0 and 1, (draws,).
    """
    named = [(name, w.numel()) for name, w in model.named_parameters()]
    ends = torch.cumsum(torch.tensor([size for _, size in named]), 0).to(u.device)
    owner = torch.bucketize((u.double() % 1 * ends[-1]).long(), ends, right=True)
    return (owner == [name for name, _ in named].index("lm_head.weight")).double()
