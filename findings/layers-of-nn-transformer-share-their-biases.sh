#!/bin/sh
# torch.nn.Transformer draws the matrices of its layers again, and leaves the feed-forward biases copies.
#
# torch 2.13.0. `TransformerEncoder` makes its layers by copying the one that it is given, weights and all, as
# its page warns. `Transformer` builds its encoder that way and then draws every parameter of two axes anew
# (`_reset_parameters`), so that its layers differ, and the warning seems not to concern it. But the biases of
# `linear1` and `linear2` were drawn too, uniformly within 1/sqrt(fan in), have one axis, and stay equal in all
# layers of a stack, bit for bit. Attention's biases
# start at zero. (The good guess was that what is drawn is drawn for each layer, or for none.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy==2.4.6
cat > "$folder/look.py" <<'PY'
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Transformer(d_model=32, nhead=4, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=64)
for stack in ("encoder", "decoder"):
    layers = [dict(layer.named_parameters()) for layer in getattr(model, stack).layers]
    for name in layers[0]:
        if name.startswith("linear"):
            alike = all(torch.equal(layers[0][name], layer[name]) for layer in layers[1:])
            print(f"{stack} {name}: drawn {bool(layers[0][name].std() > 0)}, equal in all layers {alike}")
PY
"$folder/v/bin/python" -W ignore "$folder/look.py" 2>&1 | tee "$folder/seen"
cat > "$folder/stated" <<'SEEN'
encoder linear1.weight: drawn True, equal in all layers False
encoder linear1.bias: drawn True, equal in all layers True
encoder linear2.weight: drawn True, equal in all layers False
encoder linear2.bias: drawn True, equal in all layers True
decoder linear1.weight: drawn True, equal in all layers False
decoder linear1.bias: drawn True, equal in all layers True
decoder linear2.weight: drawn True, equal in all layers False
decoder linear2.bias: drawn True, equal in all layers True
SEEN
diff "$folder/stated" "$folder/seen" && echo "as stated"
