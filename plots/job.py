"""Ranks of a job over time, each waiting for the others: what `tidemark run --rank-timeline` writes. Drawn by `plot.py ranks`."""

import csv
import io

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch

from timeline import InputError, human, read_text, split_phase

HEADER = ["ranks", "begin_ns", "end_ns", "state", "phase", "allocated_bytes"]
COLUMNS = 1600  # of the picture, over all time
# What is beside the colours of memory: (state, colour, hatch), told apart without colour too.
STATES = [("computing", "#3b6ea5", ""), ("moving", "#8fc1e3", "...."), ("lagging", "#e3c16f", "xxxx"), ("bubble", "#c0392b", "////"),
          ("idle", "#d9d9d9", "")]
STEP = "#ffffff"


def is_job(path):
    return path != "-" and read_text(path).split("\n", 1)[0].strip().split(",") == HEADER


def read_job(path):
    """[(ranks, spans)]; a span: (begin, end, state, phase, bytes)"""
    rows = list(csv.DictReader(io.StringIO(read_text(path))))
    if not rows:
        raise InputError(f"{path}: no rank does anything")
    known = {state for state, _, _ in STATES}
    ranks = {}
    for row in rows:
        if row["state"] not in known:
            raise InputError(f"{path}: state {row['state']!r} is none of {', '.join(sorted(known))}")
        span = (int(row["begin_ns"]), int(row["end_ns"]), row["state"], row["phase"], int(row["allocated_bytes"]))
        ranks.setdefault(row["ranks"], []).append(span)
    return list(ranks.items())


def starts_of_steps(spans):
    """when each step begins, of one rank"""
    starts, before = [], None
    for begin, _, _, phase, _ in spans:
        step = split_phase(phase)[1].split(".")[0]
        if step and step != before:
            before = step
            starts.append(begin)
    return starts


def from_first_step(ranks):
    """(first moment that is drawn, last): what stands before the steps is left out where there are steps"""
    firsts = [starts[0] for _, spans in ranks if (starts := starts_of_steps(spans))]
    return (min(firsts) if firsts else 0), max(spans[-1][1] for _, spans in ranks)


def memory_row(spans, edges):
    """the most that was allocated in each column; between spans what the last one had"""
    row = np.zeros(len(edges) - 1)
    begins = np.array([span[0] for span in spans])
    held = np.array([span[4] for span in spans], dtype=float)
    first = np.clip(np.searchsorted(begins, edges[:-1], side="right") - 1, 0, len(spans) - 1)
    last = np.clip(np.searchsorted(begins, edges[1:], side="left") - 1, 0, len(spans) - 1)
    for i, (a, b) in enumerate(zip(first, last)):
        row[i] = held[a:max(a, b) + 1].max()
    return row


def unit(longest_ns):
    return next(((name, size) for name, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)) if longest_ns >= size), ("ns", 1))


def draw_job(path, title, dark):
    ranks = read_job(path)
    begin, end = from_first_step(ranks)
    name, size = unit(end - begin)
    edges = np.linspace(begin, end, COLUMNS + 1)
    memory = np.array([memory_row(spans, edges) for _, spans in ranks]) / 2**30
    height = 1.9 + 0.42 * len(ranks)
    with plt.rc_context({"hatch.linewidth": 0.5, **({} if not dark else DARK)}):
        figure, axes = plt.subplots(figsize=(7.6, height))
        figure.subplots_adjust(left=0.09, right=0.99, top=1 - 0.32 / height, bottom=0.85 / height)
        mesh = None
        for i, row in enumerate(memory):
            mesh = axes.imshow(row[None, :], aspect="auto", extent=(0, (end - begin) / size, i + 0.12, i - 0.42), cmap="viridis", vmin=0,
                               vmax=max(memory.max(), 1e-9), interpolation="nearest")
        for i, (_, spans) in enumerate(ranks):
            for state, colour, hatch in STATES:
                bars = [((max(a, begin) - begin) / size, (b - max(a, begin)) / size) for a, b, s, _, _ in spans if s == state and b > begin]
                if bars:
                    axes.broken_barh(bars, (i + 0.14, 0.28), facecolor=colour, hatch=hatch or None, edgecolor=EDGE if hatch else "none", linewidth=0)
            for start in starts_of_steps(spans):
                axes.plot([(start - begin) / size] * 2, [i - 0.42, i + 0.42], color=STEP, linewidth=0.8)
            whole = end - max(starts_of_steps(spans)[:1] or [0])
            bubble = sum(b - max(a, begin) for a, b, s, _, _ in spans if s == "bubble" and b > begin)
            axes.annotate(f"{human(max(span[4] for span in spans))}\nbubble {100 * bubble / max(whole, 1):.0f} %", (1.0, i),
                          xycoords=("axes fraction", "data"), xytext=(3, 0), textcoords="offset points", fontsize=6, va="center")
        axes.set_yticks(range(len(ranks)), [f"rank {who}" if who.isdigit() else f"ranks {who}" for who, _ in ranks], fontsize=7)
        axes.set_ylim(len(ranks) - 0.5, -0.5)
        axes.set_xlim(0, (end - begin) / size)
        axes.tick_params(labelsize=7, length=2, width=0.6)
        axes.set_xlabel(f"time from the first step on, {name}; white: a step begins", fontsize=7.5)
        bar = figure.colorbar(mesh, ax=axes, pad=0.12)
        bar.set_label("allocated, GiB", fontsize=7.5)
        bar.ax.tick_params(labelsize=7)
        handles = [Patch(facecolor=colour, hatch=hatch or None, edgecolor=EDGE if hatch else "none", linewidth=0, label=LABELS[state])
                   for state, colour, hatch in STATES]
        figure.legend(handles=handles, loc="lower center", ncol=5, fontsize=7, frameon=False, columnspacing=1.2, handlelength=1.6)
        axes.set_title(title or "Each rank: above, its memory; below, what it does", fontsize=9, fontweight="bold", loc="left")
    return figure


EDGE = "#1a1a1a"
LABELS = {"computing": "computes", "moving": "transfers alone", "lagging": "waits in a collective", "bubble": "bubble: waits for a peer",
          "idle": "idle"}
DARK = {"figure.facecolor": "#14171c", "savefig.facecolor": "#14171c", "axes.facecolor": "#14171c", "text.color": "#e6e6e6",
        "axes.labelcolor": "#e6e6e6", "axes.edgecolor": "#8a8f98", "xtick.color": "#e6e6e6", "ytick.color": "#e6e6e6",
        "legend.labelcolor": "#e6e6e6", "axes.titlecolor": "#e6e6e6"}
