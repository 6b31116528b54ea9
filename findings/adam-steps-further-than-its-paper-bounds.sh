#!/bin/sh
# torch.optim.Adam's step can be 2.3 times as long as the bound in Adam's paper.
#
# torch 2.13.0. The paper (arXiv 1412.6980, section 2.1) bounds a step by lr (1 - beta1) / sqrt(1 - beta2), 3.16 lr at
# the default averages, for the sparsest of gradients, a single one after many zeros. That one comes there. But
# gradients that grow by a ninth from step to step pass it before they are eight times as large, and go to 7.27 lr,
# which is the most by Cauchy and Schwarz: lr (1 - beta1) / sqrt((1 - beta2)(1 - beta1^2 / beta2)). Where gradients
# grow, old squares count for little in the second average, while the first is still made of many gradients. So a
# run that begins to diverge steps the further. (The good guess was the bound in the paper.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy==2.4.6
cat > "$folder/look.py" <<'PY'
import torch

torch.set_num_threads(1)
beta1, beta2 = 0.9, 0.999


def longest(gradients):
    weight = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
    adam = torch.optim.Adam([weight], lr=1.0, eps=0.0, betas=(beta1, beta2))
    found = 0.0
    for gradient in gradients:
        before, weight.grad = weight.item(), torch.full_like(weight, gradient)
        adam.step()
        found = max(found, abs(weight.item() - before))
    return found


quiet, growth = 10_000, 10 / 9
print(f"the paper's bound: {(1 - beta1) / (1 - beta2) ** 0.5:.2f}")
print(f"a single gradient: {longest([1e-9] * quiet + [1.0]):.2f}")
for steps in (10, 20, 40, 65):
    gradients = [1e-3] * quiet + [1e-3 * growth**k for k in range(1, steps + 1)]
    print(f"{steps} steps, up to {gradients[-1] / 1e-3:.0f}-fold: {longest(gradients):.2f}")
print(f"by Cauchy and Schwarz: {(1 - beta1) / ((1 - beta2) * (1 - beta1**2 / beta2)) ** 0.5:.2f}")
PY
"$folder/v/bin/python" -W ignore "$folder/look.py" 2>"$folder/notices" | tee "$folder/seen"
cat > "$folder/stated" <<'SEEN'
the paper's bound: 3.16
a single gradient: 3.16
10 steps, up to 3-fold: 1.65
20 steps, up to 8-fold: 3.80
40 steps, up to 68-fold: 7.13
65 steps, up to 942-fold: 7.27
by Cauchy and Schwarz: 7.27
SEEN
diff "$folder/stated" "$folder/seen" && echo "as stated"
