"""Factorised tables inside models of transformers: every operation that people do with a model."""

from __future__ import annotations

import copy
import pickle
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from weightwise import (
    FactorisedEmbedding,
    FactorisedHead,
    LowRankEmbedding,
    factorised_table,
    load_with_table,
    make_dense,
    set_table,
)
from weightwise.factorised import table_from
from weightwise.factorised.families import FAMILIES

transformers = pytest.importorskip("transformers")

LLAMA = {
    "hidden_size": 16, "intermediate_size": 10, "num_attention_heads": 4, "num_hidden_layers": 1,
    "num_key_value_heads": 2, "max_position_embeddings": 16,
}  # fmt: skip
T5 = {"decoder_start_token_id": 0, "d_model": 10, "d_ff": 7, "d_kv": 5, "num_heads": 3,
      "num_layers": 1}  # fmt: skip
TINY: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2LMHeadModel", {"n_embd": 12, "n_layer": 1, "n_head": 3, "n_positions": 16}),
    "bert": ("BertForMaskedLM", {**LLAMA, "hidden_size": 12, "num_attention_heads": 3}),
    "llama": ("LlamaForCausalLM", LLAMA),
    "gemma": ("GemmaForCausalLM", {**LLAMA, "head_dim": 4}),
    "t5": ("T5ForConditionalGeneration", T5),
    "t5-1.1": (
        "T5ForConditionalGeneration",
        {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    ),
}

CLASSES = {
    "GPT-2": ("gpt2", {}),
    "BERT": ("bert", {}),
    "Llama": ("llama", {}),
    "Llama, tied": ("llama", {"tie_word_embeddings": True}),
    "T5": ("t5", {}),
    "T5 1.1": ("t5-1.1", {}),
}
each_class = pytest.mark.parametrize("name", CLASSES)
each_family = pytest.mark.parametrize("family", FAMILIES)
each_of_both = pytest.mark.parametrize(  # every class, every family, and both kinds of heads
    ("name", "family"),
    [
        *((name, "tensor train") for name in CLASSES),
        *(
            (name, family)
            for name in ("Llama", "T5")
            for family in FAMILIES
            if "train" not in family
        ),
    ],
)


