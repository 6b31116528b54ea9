"""What one linear layer and one table of words start with, in every library, by its defaults.

    python bench/one_layer.py [--keep FOLDER] [library …]

Each library gets a fresh environment of its own (pip, its pins, a limit of time), which is thrown
away, or stays in a folder. There a few lines
draw a layer of 1000 inputs and 64 outputs, one of 64 and 1000, and tables of these shapes, four
times each; the numbers are read here. What the library says that it draws is looked up in the
installed documentation of the class, its signature included, or else in its source. A library that
cannot be installed is recorded by name, with the reason. It writes bench/one_layer.json, and the
page's tables.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.special import ndtr

from verifiedbook.writing import write_whole
from weightwise.audit.drawn import Drawn, drawn_in

RESULT = Path(__file__).with_suffix(".json")
BOOK = Path(__file__).parents[1] / "book"
SHAPES, DRAWS = ((1000, 64), (64, 1000)), 4
LIMIT = 600  # seconds for an environment, and again for its draws
TORCH = "torch==2.13.0"


@dataclass(frozen=True)
class Layer:
    """How a library makes a layer, and what it is said to draw.

    Attributes:
        name: the class, as a user writes it.
        draw: an expression in m (inputs, or words), n and ``seed``: weight and bias, or None.
        asked: the deviation that is due, in m and n.
        says: words that say so, to be found in the documentation of ``of``, or in its source.
        of: the class or function that says it, as a path.
    """

    name: str
    draw: str
    asked: str
    says: str
    of: str


@dataclass(frozen=True)
class Library:
    """Its pins, the lines that come before a draw, its two layers, and where it is documented."""

    pins: tuple[str, ...]
    lines: str
    dense: Layer
    table: Layer
    page: str

    @property
    def key(self) -> str:
        """A hash of all that decides what is drawn and looked up."""
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()[:12]


JAX = "jax==0.10.2"
GPT = (
    "import litgpt, torch\n"
    "def model(d, h, n, seed):\n"
    "    torch.manual_seed(seed)\n"
    "    config = litgpt.Config(n_layer=1, n_head=4, n_embd=d, intermediate_size=h,\n"
    "        vocab_size=n, padded_vocab_size=n, mlp_class_name='LLaMAMLP', bias=False)\n"
    "    return gpt(config)\n"
    "def numbers(module):\n"
    "    return [each.detach().numpy() for each in module.parameters()]\n"
)
OF_TORCH = (
    "def drawn(make, seed):\n"
    "    torch.manual_seed(seed)\n"
    "    return [each.detach().numpy() for each in make().parameters()]"
)
UNIFORM = "sqrt(1 / (3 * m))"
LIBRARIES: dict[str, Library] = {
    "PyTorch": Library(
        (TORCH, "numpy"),
        "import torch\n" + OF_TORCH,
        Layer("nn.Linear", "drawn(lambda: torch.nn.Linear(m, n), seed)", UNIFORM,
              r"k = \frac{1}{\text{in\_features}}", "torch.nn.Linear"),
        Layer("nn.Embedding", "drawn(lambda: torch.nn.Embedding(m, n), seed)", "1",
              r"initialized from :math:`\mathcal{N}(0, 1)`", "torch.nn.Embedding"),
        "https://docs.pytorch.org/docs/stable/nn.html",
    ),
    "transformers": Library(
        (TORCH, "transformers==5.23.0"),
        "import torch, transformers\n"
        "def model(d, h, n, seed):\n"
        "    torch.manual_seed(seed)\n"
        "    config = transformers.LlamaConfig(hidden_size=d, intermediate_size=h, vocab_size=n,\n"
        "        num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=4)\n"
        "    return transformers.LlamaForCausalLM(config).model\n"
        "def numbers(module):\n"
        "    return [each.detach().numpy() for each in module.parameters()]",
        Layer("Llama's down_proj", "numbers(model(n, m, 8, seed).layers[0].mlp.down_proj)", "0.02",
              "initializer_range: float = 0.02", "transformers.LlamaConfig"),
        Layer("Llama's table", "numbers(model(n, 8, m, seed).embed_tokens)", "0.02",
              "initializer_range: float = 0.02", "transformers.LlamaConfig"),
        "https://huggingface.co/docs/transformers/model_doc/llama",
    ),
    "Flax, linen": Library(
        ("flax==0.12.8", JAX),
        "import jax\nfrom flax import linen\n"
        "def drawn(layer, given, seed):\n"
        "    return layer.init(jax.random.key(seed), given)['params']",
        Layer("linen.Dense", "[*map(drawn(linen.Dense(n), jax.numpy.ones((1, m)), seed).get, "
              "('kernel', 'bias'))]", "sqrt(1 / m)", "default_kernel_init = "
              "initializers.lecun_normal()", "flax.linen.Dense"),
        Layer("linen.Embed", "[drawn(linen.Embed(m, n), jax.numpy.ones(1, int), seed)"
              "['embedding']]", "sqrt(1 / n)", "1.0, 'fan_in', 'normal', out_axis=0",
              "flax.linen.Embed"),
        "https://flax.readthedocs.io/en/latest/api_reference/flax.linen/layers.html",
    ),
    "Flax, nnx": Library(
        ("flax==0.12.8", JAX),
        "from flax import nnx",
        Layer("nnx.Linear", "(lambda made: [made.kernel[...], made.bias[...]])"
              "(nnx.Linear(m, n, rngs=nnx.Rngs(seed)))", "sqrt(1 / m)",
              "default_kernel_init = initializers.lecun_normal()", "flax.nnx.Linear"),
        Layer("nnx.Embed", "[nnx.Embed(m, n, rngs=nnx.Rngs(seed)).embedding[...]]", "sqrt(1 / n)",
              "1.0, 'fan_in', 'normal', out_axis=0", "flax.nnx.Embed"),
        "https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/nn/linear.html",
    ),
    "Haiku": Library(
        ("dm-haiku==0.0.17", JAX),
        "import haiku, jax\n"
        "def drawn(make, given, seed):\n"
        "    run = haiku.transform(lambda x: make()(x))\n"
        "    (found,) = run.init(jax.random.PRNGKey(seed), given).values()\n"
        "    return found",
        Layer("haiku.Linear", "[*map(drawn(lambda: haiku.Linear(n), jax.numpy.ones((1, m)), "
              "seed).get, ('w', 'b'))]", "sqrt(1 / m)", "1 / sqrt(fan_in)",
              "haiku.Linear.__init__"),
        Layer("haiku.Embed", "[drawn(lambda: haiku.Embed(m, n), jax.numpy.ones(1, int), seed)"
              "['embeddings']]", "1", "initialized via a truncated normal distribution",
              "haiku.Embed.__init__"),
        "https://dm-haiku.readthedocs.io/en/latest/api.html",
    ),
    "Equinox": Library(
        ("equinox==0.13.8", JAX),
        "import equinox, jax",
        Layer("nn.Linear", "(lambda made: [made.weight, made.bias])"
              "(equinox.nn.Linear(m, n, key=jax.random.key(seed)))", UNIFORM,
              "lim = 1 / math.sqrt(in_features_)", "equinox.nn.Linear"),
        Layer("nn.Embedding", "[equinox.nn.Embedding(m, n, key=jax.random.key(seed)).weight]", "1",
              "self.weight = jrandom.normal(", "equinox.nn.Embedding"),
        "https://docs.kidger.site/equinox/api/nn/linear/",
    ),
    "Keras": Library(
        ("keras==3.15.1", JAX),
        "import os\nos.environ['KERAS_BACKEND'] = 'jax'\nimport keras\n"
        "def drawn(layer, given, seed):\n"
        "    keras.utils.set_random_seed(seed)\n"
        "    layer.build(given)\n"
        "    return layer.get_weights()",
        Layer("layers.Dense", "drawn(keras.layers.Dense(n), (None, m), seed)",
              "sqrt(2 / (m + n))", "kernel_initializer='glorot_uniform'", "keras.layers.Dense"),
        Layer("layers.Embedding", "drawn(keras.layers.Embedding(m, n), (None,), seed)",
              "0.05 / sqrt(3)", "minval=-0.05", "keras.initializers.RandomUniform"),
        "https://keras.io/api/layers/core_layers/embedding/",
    ),
    "Paddle": Library(
        ("paddlepaddle==3.3.1",),
        "import paddle\n"
        "def drawn(make, seed):\n"
        "    paddle.seed(seed)\n"
        "    return [each.numpy() for each in make().parameters()]",
        Layer("nn.Linear", "drawn(lambda: paddle.nn.Linear(m, n), seed)", "sqrt(2 / (m + n))",
              "the parameter is initialized with Xavier", "paddle.nn.Linear"),
        Layer("nn.Embedding", "drawn(lambda: paddle.nn.Embedding(m, n), seed)",
              "sqrt(2 / (m + n))", "", "paddle.nn.Embedding"),
        "https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/nn/Linear_en.html",
    ),
    "MindSpore": Library(
        ("mindspore==2.10.0",),
        "import mindspore\n"
        "from mindspore import nn\n"
        "def drawn(make, seed):\n"
        "    mindspore.set_seed(seed)\n"
        "    return [each.asnumpy() for each in make().get_parameters()]",
        Layer("nn.Dense", "drawn(lambda: nn.Dense(m, n), seed)", "sqrt(2 / m)",
              "weight will be initialized using HeUniform", "mindspore.nn.Dense"),
        Layer("nn.Embedding", "drawn(lambda: nn.Embedding(m, n), seed)", "0.01",
              "Default: ``'normal'``", "mindspore.nn.Embedding"),
        "https://www.mindspore.cn/docs/en/master/api_python/nn/mindspore.nn.Dense.html",
    ),
    "x-transformers": Library(
        (TORCH, "x-transformers==2.31.10"),
        "import torch, x_transformers\n"
        "def model(d, n, seed):\n"
        "    torch.manual_seed(seed)\n"
        "    layers = x_transformers.Decoder(dim=d, depth=1, heads=1)\n"
        "    return x_transformers.TransformerWrapper(num_tokens=n, max_seq_len=8,\n"
        "        attn_layers=layers)\n"
        "def numbers(module):\n"
        "    return [each.detach().numpy() for each in module.parameters()]",
        Layer("TransformerWrapper's to_logits", "numbers(model(m, n, seed).to_logits)", UNIFORM,
              "self.to_logits = LinearNoBias(dim, logits_dim)",
              "x_transformers.TransformerWrapper"),
        Layer("TransformerWrapper's token_emb", "numbers(model(n, m, seed).token_emb)",
              "sqrt(2 / n)", "nn.init.kaiming_normal_(self.emb.weight)",
              "x_transformers.x_transformers.TokenEmbedding"),
        "https://github.com/lucidrains/x-transformers",
    ),
    "litgpt": Library(
        (TORCH, "litgpt==0.5.13"),
        GPT + "gpt = litgpt.GPT",
        Layer("GPT's mlp.fc_1", "numbers(model(m, n, 8, seed).transformer.h[0].mlp.fc_1)", UNIFORM,
              "nn.Linear", "litgpt.GPT"),
        Layer("GPT's wte", "numbers(model(n, 8, m, seed).transformer.wte)", "1",
              "wte=nn.Embedding(", "litgpt.GPT"),
        "https://github.com/Lightning-AI/litgpt",
    ),
    "litgpt, pretrain": Library(
        (TORCH, "litgpt==0.5.13"),
        GPT + "import lightning\nfrom litgpt.pretrain import initialize_weights\n"
        "def gpt(config):\n"
        "    drawn, fabric = litgpt.GPT(config), lightning.Fabric(accelerator='cpu', devices=1)\n"
        "    initialize_weights(fabric, drawn, config.n_layer, config.n_embd)\n"
        "    return drawn",
        Layer("GPT's mlp.fc_1", "numbers(model(m, n, 8, seed).transformer.h[0].mlp.fc_1)",
              "sqrt(2 / (5 * m))", "math.sqrt(2.0 / 5 / n_embd)",
              "litgpt.pretrain.initialize_weights"),
        Layer("GPT's wte", "numbers(model(n, 8, m, seed).transformer.wte)", "sqrt(2 / (5 * n))",
              "math.sqrt(2.0 / 5 / n_embd)", "litgpt.pretrain.initialize_weights"),
        "https://github.com/Lightning-AI/litgpt",
    ),
    "torchtitan": Library(
        (TORCH, "torchtitan==0.3.0", "triton==3.9.0"),
        "import torch\n"
        "from torchtitan.models import llama3\n"
        "def drawn(config, seed):\n"
        "    torch.manual_seed(seed)\n"
        "    layer = config.build()\n"
        "    layer.init_states()\n"
        "    return [each.detach().numpy() for each in layer.parameters()]",
        Layer("Llama 3's w1", "drawn(llama3.Linear.Config(in_features=m, out_features=n, "
              "param_init=llama3._LINEAR_INIT), seed)", "0.02",
              "partial(nn.init.trunc_normal_, std=0.02)", "torchtitan.models.llama3"),
        Layer("Llama 3's tok_embeddings", "drawn(llama3.Embedding.Config(num_embeddings=m, "
              "embedding_dim=n, param_init=llama3._EMBEDDING_INIT), seed)", "1",
              "partial(nn.init.normal_, std=1.0)", "torchtitan.models.llama3"),
        "https://github.com/pytorch/torchtitan",
    ),
    "unit-scaling": Library(
        (TORCH, "unit-scaling==0.3.5", "numpy"),
        "import torch, unit_scaling\n" + OF_TORCH,
        Layer("Linear", "drawn(lambda: unit_scaling.Linear(m, n), seed)", UNIFORM,
              r"k = \frac{1}{\text{in\_features}}", "unit_scaling.Linear"),
        Layer("Embedding", "drawn(lambda: unit_scaling.Embedding(m, n), seed)", "1",
              r"initialized from :math:`\mathcal{N}(0, 1)`", "unit_scaling.Embedding"),
        "https://graphcore-research.github.io/unit-scaling/",
    ),
    "TensorLy-Torch": Library(
        (TORCH, "tensorly-torch==0.5.0", "tensorly==0.10.0", "packaging"),
        "import torch, tltorch\n"
        "shape = {64: (4, 4, 4), 1000: (10, 10, 10)}\n"
        "def drawn(make, seed):\n"
        "    torch.manual_seed(seed)\n"
        "    made = make()\n"
        "    bias = getattr(made, 'bias', None)\n"
        "    found = [made.weight.to_matrix(), *([] if bias is None else [bias])]\n"
        "    return [each.detach().numpy() for each in found]",
        Layer("FactorizedLinear", "drawn(lambda: tltorch.FactorizedLinear(shape[m], shape[n]), "
              "seed)", "sqrt(5 / m)", "math.sqrt(5)/math.sqrt(self.in_features)",
              "tltorch.FactorizedLinear"),
        Layer("FactorizedEmbedding", "drawn(lambda: tltorch.FactorizedEmbedding(m, n), seed)",
              UNIFORM, "target_stddev = 1 / np.sqrt(3 * self.num_embeddings)",
              "tltorch.FactorizedEmbedding"),
        "https://tensorly.org/torch/stable/modules/api.html",
    ),
    "tinygrad": Library(
        ("tinygrad==0.14.0", "numpy"),
        "import tinygrad\n"
        "from tinygrad import nn\n"
        "def drawn(make, seed):\n"
        "    tinygrad.Tensor.manual_seed(seed)\n"
        "    made = make()\n"
        "    bias = getattr(made, 'bias', None)\n"
        "    return [made.weight.numpy(), *([] if bias is None else [bias.numpy()])]",
        Layer("nn.Linear", "drawn(lambda: nn.Linear(m, n), seed)", UNIFORM,
              "bound = 1 / math.sqrt(in_features)", "tinygrad.nn.Linear"),
        Layer("nn.Embedding", "drawn(lambda: nn.Embedding(m, n), seed)", "sqrt(2 / (m + n))",
              "Tensor.glorot_uniform(vocab_size, embed_size)", "tinygrad.nn.Embedding"),
        "https://docs.tinygrad.org/nn/",
    ),
    "MLX": Library(
        ("mlx[cpu]==0.32.4", "numpy"),
        "import mlx.core, mlx.nn, numpy\n"
        "def drawn(make, seed):\n"
        "    mlx.core.random.seed(seed)\n"
        "    made = make()\n"
        "    return [numpy.array(made[name]) for name in ('weight', 'bias') if name in made]",
        Layer("nn.Linear", "drawn(lambda: mlx.nn.Linear(m, n), seed)", UNIFORM,
              "The values are initialized from the uniform distribution", "mlx.nn.Linear"),
        Layer("nn.Embedding", "drawn(lambda: mlx.nn.Embedding(m, n), seed)", "sqrt(1 / n)",
              "scale = math.sqrt(1 / dims)", "mlx.nn.Embedding"),
        "https://ml-explore.github.io/mlx/build/html/python/nn/layers.html",
    ),
}  # fmt: skip


def program(library: Library, to: Path) -> str:
    """What the library's own Python runs: it draws, looks up what is said, tells its versions."""
    return f"""
import importlib.metadata, inspect, json, numpy, pydoc, re
from math import sqrt
{library.lines}
found = {{}}
for layer, draw in (("dense", lambda m, n, seed: {library.dense.draw}),
                    ("table", lambda m, n, seed: {library.table.draw})):
    for m, n in {SHAPES}:
        made = [[numpy.asarray(each, numpy.float32) for each in draw(m, n, seed)
                 if each is not None] for seed in range({DRAWS})]
        for name, each in zip(("weight", "bias"), zip(*made)):
            found[f"{{layer}} {{m}} {{n}} {{name}}"] = numpy.stack(each)
numpy.savez({str(to)!r}, **found)
told = []
for path, words in {[(each.of, each.says) for each in (library.dense, library.table)]}:
    owner = pydoc.locate(path)
    said = f"{{inspect.getdoc(owner)}} {{inspect.signature(owner) if callable(owner) else ''}}"
    source = inspect.getsource(inspect.getmodule(owner))
    alike = [re.sub(r"\\s+", " ", text) for text in (said, source)]
    stands = [bool(words) and words in text for text in alike]
    told.append("documented" if stands[0] else "source" if stands[1] else "nowhere")
names = {[re.split(r"[=[]", pin)[0] for pin in library.pins]}
print(json.dumps([told, {{name: importlib.metadata.version(name) for name in names}}]))
"""


