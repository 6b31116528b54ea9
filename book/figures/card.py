"""Draw the card that messengers show beside a link to the book, ../_static/card.png."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from scipy.stats import chi

plt.rcParams["font.family"] = "DejaVu Sans"
figure = plt.figure(figsize=(12, 6.3), dpi=100, facecolor="#0b1f3a")
axes = figure.add_axes((0, 0, 1, 0.52))
axes.axis("off")
x = np.linspace(0, 2, 600)
for d, colour in zip((4, 16, 64, 256), ("#2f5d94", "#4a82c4", "#7fb2f5", "#ffffff"), strict=True):
    axes.plot(x, chi(d).pdf(x * np.sqrt(d)) * np.sqrt(d), color=colour, lw=3)
axes.set_ylim(-0.3, 10)
figure.text(0.07, 0.80, "The Verified Transformer", color="white", size=46, weight="bold")
figure.text(0.07, 0.68, "The algebra of Transformer weights,", color="#cfe0f7", size=26)
figure.text(0.07, 0.60, "every statement checked by a machine", color="#cfe0f7", size=26)
figure.savefig(Path(__file__).parents[1] / "_static" / "card.png", metadata={"Software": None})
