"""Pictures of what several runs come to, and of moments within one: growth, equation, pareto, sizes, oom."""

import csv
import io
import json

import numpy as np
from matplotlib.patches import Patch

from paper import DARK, LIGHT, LIMIT, MIDDLE, SMALL, below, page, plt, tidy, unit_of
from timeline import CATEGORIES, InputError, human, read_text, read_timeline, spans, split_phase

STYLES = [("-", "o", DARK), ((0, (4, 2)), "s", "#b35900"), ((0, (1, 1)), "^", MIDDLE), ((0, (6, 2, 1, 2)), "D", "#7a3b69")]


def step_ends(phase):
    """The last event of each step."""
    ends, before = [], None
    for name, first, _ in spans(phase):
        step = split_phase(name)[1].split(".")[0]
        if step and step != before:
            if before is not None:
                ends.append(first - 1)
            before = step
    return ends


def draw_growth(paths, title, options):
    figure, axes = page(title, bottom=0.26)
    runs = [read_timeline(path) for path in paths]
    unit, size = unit_of(max(int(run["columns"]["allocated_bytes"].max()) for run in runs))
    handles = []
    for i, run in enumerate(runs):
        dashes, marker, colour = STYLES[i % 4]
        allocated = run["columns"]["allocated_bytes"]
        at = step_ends(run["phase"])
        if len(at) < 3:
            raise InputError("growth wants three steps and more, named in the phases (\"forward 3\")")
        held = allocated[at]
        slope = int(round(np.median(np.diff(held[len(held) // 2:]))))
        steps = np.arange(1, len(at) + 1)
        axes.plot(steps, held / size, color=colour, linewidth=1, linestyle=dashes, marker=marker if len(at) <= 60 else "", markersize=3)
        name = options.names[i] if options.names else f"run {i + 1}"
        handles.append(plt.Line2D([], [], color=colour, linewidth=1, linestyle=dashes, marker=marker, markersize=3,
                                  label=f"{name}: {slope:+,} bytes a step"))
    axes.set_ylim(0, None)
    axes.set_xlim(0, None)
    if options.device_bytes:
        axes.axhline(options.device_bytes / size, color=LIMIT, linewidth=1, linestyle=(0, (6, 3)))
    tidy(axes, "step", f"allocated at the step's end, {unit}")
    below(figure, handles, 2)
    return figure


def draw_equation(paths, title, options):
    columns = read_timeline(paths[0])["columns"]
    at = int(np.argmax(columns["allocated_bytes"]))
    counted = ("parameters_bytes", "optimizer_state_bytes", "inputs_bytes", "activations_bytes")
    bars = [("model + optimizer\n+ activations + batch,\nas the articles count", {name: int(columns[name].max()) for name in counted}),
            ("the same and\ngradients", {name: int(columns[name].max()) for name in (*counted, "gradients_bytes")}),
            ("what the peak\nis made of", {name: int(columns[name][at]) for name, *_ in CATEGORIES if name in columns})]
    unit, size = unit_of(int(columns["allocated_bytes"].max()))
    figure, axes = page(title, height=4, bottom=0.3)
    tops = []
    for x, (_, parts) in enumerate(bars):
        base = 0
        for name, _, colour, hatch in CATEGORIES:
            value = parts.get(name, 0)
            if value == 0:
                continue
            axes.bar(x, value / size, bottom=base / size, color=colour, hatch=hatch, edgecolor="white", width=0.6, linewidth=0)
            base += value
        tops.append(base)
        axes.annotate(human(base), (x, base / size), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=SMALL, fontweight="bold")
    axes.set_ylim(0, max(tops) / size * 1.1)
    tidy(axes, "", unit)
    axes.set_xticks(range(len(bars)), [name for name, _ in bars], fontsize=SMALL)
    used = [c for c in CATEGORIES if any(parts.get(c[0], 0) for _, parts in bars)]
    below(figure, [Patch(facecolor=c, hatch=h, edgecolor="white", label=label) for _, label, c, h in used], 4)
    return figure


def read_runs(paths, names):
    out = []
    for path, name in zip(paths, names or paths):
        document = json.loads(read_text(path))
        if document.get("kind") != "run":
            raise InputError('no run: expected "kind": "run"')
        out.append((name, document, document["devices"][0]))
    return out


def retries_of(device):
    return device.get("stats", {}).get("num_alloc_retries", 0)


def draw_pareto(paths, title, options):
    runs = read_runs(paths, options.names)
    unit, size = unit_of(max(d["peak_reserved"]["bytes"] for _, _, d in runs))
    figure, axes = page(title, height=4.2, bottom=0.2)
    points = [(document["end_ns"] / 1e6, device["peak_reserved"]["bytes"] / size, name, device) for name, document, device in runs]
    front, lowest = [], float("inf")
    for x, y, _, device in sorted(points, key=lambda p: (p[0], p[1])):
        if device["fits"] and y < lowest:
            front.append((x, y))
            lowest = y
    axes.step([p[0] for p in front], [p[1] for p in front], where="post", color="#999999", linewidth=1, linestyle=(0, (4, 2)), zorder=1)
    kinds = [("fits", "o", DARK, lambda d: d["fits"] and not retries_of(d)), ("fits after giving the cache back", "s", "white", lambda d: d["fits"] and retries_of(d)),
             ("does not fit", "x", LIMIT, lambda d: not d["fits"])]
    handles = []
    for label, marker, face, holds in kinds:
        chosen = [p for p in points if holds(p[3])]
        if not chosen:
            continue
        edge = {} if marker == "x" else {"edgecolor": DARK}
        axes.scatter([p[0] for p in chosen], [p[1] for p in chosen], marker=marker, s=26, color=face, linewidth=1, zorder=3, **edge)
        handles.append(plt.Line2D([], [], color="white", marker=marker, markerfacecolor=face, markeredgecolor=LIMIT if marker == "x" else DARK, markersize=5, label=label))
    taken = []
    for x, y, name, _ in sorted(points, key=lambda p: -p[1]):
        if (x, y) in front:  # below and left of it there is nothing: the line goes right and down
            has_room = x > 0.15 * max(p[0] for p in points)
            is_first = (x, y) == front[0] and has_room
            axes.annotate(name, (x, y), xytext=(-5, 0 if is_first else -3) if has_room else (4, -4), textcoords="offset points",
                          fontsize=SMALL, va="center" if is_first else "top", ha="right" if has_room else "left")
            continue
        spot = y
        while any(abs(spot - other) < 0.04 * max(p[1] for p in points) and abs(x - across) < 0.25 * max(p[0] for p in points) for other, across in taken):
            spot -= 0.012 * max(p[1] for p in points)
        taken.append((spot, x))
        axes.annotate(name, (x, y), xytext=(x + 0.012 * max(p[0] for p in points), spot), textcoords="data", fontsize=SMALL, va="center")
    axes.set_xlim(0, max(p[0] for p in points) * 1.25)
    axes.set_ylim(0, max(p[1] for p in points) * 1.08)
    tidy(axes, "estimated time of the run, ms", f"peak reserved, {unit}")
    handles.append(plt.Line2D([], [], color="#999999", linewidth=1, linestyle=(0, (4, 2)), label="nothing is both smaller and faster"))
    below(figure, handles, 3)
    return figure


def draw_sizes(paths, title, options):
    runs = read_runs(paths, options.names)
    unit, size = unit_of(max(d["peak_reserved"]["bytes"] for _, _, d in runs))
    figure, axes = page(title, height=3.8, bottom=0.25)
    x = np.arange(len(runs))
    lines = [("peak reserved", [d["peak_reserved"]["bytes"] for _, _, d in runs]),
             ("peak allocated", [d["peak_allocated"]["bytes"] for _, _, d in runs])]
    if options.device_bytes:
        lines.append(("device total", [d["device_peak_bytes"] for _, _, d in runs]))
    handles = []
    for (label, values), (dashes, marker, colour) in zip(lines, STYLES):
        axes.plot(x, np.array(values) / size, color=colour, linestyle=dashes, marker=marker, markersize=3.5, linewidth=1)
        handles.append(plt.Line2D([], [], color=colour, linestyle=dashes, marker=marker, markersize=3.5, linewidth=1, label=label))
    for values in [line[1] for line in lines[:2]]:
        for i in range(1, len(values)):
            if values[i] < values[i - 1]:
                axes.annotate("less", (x[i], values[i] / size), xytext=(0, -8), textcoords="offset points", fontsize=5.5, ha="center", color=LIMIT)
    if options.device_bytes:
        axes.axhline(options.device_bytes / size, color=LIMIT, linewidth=1, linestyle=(0, (6, 3)))
    least, most = min(lines[1][1]), max(lines[0][1])
    axes.set_ylim(0.85 * least / size if least > most / 2 and not options.device_bytes else 0, None)
    tidy(axes, options.across or "", unit)
    axes.set_xticks(x, [name for name, _, _ in runs], fontsize=6, rotation=30 if len(runs) > 8 else 0, ha="right" if len(runs) > 8 else "center")
    below(figure, handles, 3)
    return figure


def draw_oom(paths, title, options):
    rows = list(csv.DictReader(io.StringIO(read_text(paths[0]))))
    last = next((i for i in range(len(rows) - 1, -1, -1) if rows[i]["action"] == "oom"), None)
    if last is None:
        raise InputError("no request was refused: there is no oom event")
    free, asked = int(rows[last]["address"]), int(rows[last]["bytes"])
    reserved = allocated = 0
    held, live = [], []
    for row in rows:
        action, bytes_ = row["action"], int(row["bytes"])
        reserved += bytes_ * ({"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}.get(action, 0))
        allocated += bytes_ * ({"alloc": 1, "free_completed": -1}.get(action, 0))
        held.append(reserved)
        live.append(allocated)
    first, end = max(0, last - 60), min(len(rows), last + 12)
    x = np.arange(first, end)
    room = held[last] + free
    unit, size = unit_of(room + asked)
    figure, axes = page(title, height=3.8, bottom=0.27)
    top, low = np.array(held[first:end]) / size, np.array(live[first:end]) / size
    axes.fill_between(x, 0, low, step="post", facecolor="#8fd1a8", linewidth=0)
    axes.fill_between(x, low, top, step="post", facecolor=LIGHT, hatch="////", edgecolor="white", linewidth=0)
    axes.step(x, top, where="post", color="black", linewidth=1.2)
    axes.axhline(room / size, color=LIMIT, linewidth=1, linestyle=(0, (6, 3)))
    axes.bar(last, asked / size, bottom=held[last] / size, width=1.2, color="none", edgecolor=LIMIT, hatch="xxxx", linewidth=1)
    given = [i for i in range(first, last) if rows[i]["action"] in ("segment_free", "segment_unmap")]
    if given:
        axes.axvspan(given[0], given[-1] + 1, color="#f7d08a", alpha=0.6, linewidth=0)
        axes.annotate("cache given back", (given[0], 0.03), xycoords=("data", "axes fraction"), fontsize=SMALL)
    # Above the axes, where no curve is.
    told = f"asked for {human(asked)}, free on the device {human(free)}, cached {human(held[last] - live[last])}: {rows[last].get('op', '')[:40]}"
    axes.annotate(told, (last, 1), xycoords=("data", "axes fraction"), xytext=(0, 8), textcoords="offset points", fontsize=SMALL, ha="right",
                  va="bottom", color=LIMIT)
    axes.annotate("", (last, (held[last] + asked) / size), xytext=(last, 1), xycoords=("data", "data"), textcoords=("data", "axes fraction"),
                  annotation_clip=False, arrowprops={"arrowstyle": "-", "color": LIMIT, "linewidth": 0.8})
    lowest = min(low) * 0.9
    axes.set_ylim(lowest, max(room, held[last] + asked) / size * 1.02)
    axes.set_xlim(first, end)
    tidy(axes, f"allocator event; the refusal is event {last}", unit)
    below(figure, [plt.Line2D([], [], color="black", linewidth=1.2, label="reserved"), Patch(facecolor="#8fd1a8", label="requested and not freed"),
                   Patch(facecolor=LIGHT, hatch="////", edgecolor="white", label="reserved beside it"), plt.Line2D([], [], color=LIMIT, linewidth=1, linestyle=(0, (6, 3)), label="what the device has")])
    return figure
