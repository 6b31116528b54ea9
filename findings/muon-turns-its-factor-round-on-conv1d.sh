#!/bin/sh
# torch.optim.Muon moves a GPT-2's widening layers half as far as the same nn.Linear, and its narrowing ones twice.
#
# torch 2.13.0, transformers 5.23.0. Muon's default factor for a step is sqrt(max(1, rows/columns)) of the weight as
# it is stored, which is outputs over inputs for nn.Linear. The layers of GPT-2 in transformers are `Conv1D`, which
# stores inputs first. So the feed-forward layer from d to 4d gets no factor where it is due 2, and the one from 4d
# to d gets 2 where it is due none, from the same gradients, with no warning: the two are off by a factor of four
# against each other. With adjust_lr_fn="match_rms_adamw" the sides are treated alike. (The good guess was that an
# optimiser of a matrix does not care which way round a library stores it.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy==2.4.6 transformers==5.23.0
cat > "$folder/look.py" <<'PY'
import torch
from torch.optim import Muon
from transformers import GPT2Config, GPT2LMHeadModel

torch.set_num_threads(1)
torch.manual_seed(0)
sizes = {"n_embd": 48, "n_layer": 1, "n_head": 2, "vocab_size": 50, "bos_token_id": 0, "eos_token_id": 0}
model = GPT2LMHeadModel(GPT2Config(**sizes))
tokens = torch.randint(50, (4, 16))
model(input_ids=tokens, labels=tokens).loss.backward()


def moved(gradient, **options):
    weight = torch.nn.Parameter(torch.zeros_like(gradient))
    weight.grad = gradient.clone()
    Muon([weight], lr=1.0, weight_decay=0.0, **options).step()
    return weight.detach().norm()


for name, layer in (("48 to 192", model.transformer.h[0].mlp.c_fc), ("192 to 48", model.transformer.h[0].mlp.c_proj)):
    stored = layer.weight.grad
    for label, options in (("default", {}), ("match_rms_adamw", {"adjust_lr_fn": "match_rms_adamw"})):
        quotient = moved(stored, **options) / moved(stored.T.contiguous(), **options)
        print(f"{type(layer).__name__} {name}, {label}: {quotient:.1f} times an nn.Linear's step")
PY
"$folder/v/bin/python" -W ignore "$folder/look.py" 2>"$folder/notices" | tee "$folder/seen"
cat > "$folder/stated" <<'SEEN'
Conv1D 48 to 192, default: 0.5 times an nn.Linear's step
Conv1D 48 to 192, match_rms_adamw: 1.0 times an nn.Linear's step
Conv1D 192 to 48, default: 2.0 times an nn.Linear's step
Conv1D 192 to 48, match_rms_adamw: 1.0 times an nn.Linear's step
SEEN
diff "$folder/stated" "$folder/seen" && echo "as stated"
