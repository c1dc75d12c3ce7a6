#!/usr/bin/env python3
"""Draws the memory timeline that `tidemark run --timeline FILE` wrote: what was allocated, stacked by category,
under what was reserved, phase by phase.

    plots/timeline.py timeline.csv -o timeline.png [--title TEXT] [--device-bytes N] [--x events|time] [--host host.csv]

The output's ending chooses the format: png, svg or pdf. Reads CSV or JSON, plain or gzipped; `-` is standard input.
"""

import argparse
import csv
import gzip
import io
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)
import numpy as np  # noqa: E402
from matplotlib.patches import Patch, Rectangle  # noqa: E402

# Stacked from the bottom. Neighbours differ in lightness, and every second one is hatched: legible in grey and to the
# colour-blind (colours after Okabe and Ito, lightness spread).
CATEGORIES = [
    ("parameters_bytes", "parameters", "#003f5c", ""),
    ("optimizer_state_bytes", "optimizer state", "#8fc1e3", "////"),
    ("gradients_bytes", "gradients", "#b35900", ""),
    ("kv_cache_bytes", "kv cache", "#3f9aa8", "\\\\\\\\"),
    ("workspace_bytes", "workspace", "#f7d08a", "\\\\\\\\"),
    ("inputs_bytes", "inputs", "#7a3b69", ""),
    ("activations_bytes", "activations", "#8fd1a8", "...."),
    ("temporaries_bytes", "temporaries", "#c0392b", ""),
    ("unknown_bytes", "unknown", "#c8c8c8", "xxxx"),
]
# One shade a phase, known by name; others take turns.
PHASE_SHADES = {
    "model": "#4d4d4d",
    "optimizer_init": "#6e6e6e",
    "zero_grad": "#ffffff",
    "inputs": "#c4c4c4",
    "forward": "#e6e6e6",
    "backward": "#9a9a9a",
    "clip": "#f4f4f4",
    "optimizer": "#5f5f5f",
    "item": "#ffffff",
}
SHORT_NAMES = {"forward": "fwd", "backward": "bwd", "optimizer": "opt", "inputs": "in"}
OTHER_SHADES = ["#d9d9d9", "#bdbdbd"]
MAX_COLUMNS = 3000  # more than a page can show; beyond it each column keeps its highest event
UNITS = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]


class InputError(Exception):
    """The file is no timeline; the message says why."""


def read_text(path):
    if path == "-":
        data = sys.stdin.buffer.read()
    else:
        with open(path, "rb") as file:
            data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return data.decode("utf-8")


def read_timeline(path):
    """Columns by name as integer arrays; `phase`: one name an event; `device`: dict or empty."""
    text = read_text(path)
    if text.lstrip().startswith("{"):
        return from_json(json.loads(text))
    return from_csv(text)


def from_json(document):
    if document.get("kind") != "timeline":
        raise InputError("no timeline: expected \"kind\": \"timeline\"")
    if document.get("schema_version") != 1:
        raise InputError(f"schema_version {document.get('schema_version')}: only 1 is known")
    names = {"action", "op"}
    columns = {k: np.array(v, dtype=np.int64) for k, v in document["columns"].items() if k not in names}
    phase = np.full(document["events"], "", dtype=object)
    for span in document["phases"]:
        phase[span["first_event"] : span["first_event"] + span["events"]] = span["name"]
    return {"columns": columns, "phase": phase, "device": document.get("device", {})}


def from_csv(text):
    rows = csv.reader(io.StringIO(text))
    header = next(rows, None)
    if not header or "allocated_bytes" not in header or "reserved_bytes" not in header:
        raise InputError("no timeline: the header has no allocated_bytes and reserved_bytes")
    body = list(rows)
    columns = {}
    for at, name in enumerate(header):
        if name.endswith("_bytes") or name == "time_ns":
            columns[name] = np.array([int(row[at]) for row in body], dtype=np.int64)
    at = header.index("phase") if "phase" in header else None
    phase = np.array(["" if at is None else row[at] for row in body], dtype=object)
    return {"columns": columns, "phase": phase, "device": {}}


def read_host(path):
    """Columns of what `run --host-timeline` wrote, CSV or JSON."""
    text = read_text(path)
    if text.lstrip().startswith("{"):
        document = json.loads(text)
        if document.get("kind") != "host_timeline" or document.get("schema_version") != 1:
            raise InputError("no host timeline: expected \"kind\": \"host_timeline\", \"schema_version\": 1")
        columns = document["columns"]
    else:
        rows = list(csv.DictReader(io.StringIO(text)))
        columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    wanted = ("event", "host_bytes", "pageable_bytes", "pinned_bytes", "time_ns")
    columns = {name: np.array([int(n) for n in columns[name]], dtype=np.int64) for name in wanted if name in columns}
    if len(columns) < 4 or len(columns["event"]) == 0:
        raise InputError("no host timeline: expected rows with event, host_bytes, pageable_bytes and pinned_bytes")
    return columns


