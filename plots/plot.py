#!/usr/bin/env python3
"""Draws one picture of result files of `tidemark`.

    plots/plot.py KIND FILES... -o out.png [--title TEXT] [--device-bytes N] [--names A,B]

    timeline       TIMELINE             allocated by category under reserved, phases as bands (timeline.py)
    gap            TIMELINE             reserved against allocated, the gap split into what is stuck and what is cached
    fragmentation  TIMELINE...          free share of reserved, and how little of it the largest free block is
    overlay        TIMELINE TIMELINE    two runs over each other, by step
    waterfall      TIMELINE             where the peak comes from, category by category, up to the device
    compare        TIMELINE...          panels on one scale (compare.py)
    ranks          TIMELINE...          a row a rank, memory as colour over the steps (ranks.py)
    ranks          RANKS                the same over the job's time, with what each rank does: bubbles, transfers (job.py)
    map            EVENTS               address space at the peak of reserved: segments as rows, blocks by phase
    space          EVENTS               segments over time: when each was there, and how full
    lifetimes      EVENTS               the largest blocks alive at the peak: from when to when
    fit            FIT.json             an axis against the peak, holes marked
    growth         TIMELINE...          allocated at the steps' ends, with its slope: a leak beside a healthy run
    equation       TIMELINE             the textbook's terms beside what the peak is made of
    pareto         RUN.json...          peak reserved against estimated time, one point a run, the front drawn
    sizes          RUN.json...          peak allocated, reserved and the device's total from run to run
    oom            EVENTS               the last events before a refusal: asked for, free, cached, and what is given back
    heatmap        RESULTS.sqlite       a figure of a sweep over two axes: --x, --y, --value, --where
    axis           RESULTS.sqlite       an axis of a sweep against the peak, a line for each value of --y, the devices as lines

TIMELINE: of `run --timeline`; RANKS: of `run --rank-timeline`; EVENTS: of `run --events`; RUN.json, FIT.json: of `run` and `fit --format json`; RESULTS.sqlite: of `sweep --out`. PNG, SVG or PDF by the name's ending.
"""

import argparse
import csv
import io
import json
import sys

import numpy as np

from paper import DARK, LIGHT, LIMIT, MIDDLE, SMALL, below, page, plt, tidy, unit_of
from matplotlib.patches import Patch, Rectangle

import compare
import timeline as timelines
from ranks import draw_ranks  # noqa: F401  (KINDS finds it)
from runs import draw_equation, draw_growth, draw_oom, draw_pareto, draw_sizes  # noqa: F401  (KINDS finds them)
from sweeps import draw_axis, draw_heatmap  # noqa: F401
from timeline import CATEGORIES, InputError, choose_columns, human, read_text, read_timeline, split_phase
MADE_IN = [("model", "#003f5c", ""), ("inputs", "#7a3b69", ""), ("forward", "#8fd1a8", "...."), ("backward", "#b35900", ""),
           ("optimizer", "#8fc1e3", "////"), ("other", "#c8c8c8", "xxxx")]


def amounts(path):
    columns = read_timeline(path)["columns"]
    if len(columns["allocated_bytes"]) == 0:
        raise InputError(f"{path}: the timeline has no events")
    return columns


# ---- of timelines ---------------------------------------------------------------------------------------------------

