"""Pictures of a sweep's results (SQLite, docs/formats/results.md): heatmap, axis."""

import sqlite3

import numpy as np
from matplotlib.colors import ListedColormap

from paper import DARK, LIMIT, SMALL, below, page, plt, tidy, unit_of
from runs import STYLES
from timeline import InputError, human

FIGURES = ("peak_allocated", "peak_reserved", "spare", "fragmentation", "retries", "ooms", "device_calls", "assumed", "time_ns")
IN_BYTES = FIGURES[:3]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def read_cells(path, where):
    """The axes that vary, and the cells as dictionaries."""
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        database.row_factory = sqlite3.Row
        rows = [dict(row) for row in database.execute(f"SELECT * FROM cells WHERE ({where or 1}\n) ORDER BY cell")]
    except sqlite3.Error as error:
        raise InputError(f"no results of a sweep, or --where is wrong: {error}") from None
    if not rows:
        raise InputError("no cells are left; --where chooses them")
    names = list(rows[0])
    axes = names[1:names.index("status")]
    return [axis for axis in axes if len({row[axis] for row in rows}) > 1], rows


def chosen(axes, given, rows, option, taken=()):
    """The axis of an option; else the batch, or the axis of integers with most values, or the first."""
    if given:
        if given not in axes:
            raise InputError(f"--{option} {given}: these vary: {', '.join(axes)}")
        return given
    left = [axis for axis in axes if axis not in taken]
    rank = {axis: ("batch" in axis, all(isinstance(row[axis], int) for row in rows), len({row[axis] for row in rows})) for axis in left}
    return max(left, key=rank.get, default=None)


def one_each(rows, axes, used):
    """Every combination of the used axes must be there once: a picture shows no two cells at one place."""
    others = [axis for axis in axes if axis not in used]
    seen = {}
    for row in rows:
        key = tuple(row[axis] for axis in used)
        if key in seen:
            differs = [axis for axis in others if seen[key][axis] != row[axis]]
            raise InputError(f"several cells at one place: choose a value of {', '.join(differs)}, --where \"{quoted(differs[0])} = {row[differs[0]]!r}\" for one")
        seen[key] = row
    return seen


def values_of(rows, axis):
    if axis is None:
        return [None]
    there = list(dict.fromkeys(row[axis] for row in rows))
    return sorted(there) if all(isinstance(value, int) for value in there) else there


def named(value):
    return "(not set)" if value is None else '""' if value == "" else str(value)


