#!/usr/bin/env python3
"""Draws several timelines beside each other on one scale: reserved against allocated, the gap shaded.

    plots/compare.py a.csv b.csv c.json.gz -o compare.png --names 'first,second,third' [--title TEXT] [--device-bytes N]

Reads what `tidemark run --timeline FILE` wrote. The output's ending chooses the format: png, svg or pdf.
"""

import argparse
import json
import math
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)
import numpy as np  # noqa: E402

from timeline import UNITS, InputError, choose_columns, human, read_timeline, spans, split_phase  # noqa: E402

ALLOCATED, RESERVED, GAP, LIMIT = "#8fd1a8", "black", "#e6e6e6", "#a00000"


def step_starts(phase):
    """First event of each step, and how many steps there are."""
    starts = []
    before = None
    for name, first, _ in spans(phase):
        step = split_phase(name)[1].split(".")[0]
        if step and step != before:
            before = step
            starts.append(first)
    return starts


def draw_panel(axes, timeline, name, size, limit, top):
    columns = timeline["columns"]
    allocated, reserved = columns["allocated_bytes"], columns["reserved_bytes"]
    if len(allocated) == 0:
        raise InputError("the timeline has no events")
    chosen = choose_columns(allocated, reserved)
    x = np.append(chosen, len(allocated))
    extend = lambda values: np.append(values[chosen], values[chosen[-1]]) / size  # noqa: E731
    axes.fill_between(x, extend(allocated), extend(reserved), step="post", facecolor=GAP, linewidth=0, zorder=1)
    axes.fill_between(x, 0, extend(allocated), step="post", facecolor=ALLOCATED, linewidth=0, zorder=2)
    axes.step(x, extend(allocated), where="post", color="#2f7d4f", linewidth=0.5, zorder=3)
    axes.step(x, extend(reserved), where="post", color=RESERVED, linewidth=1.3, zorder=4)
    if limit and limit <= top * 1.25:
        axes.axhline(limit / size, color=LIMIT, linewidth=1, linestyle=(0, (6, 3)), zorder=3)
    axes.set_xlim(0, len(allocated))
    axes.set_title(name, fontsize=8.5, fontweight="bold", loc="left", pad=11)
    figures = f"peak reserved {human(int(reserved.max()))}, allocated {human(int(allocated.max()))}"
    axes.annotate(figures, (0, 1), xycoords="axes fraction", xytext=(0, 3), textcoords="offset points", fontsize=7)
    starts = step_starts(timeline["phase"])
    every = max(1, math.ceil(len(starts) / 8 / 5) * 5) if len(starts) > 8 else 1
    axes.set_xticks(starts[::every], [str(i) for i in range(0, len(starts), every)])
    axes.tick_params(labelsize=7, length=2, width=0.6)
    axes.grid(axis="y", color="#dddddd", linewidth=0.5, zorder=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw(timelines, names, title="", device_bytes=None):
    tops = [int(t["columns"]["reserved_bytes"].max(initial=0)) for t in timelines]
    top = max(tops)
    size_name, size = next((u for u in UNITS if top >= 2 * u[1]), UNITS[-1])
    device = timelines[0]["device"]
    if device_bytes is None and device:
        device_bytes = device["total_bytes"] - device["context_bytes"]
    across = len(timelines) if len(timelines) <= 2 else 2 if len(timelines) == 4 else 3
    down = math.ceil(len(timelines) / across)
    figure, grid = plt.subplots(down, across, figsize=(7.2, 0.7 + 1.75 * down), sharey=True, squeeze=False)
    for axes, timeline, name in zip(grid.flat, timelines, names):
        draw_panel(axes, timeline, name, size, device_bytes, top)
    for axes in list(grid.flat)[len(timelines):]:
        axes.set_visible(False)
    highest = device_bytes if device_bytes and device_bytes <= top * 1.25 else top
    grid[0][0].set_ylim(0, highest / size * 1.06)
    for row in grid:
        row[0].set_ylabel(size_name, fontsize=8)
    for axes in grid[-1]:
        axes.set_xlabel("step", fontsize=8, labelpad=1)
    handles = [plt.Line2D([], [], color=RESERVED, linewidth=1.3, label="reserved"),
               plt.Rectangle((0, 0), 1, 1, facecolor=ALLOCATED, edgecolor="#2f7d4f", linewidth=0.5, label="allocated"),
               plt.Rectangle((0, 0), 1, 1, facecolor=GAP, label="cached, free")]
    if highest == device_bytes:
        handles.append(plt.Line2D([], [], color=LIMIT, linewidth=1, linestyle=(0, (6, 3)),
                                  label=f"device without the CUDA context, {human(device_bytes)}"))
    figure.subplots_adjust(left=0.075, right=0.985, wspace=0.08, hspace=0.55,
                           top=1 - (0.62 if title else 0.36) / figure.get_figheight(),
                           bottom=0.62 / figure.get_figheight())
    figure.legend(handles=handles, loc="lower center", ncol=4, fontsize=7, frameon=False)
    if title:
        figure.text(0.075, 1 - 0.14 / figure.get_figheight(), title, fontsize=9.5, fontweight="bold", va="center")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("timelines", nargs="+", help="files that run --timeline wrote")
    parser.add_argument("-o", "--output", required=True, help="FILE.png, FILE.svg or FILE.pdf")
    parser.add_argument("--names", default="", help="one a file, joined by commas (default: the files' names)")
    parser.add_argument("--title", default="", help="a heading")
    parser.add_argument("--device-bytes", type=int, help="what the allocator can have at most")
    args = parser.parse_args()
    names = args.names.split(",") if args.names else args.timelines
    if len(names) != len(args.timelines):
        parser.error(f"{len(names)} names for {len(args.timelines)} files")
    if not args.output.endswith((".png", ".svg", ".pdf")):
        parser.error(f"{args.output}: expected a name that ends in .png, .svg or .pdf")
    plt.rcParams["svg.hashsalt"] = "tidemark"  # the same input gives the same file
    try:
        figure = draw([read_timeline(path) for path in args.timelines], names, args.title, args.device_bytes)
    except (InputError, json.JSONDecodeError, UnicodeDecodeError, ValueError, KeyError) as error:
        print(f"{error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(error, file=sys.stderr)
        return 4
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    figure.savefig(args.output, dpi=200, metadata=dates.get(args.output[-4:], {}))
    plt.close(figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