def choose_columns(allocated, reserved):
    """Indices to draw: all, or in each of MAX_COLUMNS stretches the events with the highest and lowest amounts."""
    count = len(allocated)
    if count <= MAX_COLUMNS:
        return np.arange(count)
    edges = np.linspace(0, count, MAX_COLUMNS // 3 + 1).astype(int)
    keep = set()
    for begin, end in zip(edges[:-1], edges[1:]):
        keep.add(begin + int(np.argmax(allocated[begin:end])))
        keep.add(begin + int(np.argmin(allocated[begin:end])))
        keep.add(begin + int(np.argmax(reserved[begin:end])))
    keep.update((int(np.argmax(allocated)), int(np.argmax(reserved)), 0, count - 1))
    return np.array(sorted(keep))


def spans(phase):
    """(name, first, end) of each run of equal phase names."""
    if len(phase) == 0:
        return []
    change = np.flatnonzero(phase[1:] != phase[:-1]) + 1
    edges = [0, *change.tolist(), len(phase)]
    return [(phase[a], a, b) for a, b in zip(edges[:-1], edges[1:])]


def split_phase(name):
    head, _, tail = name.rpartition(" ")
    return (head, tail) if head and tail.replace(".", "").isdigit() else (name, "")


def human(number):
    for unit, size in UNITS:
        if number >= size:
            value = number / size
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    return f"{number} B"


def draw_phases(axes, timeline, position, right):
    """A strip of shades below the curves, a line where each step begins, names where they fit."""
    strip = axes.inset_axes([0, -0.075, 1, 0.05])
    strip.set_xlim(axes.get_xlim())
    strip.set_ylim(0, 1)
    strip.set_xticks([])
    strip.set_yticks([])
    figure_width = axes.figure.get_size_inches()[0] * axes.get_position().width
    low, high = axes.get_xlim()
    letters = figure_width * 72 / 4.6 / max(high - low, 1e-9)  # characters a unit of x, at 7 points
    step_before = None
    label_free_from = low
    unnamed = {}
    for name, first, end in spans(timeline["phase"]):
        begin_x, end_x = position(first), position(end) if end < len(timeline["phase"]) else right
        phase, step = split_phase(name)
        shade = PHASE_SHADES.get(phase, OTHER_SHADES[sum(map(ord, phase)) % 2])
        strip.add_patch(Rectangle((begin_x, 0), end_x - begin_x, 1, facecolor=shade, linewidth=0))
        dark = sum(int(shade[i : i + 2], 16) for i in (1, 3, 5)) < 380
        room = (end_x - begin_x) * letters
        text = next((t for t in (phase, SHORT_NAMES.get(phase, phase)) if len(t) + 1 < room), None)
        if text:
            strip.text((begin_x + end_x) / 2, 0.46, text, ha="center", va="center", fontsize=6.5,
                       color="white" if dark else "black")
        if text != phase and end > first:
            unnamed.setdefault(phase, shade)
        step = step.split(".")[0]
        if step and step != step_before:
            step_before = step
            axes.axvline(begin_x, color="#555555", linewidth=0.6, linestyle=(0, (1, 2)), zorder=5)
            text = f"step {step}"
            if begin_x >= label_free_from and (high - begin_x) * letters > len(text):
                axes.annotate(text, (begin_x, 1), xycoords=("data", "axes fraction"), xytext=(2, -2),
                              textcoords="offset points", ha="left", va="top", fontsize=6.5, color="#333333",
                              zorder=6)
                label_free_from = begin_x + (len(text) + 2) / letters
    for spine in strip.spines.values():
        spine.set_linewidth(0.5)
    return unnamed


def draw(timeline, title="", device_bytes=None, x_axis="events", host=None):
    columns = timeline["columns"]
    allocated, reserved = columns["allocated_bytes"], columns["reserved_bytes"]
    if len(allocated) == 0:
        raise InputError("the timeline has no events")
    if x_axis == "time" and "time_ns" not in columns:
        raise InputError("the timeline has no column time_ns")
    device = timeline["device"]
    if device_bytes is None and device:
        device_bytes = device["total_bytes"] - device["context_bytes"]

    chosen = choose_columns(allocated, reserved)
    if x_axis == "time":
        xs = columns["time_ns"] / 1e6
        position = lambda event: xs[event]  # noqa: E731
        right = xs[-1] if xs[-1] > xs[0] else xs[0] + 1
    else:
        xs = np.arange(len(allocated))
        position = lambda event: event  # noqa: E731
        right = len(allocated)
    x = np.append(xs[chosen], right)
    extend = lambda values: np.append(values[chosen], values[chosen[-1]])  # noqa: E731

    top = int(reserved.max())
    unit, size = next((u for u in UNITS if top >= 2 * u[1]), UNITS[-1])
    if host is None:
        figure, axes = plt.subplots(figsize=(7.2, 3.9))
        figure.subplots_adjust(left=0.09, right=0.985, top=0.90, bottom=0.30)
    else:
        figure, (axes, below) = plt.subplots(2, 1, figsize=(7.2, 5.1), height_ratios=[3, 1])
        figure.subplots_adjust(left=0.09, right=0.985, top=0.92, bottom=0.165, hspace=0.36)

    base = np.zeros(len(x))
    peak_at = int(np.argmax(allocated))
    handles = []
    for name, label, colour, hatch in CATEGORIES:
        values = columns.get(name)
        if values is None or values.max() == 0:
            continue
        upper = base + extend(values) / size
        axes.fill_between(x, base, upper, step="post", facecolor=colour, edgecolor="#ffffffb0" if hatch else "none",
                          hatch=hatch, linewidth=0, zorder=2)
        share = f"{label}, {human(int(values[peak_at]))}" if values[peak_at] else label
        handles.append(Patch(facecolor=colour, hatch=hatch, edgecolor="white", label=share))
        base = upper
    held, whole = extend(allocated) / size, extend(reserved) / size
    axes.fill_between(x, held, whole, step="post", facecolor="#f3f3f3", linewidth=0, zorder=1)
    axes.step(x, held, where="post", color="#1a1a1a", linewidth=0.7, zorder=4)
    axes.step(x, whole, where="post", color="black", linewidth=1.5, zorder=4)

    axes.set_xlim(x[0], right)
    axes.set_ylim(0, top / size * 1.16)
    axes.set_ylabel(unit, fontsize=8)
    axes.tick_params(labelsize=7.5, length=2.5, width=0.6)
    axes.tick_params(axis="x", pad=16)
    axes.set_xlabel("time, ms" if x_axis == "time" else "allocator event", fontsize=8, labelpad=1, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)

    mark_peaks(axes, allocated, reserved, position, right, size)
    if device_bytes:
        draw_device(axes, device_bytes, top, size)
    unnamed = draw_phases(axes, timeline, position, right)
    if host is not None:
        draw_host(below, host, axes.get_xlim(), x_axis)
    if unnamed:
        key = [Patch(facecolor=shade, edgecolor="black", linewidth=0.4, label=name) for name, shade in unnamed.items()]
        axes.legend(handles=key[:8], loc="upper right", bbox_to_anchor=(1.01, -0.15), ncol=8, fontsize=6.5,
                    frameon=False, handlelength=1, handleheight=0.9, columnspacing=0.8, handletextpad=0.4,
                    borderaxespad=0)

    curves = [
        plt.Line2D([], [], color="black", linewidth=1.5, label="reserved"),
        plt.Line2D([], [], color="#1a1a1a", linewidth=0.7, label="allocated"),
        Patch(facecolor="#f3f3f3", edgecolor="#bbbbbb", linewidth=0.5, label="cached, free"),
    ]
    figure.legend(handles=handles + curves, loc="lower center", ncol=4, fontsize=7, frameon=False,
                  bbox_to_anchor=(0.53, -0.005), columnspacing=1.3, handlelength=1.7, handleheight=1.0,
                  title="sizes: at the peak of allocated", title_fontsize=6.5)
    heading = title or device.get("name", "")
    if heading:
        figure.text(0.09, 0.955 if host is None else 0.965, heading, fontsize=9.5, fontweight="bold", ha="left", va="center")
    return figure


def draw_host(axes, host, limits, x_axis):
    """The host's memory in a panel of its own, on the same x: a change stands before the event that came next."""
    xs = host["time_ns"] / 1e6 if x_axis == "time" else host["event"]
    order = choose_columns(host["host_bytes"], host["pinned_bytes"])
    x = np.concatenate(([limits[0]], xs[order], [limits[1]]))
    held = lambda values: np.concatenate(([0], values[order], values[-1:]))  # noqa: E731
    unit, size = next((u for u in UNITS if int(host["host_bytes"].max()) >= 2 * u[1]), UNITS[-1])
    pinned, whole = held(host["pinned_bytes"]) / size, held(host["host_bytes"]) / size
    axes.fill_between(x, 0, pinned, step="post", facecolor="#6a51a3", linewidth=0, label="pinned")
    axes.fill_between(x, pinned, whole, step="post", facecolor="#d9d0e8", hatch="////", edgecolor="white", linewidth=0, label="pageable")
    axes.step(x, whole, where="post", color="#3f2d6b", linewidth=0.9)
    peak = int(np.argmax(host["host_bytes"]))
    on_left = xs[peak] < (limits[0] + limits[1]) / 2
    axes.annotate(f"peak of the host {human(int(host['host_bytes'][peak]))}", (xs[peak], host["host_bytes"][peak] / size),
                  xytext=(5 if on_left else -5, 2), textcoords="offset points", fontsize=7, ha="left" if on_left else "right", va="bottom")
    axes.set_xlim(limits)
    axes.set_ylim(0, max(whole) * 1.3)
    axes.set_ylabel(f"host, {unit}", fontsize=8)
    axes.tick_params(labelsize=7.5, length=2.5, width=0.6, labelbottom=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.22), ncol=2, fontsize=7, frameon=False, handlelength=1.7, columnspacing=1.3)