def draw_heatmap(paths, title, options):
    axes, rows = read_cells(paths[0], options.where)
    across = chosen(axes, options.x, rows, "x")
    up = chosen(axes, options.y, rows, "y", (across,))
    if across is None:
        raise InputError("only one cell: nothing varies")
    if options.value not in FIGURES:
        raise InputError(f"--value {options.value}: expected one of {', '.join(FIGURES)}")
    cells = one_each(rows, axes, [axis for axis in (across, up) if axis])
    xs, ys = values_of(rows, across), values_of(rows, up)
    grid, refused = np.full((len(ys), len(xs)), np.nan), np.full((len(ys), len(xs)), np.nan)
    fits = [row for row in rows if row["status"] == "fits"]
    in_units = {"fragmentation": ("%", 1e4), "time_ns": ("ms", 1e6)}.get(options.value, ("", 1))
    unit, size = unit_of(max((row[options.value] for row in fits), default=1)) if options.value in IN_BYTES else in_units
    figure, drawn = page(title, height=min(9, 1.5 + 0.34 * len(ys)), bottom=0.2)
    small = len(xs) <= 14
    for j, y in enumerate(ys):
        for i, x in enumerate(xs):
            row = cells.get((x, y) if up else (x,))
            if row is None:
                continue
            if row["status"] == "fits":
                grid[j, i] = row[options.value] / size
            else:
                refused[j, i] = 0
            if small:
                text = "OOM" if row["status"] == "oom" else "error" if row["status"] == "error" else human(row[options.value]) if options.value in IN_BYTES else f"{grid[j, i]:.3g}"
                drawn.text(i, j, text, ha="center", va="center", fontsize=SMALL, color=LIMIT if row["status"] != "fits" else "black")
    image = drawn.imshow(grid, origin="lower", aspect="auto", cmap=ListedColormap(plt.get_cmap("Blues")(np.linspace(0.03, 0.6, 256))))
    drawn.imshow(refused, origin="lower", aspect="auto", cmap=ListedColormap(["#f7e3dc"]))
    bar = figure.colorbar(image, ax=drawn, pad=0.01)
    bar.set_label(f"{options.value.removesuffix('_ns').replace('_', ' ')}{', ' + unit if unit else ''}", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    tidy(drawn, across, up or "", grid="")
    every = max(1, len(xs) // 14)
    drawn.set_xticks(range(0, len(xs), every), [named(x) for x in xs[::every]], fontsize=SMALL)
    drawn.set_yticks(range(len(ys)) if up else [], [named(y)[:28] for y in ys] if up else [], fontsize=SMALL)
    return figure


def draw_axis(paths, title, options):
    axes, rows = read_cells(paths[0], options.where)
    across = chosen(axes, options.x, rows, "x")
    if across is None or not all(isinstance(row[across], int) for row in rows):
        raise InputError(f"--x: expected an axis of integers; these vary: {', '.join(axes)}")
    lines = chosen(axes, options.y, rows, "y") if options.y else None
    cells = one_each(rows, axes, [axis for axis in (across, lines) if axis])
    rooms = {}
    for row in rows:
        if row["status"] != "error":
            name = row.get("device") or "device"
            rooms[name] = max(rooms.get(name, 0), row["peak_reserved"] + row["spare"])
    highest = max([row["peak_reserved"] for row in rows if row["status"] == "fits"] + [rooms.get(row.get("device") or "device", 0) for row in rows if row["status"] == "oom"], default=1)
    unit, size = unit_of(highest)
    figure, drawn = page(title, bottom=0.26)
    handles = []
    xs = values_of(rows, across)
    for i, value in enumerate(values_of(rows, lines)):
        dashes, marker, colour = STYLES[i % len(STYLES)]
        of = [cells[key] for key in ((x, value) if lines else (x,) for x in xs) if key in cells]
        fits = [row for row in of if row["status"] == "fits"]
        refused = [row for row in of if row["status"] == "oom"]
        drawn.plot([row[across] for row in fits], [row["peak_reserved"] / size for row in fits], color=colour, linestyle=dashes, linewidth=1,
                   marker=marker if len(fits) <= 60 else "", markersize=3.5)
        drawn.scatter([row[across] for row in refused], [(row["peak_reserved"] + row["spare"]) / size for row in refused], marker="x", s=20, color=colour, linewidth=1, zorder=3)
        handles.append(plt.Line2D([], [], color=colour, linestyle=dashes, linewidth=1, marker=marker, markersize=3.5, label=f"{lines} {named(value)}" if lines else "peak reserved"))
    for name, room in sorted(rooms.items(), key=lambda each: each[1]):
        if room > 1.8 * highest:
            continue
        drawn.axhline(room / size, color=LIMIT, linewidth=1, linestyle=(0, (6, 3)))
        drawn.annotate(f"{name} without the CUDA context, {human(room)}", (0, room / size), xycoords=("axes fraction", "data"), xytext=(4, 3),
                       textcoords="offset points", fontsize=SMALL, color=LIMIT)
    if any(row["status"] == "oom" for row in rows):
        handles.append(plt.Line2D([], [], color=DARK, linestyle="", marker="x", markersize=4.5, label="out of memory"))
    if len(xs) > 3 and xs[0] > 0 and xs[-1] > 50 * xs[0]:
        drawn.set_xscale("log", base=2)
    drawn.set_ylim(0, None)
    drawn.margins(y=0.12)
    tidy(drawn, across, f"peak reserved, {unit}")
    below(figure, handles, 3)
    return figure