def tiny(kind: str, **changes: Any) -> Any:
    """A small model as its class initialises it, in float64, the same at every call."""
    name, sizes = TINY[kind]
    cls = getattr(transformers, name)
    ends = {"vocab_size": 19, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return cls(cls.config_class(**{**ends, **sizes, **changes})).double().eval()


def plain(name: str) -> Any:
    kind, changes = CLASSES[name]
    return tiny(kind, **changes)


def factorised(name: str, family: str = "tensor train", **options: Any) -> Any:
    model = plain(name)
    old = model.get_input_embeddings()
    sizes = old.num_embeddings, old.embedding_dim, 3
    options = {"padding_idx": old.padding_idx, "σ": 0.3, **options}
    options["generator"] = torch.Generator().manual_seed(1)
    return set_table(model, factorised_table(family, *sizes, **options))


def asked(model: Any) -> dict[str, torch.Tensor]:
    tokens = torch.randint(3, 19, (2, 7), generator=torch.Generator().manual_seed(2))
    return {"input_ids": tokens} | (
        {"decoder_input_ids": tokens} if model.config.is_encoder_decoder else {}
    )


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        return model(**asked(model)).logits


@each_of_both
def test_a_model_gives_what_it_gives_on_the_table_as_a_whole(name: str, family: str) -> None:
    model = factorised(name, family)
    whole = make_dense(copy.deepcopy(model))
    assert type(whole) is type(plain(name)) and not hasattr(whole.config, "factorised_table")
    table, weight = model.get_input_embeddings(), whole.get_input_embeddings().weight
    assert torch.equal(weight, table.dense())
    assert (whole.get_output_embeddings().weight is weight) == ("head" in kind_of_head(model))
    assert torch.allclose(logits(model), logits(whole), rtol=1e-12, atol=1e-12)


def kind_of_head(model: Any) -> str:
    return type(model.get_output_embeddings()).__name__.lower()


@each_class
def test_a_table_that_was_cut_at_full_rank_changes_nothing(name: str) -> None:
    model = plain(name)
    wanted, embedding = logits(model), model.get_input_embeddings()
    table = LowRankEmbedding.from_dense(embedding, embedding.embedding_dim).module
    assert table.padding_idx == embedding.padding_idx
    assert torch.allclose(logits(set_table(model, table)), wanted, rtol=1e-10, atol=1e-10)


@each_class
def test_it_ties(name: str) -> None:
    model = factorised(name)
    wanted = logits(model)
    model.tie_weights()
    assert torch.equal(logits(model), wanted)
    assert len({id(p) for p in model.parameters()}) == len([*model.parameters()])
    head = model.get_output_embeddings()
    assert isinstance(head, nn.Linear if name == "Llama" else FactorisedHead)
    model.config.tie_word_embeddings = True
    model.tie_weights()
    assert model.get_output_embeddings().table is model.get_input_embeddings()


@each_of_both
def test_it_grows_and_shrinks(name: str, family: str) -> None:
    model = factorised(name, family)
    wanted, before = logits(model), model.get_input_embeddings()
    for n in (19 + 30, 19):
        table = model.resize_token_embeddings(n)
        assert table is model.get_input_embeddings() and table.num_embeddings == n
        assert model.config.vocab_size == n and logits(model).shape[-1] == n
        assert torch.allclose(logits(model)[..., :19], wanted, rtol=1e-12, atol=1e-12)
        assert torch.equal(table.dense()[:19], before.dense()) and table.dense().isfinite().all()
    assert model.resize_token_embeddings(pad_to_multiple_of=8).num_embeddings == 24
    model(**asked(model), labels=asked(model)["input_ids"]).loss.backward()
    with pytest.raises(ValueError, match=r"mean_resizing: got True; accepted: False"):
        model.resize_token_embeddings(30, mean_resizing=True)


@each_of_both
def test_it_saves_and_loads(name: str, family: str, tmp_path: Path) -> None:
    model = factorised(name, family)
    model.save_pretrained(tmp_path)
    again = load_with_table(tmp_path)
    assert type(again) is type(model) and again.dtype == torch.float64
    assert type(again.get_input_embeddings()) is FAMILIES[family]
    assert kind_of_head(again) == kind_of_head(model)
    for one, other in zip(again.parameters(), model.parameters(), strict=True):
        assert torch.equal(one, other)
    assert torch.allclose(logits(again), logits(model), rtol=1e-12, atol=1e-12)


def test_a_model_without_a_head_is_saved_and_loaded(tmp_path: Path) -> None:
    body = tiny("gpt2", tie_word_embeddings=False).transformer
    model = set_table(body, LowRankEmbedding(19, 12, 3).double())
    model.save_pretrained(tmp_path)
    again, tokens = load_with_table(tmp_path).eval(), torch.arange(7)[None]
    assert torch.equal(again(tokens)[0], model.eval()(tokens)[0])


def test_a_class_whose_initialiser_reaches_into_its_embeddings_is_loaded(tmp_path: Path) -> None:
    from transformers import ModernBertDecoderConfig, ModernBertDecoderForCausalLM

    sizes = {"vocab_size": 19, "hidden_size": 12, "intermediate_size": 20, "num_hidden_layers": 1}
    few = {"num_attention_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    plain_model = ModernBertDecoderForCausalLM(ModernBertDecoderConfig(**sizes, **few)).eval()
    model = set_table(plain_model, LowRankEmbedding(19, 12, 3, padding_idx=0))
    model.save_pretrained(tmp_path)
    assert torch.equal(logits(load_with_table(tmp_path).eval()), logits(model))


@pytest.mark.canary
@each_class
def test_no_plain_class_loads_it_and_drops_the_table(name: str, tmp_path: Path) -> None:
    factorised(name).save_pretrained(tmp_path)
    with pytest.raises(OSError, match=r"no file named model\.safetensors"):
        type(plain(name)).from_pretrained(tmp_path)


def test_other_folders_are_refused(tmp_path: Path) -> None:
    plain("GPT-2").save_pretrained(tmp_path / "plain")
    with pytest.raises(ValueError, match=r"folder: got .* without a factorised table; accepted"):
        load_with_table(tmp_path / "plain")


@each_class
def test_state_copies_and_pickles(name: str) -> None:
    model, other = factorised(name), factorised(name)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(1)
    other.load_state_dict(model.state_dict())
    for same in (other, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(logits(same), logits(model))
        assert isinstance(same, type(plain(name)))
        head = same.get_output_embeddings()
        assert name == "Llama" or head.table is same.get_input_embeddings()


@each_class
def test_it_generates(name: str) -> None:
    model = factorised(name)
    if not model.can_generate():
        pytest.skip("a masked model")
    tokens = asked(model)["input_ids"]
    found = model.generate(input_ids=tokens, max_new_tokens=4, do_sample=False)
    whole = make_dense(copy.deepcopy(model))
    assert torch.equal(found, whole.generate(input_ids=tokens, max_new_tokens=4, do_sample=False))


@each_of_both
def test_it_trains_as_on_the_table_as_a_whole_and_learns(name: str, family: str) -> None:
    model = factorised(name, family)
    whole, labels = make_dense(copy.deepcopy(model)), asked(model)["input_ids"]
    for each in (model, whole):
        each(input_ids=labels, labels=labels).loss.backward()
    factors = [*model.get_input_embeddings().parameters()]
    dense = model.get_input_embeddings().dense()
    truths = torch.autograd.grad(dense, factors, whole.get_input_embeddings().weight.grad)
    for factor, truth in zip(factors, truths, strict=True):
        assert truth.any() and torch.allclose(factor.grad, truth, rtol=1e-9, atol=1e-12)
    adam = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(10):
        loss = model(input_ids=labels, labels=labels).loss
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert losses[-1] < 0.95 * losses[0]


# in every run a tied head is compiled, and so are it, an untied one and two stacks exported
TRACED = {("GPT-2", "compiled"), *((name, "exported") for name in ("GPT-2", "Llama", "T5"))}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:")  # the compiler's own
@pytest.mark.parametrize(
    ("name", "way"),
    [
        pytest.param(*both, marks=[] if both in TRACED else pytest.mark.nightly)
        for both in product(CLASSES, ("compiled", "exported"))
    ],
)
def test_it_compiles_and_is_exported(name: str, way: str) -> None:
    model = factorised(name)
    if way == "compiled":
        found = logits(torch.compile(model, backend="eager"))
    else:  # with gradients, for which a lookup has code of its own
        use = asked(model) | ({"use_cache": False} if model.can_generate() else {})
        found = torch.export.export(model, (), use, strict=False).module()(**use).logits
    assert torch.allclose(found, logits(model), rtol=1e-12, atol=1e-12)


@each_class
def test_what_asks_for_a_weight_is_told_what_to_do(name: str) -> None:
    model = factorised(name)
    both = [model.get_input_embeddings(), model.get_output_embeddings()]
    for module in both[: 1 if name == "Llama" else 2]:
        assert not hasattr(module, "weight")
        with pytest.raises(AttributeError, match=r"weight: .* keeps factors and no table; acc"):
            module.weight.sum()
        with pytest.raises(AttributeError, match=r"weight: .* which a weight cannot replace"):
            module.weight = nn.Parameter(torch.zeros(19, 12))


@each_class
@pytest.mark.parametrize("option", ["sparse", "scale_grad_by_freq", "max_norm"])
def test_what_needs_a_row_of_its_own_is_refused(option: str, name: str) -> None:
    model = plain(name)
    old = model.get_input_embeddings()
    setattr(old, option, True)
    table = LowRankEmbedding(19, old.embedding_dim, 3, padding_idx=old.padding_idx)
    with pytest.raises(ValueError, match=rf"an embedding with {option}; accepted: one without"):
        set_table(model, table)


def test_tables_and_models_that_do_not_fit_are_refused() -> None:
    model = plain("BERT")
    with pytest.raises(ValueError, match=r"table: got num_embeddings = 20; accepted: 19, as in"):
        set_table(model, LowRankEmbedding(20, 12, 3, padding_idx=0))
    with pytest.raises(TypeError, match=r"table: got Embedding; accepted: a FactorisedEmbedding"):
        set_table(model, nn.Embedding(19, 12))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"table: got padding_idx = None; accepted: 0, as in"):
        set_table(model, LowRankEmbedding(19, 12, 3))
    table = LowRankEmbedding(19, 16, 3, padding_idx=0)
    with pytest.raises(ValueError, match=r"GemmaTextScaledWordEmbedding|ScaledWordEmbedding"):
        set_table(tiny("gemma"), table)
    with pytest.raises(ValueError, match=r"model: got Linear; accepted: a model of transformers"):
        set_table(nn.Linear(3, 4), table)
    with pytest.raises(ValueError, match=r"model: got BertForMaskedLM; accepted: one that"):
        make_dense(model)
    for folder in (None, "nowhere"):
        with pytest.raises(ValueError, match=rf"folder: got {folder!r}; accepted: the path"):
            load_with_table(folder)


def hooked(model: Any, where: str) -> None:
    table = model.get_input_embeddings()
    if where == "module":
        table.register_forward_hook(lambda *_: None)
    else:
        next(table.parameters()).register_hook(lambda gradient: gradient)


@pytest.mark.parametrize("where", ["module", "gradient"])
def test_hooks_on_the_table_are_never_lost_unsaid(where: str) -> None:
    model, table = plain("GPT-2"), LowRankEmbedding(19, 12, 3)
    hooked(model, where)
    with pytest.raises(ValueError, match="an embedding with hooks, which another table would"):
        set_table(model, table)
    model = set_table(plain("GPT-2"), table)
    hooked(model, where)
    for leave in (make_dense, lambda model: model.resize_token_embeddings(30)):
        with pytest.raises(ValueError, match="an embedding with hooks"):
            leave(model)


def test_a_frozen_table_stays_frozen() -> None:
    model = plain("GPT-2")
    model.get_input_embeddings().requires_grad_(False)
    set_table(model, LowRankEmbedding(19, 12, 3))
    for change in (lambda: model, lambda: model.resize_token_embeddings(30) and model,
                   lambda: make_dense(model)):  # fmt: skip
        assert not any(p.requires_grad for p in change().get_input_embeddings().parameters())


def test_what_is_made_in_inference_mode_can_learn_or_is_refused() -> None:
    table = LowRankEmbedding(19, 12, 3)
    with torch.inference_mode():
        model = set_table(plain_outside := plain_model(), table)
        model.resize_token_embeddings(30)
        made_inside = LowRankEmbedding(30, 12, 3)
    assert model is plain_outside
    tokens = torch.arange(6)[None]
    for each in (model, make_dense(copy.deepcopy(model))):
        each(input_ids=tokens, labels=tokens).loss.backward()
    with pytest.raises(ValueError, match="table: got one made in inference mode; accepted"):
        set_table(model, made_inside)


def plain_model() -> Any:
    with torch.inference_mode(False):
        return plain("GPT-2")


@pytest.mark.parametrize("name", ["T5", "T5 1.1"])
@pytest.mark.parametrize("family", ["low rank", "tensor train"])
def test_a_table_that_one_stack_alone_was_given_is_taken_back(name: str, family: str) -> None:
    model, other = factorised(name), factorised(name, family).get_input_embeddings()
    wanted = logits(model)
    model.encoder.set_input_embeddings(other)
    model.tie_weights()
    assert model.encoder.embed_tokens is model.decoder.embed_tokens is model.shared
    assert torch.equal(logits(model), wanted)
    model.set_input_embeddings(other)
    model.tie_weights()
    assert model.encoder.embed_tokens is model.decoder.embed_tokens is other


@each_class
def test_a_body_never_parts_from_its_head(name: str) -> None:
    model = factorised(name)
    bodies = [m for m in model.modules() if m is not model and hasattr(m, "_part_of")]
    assert bodies
    table = model.get_input_embeddings()
    other = factorised(name, "low rank").resize_token_embeddings(24)
    for body in bodies:
        said = rf"got the Factorised\w+ of a {type(model).__name__}; accepted: the .* as a whole"
        for call in (lambda b: b.resize_token_embeddings(30), make_dense,
                     lambda b: set_table(b, other)):  # fmt: skip
            with pytest.raises(ValueError, match=said):
                call(body)
    assert model.get_input_embeddings() is table
    body = next((b for b in bodies if b.get_input_embeddings() is table), None)
    if name.startswith("T5") or body is None:
        return
    body.set_input_embeddings(other)
    model.tie_weights()
    head = model.get_output_embeddings()
    if name != "Llama":
        assert head.table is other and logits(model).shape[-1] == 24
        body.set_input_embeddings(nn.Embedding(24, other.embedding_dim))
        with pytest.raises(TypeError, match="model: got Embedding for its embedding; accepted: a"):
            logits(model)


@each_class
def test_the_body_of_a_tied_model_takes_no_table_of_its_own(name: str) -> None:
    model = plain(name)
    old = model.get_input_embeddings()
    table = LowRankEmbedding(19, old.embedding_dim, 3, padding_idx=old.padding_idx).double()
    body = model.encoder if name.startswith("T5") else model.base_model
    if name == "Llama":  # its head has rows of its own
        assert set_table(body, table).get_input_embeddings() is table
        return
    with pytest.raises(ValueError, match="whose table another module has as well, such as a tied"):
        set_table(body, table)
    assert model.get_input_embeddings() is old


@each_family
def test_settings_make_the_table_again(family: str) -> None:
    table = factorised_table(family, 23, 12, 3, σ=0.5, padding_idx=4)
    again = table_from(table.settings())
    assert isinstance(again, FactorisedEmbedding) and again.settings() == table.settings()
    assert [p.shape for p in again.parameters()] == [p.shape for p in table.parameters()]
    with pytest.raises(ValueError, match=r"family: got 'sparse'; accepted: low rank, tensor"):
        factorised_table("sparse", 23, 12, 3)
    with pytest.raises(ValueError, match=r"settings: got family None; accepted: LowRankEmb"):
        table_from({})
    if family == "low rank":
        with pytest.raises(ValueError, match=r"factors: got 3; accepted: 2"):
            factorised_table(family, 23, 12, 3, factors=3)


@pytest.mark.parametrize("kind", ["Mamba", "Mamba2", "FalconMamba"])
def test_a_class_that_asks_its_head_for_a_weight_is_refused_before_it_is_changed(kind: str) -> None:
    more = {"num_heads": 4, "head_dim": 8, "n_groups": 1} if kind == "Mamba2" else {}

    def made(tied: bool) -> Any:
        config = getattr(transformers, f"{kind}Config")(
            vocab_size=60, hidden_size=16, num_hidden_layers=1, state_size=4,
            tie_word_embeddings=tied, **more,
        )  # fmt: skip
        return getattr(transformers, f"{kind}ForCausalLM")(config)

    table = factorised_table("low rank", 60, 16, rank=4, σ=0.02)
    model = made(tied=True)
    with pytest.raises(ValueError, match=r"model: got \w+, whose forward pass asks its table or"):
        set_table(model, table)
    assert type(model.get_input_embeddings()) is torch.nn.Embedding
    model(torch.arange(5)[None])  # is what it was
    other = set_table(made(tied=False), table)
    assert other(torch.arange(5)[None]).logits.shape == (1, 5, 60)