def mark_peaks(axes, allocated, reserved, position, right, size):
    for values, name, colour in ((reserved, "peak reserved", "black"), (allocated, "peak allocated", "#1a1a1a")):
        at = int(np.argmax(values))
        middle = (axes.get_xlim()[0] + right) / 2
        left_half = position(at) < middle
        axes.plot([position(at)], [values[at] / size], marker="o", markersize=3.2, color=colour,
                  markerfacecolor="white", markeredgewidth=1, zorder=7, clip_on=False)
        below = name == "peak allocated" and reserved.max() - values[at] < 0.1 * reserved.max()
        axes.annotate(f"{name} {human(int(values[at]))}", (position(at), values[at] / size),
                      xytext=(5 if left_half else -5, -4 if below else 4), textcoords="offset points", fontsize=7,
                      ha="left" if left_half else "right", va="top" if below else "bottom", zorder=8,
                      bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.8})


def draw_device(axes, device_bytes, top, size):
    """The most that the allocator can have: a line where it is near, words where it is far above."""
    if device_bytes <= 1.6 * top:
        axes.set_ylim(0, max(axes.get_ylim()[1], device_bytes / size * 1.12))
        axes.axhline(device_bytes / size, color="#a00000", linewidth=1.2, linestyle=(0, (6, 3)), zorder=3)
        axes.annotate(f"device: {human(device_bytes)} without the CUDA context",
                      (1, device_bytes / size), xycoords=("axes fraction", "data"), xytext=(0, 3),
                      textcoords="offset points", ha="right", va="bottom", fontsize=7, color="#a00000")
    else:
        axes.annotate(f"device: {human(device_bytes)} without the CUDA context, {device_bytes / top:.3g} times the peak",
                      (1, 1), xycoords="axes fraction", xytext=(0, 4), textcoords="offset points", ha="right",
                      va="bottom", fontsize=7, color="#a00000")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("timeline", help="the file that run --timeline wrote: CSV or JSON, plain or gzipped")
    parser.add_argument("-o", "--output", required=True, help="FILE.png, FILE.svg or FILE.pdf")
    parser.add_argument("--title", default="", help="a heading")
    parser.add_argument("--device-bytes", type=int, help="what the allocator can have at most; JSON files say it themselves")
    parser.add_argument("--host", metavar="FILE", help="what run --host-timeline wrote: a panel below shows the host's memory")
    parser.add_argument("--x", choices=["events", "time"], default="events", help="what goes to the right")
    args = parser.parse_args()
    if not args.output.endswith((".png", ".svg", ".pdf")):
        parser.error(f"{args.output}: expected a name that ends in .png, .svg or .pdf")
    plt.rcParams["svg.hashsalt"] = "tidemark"  # the same input gives the same file
    plt.rcParams["hatch.linewidth"] = 0.5
    try:
        name = args.timeline
        timeline = read_timeline(name)
        name = args.host
        host = read_host(name) if args.host else None
        name = args.timeline
        figure = draw(timeline, args.title, args.device_bytes, args.x, host)
    except (InputError, json.JSONDecodeError, UnicodeDecodeError, ValueError, KeyError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(error, file=sys.stderr)
        return 4
    metadata = {"Date": None} if args.output.endswith(".svg") else {}
    if args.output.endswith(".pdf"):
        metadata = {"CreationDate": None}
    try:
        figure.savefig(args.output, dpi=200, metadata=metadata)
        plt.close(figure)
    except OSError as error:
        print(error, file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
