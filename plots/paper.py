"""What every picture has in common: sizes, axes, legends. The backend is chosen here, before pyplot."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from timeline import UNITS  # noqa: E402

LIMIT, DARK, MIDDLE, LIGHT = "#a00000", "#1a1a1a", "#5b8fb9", "#e6e6e6"
SMALL = 7


def unit_of(top):
    return next((u for u in UNITS if top >= 2 * u[1]), UNITS[-1])


def page(title, height=3.4, **sides):
    figure, axes = plt.subplots(figsize=(7.2, height))
    sides = {"left": 0.1, "right": 0.98, "top": 0.88, "bottom": 0.2, **sides}
    figure.subplots_adjust(**sides)
    if title:
        figure.text(sides["left"], 1 - 0.16 / height, title, fontsize=9.5, fontweight="bold", va="center")
    return figure, axes


def tidy(axes, xlabel, ylabel, grid="y"):
    axes.set_xlabel(xlabel, fontsize=8)
    axes.set_ylabel(ylabel, fontsize=8)
    axes.tick_params(labelsize=SMALL, length=2.5, width=0.6)
    if grid:
        axes.grid(axis=grid, color="#dddddd", linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def below(figure, handles, columns=4):
    figure.legend(handles=handles, loc="lower center", ncol=columns, fontsize=SMALL, frameon=False, columnspacing=1.2, handlelength=1.6)
