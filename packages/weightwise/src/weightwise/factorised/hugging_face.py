"""Factorised tables inside models of the library transformers: set, tied, resized, saved, loaded.

    >>> import transformers
    >>> from weightwise import LowRankEmbedding, set_table
    >>> config = transformers.GPT2Config(vocab_size=100, n_embd=8, n_layer=1, n_head=2)
    >>> model = set_table(transformers.GPT2LMHeadModel(config), LowRankEmbedding(100, 8, 3, σ=0.02))
    >>> type(model).__name__, type(model.lm_head).__name__
    ('FactorisedGPT2LMHeadModel', 'FactorisedHead')

The model's class becomes a subclass of what it was, as under ``torch.nn.utils.parametrize``: it
ties, resizes, saves and loads with the table that it has. Needs ``transformers``.
"""

from __future__ import annotations

import copy
import gc
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import nn

from .base import FactorisedEmbedding, WithoutWeight
from .families import table_from

Model = TypeVar("Model", bound=nn.Module)
VARIANT = "factorised"  # in the names of weight files, so that no plain class reads them unawares
PREFIX = "Factorised"


class FactorisedHead(WithoutWeight):
    """A tied head: it scores all tokens by the factorised table that its model has.

    Args:
        model: whose table scores, whichever it has by then. The table's parameters are not the
            head's, so that they are counted, moved and saved once.
        bias: (n,), added to the logits.
    """

    def __init__(self, model: nn.Module, bias: nn.Parameter | None = None) -> None:
        super().__init__()
        self._of: tuple[Any] = (model,)  # in a tuple, where torch does not register it
        self.register_parameter("bias", bias)

    @property
    def table(self) -> FactorisedEmbedding:
        """The table that scores.

        Raises:
            TypeError: the model was given another embedding since.
        """
        found = self._of[0].get_input_embeddings()
        if not isinstance(found, FactorisedEmbedding):
            raise TypeError(
                f"model: got {type(found).__name__} for its embedding; accepted: a factorised "
                "table, which its tied head scores by, or `make_dense` of the whole model"
            )
        return found

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits (…, n) of hidden states (…, d)."""
        logits = self.table.attend(hidden)
        return logits if self.bias is None else logits + self.bias


@torch.inference_mode(False)
def set_table(model: Model, table: FactorisedEmbedding) -> Model:
    """Put a factorised table into a model instead of its embedding, and of its tied head.

    Args:
        model: of transformers, such as ``GPT2LMHeadModel``, ``BertForMaskedLM``,
            ``LlamaForCausalLM`` or ``T5ForConditionalGeneration``; changed in place. An untied
            head stays as it is.
        table: of the model's vocabulary, width and ``padding_idx``; it takes the embedding's dtype
            and device, and is frozen where the embedding is.

    Returns:
        The model. It runs, trains, generates and compiles as before; ``tie_weights``,
        ``resize_token_embeddings`` and ``save_pretrained`` know of the table, `load_with_table`
        reads what was saved, and `make_dense` gives a plain model back.

    Raises:
        TypeError: the table is no factorised one.
        ValueError: the table has other sizes than the model's, or was made in inference mode; the
            model is none of transformers, or a part of one whose head is tied or whose table is
            set; it has no plain ``nn.Embedding`` (Gemma's multiplies its rows), one with hooks,
            ``max_norm``, ``scale_grad_by_freq`` or sparse gradients, or uses it in other places
            than its inputs and its head; its forward pass asks for a ``weight`` (a tied Mamba's).
    """
    if not isinstance(table, FactorisedEmbedding):
        raise TypeError(f"table: got {type(table).__name__}; accepted: a FactorisedEmbedding")
    if any(parameter.is_inference() for parameter in table.parameters()):
        raise ValueError("table: got one made in inference mode; accepted: one that can learn")
    old = _embedding_of(model)
    for name in ("num_embeddings", "embedding_dim", "padding_idx"):
        wanted, given = getattr(old, name), getattr(table, name)
        if wanted != given:
            raise ValueError(f"table: got {name} = {given}; accepted: {wanted}, as in the model")
    if any(parameter.is_meta for parameter in table.parameters()) and not old.weight.is_meta:
        raise ValueError("table: got one on the meta device; accepted: one with numbers")
    if _held_elsewhere(model, old):
        raise ValueError(
            f"model: got a {type(model).__name__} whose table another module has as well, such as "
            "a tied head; accepted: the model as a whole"
        )
    if isinstance(old, nn.Embedding):
        _require_no_weight(model, table)
    _put(model, old, table)
    return model


def _require_no_weight(model: Any, table: FactorisedEmbedding) -> None:
    """Refuse a class whose forward pass asks for a weight that is not there any more.

    It is tried on two tokens, on a model of its configuration that has shapes and no numbers. A
    class that cannot run so, for another reason, is let through.
    """
    from ..growth.stock import made

    config = copy.deepcopy(model.config)
    try:
        twin = made(type(model)._plain if isinstance(model, _WithTable) else type(model), config,
                    "meta")  # fmt: skip
        _put(twin, twin.get_input_embeddings(), copy.deepcopy(table).to("meta"))
        tokens = torch.zeros((1, 2), dtype=torch.long, device="meta")
        given = {"input_ids": tokens}
        if getattr(config, "is_encoder_decoder", False):
            given["decoder_input_ids"] = tokens
        with torch.no_grad():
            twin.eval()(**given)
    except AttributeError as error:
        if "keeps factors and no table" in str(error):
            raise ValueError(
                f"model: got {type(model).__name__}, whose forward pass asks its table or its tied "
                "head for a weight; accepted: a class that looks up and scores, or the same with "
                "an untied head"
            ) from error
    except Exception:  # of a class that looks at numbers, or is made by no configuration alone
        return


@torch.inference_mode(False)
def make_dense(model: Model) -> Model:
    """Put a plain ``nn.Embedding`` with the rows of its factorised table into a model.

    This is how a model leaves for a library that wants a ``weight``, and the faster form for
    generating where scores by factors take longer.

    Args:
        model: changed in place by `set_table` or given by `load_with_table`.

    Returns:
        The model, of the class that it was of before.

    Raises:
        ValueError: the model has no factorised table, one with hooks, or is a part of another.
    """
    if not isinstance(model, _WithTable):
        raise ValueError(f"model: got {type(model).__name__}; accepted: one that `set_table` gave")
    table: Any = _embedding_of(model)
    frozen = not any(parameter.requires_grad for parameter in table.parameters())
    plain = nn.Embedding.from_pretrained(
        table.dense().detach(), freeze=frozen, padding_idx=table.padding_idx
    )
    head = model.get_output_embeddings()
    for module in model.modules():
        if isinstance(module, _WithTable):
            module.__class__ = module._plain
            for name in ("_tied_weights_keys", "_part_of"):
                module.__dict__.pop(name, None)
    model.set_input_embeddings(plain)
    if isinstance(head, FactorisedHead):
        linear = nn.Linear(*plain.weight.shape[::-1], bias=False, device="meta")
        linear.weight, linear.bias = plain.weight, head.bias
        model.set_output_embeddings(linear)
    model.all_tied_weights_keys = model.get_expanded_tied_weights_keys(all_submodels=True)
    model.tie_weights()
    return model


def load_with_table(folder: str | Path, **options: Any) -> Any:
    """Load a model with its factorised table from where ``save_pretrained`` put it.

    Args:
        folder: that ``model.save_pretrained(folder)`` wrote, of a model that `set_table` gave. A
            plain class's ``from_pretrained`` finds no weights in it, instead of dropping the table.
        options: of ``from_pretrained``, such as ``dtype``.

    Raises:
        ValueError: there is no such folder, or it holds no model with a factorised table.
    """
    import transformers

    if not isinstance(folder, str | Path) or not (Path(folder) / "config.json").is_file():
        raise ValueError(f"folder: got {folder!r}; accepted: the path of one with a config.json")
    config = transformers.AutoConfig.from_pretrained(folder)
    name = ((config.architectures or [""])[0]).removeprefix(PREFIX)
    plain = getattr(transformers, name, None)
    if not hasattr(config, "factorised_table") or plain is None:
        raise ValueError(
            f"folder: got {folder}, a {name or 'model'} without a factorised table; accepted: a "
            "folder that `save_pretrained` wrote for a model that `set_table` gave"
        )
    options = {"variant": VARIANT, "config": config, "output_loading_info": True} | options
    model, told = _factorised(plain).from_pretrained(folder, **options)
    if told["missing_keys"]:
        missing = ", ".join(sorted(told["missing_keys"]))
        raise ValueError(f"folder: got {folder}, without {missing}; accepted: all that it saved")
    return model


class _WithTable:
    """What a class of transformers does otherwise once its table is factorised."""

    _plain: Any
    _part_of: str  # of a body, the model whose table it shares
    config: Any
    _tied_weights_keys: dict[str, str]

    def __init__(self, config: Any, *inputs: Any, **options: Any) -> None:
        super().__init__(config, *inputs, **options)  # type: ignore[call-arg]  # the plain class
        model: Any = self
        settings = config.__dict__.pop("factorised_table")  # of the file, not of who shares it
        _put(model, _embedding_of(model), table_from(settings))

    def get_expanded_tied_weights_keys(self, all_submodels: bool = False) -> dict[str, str]:
        return dict(self._tied_weights_keys or {})  # classes without a head have None

    def tie_weights(self, *inputs: Any, **options: Any) -> None:
        """As in the plain class; a head that is untied is tied where the configuration says so.

        The bias of a tied head is made as long as the table, which may have been set on the body.
        """
        model: Any = self
        head = model.get_output_embeddings()
        table = model.get_input_embeddings()
        if isinstance(head, FactorisedHead):
            _fit_bias(model, head, head.table.num_embeddings)
        if isinstance(table, FactorisedEmbedding):
            model.set_input_embeddings(table)  # in T5 in three places
            _name_ties(model, table, model._tied_weights_keys or {})
        if self.config.tie_word_embeddings and isinstance(head, nn.Linear):
            model.set_output_embeddings(FactorisedHead(model, head.bias))
        super().tie_weights(*inputs, **options)  # type: ignore[misc]

    @torch.inference_mode(False)
    def resize_token_embeddings(
        self,
        new_num_tokens: int | None = None,
        pad_to_multiple_of: int | None = None,
        mean_resizing: bool = False,
    ) -> FactorisedEmbedding:
        """As in the plain class; `FactorisedEmbedding.resized` says what the new rows are.

        Raises:
            ValueError: ``mean_resizing``, which sets rows that here share factors with others; the
                model is a part of another; its table has hooks.
        """
        if mean_resizing:
            raise ValueError(
                "mean_resizing: got True; accepted: False, for new rows of a factorised table are "
                "made of factors that other rows have as well"
            )
        model: Any = self
        table, head = _embedding_of(model), model.get_output_embeddings()
        if new_num_tokens is None and pad_to_multiple_of is None:
            return table
        n, step = new_num_tokens or table.num_embeddings, pad_to_multiple_of or 1
        n = -(-n // step) * step
        if isinstance(head, FactorisedHead):
            _fit_bias(model, head, n)
        elif head is not None:
            model.set_output_embeddings(model._get_resized_lm_head(head, n, mean_resizing=False))
        _put(model, table, table.resized(n))
        model.config.get_text_config().vocab_size = model.vocab_size = n
        model.tie_weights()
        return model.get_input_embeddings()

    def save_pretrained(self, folder: str | Path, *inputs: Any, **options: Any) -> None:
        """As in the plain class, in files that `load_with_table` reads and no plain class does."""
        table: Any = self.get_input_embeddings()  # type: ignore[attr-defined]
        self.config.factorised_table = table.settings()
        try:
            super().save_pretrained(  # type: ignore[misc]
                folder, *inputs, **{"variant": VARIANT} | options
            )
        finally:  # other models may share the configuration
            del self.config.factorised_table

    def _init_weights(self, module: Any) -> None:
        if isinstance(module, _WithTable):  # T5 would draw the ``weight`` of its table
            return
        try:
            super()._init_weights(module)  # type: ignore[misc]
        except AttributeError:  # as the embeddings of ModernBERT would
            if not any(isinstance(each, WithoutWeight) for each in module.children()):
                raise

    def __reduce__(self) -> Any:
        return _empty, (self._plain,), self.__dict__


@cache
def _factorised(plain: Any) -> Any:
    """The subclass of a class of transformers whose table is factorised."""
    own = {"_plain": plain, "__module__": plain.__module__, "__doc__": plain.__doc__}
    return type(PREFIX + plain.__name__, (_WithTable, plain), own)


def _empty(plain: Any) -> Any:
    """What pickle and copy fill."""
    return object.__new__(_factorised(plain))


def _embedding_of(model: Any) -> Any:
    """The embedding of a model, if a factorised one can stand in for it."""
    import transformers

    if not isinstance(model, transformers.PreTrainedModel):
        raise ValueError(
            f"model: got {type(model).__name__}; accepted: a model of transformers (in one of your "
            "own, call `table(tokens)` where it looks up, `table.attend(hidden)` where it scores)"
        )
    if whole := model.__dict__.get("_part_of"):
        raise ValueError(
            f"model: got the {type(model).__name__} of a {whole}; accepted: the {whole} as a "
            "whole, whose other parts share its table"
        )
    found = model.get_input_embeddings()
    if type(found) is not nn.Embedding and not isinstance(found, FactorisedEmbedding):
        raise ValueError(
            f"model: got {type(model).__name__} with {type(found).__name__}; accepted: a plain "
            "nn.Embedding, for what another one does to its rows would be lost"
        )
    given = [name for name in ("max_norm", "sparse", "scale_grad_by_freq")
             if getattr(found, name, None)]  # fmt: skip
    if given:
        raise ValueError(
            f"model: got an embedding with {given[0]}; accepted: one without, for tokens share the "
            "factors' rows"
        )
    hung: list[Any] = [found._forward_hooks, found._forward_pre_hooks, found._backward_hooks,
                       found._backward_pre_hooks]  # fmt: skip
    for each in found.parameters():
        hung += [each._backward_hooks, getattr(each, "_post_accumulate_grad_hooks", None)]
    if any(hung):
        raise ValueError(
            "model: got an embedding with hooks, which another table would lose; accepted: one "
            "without; register them after the table is set"
        )
    return found


def _held_elsewhere(model: Any, old: Any) -> bool:
    """Whether another module has a body's weight too: it does not know of the head around it."""
    if model.get_output_embeddings() is not None or isinstance(old, FactorisedEmbedding):
        return False
    weight = old.weight
    dicts = [each for each in gc.get_referrers(weight) if isinstance(each, dict)]
    return any(value is weight for each in dicts if each is not old._parameters
               for value in each.values())  # fmt: skip


def _put(model: Any, old: Any, table: FactorisedEmbedding) -> None:
    """Put a table where the old one was, in inputs and tied head, and change the classes."""
    import transformers

    head = model.get_output_embeddings()
    weight = old.weight if isinstance(old, nn.Embedding) else next(old.parameters())
    if not any(parameter.requires_grad for parameter in old.parameters()):
        table.requires_grad_(False)
    tied = isinstance(head, FactorisedHead) or getattr(head, "weight", None) is weight
    pairs = model.get_expanded_tied_weights_keys(all_submodels=True)
    model.set_input_embeddings(table.to(weight))
    if tied:
        model.set_output_embeddings(FactorisedHead(model, head.bias))
    named = dict(model.named_parameters(remove_duplicate=False))
    if any(parameter is weight for parameter in named.values()):
        model.set_input_embeddings(old)
        model.set_output_embeddings(head)
        raise ValueError(
            f"model: got {type(model).__name__}, which uses its table in other places than its "
            "inputs and its head; accepted: a class that uses it in these two"
        )
    for module in model.modules():
        if isinstance(module, transformers.PreTrainedModel):
            if module.get_input_embeddings() is table and not isinstance(module, _WithTable):
                plain: Any = type(module)
                module.__class__ = _factorised(plain)
                module._tied_weights_keys = {}
                if module is not model:
                    module._part_of = PREFIX + type(model).__name__.removeprefix(PREFIX)
    _name_ties(model, table, pairs)


def _name_ties(model: Any, table: FactorisedEmbedding, pairs: dict[str, str]) -> None:
    """Note which parameters are one: those of the table, by all their names, and other pairs."""
    named = dict(model.named_parameters(remove_duplicate=False))
    first: dict[nn.Parameter, str] = {}
    owned = set(table.parameters())
    same = {name: first.setdefault(p, name) for name, p in named.items() if p in owned}
    kept = {a: b for a, b in pairs.items() if a in named and b in named}
    kept |= {a: b for a, b in same.items() if a != b}
    model._tied_weights_keys = kept
    model.all_tied_weights_keys = dict(kept)


def _fit_bias(model: nn.Module, head: FactorisedHead, n: int) -> None:
    """Make a head's bias as long as its table, under all its names; what is new is zero."""
    old = head.bias
    if old is None or len(old) == n:
        return
    new = nn.Parameter(F.pad(old.detach(), (0, n - len(old))), old.requires_grad)
    for module in model.modules():
        for name, parameter in [*module.named_parameters(recurse=False)]:
            if parameter is old:
                setattr(module, name, new)
