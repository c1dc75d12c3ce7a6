"""Results as notebooks show them: one fragment of HTML and SVG each, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from tidemark._core import human_bytes

if TYPE_CHECKING:
    from tidemark._run import DeviceRun, Peak, RunResult

_WIDTH, _HEIGHT = 720, 200
_COLOURS = {
    "parameters": "#4477aa",
    "optimizer state": "#66ccee",
    "gradients": "#228833",
    "kv cache": "#117777",
    "workspace": "#999999",
    "inputs": "#ccbb44",
    "activations": "#ee6677",
    "temporaries": "#aa3377",
    "unknown": "#bbbbbb",
}
_BOX = "font-family:system-ui,sans-serif;font-size:13px;max-width:760px;line-height:1.4"
_CELL = "padding:2px 10px;text-align:{};border:none"


def table_html(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A plain table: numbers to the right, bytes as people read them with the exact number as a tooltip."""

    def cell(name: str, value: Any) -> str:
        if value is None:
            return f'<td style="{_CELL.format("left")}"></td>'
        if isinstance(value, int) and not isinstance(value, bool):
            shown = human_bytes(value) if name.endswith("bytes") else f"{value:,}"
            return f'<td style="{_CELL.format("right")}" title="{value:,}">{shown}</td>'
        return f'<td style="{_CELL.format("left")}">{escape(str(value))}</td>'

    head = "".join(f'<th style="{_CELL.format("left")}">{escape(name)}</th>' for name in header)
    body = "".join("<tr>" + "".join(cell(n, v) for n, v in zip(header, row)) + "</tr>" for row in rows)
    return f'<table style="{_BOX};border-collapse:collapse"><tr>{head}</tr>{body}</table>'


def text_html(text: str) -> str:
    return f'<pre style="line-height:1.25">{escape(text)}</pre>'


def _peaks(bytes_after: Any, columns: int) -> Any:
    """The highest value in each of so many equal stretches: a curve that hides no peak."""
    import numpy

    edges = numpy.linspace(0, len(bytes_after), min(columns, len(bytes_after)) + 1).astype(int)[:-1]
    return numpy.maximum.reduceat(bytes_after, edges)


def _points(values: Any, highest: int) -> list[str]:
    step = _WIDTH / max(1, len(values) - 1)
    return [f"{i * step:.1f},{_HEIGHT - int(v) * _HEIGHT / highest:.1f}" for i, v in enumerate(values)]


def _curve_svg(device: DeviceRun) -> str:
    """Allocated memory stacked by category under the reserved curve, over the events."""
    import numpy

    timeline = device.timeline
    if len(timeline) == 0:
        return ""
    reserved = _peaks(timeline.reserved_bytes, _WIDTH)
    highest = max(1, int(reserved.max()))
    # One moment a column, the one at which most is allocated, so that the layers add up.
    edges = numpy.linspace(0, len(timeline), len(reserved) + 1).astype(int)
    allocated = timeline.allocated_bytes
    moments = [int(a + numpy.argmax(allocated[a:b])) for a, b in zip(edges[:-1], edges[1:])]
    base = numpy.zeros(len(moments), dtype=numpy.uint64)
    areas = []
    for name, stacked in timeline.by_category().items():
        top = base + stacked[moments]
        outline = _points(top, highest) + _points(base, highest)[::-1]
        if (top > base).any():
            areas.append(f'<polygon points="{" ".join(outline)}" fill="{_COLOURS[name]}"><title>{name}</title></polygon>')
        base = top
    line = f'<polyline points="{" ".join(_points(reserved, highest))}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    return (
        f'<svg viewBox="0 -4 {_WIDTH} {_HEIGHT + 8}" width="100%" role="img" '
        f'aria-label="memory after each event">{"".join(areas)}{line}</svg>'
        f'<div style="display:flex;justify-content:space-between;opacity:.7"><span>event 0</span>'
        f"<span>reserved at most {human_bytes(highest)}; line: reserved, areas: allocated</span>"
        f"<span>{len(timeline) - 1:,}</span></div>"
    )


def _peak_row(name: str, peak: Peak) -> str:
    when = ": ".join(part for part in (f"step {peak.step}, {peak.phase}" if peak.step else peak.phase, peak.op) if part)
    return (
        f'<tr><td style="{_CELL.format("left")}">{name}</td>'
        f'<td style="{_CELL.format("right")}"><b>{human_bytes(peak.bytes)}</b></td>'
        f'<td style="{_CELL.format("right")}">{peak.bytes:,}</td>'
        f'<td style="{_CELL.format("left")}">{escape(when)}</td></tr>'
    )


def _held(peak: Peak) -> str:
    """What held the memory at the peak, as one bar and its legend."""
    names = {name: name.removesuffix("_bytes").replace("_", " ") for name in peak.by_category}
    held = [(names[name], count) for name, count in peak.by_category.items() if count > 0]
    total = sum(count for _, count in held)
    if total == 0:
        return ""
    bar = "".join(
        f'<div title="{name}: {count:,} bytes" style="width:{100 * count / total:.3f}%;background:{_COLOURS[name]}"></div>'
        for name, count in held
    )
    legend = " &nbsp; ".join(
        f'<span style="white-space:nowrap"><span style="color:{_COLOURS[name]}">&#9632;</span> {name} {human_bytes(count)}</span>'
        for name, count in held
    )
    return f'<div style="display:flex;height:10px;margin:6px 0 2px">{bar}</div><div>{legend}</div>'


def _device_html(device: DeviceRun) -> str:
    answer = (
        f'<b style="color:#228833">FITS</b>: at its highest the device holds {human_bytes(device.device_peak_bytes)}; '
        f"{human_bytes(device.spare_bytes)} stay free."
    )
    if not device.fits:
        message = escape(str(device.ooms[0].get("message", ""))) if device.ooms else ""
        answer = f'<b style="color:#cc3311">DOES NOT FIT</b>: {message}'
    peaks = _peak_row("peak allocated", device.peak_allocated) + _peak_row("peak reserved", device.peak_reserved)
    curve = _curve_svg(device)
    return (
        f"<div><b>{escape(device.name)}</b>, {human_bytes(device.total_bytes)}; PyTorch {escape(device.document['pytorch'])}; "
        f"allocator settings: {escape(device.document['allocator_settings'] or 'default')}</div><div>{answer}</div>"
        f'<table style="border-collapse:collapse;margin:6px 0;font-size:13px">{peaks}</table>'
        f"<div>At the peak of allocated:</div>{_held(device.peak_allocated)}"
        f'<div style="margin-top:8px">{curve}</div>'
    )


def run_html(result: RunResult) -> str:
    """The answer, the peaks, what held them, the curve; one block a device."""
    blocks = "".join(_device_html(device) for device in result.devices)
    return f'<div style="{_BOX}"><div><b>{escape(result.title)}</b></div>{blocks}</div>'
