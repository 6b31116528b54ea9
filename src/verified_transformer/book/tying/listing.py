"""The article's program: its demonstration, what it printed, and what its parts do."""

from __future__ import annotations

import contextlib
import io
import re
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import sympy as sp
import torch
from torch import nn

from ...seeds import seed_of
from ..real_models.hugging_face import transformers
from ..real_models.released import parameters as entries

DEMONSTRATION = """
VOCAB_SIZE = 1000
HIDDEN_SIZE = 128
model = SimpleLanguageModel(VOCAB_SIZE, HIDDEN_SIZE)
total_params = sum(p.numel() for p in model.parameters())
embedding_params = model.embedding.weight.numel()
transformer_body_params = sum(p.numel() for p in model.transformer_body.parameters())
print(f"\\n模型总参数量: {total_params}")
print(f"词嵌入层参数量: {embedding_params}")
print(f"模型主体参数量: {transformer_body_params}")
print(f"预期总参数量 (Embedding + Body): {embedding_params + transformer_body_params}")
is_tied = id(model.embedding.weight) == id(model.lm_head.weight)
print(f"\\n权重真的绑定了吗? (内存地址是否相同): {is_tied}")
print(f"Embedding weight ID: {id(model.embedding.weight)}")
print(f"LM Head weight ID: {id(model.lm_head.weight)}")
"""
PRINTED = """初始化模型...
词汇表大小: 1000
隐藏层维度: 128
执行权重绑定:self.lm_head.weight = self.embedding.weight
模型总参数量: 144512
词嵌入层参数量: 128000
模型主体参数量: 16512
预期总参数量 (Embedding + Body): 144512
权重真的绑定了吗? (内存地址是否相同): True
Embedding weight ID: 140263620290880
LM Head weight ID: 140263620290880""".splitlines()
Kind = Callable[[int, int], Any]
Assign = Callable[[nn.Linear, nn.Embedding], None]


def run(of: Kind, vocabulary: int = 1000, width: int = 128) -> tuple[Any, list[str]]:
    """Run the demonstration; return its model and what it prints, line by line.

    Args:
        of: the class of the listing, or another in its place.
        vocabulary, width: sizes in the place of the article's.
    """
    program = DEMONSTRATION.replace("= 1000", f"= {vocabulary}").replace("= 128", f"= {width}")
    names: dict[str, Any] = {"SimpleLanguageModel": of}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, names)
    return names["model"], [line for line in out.getvalue().splitlines() if line]


def compared(said: str, ours: str) -> str:
    """Say how a printed line and ours compare: the same, an id, or different."""
    return "same" if said == ours else "an id" if "ID: " in said else "DIFFERENT"


def untied(kind: Any) -> Any:
    """Return the class of the listing with the assignment undone."""

    class Untied(kind):
        def __init__(self, vocab_size: int, hidden_size: int) -> None:
            super().__init__(vocab_size, hidden_size)
            self.lm_head.weight = nn.Parameter(self.lm_head.weight.detach().clone())

    return Untied


def is_the_program(kind: Kind) -> bool:
    """Whether a class has the layers, biases, tie and printed labels of the article."""
    model, lines = run(kind, 7, 5)
    layers = {
        name: (type(part), getattr(part, "bias", None) is not None)
        for name, part in model.named_children()
    }
    wanted = {"embedding": (nn.Embedding, False), "transformer_body": (nn.Linear, True),
              "lm_head": (nn.Linear, False)}  # fmt: skip
    labels, said = (
        [re.sub(r"(\d+|True|False)$", "", x) for x in each] for each in (lines, PRINTED)
    )
    return layers == wanted and labels == said and lines[8].endswith("True")


def reads(kind: Kind, label: str, vocabulary: Any, width: Any) -> Callable[[Any], int]:
    """Return a function of a point that runs the program there and reads the number of a line."""

    def at(point: Any) -> int:
        _, lines = run(kind, int(point[vocabulary]), int(point[width]))
        return int(next(line for line in lines if line.startswith(label)).split(": ")[1])

    return at


def ids(kind: Kind) -> tuple[Any, list[int]]:
    """Return a model, which must be kept alive, and the ids that the program printed of it."""
    model, lines = run(kind)
    return model, [int(line.split(": ")[1]) for line in lines if "ID: " in line]


def nothing_new(kind: Kind) -> bool:
    """Whether the model's parameters are those of embedding and body, the head's among them."""
    model, _ = run(kind, 7, 5)
    whole, head = set(model.parameters()), set(model.lm_head.parameters())
    embedding, body = set(model.embedding.parameters()), set(model.transformer_body.parameters())
    same_count = entries(model) == entries(model.embedding) + entries(model.transformer_body)
    return whole == embedding | body and head <= embedding and same_count


def shapes(model: Any) -> dict[str, Any]:
    """Return what goes into each layer and comes out of it, and the shape of the logits."""
    seen: dict[str, Any] = {}
    names = {part: name for name, part in model.named_children()}

    def note(part: nn.Module, given: Any, out: torch.Tensor) -> None:
        seen[names[part]] = [tuple(given[0].shape), tuple(out.shape)]

    hooks = [part.register_forward_hook(note) for part in names]
    seen["model"] = tuple(model(torch.zeros(2, 5, dtype=torch.long)).shape)
    for hook in hooks:
        hook.remove()
    return seen


def as_stated(model: Any) -> bool:
    """Whether a model of 11 tokens and width 3 has the shapes that the article states."""
    hidden, logits = (2, 5, 3), (2, 5, 11)
    return shapes(model) == {
        "embedding": [(2, 5), hidden], "transformer_body": [hidden, hidden],
        "lm_head": [hidden, logits], "model": logits,
    }  # fmt: skip


# ------------------------------------------------------------------------------ the assignment


