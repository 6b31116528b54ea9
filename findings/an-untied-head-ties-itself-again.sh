#!/bin/sh
# A head that was untied by hand is tied again when the table is resized.
#
# transformers 5.23.0, torch 2.13.0. A GPT-2 whose head has been given a parameter of its own starts as
# the same function and can train on, two tables of different numbers. `resize_token_embeddings(n + 1)`,
# to add one token, then makes head and table one parameter again: what the head had learnt is gone,
# with no exception and no warning. Setting `config.tie_word_embeddings = False` beside it keeps the two
# apart. (The good guess was that a parameter that is another object stays one: nothing asked for a tie.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q --disable-pip-version-check torch==2.13.0 transformers==5.23.0
cat > "$folder/look.py" <<'PY'
import warnings

import torch
from transformers import GPT2Config, GPT2LMHeadModel

warnings.simplefilter("error")


def untied(flag):
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=100, n_embd=32, n_head=2, n_layer=1, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config).eval()
    model.lm_head.weight = torch.nn.Parameter(model.transformer.wte.weight.detach().clone())
    model.config.tie_word_embeddings = flag
    with torch.no_grad():
        model.lm_head.weight.mul_(3)  # what training would do: another table
    return model


for flag in (True, False):
    model, tokens = untied(flag), torch.arange(100)[None]
    before = model(tokens).logits
    model.resize_token_embeddings(101)
    after = model(tokens).logits[..., :100]
    tied = model.lm_head.weight is model.transformer.wte.weight
    print(f"flag {flag}: tied after resizing {tied}, logits kept {torch.allclose(before, after)}")
PY
"$folder/v/bin/python" "$folder/look.py" 2>/dev/null | tee "$folder/seen"
cat > "$folder/stated" <<'SEEN'
flag True: tied after resizing True, logits kept False
flag False: tied after resizing False, logits kept True
SEEN
cmp "$folder/seen" "$folder/stated"
