#!/usr/bin/env python3
"""Writes the page of `tidemark report`: one HTML file that holds its data, its script and plotly, and asks no network.

    plots/report.py report.json -o report.html

Needs the JavaScript of the package plotly (tools/setup puts it into build/plotly; or pip install plotly); none of its Python runs."""

import argparse
import html
import importlib.util
import json
import pathlib
import sys

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>%(title)s</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin: 2em 0 0.3em; }
pre { background: #f4f4f4; padding: 1em; white-space: pre-wrap; font-size: 13px; }
.figure { height: 420px; } .low { height: 190px; }
</style>
</head>
<body>
<h1>%(title)s</h1>
<h2>The answer</h2>
<p>%(headline)s</p>
<pre>%(answer)s</pre>
<h2>Memory over time</h2><div class="figure" id="timeline"></div>
%(host)s<h2>What the reserved memory is for at that moment</h2><div class="figure low" id="breakdown"></div>
<h2>Free inside the cache</h2><div class="figure" id="fragmentation"></div>
<h2>Addresses at that moment</h2><div class="figure" id="addresses"></div>
<h2>Who holds it</h2><div class="figure" id="sites"></div>
<h2>Other settings, re-simulated</h2><div class="figure" id="settings"></div>
<h2>What this rests on</h2>
<pre>%(assumptions)s</pre>
<script>%(plotly)s</script>
<script type="application/json" id="data">%(data)s</script>
<script>%(script)s</script>
</body>
</html>
"""

HOST = """<h2>Memory of the host's tensors over time</h2><div class="figure" id="host"></div>
"""

SCRIPT = """
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const gib = bytes => bytes / 1073741824;
const layout = (x, y) => ({xaxis: {title: {text: x}}, yaxis: {title: {text: y}, rangemode: 'tozero'},
  margin: {l: 70, r: 20, t: 50, b: 50}, hovermode: 'closest',
  legend: {orientation: 'h', x: 0, y: 1, yanchor: 'bottom'}});
const config = {responsive: true, displaylogo: false};
const events = data.timeline.event;
const line = (name, color, width) => ({x: events, y: data.timeline[name].map(gib), name, mode: 'lines',
  text: data.timeline.label, hovertemplate: 'event %{x}<br>%{y:.3f} GiB<br>%{text}', line: {shape: 'hv', color, width}});
const moment = {type: 'line', x0: data.event, x1: data.event, yref: 'paper', y0: 0, y1: 1, line: {dash: 'dot', color: '#555'}};
Plotly.newPlot('timeline', [line('reserved', '#8c2d04', 2), line('active', '#1f6fb4', 1.5), line('requested', '#41ab5d', 1)],
  {...layout('event', 'GiB'), shapes: [moment]}, config);
Plotly.newPlot('fragmentation', [{x: events, y: data.timeline.reserved.map((r, i) => gib(r - data.timeline.active[i])),
  mode: 'lines', name: 'free in the cache', fill: 'tozeroy', line: {shape: 'hv', color: '#cc8800'},
  hovertemplate: 'event %{x}<br>%{y:.3f} GiB'}], {...layout('event', 'GiB'), shapes: [moment]}, config);
if (data.host.length) {
  const host = (of, name, color, width) => ({x: data.host.map(p => p.event), y: data.host.map(p => of(p) / 1048576), name, mode: 'lines',
    text: data.host.map(p => p.maker), hovertemplate: 'before event %{x}<br>%{y:.3f} MiB<br>%{text}', line: {shape: 'hv', color, width}});
  Plotly.newPlot('host', [host(p => p.held, 'held', '#6a51a3', 2), host(p => p.pinned, 'of it pinned', '#cc8800', 1)],
    {...layout('event', 'MiB'), shapes: [moment]}, config);
}
const shades = ['#1f6fb4', '#8c2d04', '#41ab5d', '#6a51a3', '#cc8800', '#555555', '#c2649a', '#1b9e9e'];
Plotly.newPlot('breakdown', data.purposes.map((p, i) => ({type: 'bar', orientation: 'h', y: [''], x: [gib(p.bytes)], name: p.name,
  marker: {color: p.name === 'free in the cache' ? '#e3e3e3' : shades[i % shades.length], line: {width: 0.4, color: '#fff'}},
  hovertemplate: p.name + '<br>%{x:.3f} GiB<extra></extra>'})),
  {...layout('GiB', ''), barmode: 'stack', yaxis: {showticklabels: false}}, config);
const bars = (live, color, name) => {
  const blocks = data.blocks.filter(b => b.live === live);
  return {type: 'bar', orientation: 'h', name, marker: {color, line: {width: 0.4, color: '#fff'}},
    y: blocks.map(b => b.segment), base: blocks.map(b => b.offset / 1048576), x: blocks.map(b => b.bytes / 1048576),
    text: blocks.map(b => b.maker), textposition: 'none', hovertemplate: '%{y}<br>%{x:.3f} MiB<br>%{text}'};
};
const rows = new Set(data.blocks.map(b => b.segment)).size;
document.getElementById('addresses').style.height = Math.max(300, Math.min(2400, 140 + 14 * rows)) + 'px';
Plotly.newPlot('addresses', [bars(true, '#1f6fb4', 'live'), bars(false, '#e3e3e3', 'free')],
  {...layout('MiB from the start of the segment', ''), barmode: 'overlay', yaxis: {type: 'category', automargin: true}}, config);
Plotly.newPlot('sites', [{type: 'bar', orientation: 'h', y: data.sites.map((s, i) => (i + 1) + '  ' + s.maker).reverse(),
  x: data.sites.map(s => gib(s.bytes)).reverse(), text: data.sites.map(s => s.purpose).reverse(), marker: {color: '#1f6fb4'},
  hovertemplate: '%{x:.3f} GiB<br>%{text}'}], {...layout('GiB', ''), yaxis: {automargin: true}}, config);
Plotly.newPlot('settings', [{type: 'bar', orientation: 'h', y: data.settings.map(s => s.name).reverse(),
  x: data.settings.map(s => gib(s.peak_reserved)).reverse(), text: data.settings.map(s => s.ooms + ' refused').reverse(),
  marker: {color: data.settings.map(s => s.own ? '#8c2d04' : '#999').reverse()},
  hovertemplate: '%{x:.3f} GiB reserved<br>%{text}'}], {...layout('peak reserved, GiB', ''), yaxis: {automargin: true}}, config);
document.body.dataset.ready = 'yes';
"""


def plotly_script():
    spec = importlib.util.find_spec("plotly")
    folders = [pathlib.Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    here = pathlib.Path(__file__).resolve().parent
    folders.append(here.parent / "build" / "plotly" / "plotly")  # of tools/setup
    for path in [folder / "package_data" / "plotly.min.js" for folder in folders] + [here / "plotly.min.js"]:  # installed beside this
        if path.is_file():
            return path.read_text(encoding="utf-8").replace("</script", "<\\/script")
    sys.exit("error: a page needs the script of plotly: tools/setup of the source tree gets it; elsewhere python3 -m venv ENV && "
             "ENV/bin/pip install plotly, then TIDEMARK_PYTHON=ENV/bin/python")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", help="the JSON that tidemark gives")
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args()
    with open(args.report, encoding="utf-8") as file:
        report = json.load(file)
    data = {key: report[key] for key in ("event", "timeline", "host", "purposes", "blocks", "sites", "settings")}
    page = PAGE % {
        "title": html.escape(report["title"]), "headline": html.escape(report["headline"]), "answer": html.escape(report["answer"]),
        "host": HOST if report["host"] else "",
        "assumptions": html.escape("\n".join(report["assumptions"])), "plotly": plotly_script(), "script": SCRIPT,
        # A "</" in a text would end the script element.
        "data": json.dumps(data, separators=(",", ":")).replace("</", "<\\/"),
    }
    with open(args.output, "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main()
