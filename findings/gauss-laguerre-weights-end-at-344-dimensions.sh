#!/bin/sh
# Gauss-Laguerre weights are all infinite from 344 dimensions on, and nothing says so.
#
# SciPy 1.17.1, NumPy 2.4.6. A mean over the length of a normal vector of d numbers is an integral against
# x^(d/2 - 1) e^(-x), which `roots_genlaguerre(n, d / 2 - 1)` is made for. At d = 342 (an alpha of 170) twenty
# points give E|w| to twelve digits; at d = 344 every weight is inf, and so is their sum, with no warning even
# where NumPy raises on overflow; the nodes are right. What one divides by the sum is nan. Widths of models
# begin there. `roots_jacobi` and `roots_gegenbauer` take parameters of a thousand. (The good guess was that
# weights are scaled as the others' are, or that an overflow is told. The nodes and the recurrence give
# weights of sum one at any alpha.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q --disable-pip-version-check scipy==1.17.1 numpy==2.4.6
cat > "$folder/look.py" <<'PY'
import math
import warnings

import numpy as np
from scipy.special import roots_genlaguerre, roots_jacobi

warnings.simplefilter("error")
np.seterr(all="raise")


def mean_length(d):
    exact = math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    x, w, total = roots_genlaguerre(20, d / 2 - 1, mu=True)
    if not math.isfinite(total):
        return f"sum {total}, finite weights {np.isfinite(w).sum()}, finite nodes {np.isfinite(x).sum()}"
    return f"relative error below 1e-11: {abs((w * np.sqrt(2 * x)).sum() / total / exact - 1) < 1e-11}"


for d in (64, 342, 344, 768):
    print(f"d {d}: {mean_length(d)}")
print("Jacobi at 1000, finite weights", np.isfinite(roots_jacobi(20, 1000.0, 1000.0)[1]).sum())
PY
"$folder/v/bin/python" "$folder/look.py" 2>&1 | tee "$folder/seen"
cat > "$folder/stated" <<'SEEN'
d 64: relative error below 1e-11: True
d 342: relative error below 1e-11: True
d 344: sum inf, finite weights 0, finite nodes 20
d 768: sum inf, finite weights 0, finite nodes 20
Jacobi at 1000, finite weights 20
SEEN
cmp "$folder/seen" "$folder/stated"