def as_listed(head: nn.Linear, embedding: nn.Embedding) -> None:
    """Tie as the listing does."""
    head.weight = embedding.weight


def by_value(head: nn.Linear, embedding: nn.Embedding) -> None:
    """Copy the numbers."""
    head.weight.data.copy_(embedding.weight)


def transposed(head: nn.Linear, embedding: nn.Embedding) -> None:
    """Transpose by hand."""
    head.weight = nn.Parameter(embedding.weight.detach().T)


def half_tie(head: nn.Linear, embedding: nn.Embedding) -> None:
    """Make another Parameter over the same memory."""
    head.weight = nn.Parameter(embedding.weight.data)


def one_object(assign: Assign) -> bool:
    """Whether an assignment leaves one Parameter under two names, and the head's own is gone."""
    embedding, head = nn.Embedding(7, 5), nn.Linear(5, 7, bias=False)
    own = weakref.ref(head.weight)
    assign(head, embedding)
    with torch.no_grad():
        embedding.weight[3, 2] = 42.0
    return head.weight is embedding.weight and head.weight[3, 2].item() == 42 and own() is None


def _by_transpose(assign: Assign, vocabulary: int, width: int) -> bool:
    embedding, head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary, bias=False)
    assign(head, embedding)
    x = torch.randn(3, width)
    return torch.allclose(head(x), x @ embedding.weight.T, atol=1e-5)


def maps_by_transpose(assign: Assign) -> bool:
    """Whether both are stored as (7, 5), and the head multiplies by the embedding's transpose."""
    stored = nn.Embedding(7, 5).weight.shape, nn.Linear(5, 7, bias=False).weight.shape
    try:
        return stored == ((7, 5), (7, 5)) and _by_transpose(assign, 7, 5)
    except RuntimeError:  # sizes do not fit
        return False


def after_transposing(vocabulary: int, width: int) -> str:
    """Say what a head does whose weight was transposed by hand."""
    try:
        right = _by_transpose(transposed, vocabulary, width)
    except RuntimeError:
        return "an error in the forward pass"
    return "the right logits" if right else "wrong logits and no error"


def pair(vocabulary: int, width: int, assign: Assign = as_listed) -> nn.ModuleDict:
    """Return an embedding and a head, tied by an assignment."""
    embedding, head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary, bias=False)
    assign(head, embedding)
    return nn.ModuleDict({"embedding": embedding, "lm_head": head})


def copy_of(assign: Assign) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the two weights of a `pair` of seven tokens and width five."""
    parts = pair(7, 5, assign)
    return parts["embedding"].weight, parts["lm_head"].weight  # type: ignore[return-value]


def two_weights_with_one_id() -> tuple[torch.Tensor, torch.Tensor]:
    """Return two weights under weight norms whose ids the article's test found equal.

    Raises:
        LookupError: a thousand pairs had none.
    """
    for _ in range(1000):
        embedding, head = nn.Embedding(7, 5), nn.Linear(5, 7, bias=False)
        for layer in (embedding, head):
            nn.utils.parametrizations.weight_norm(layer)
        if id(embedding.weight) == id(head.weight):  # the article's test says: tied
            return embedding.weight, head.weight
    raise LookupError("no two weights had one id")


# ------------------------------------------------------------------------------ how it starts

DIRECTIONS = {
    "untied": lambda d: sp.sqrt(1 + 1 / d) / 3,
    "head = embedding": lambda d: sp.sqrt((d + 1) / sp.Integer(3)),
    "embedding = head": lambda d: sp.sqrt(sp.Rational(4, 27) / d),
}


def _started(direction: str, tokens: int, width: int, seed: int) -> torch.Tensor:
    torch.manual_seed(seed_of(f"first logits {seed}") % 2**32)
    embedding, body = nn.Embedding(tokens, width), nn.Linear(width, width)
    head = nn.Linear(width, tokens, bias=False)
    if direction == "head = embedding":
        head.weight = embedding.weight
    elif direction == "embedding = head":
        embedding.weight = head.weight
    with torch.no_grad():
        return torch.as_tensor(head(body(embedding(torch.arange(tokens)))).double())


def logit_spread(direction: str, width: int) -> tuple[float, float]:
    """Return the mean standard deviation of the first logits of five models, and its error.

    Args:
        direction: one of `DIRECTIONS`: which of the two weights is assigned to the other.
        width: of the listing's model.
    """
    found = torch.stack([_started(direction, 1000, width, seed).std() for seed in range(5)])
    return found.mean().item(), found.std().item() / 5**0.5


def first_loss(direction: str) -> float:
    """Return the mean loss of the listing's model, at its sizes, on uniform labels."""
    logits = torch.stack([_started(direction, 1000, 128, seed) for seed in range(5)])
    return (logits.logsumexp(-1) - logits.mean(-1)).mean().item()


# ------------------------------------------------------------------------------ biases of heads

NEXT = tuple("""OpenAIGPTLMHeadModel GPT2LMHeadModel CTRLLMHeadModel GPTJForCausalLM
GPTNeoXForCausalLM OPTForCausalLM BloomForCausalLM LlamaForCausalLM FalconForCausalLM
MistralForCausalLM PhiForCausalLM Qwen2ForCausalLM GemmaForCausalLM MambaForCausalLM
CohereForCausalLM Olmo2ForCausalLM""".split())  # fmt: skip
GAPS = tuple(f"{name}ForMaskedLM" for name in "Bert Roberta DistilBert Electra Albert".split())


@cache
def has_bias(name: str) -> bool:
    """Whether a class of transformers builds its head with a bias."""
    kind = getattr(transformers, name)
    with torch.device("meta"):
        model = kind(kind.config_class(num_hidden_layers=1))
    return model.get_output_embeddings().bias is not None
