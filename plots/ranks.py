"""Ranks of a job beside each other: memory as colour over the steps, a row a rank. Drawn by `plot.py ranks`."""

import matplotlib.pyplot as plt
import numpy as np

from job import draw_job, is_job
from timeline import InputError, human, read_timeline, spans, split_phase

COLUMNS = 1200  # of the picture, over all steps
SETUP = 0.4  # what stands before the first step, in steps


def starts_of(timeline):
    """(first event, place on the axis) of what stands before the steps, of each step, and the end"""
    starts, before, steps = [(0, -SETUP)], None, 0
    for name, first, _ in spans(timeline["phase"]):
        step = split_phase(name)[1].split(".")[0]
        if step and step != before:
            before = step
            starts.append((first, steps))
            steps += 1
    if steps == 0:
        raise InputError("the timeline has no steps")
    starts.append((len(timeline["columns"]["allocated_bytes"]), steps))
    return starts


def row_of(timeline, edges):
    """the most that was allocated between one edge of the axis and the next"""
    allocated = timeline["columns"]["allocated_bytes"]
    firsts, places = zip(*starts_of(timeline))
    # An event's place is its share of its step's own time, else of its events.
    events = np.arange(len(allocated))
    times = timeline["columns"].get("time_ns")
    clock = events if times is None or len(times) != len(allocated) or np.any(np.diff(times) < 0) else times
    ends = [clock[min(first, len(allocated) - 1)] for first in firsts]
    place = np.interp(clock, np.maximum.accumulate(np.array(ends, dtype=float) + np.arange(len(ends)) * 1e-6), places)
    row = np.zeros(len(edges) - 1)
    at = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, len(row) - 1)
    np.maximum.at(row, at, allocated)
    filled = np.zeros(len(row), dtype=bool)
    filled[at] = True
    last = {int(a): i for i, a in enumerate(at)}
    held = 0
    for i in range(len(row)):
        if filled[i]:
            held = allocated[last[i]]
        else:
            row[i] = held
    return row


def draw_ranks(paths, title, options):
    if is_job(paths[0]):
        if len(paths) > 1:
            raise InputError("one file of --rank-timeline has all ranks")
        return draw_job(paths[0], title, getattr(options, "dark", False))
    timelines = [read_timeline(path) for path in paths]
    names = options.names or [f"rank {i}" for i in range(len(paths))]
    steps = min(starts_of(each)[-1][1] for each in timelines)
    edges = np.linspace(-SETUP, steps, COLUMNS + 1)
    rows = np.array([row_of(each, edges) for each in timelines])
    peaks = [int(each["columns"]["reserved_bytes"].max()) for each in timelines]
    figure, axes = plt.subplots(figsize=(7.2, 1.3 + 0.28 * len(paths)), layout="constrained")
    image = axes.imshow(rows / 2**30, aspect="auto", extent=(-SETUP, steps, len(paths) - 0.5, -0.5), cmap="viridis", vmin=0, interpolation="nearest")
    axes.set_yticks(range(len(paths)), names, fontsize=7)
    axes.set_xticks(range(steps + 1))
    axes.tick_params(labelsize=7, length=2, width=0.6)
    axes.set_xlabel("step; within one, the time of its own host", fontsize=7.5)
    for step in range(steps):
        axes.axvline(step, color="white", linewidth=0.6)
    for i, peak in enumerate(peaks):
        axes.annotate(human(peak), (1.0, i), xycoords=("axes fraction", "data"), xytext=(3, 0), textcoords="offset points", fontsize=6.5, va="center")
    bar = figure.colorbar(image, ax=axes, pad=0.11)
    bar.set_label("allocated, GiB", fontsize=7.5)
    bar.ax.tick_params(labelsize=7)
    axes.set_title(title or "Memory of each rank; at the right, its peak reserved", fontsize=9, fontweight="bold", loc="left")
    return figure