def draw_gap(paths, title, options):
    columns = amounts(paths[0])
    allocated, reserved = columns["allocated_bytes"], columns["reserved_bytes"]
    stuck = np.minimum(columns["inactive_split_bytes"], reserved - allocated)
    chosen = choose_columns(allocated, reserved)
    unit, size = unit_of(reserved.max())
    figure, axes = page(title, bottom=0.26)
    held, rest, whole = (v[chosen] / size for v in (allocated, allocated + stuck, reserved))
    axes.fill_between(chosen, 0, held, step="post", facecolor="#8fd1a8", linewidth=0)
    axes.fill_between(chosen, held, rest, step="post", facecolor="#c0392b", linewidth=0)
    axes.fill_between(chosen, rest, whole, step="post", facecolor=LIGHT, hatch="////", edgecolor="white", linewidth=0)
    axes.step(chosen, whole, where="post", color="black", linewidth=1.2)
    axes.step(chosen, held, where="post", color=DARK, linewidth=0.6)
    widest = int(np.argmax(reserved - allocated))
    axes.annotate(f"widest gap {human(int(reserved[widest] - allocated[widest]))}",
                  (widest, (reserved[widest] + allocated[widest]) / 2 / size), fontsize=SMALL,
                  ha="left" if widest < len(allocated) / 10 else "right" if widest > len(allocated) * 0.9 else "center",
                  bbox={"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 1})
    axes.set_xlim(0, len(allocated))
    axes.set_ylim(0, reserved.max() / size * 1.08)
    tidy(axes, "allocator event", unit)
    below(figure, [plt.Line2D([], [], color="black", linewidth=1.2, label="reserved"),
                   Patch(facecolor="#8fd1a8", label="allocated"),
                   Patch(facecolor="#c0392b", label="free in segments in use"),
                   Patch(facecolor=LIGHT, hatch="////", edgecolor="white", label="free, could be given back")])
    return figure


def draw_fragmentation(paths, title, options):
    figure, axes = page(title, bottom=0.26)
    styles = ["-", (0, (4, 2)), (0, (1, 1)), (0, (6, 2, 1, 2))]
    handles = []
    for i, path in enumerate(paths):
        columns = amounts(path)
        reserved = columns["reserved_bytes"].astype(float)
        free = reserved - columns["active_bytes"]
        share = np.divide(free, reserved, out=np.zeros_like(free), where=reserved > 0)
        broken = 1 - np.divide(columns["largest_free_bytes"], free, out=np.ones_like(free), where=free > 0)
        x = np.linspace(0, 100, len(share))
        chosen = choose_columns(share, broken)
        colour = [DARK, MIDDLE, "#b35900", "#7a3b69"][i % 4]
        axes.plot(x[chosen], 100 * share[chosen], color=colour, linewidth=1, linestyle=styles[i % 4])
        name = options.names[i] if options.names else "free share of reserved"
        handles.append(plt.Line2D([], [], color=colour, linewidth=1, linestyle=styles[i % 4],
                                  label=f"{name}: mean {100 * share.mean():.1f} %"))
        if len(paths) == 1:
            axes.fill_between(x[chosen], 0, 100 * broken[chosen], color=LIGHT, linewidth=0)
            handles.append(Patch(facecolor=LIGHT, label="1 - largest free block / free bytes"))
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100)
    tidy(axes, "% of the run's events", "%")
    below(figure, handles, 2)
    return figure


def steps_of(phase):
    """The step that each event belongs to, as a number that grows from step to step; -1 before the first."""
    out = np.full(len(phase), -1)
    number, before = -1, None
    for name, first, end in timelines.spans(phase):
        step = split_phase(name)[1].split(".")[0]
        if step and step != before:
            number, before = number + 1, step
        out[first:end] = number
    return out


def draw_overlay(paths, title, options):
    if len(paths) != 2:
        raise InputError("overlay wants two timelines")
    tops = []
    figure, axes = page(title, bottom=0.26)
    names = options.names or paths
    both = [read_timeline(path) for path in paths]
    size_name, size = unit_of(max(int(t["columns"]["reserved_bytes"].max()) for t in both))
    handles = []
    for run, name, colour, dashes in zip(both, names, (DARK, "#b35900"), ("-", (0, (4, 1.5)))):
        columns, steps = run["columns"], steps_of(run["phase"])
        x = np.zeros(len(steps))
        for step in np.unique(steps):
            at = np.flatnonzero(steps == step)
            x[at] = step + np.arange(len(at)) / len(at)
        chosen = choose_columns(columns["allocated_bytes"], columns["reserved_bytes"])
        for column, width, weight in (("reserved_bytes", 1.5, "reserved"), ("allocated_bytes", 0.6, "allocated")):
            axes.step(x[chosen], columns[column][chosen] / size, where="post", color=colour, linewidth=width, linestyle=dashes)
            handles.append(plt.Line2D([], [], color=colour, linewidth=width, linestyle=dashes,
                                      label=f"{name}: {weight}, at most {human(int(columns[column].max()))}"))
        tops.append(columns["reserved_bytes"].max() / size)
    axes.set_ylim(0, max(tops) * 1.06)
    axes.set_xlim(-1, None)
    tidy(axes, "step", size_name)
    below(figure, handles, 2)
    return figure


def draw_waterfall(paths, title, options):
    run = read_timeline(paths[0])
    columns = run["columns"]
    at = int(np.argmax(columns["reserved_bytes"]))
    parts = [(label, int(columns[name][at]), colour, hatch) for name, label, colour, hatch in CATEGORIES
             if name in columns and columns[name][at] > 0]
    reserved, allocated = int(columns["reserved_bytes"][at]), int(columns["allocated_bytes"][at])
    stuck = min(int(columns["inactive_split_bytes"][at]), reserved - allocated)
    parts += [("free, stuck\nin used\nsegments", stuck, "#c0392b", "----"), ("free,\ncould be\ngiven back", reserved - allocated - stuck, LIGHT, "////")]
    parts = [part for part in parts if part[1] > 0]
    if run["device"]:
        parts.append(("CUDA context", run["device"]["context_bytes"], "#4d4d4d", ""))
    total = sum(part[1] for part in parts)
    unit, size = unit_of(total)
    figure, axes = page(title, bottom=0.22)
    base = 0
    for i, (label, value, colour, hatch) in enumerate(parts):
        axes.bar(i, value / size, bottom=base / size, color=colour, hatch=hatch, edgecolor="white", width=0.7, linewidth=0)
        axes.annotate(human(value), (i, (base + value) / size), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=SMALL)
        axes.plot([i + 0.35, i + 0.65 + 0.3], [(base + value) / size] * 2, color="#888888", linewidth=0.6)
        base += value
    axes.bar(len(parts), total / size, color="white", edgecolor="black", width=0.7, linewidth=1)
    axes.annotate(human(total), (len(parts), total / size), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=SMALL, fontweight="bold")
    names = [part[0].replace(" ", "\n", 1) if "\n" not in part[0] else part[0] for part in parts] + ["in all"]
    tidy(axes, f"at the peak of reserved: event {at}, {run['phase'][at]}", unit)
    axes.set_xticks(range(len(names)), names, fontsize=6.5)
    axes.set_ylim(0, total / size * 1.1)
    return figure


# ---- of events ------------------------------------------------------------------------------------------------------

def read_events(path):
    rows = list(csv.DictReader(io.StringIO(read_text(path))))
    if not rows or not {"action", "bytes", "address", "id", "phase", "op"} <= rows[0].keys():
        raise InputError("no events: the header has no action, bytes, address, id, phase and op")
    return rows


class Space:
    """Segments and blocks as the events make them, up to any event."""

    def __init__(self):
        self.segments, self.blocks, self.reserved = {}, {}, 0

    def take(self, at, row):
        action, size, address = row["action"], int(row["bytes"]), int(row["address"])
        if action in ("segment_alloc", "segment_map"):
            self.segments[address] = (size, at)
            self.reserved += size
        elif action in ("segment_free", "segment_unmap"):
            self.segments.pop(address, None)
            self.reserved -= size
        elif action == "alloc":
            self.blocks[row["id"]] = (address, size, at, row)
        elif action == "free_completed":
            self.blocks.pop(row["id"], None)


def at_highest(rows):
    space, highest, moment = Space(), -1, 0
    for at, row in enumerate(rows):
        space.take(at, row)
        if space.reserved > highest or (space.reserved == highest and row["action"] == "alloc" and at == moment + 1):
            highest, moment = space.reserved, at
    space = Space()
    for at, row in enumerate(rows[: moment + 1]):
        space.take(at, row)
    return space, moment


def made_in(row):
    phase = split_phase(row["phase"])[0]
    return next((kind for kind in MADE_IN if kind[0] in phase), MADE_IN[-1])


def draw_map(paths, title, options):
    rows = read_events(paths[0])
    space, moment = at_highest(rows)
    largest = sorted(space.segments.items(), key=lambda s: (-s[1][0], s[0]))
    shown = sorted(largest[:24])
    figure, axes = page(title, height=0.9 + 0.17 * len(shown) + 0.6, left=0.16, top=1 - 0.35 / (1.5 + 0.17 * len(shown)),
                        bottom=0.75 / (1.5 + 0.17 * len(shown)))
    unit, size = unit_of(shown and max(s[1][0] for s in shown))
    notes = []
    for i, (address, (length, _)) in enumerate(shown):
        axes.add_patch(Rectangle((0, -i - 0.4), length / size, 0.8, facecolor="white", hatch="//", edgecolor="#bbbbbb", linewidth=0.5))
        inside = sorted(b for b in space.blocks.values() if address <= b[0] < address + length)
        for start, bytes_, _, row in inside:
            _, colour, hatch = made_in(row)
            axes.add_patch(Rectangle(((start - address) / size, -i - 0.4), bytes_ / size, 0.8, facecolor=colour, hatch=hatch,
                                     edgecolor="white", linewidth=0.2))
        used = sum(b[1] for b in inside)
        if inside and used * 2 < length and len(notes) < 6:
            pin = min(inside, key=lambda b: b[1])
            notes.append(i)
            axes.annotate(f"held by {human(pin[1])}: {pin[3]['op'] or pin[3]['phase']}"[:58], (length / size, -i), xytext=(4, 0),
                          textcoords="offset points", fontsize=5.5, va="center", annotation_clip=False)
    rest = f"; {len(largest) - len(shown)} smaller segments not shown" if len(largest) > len(shown) else ""
    longest = max(s[1][0] for s in shown) / size
    axes.set_xlim(0, longest * 1.45)
    axes.set_ylim(-len(shown) + 0.4, 0.6)
    tidy(axes, f"offset in the segment, {unit}; white: free. Event {moment}, {rows[moment]['phase']}, blocks by the phase that made them{rest}", "", grid="")
    axes.set_yticks([-i for i in range(len(shown))], [human(s[1][0]) for s in shown], fontsize=5.5)
    below(figure, [Patch(facecolor=c, hatch=h, edgecolor="white", label=n if n == "other" else f"in {n}") for n, c, h in MADE_IN], 6)
    return figure


def draw_space(paths, title, options):
    rows = read_events(paths[0])
    segments, alive, owner = [], {}, {}
    edges = np.linspace(0, len(rows), 401).astype(int)
    fill = {}
    for at, row in enumerate(rows):
        action, size, address = row["action"], int(row["bytes"]), int(row["address"])
        column = int(np.searchsorted(edges, at, side="right")) - 1
        if action in ("segment_alloc", "segment_map"):
            alive[address] = len(segments)
            segments.append([address, size, at, len(rows), 0])
        elif action in ("segment_free", "segment_unmap") and address in alive:
            segments[alive.pop(address)][3] = at
        elif action == "alloc":
            inside = next((i for a, i in alive.items() if a <= address < a + segments[i][1]), None)
            if inside is None:
                continue
            owner[row["id"]] = (inside, size)
            segments[inside][4] += size
            fill[(inside, column)] = segments[inside][4]
        elif action == "free_completed" and row["id"] in owner:
            inside, held = owner.pop(row["id"])
            segments[inside][4] -= held
            fill[(inside, column)] = segments[inside][4]
    order = sorted(range(len(segments)), key=lambda i: -segments[i][1])[:40]
    order.sort(key=lambda i: segments[i][0])
    figure, axes = page(title, height=4.2, left=0.12, bottom=0.2)
    heights = [max(segments[i][1], 1) for i in order]
    scale = sum(heights)
    base, shades = 0.0, plt.get_cmap("Greys")
    for i, height in zip(order, heights):
        tall = height / scale
        _, size, first, last, _ = segments[i]
        held = 0
        for column in range(len(edges) - 1):
            begin, end = max(edges[column], first), min(edges[column + 1], last)
            held = fill.get((i, column), held)
            if begin < end:
                axes.add_patch(Rectangle((begin, base), end - begin, tall * 0.92, facecolor=shades(0.12 + 0.8 * min(held / size, 1)), linewidth=0))
        axes.add_patch(Rectangle((first, base), last - first, tall * 0.92, facecolor="none", edgecolor="#888888", linewidth=0.3))
        base += tall
    axes.set_xlim(0, len(rows))
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    tidy(axes, "allocator event", "segments by address, height by size", grid="")
    below(figure, [Patch(facecolor=shades(0.12 + 0.8 * s), edgecolor="#888888", linewidth=0.3, label=f"{int(100 * s)} % in use") for s in (0, 0.5, 1)])
    return figure


def draw_lifetimes(paths, title, options):
    rows = read_events(paths[0])
    alive, ends, amount, highest, moment = {}, {}, 0, -1, 0
    for at, row in enumerate(rows):
        if row["action"] == "alloc":
            alive[row["id"]] = (at, int(row["bytes"]), row)
            amount += int(row["bytes"])
        elif row["action"] == "free_requested" and row["id"] in alive:
            ends[row["id"]] = at
            amount -= alive[row["id"]][1]
        if amount > highest:
            highest, moment = amount, at
    around = [(first, ends.get(name, len(rows)), size, row) for name, (first, size, row) in alive.items()
              if first <= moment < ends.get(name, len(rows))]
    shown = sorted(sorted(around, key=lambda b: -b[2])[:30], key=lambda b: b[0])
    figure, axes = page(title, height=4.6, left=0.33, bottom=0.15)
    for i, (first, last, size, row) in enumerate(shown):
        _, colour, hatch = made_in(row)
        axes.barh(-i, last - first, left=first, height=0.75, color=colour, hatch=hatch, edgecolor="white", linewidth=0)
    axes.axvline(moment, color=LIMIT, linewidth=1, linestyle=(0, (5, 2)))
    axes.annotate(f"peak of requested, {human(highest)}", (moment, 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                  textcoords="offset points", fontsize=SMALL, color=LIMIT, ha="center")
    axes.set_xlim(0, len(rows))
    axes.set_ylim(-len(shown) + 0.4, 0.6)
    tidy(axes, f"allocator event; the {len(shown)} largest of {len(around)} blocks alive at the peak", "", grid="x")
    labels = [f"{human(size)}  {row['op'] or row['phase']}"[:44] for _, _, size, row in shown]
    axes.set_yticks([-i for i in range(len(shown))], labels, fontsize=5.5)
    below(figure, [Patch(facecolor=c, hatch=h, edgecolor="white", label=n if n == "other" else f"in {n}") for n, c, h in MADE_IN], 6)
    return figure


# ---- of fit ---------------------------------------------------------------------------------------------------------

def draw_fit(paths, title, options):
    document = json.loads(read_text(paths[0]))
    if document.get("kind") != "fit":
        raise InputError('no fit: expected "kind": "fit"')
    probes = [p for p in document["probes"] if not p["error"]]
    unit, size = unit_of(max(p["peak_reserved_bytes"] for p in probes))
    figure, axes = page(title, bottom=0.26)
    fits = [p for p in probes if p["fits"]]
    room = options.device_bytes or max((p["peak_reserved_bytes"] + p["spare_bytes"] for p in probes), default=0)
    axes.plot([p["value"] for p in fits], [p["peak_reserved_bytes"] / size for p in fits], color="#999999", linewidth=0.8, zorder=2)
    groups = [("fits", [p for p in fits if not p["retries"]], "o", DARK, DARK), ("fits after giving the cache back", [p for p in fits if p["retries"]], "s", "white", DARK),
              ("does not fit", [p for p in probes if not p["fits"]], "x", LIMIT, LIMIT)]
    for name, group, marker, face, edge in groups:
        axes.scatter([p["value"] for p in group], [(p["peak_reserved_bytes"] if p["fits"] else room) / size for p in group], marker=marker, s=22,
                     facecolor=face, edgecolor=None if marker == "x" else edge, color=LIMIT if marker == "x" else None, linewidth=1, label=name, zorder=3)
    axes.axhline(room / size, color=LIMIT, linewidth=1, linestyle=(0, (6, 3)))
    axes.annotate(f"device without the CUDA context, {human(room)}", (0, room / size), xycoords=("axes fraction", "data"), xytext=(4, 3),
                  textcoords="offset points", fontsize=SMALL, color=LIMIT)
    if document["best"] is not None:
        axes.axvline(document["best"] + 0.5, color="#777777", linewidth=0.8, linestyle=":")
        is_right = document["best"] > 0.7 * max(p["value"] for p in probes)
        axes.annotate(f"{document['best']} fits, {document['best'] + 1} does not", (document["best"] + 0.5, 0.04), xycoords=("data", "axes fraction"),
                      xytext=(-4 if is_right else 4, 0), textcoords="offset points", fontsize=SMALL, ha="right" if is_right else "left")
    axes.set_ylim(0, room / size * 1.12)
    axes.set_xlim(0, None)
    tidy(axes, document["path"], f"peak reserved, {unit}")
    below(figure, axes.get_legend_handles_labels()[0], 3)
    return figure


def draw_timeline(paths, title, options):
    return timelines.draw(read_timeline(paths[0]), title, options.device_bytes)


def draw_compare(paths, title, options):
    return compare.draw([read_timeline(path) for path in paths], options.names or paths, title, options.device_bytes)


KINDS = {name[5:]: function for name, function in list(globals().items()) if name.startswith("draw_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("files", nargs="+")
    parser.add_argument("-o", "--output", required=True, help="FILE.png, FILE.svg or FILE.pdf")
    parser.add_argument("--title", default="", help="a heading")
    parser.add_argument("--names", type=lambda text: text.split(","), help="one a file, joined by commas")
    parser.add_argument("--across", help="of sizes: what differs from run to run")
    parser.add_argument("--device-bytes", type=int, help="what the allocator can have at most")
    parser.add_argument("--dark", action="store_true", help="of RANKS: light on dark")
    parser.add_argument("--x", help="of a sweep: the axis across")
    parser.add_argument("--y", help="of a sweep: the axis up, or of which each value is a line")
    parser.add_argument("--value", default="peak_reserved", help="of a sweep: what the map shows")
    parser.add_argument("--where", help="of a sweep: an SQL expression that chooses cells")
    args = parser.parse_args()
    if args.names and len(args.names) != len(args.files):
        parser.error(f"{len(args.names)} names for {len(args.files)} files")
    if not args.output.endswith((".png", ".svg", ".pdf")):
        parser.error(f"{args.output}: expected a name that ends in .png, .svg or .pdf")
    plt.rcParams["svg.hashsalt"] = "tidemark"  # the same input gives the same file
    plt.rcParams["hatch.linewidth"] = 0.5
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    try:
        figure = KINDS[args.kind](args.files, args.title, args)
        figure.savefig(args.output, dpi=160, metadata=dates.get(args.output[-4:], {}))
        plt.close(figure)
    except (InputError, json.JSONDecodeError, UnicodeDecodeError, ValueError, KeyError) as error:
        print(f"{args.files[0]}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(error, file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