def drawn(library: Library, python: Path | str) -> dict[str, Any]:
    """What an interpreter that has a library draws of its two layers, and where that is said."""
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "drawn.npz"
        done = subprocess.run(
            [python, "-W", "ignore", "-c", program(library, to)],
            cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=LIMIT,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        (*said,), versions = json.loads(done.stdout.splitlines()[-1])
        arrays = dict(np.load(to))
    found: dict[str, Any] = {"key": library.key, "versions": versions}
    for kind, layer, where in zip(
        ("dense", "table"), (library.dense, library.table), said, strict=True
    ):
        found[kind] = {"said": where, "shapes": {
            f"{m} {n}": numbers(layer, arrays, kind, m, n) for m, n in SHAPES
        }}  # fmt: skip
    return found


def numbers(layer: Layer, arrays: dict[str, Any], kind: str, m: int, n: int) -> dict[str, Any]:
    """The readings of a layer's four draws, beside the deviation that is due."""
    each = [drawn_in(torch.from_numpy(one)) for one in arrays[f"{kind} {m} {n} weight"]]
    read = drawn_in(torch.from_numpy(arrays[f"{kind} {m} {n} weight"]))
    apart = np.std([one.deviation for one in each], ddof=1)
    error = max(
        math.sqrt((read.kurtosis - 1) / 4 / read.count), apart / read.deviation / DRAWS**0.5
    )
    bias = arrays.get(f"{kind} {m} {n} bias")
    due = eval(layer.asked, {"sqrt": math.sqrt, "m": m, "n": n})  # a formula of this file
    return {
        "deviation": read.deviation, "error": read.deviation * error, "asked": due,
        "mean": read.mean, "largest": read.largest, "kurtosis": read.kurtosis, "law": law(read),
        "bias": "none" if bias is None else law(drawn_in(torch.from_numpy(bias))),
    }  # fmt: skip


def law(read: Drawn) -> str:
    """A word for a law: uniform, normal, "cut at 2" (of the deviations of the uncut one), zero."""
    if not read.deviation:
        return "zero" if read.mean == 0 else read.law
    if not read.law.startswith("normal, cut"):
        return read.law
    cuts = [c / 2 for c in range(2, 9)]
    near = min(cuts, key=lambda c: abs(c / math.sqrt(kept(c)) - read.largest))
    return f"cut at {near:g}"


def kept(c: float) -> float:
    """The book's γ: how much of a normal law's variance a cut at c deviations keeps."""
    density = math.exp(-c * c / 2) / math.sqrt(2 * math.pi)
    return float(1 - 2 * c * density / (ndtr(c) - ndtr(-c)))


def environment(library: Library, folder: Path) -> Path:
    """The Python of an environment that has a library's pins, made where it is not there yet."""
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
    done = subprocess.run(
        [python, "-m", "pip", "install", "-q", *library.pins],
        capture_output=True, encoding="utf-8", check=False, timeout=LIMIT,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(next(line for line in done.stderr.splitlines() if "ERROR" in line))
    return python


def made_anew(name: str, keep: Path | None = None) -> dict[str, Any]:
    """What a library draws in an environment of its own, or why it does not."""
    library, folder = LIBRARIES[name], keep or Path(tempfile.mkdtemp())
    try:
        return drawn(library, environment(library, folder / re.sub(r"\W+", "-", name)))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return {"key": library.key, "error": str(error)[:200], "pins": library.pins}
    finally:
        if keep is None:
            shutil.rmtree(folder)


def layers(known: dict[str, Any]) -> list[tuple[str, Layer, str, list[dict[str, Any]]]]:
    """Every layer that was drawn: library, layer, where it is said, its readings by shape."""
    return [
        (name, getattr(library, kind), told[kind]["said"], [*told[kind]["shapes"].values()])
        for kind in ("dense", "table") for name, library in LIBRARIES.items()
        if "error" not in (told := known["libraries"][name])
    ]  # fmt: skip


def row(known: dict[str, Any], name: str, layer: Layer, said: str, both: Any, ours: float) -> str:
    """A line of a table: a layer, its deviations, and how far they are from PyTorch's."""
    one, other = both
    where = {"documented": "documented", "source": "in its code"}.get(said, "said nowhere")
    if not as_said(one):
        where += f", × {one['deviation'] / one['asked']:.3g}"
    cells = [
        f"[{name}]({LIBRARIES[name].page}) {version(known['libraries'][name])}, `{layer.name}`",
        f"{one['deviation']:.3g}", f"{other['deviation']:.3g}", f"{one['deviation'] / ours:.3g}",
        one["law"], *([other["bias"]] if layer is LIBRARIES[name].dense else []),
        f"${formula(layer.asked)}$, {where}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def formula(asked: str) -> str:
    """What is due, as LaTeX: of sqrt(1 / (3 * m)) it is \\sqrt{1/(3m)}."""
    return re.sub(r"sqrt\((.*)\)", r"\\sqrt{\1}", asked.replace(" * ", "").replace(" ", ""))


def version(told: dict[str, Any]) -> str:
    """The library's own version: that of a pin which is not what it stands on."""
    below = {"numpy", "jax", "torch", "triton", "tensorly", "packaging"}
    own = [number for name, number in told["versions"].items() if name not in below]
    return (own or [told["versions"]["torch"]])[0].split("+")[0]


def as_said(one: dict[str, Any]) -> bool:
    """Whether a deviation is the one that is due, within six of its errors."""
    return bool(abs(one["deviation"] - one["asked"]) < 6 * one["error"])


def cuts(known: dict[str, Any], *, repaired: bool) -> str:
    """The layers of which the law is cut, and the deviation is what is due, or is not."""
    found = [
        f"{name}'s `{layer.name}`" for name, layer, _, (one, _) in layers(known)
        if one["law"].startswith("cut") and as_said(one) == repaired
    ]  # fmt: skip
    return ", ".join(found) or "none"


def ends(known: dict[str, Any], kind: str) -> str:
    """The narrowest and the widest start of a kind of layer."""
    sizes = {name: both[0]["deviation"] for name, layer, _, both in layers(known)
             if layer is getattr(LIBRARIES[name], kind)}  # fmt: skip
    (least, low), (most, high) = (f(sizes.items(), key=lambda pair: pair[1]) for f in (min, max))
    return f"{low:.3g} ({least}) and {high:.3g} ({most}), a factor of {high / low:.3g}"


def page(known: dict[str, Any]) -> str:
    """The page's two tables, and what they come to."""
    absent = [f"{name} ({told['error']})" for name, told in known["libraries"].items()
              if "error" in told]  # fmt: skip
    lines = [
        f"Recorded on {known['day']} by `python bench/one_layer.py` ({known['machine']}, Python "
        f"{known['python']}), {DRAWS} draws each.",
        *([f"Installed, or not, but not run: {'; '.join(absent)}."] if absent else []), "",
    ]  # fmt: skip
    heads = {
        "dense": "| linear layer | 1000 → 64 | 64 → 1000 | over PyTorch's | law | bias | due |",
        "table": "| table of words | 1000 × 64 | 64 × 1000 | over PyTorch's | law | due |",
    }
    for kind, head in heads.items():
        ours = known["libraries"]["PyTorch"][kind]["shapes"]["1000 64"]["deviation"]
        lines += [head, "|---" * (head.count("|") - 1) + "|"]
        lines += [row(known, *each, ours) for each in layers(known)
                  if each[1] is getattr(LIBRARIES[each[0]], kind)]  # fmt: skip
        lines.append("")
    lines.append(
        f"Cut at two deviations, and divided by $\\sqrt{{\\gamma(2)}}$, so that what is due is "
        f"there: {cuts(known, repaired=True)}. Cut, and left so, at {kept(2) ** 0.5:.3g} of it: "
        f"{cuts(known, repaired=False)}. Nobody else cuts. The ends of a linear layer with 1000 "
        f"inputs are {ends(known, 'dense')}; of a table of 1000 words {ends(known, 'table')}."
    )
    return "\n".join(lines) + "\n"


def main(names: Sequence[str], keep: Path | None) -> None:
    """Make what is asked for anew, keep it with what is known, and write the page's tables."""
    known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {"libraries": {}}
    for name in names or LIBRARIES:
        known["libraries"][name] = made_anew(name, keep)
        known["libraries"][name]["day"] = time.strftime("%Y-%m-%d")
        print(name, known["libraries"][name].get("error", "drawn"), flush=True)
        known |= {
            "day": max(told["day"] for told in known["libraries"].values()),
            "command": "python bench/one_layer.py", "python": platform.python_version(),
            "machine": f"{platform.system()}, {platform.machine()}",
        }  # fmt: skip
        known["libraries"] = {
            each: known["libraries"][each] for each in LIBRARIES if each in known["libraries"]
        }
        write_whole(RESULT, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    if set(known["libraries"]) == set(LIBRARIES):
        write_whole(BOOK / "one-layer.txt", page(known))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="a folder for the environments, which stay there")
    parser.add_argument("names", nargs="*", choices=[[], *LIBRARIES])
    given = parser.parse_args()
    main(given.names, given.keep)
