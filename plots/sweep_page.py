#!/usr/bin/env python3
"""Writes the page of `tidemark report` on a sweep: one HTML file that holds its data, its script and plotly, and asks no network.

    plots/sweep_page.py page.json -o sweep.html

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
.headline { font-size: 1.25em; font-weight: 600; margin: 0.3em 0; }
ul { margin: 0.3em 0; padding-left: 1.2em; }
pre { background: #f4f4f4; padding: 0.8em; white-space: pre-wrap; font-size: 13px; margin: 0.4em 0; }
.figure { height: 440px; }
.controls { display: flex; flex-wrap: wrap; gap: 0.4em 1.4em; background: #f4f4f4; padding: 0.6em 0.8em; }
.controls label { font-size: 13px; color: #444; }
.controls select { font: inherit; margin-left: 0.4em; max-width: 22em; }
.note { color: #555; font-size: 13px; margin: 0.2em 0; }
table { border-collapse: collapse; font-size: 13px; } td, th { padding: 2px 12px 2px 0; text-align: left; border-bottom: 1px solid #e3e3e3; }
td.number, th.number { text-align: right; } tr.row { cursor: pointer; } tr.row:hover { background: #f4f4f4; }
#cell { position: sticky; bottom: 0; background: #fffbe9; border: 1px solid #e5d8a0; padding: 0.6em 0.9em; margin-top: 1em; }
#cell table { display: inline-block; vertical-align: top; margin-right: 3em; }
</style>
</head>
<body>
<h1>%(title)s</h1>
<h2>The answer</h2>
<p class="headline">%(headline)s</p>
%(devices)s
%(effects)s
<h2>What is shown</h2>
<div class="controls" id="controls"></div>
<p class="note" id="choice"></p>
<h2 id="map-title">Over two axes</h2><div class="figure" id="map"></div>
<h2>Peak against the devices</h2><div class="figure" id="lines"></div><p class="note" id="lines-note"></p>
<h2>The best combinations of all</h2>
<p class="note">A combination is on the front when it fits and no other that fits is at least as good in both and better in one.</p>
<div class="controls" id="front-controls"></div>
<div class="figure" id="front"></div>
<div id="front-table"></div>
<div id="cell"><p class="note">Click a point, a field of the map or a row for all of its figures, and for the command that makes it again.</p></div>
<h2>What this rests on</h2>
<ul>%(rests_on)s</ul>
<details><summary>The scenario</summary><pre>%(scenario)s</pre></details>
<script>%(plotly)s</script>
<script type="application/json" id="data">%(data)s</script>
<script>%(script)s</script>
</body>
</html>
"""

SCRIPT = """
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const {axes, cells, figures} = data;
const FITS = 0, OOM = 1, ERROR = 2;
const STATES = ['fits', 'out of memory', 'cannot be run'];
const COLOURS = ['#1f6fb4', '#8c2d04', '#41ab5d', '#6a51a3', '#cc8800', '#555555', '#c2649a', '#1b9e9e'];
const MARKS = ['circle', 'square', 'diamond', 'triangle-up', 'star', 'pentagon', 'hexagon', 'cross-thin-open'];
const count = cells.number.length;
const config = {responsive: true, displaylogo: false};
const escaped = text => String(text).replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'}[c]));
const human = bytes => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return (unit === 0 ? bytes : bytes.toPrecision(bytes >= 1000 ? 4 : 3)) + ' ' + units[unit];
};
const figure = name => figures.find(f => f.name === name);
const UNITS = {bytes: [1073741824, 'GiB'], millionths: [1e4, '%'], ns: [1e6, 'ms']};
const scaled = (f, i) => f.unit in UNITS ? f.values[i] / UNITS[f.unit][0] : f.values[i];
const duration = ns => ns >= 1e9 ? (ns / 1e9).toPrecision(3) + ' s' : (ns / 1e6).toPrecision(3) + ' ms';
const shown = (f, i) => f.unit === 'bytes' ? human(f.values[i]) : f.unit === 'millionths' ? scaled(f, i).toFixed(1) + ' %' : f.unit === 'ns' ? duration(f.values[i]) : f.values[i].toLocaleString('en');
const title = f => f.name.replace('_ns', '').replace('_', ' ');
const named = f => title(f) + (f.unit in UNITS ? ', ' + UNITS[f.unit][1] : '');
const value = (a, at) => at < 0 ? '(not set)' : String(axes[a].values[at]);
const peak = figure('peak_reserved'), spare = figure('spare');
const settings = i => axes.map((axis, a) => cells.at[a][i] < 0 ? '' : axis.name + ' ' + value(a, cells.at[a][i])).filter(t => t);
const hover = i => settings(i).map(escaped).join('<br>') + '<br><b>' + (cells.status[i] === FITS ? human(peak.values[i]) + ' reserved, ' + human(spare.values[i]) + ' spare'
  : STATES[cells.status[i]] + (cells.message[i] ? ': ' + escaped(cells.message[i]).slice(0, 80) : '')) + '</b><br>click for the command';
const command = i => [data.again, ...axes.map((axis, a) => cells.at[a][i] < 0 ? '' : axis.options[cells.at[a][i]])].filter(t => t).join(' ');

function showCell(i) {
  const row = (name, text) => '<tr><td>' + escaped(name) + '</td><td class="number">' + escaped(text) + '</td></tr>';
  const rows = axes.map((axis, a) => cells.at[a][i] < 0 ? '' : row(axis.name, value(a, cells.at[a][i]))).join('');
  const known = cells.status[i] === ERROR ? '' : figures.map(f => row(title(f), shown(f, i) + (f.unit === 'bytes' ? '  (' + f.values[i].toLocaleString('en') + ')' : ''))).join('');
  document.getElementById('cell').innerHTML = '<b>Cell ' + cells.number[i] + ': ' + STATES[cells.status[i]] + '</b>' +
    (cells.message[i] ? ' (' + escaped(cells.message[i]) + ')' : '') + '<br><table>' + rows + '</table><table>' + known + '</table><pre>' + escaped(command(i)) + '</pre>';
}
function draw(id, traces, layout) {
  const place = document.getElementById(id);
  Plotly.react(place, traces, {margin: {l: 80, r: 30, t: 30, b: 55}, hovermode: 'closest', legend: {orientation: 'h', x: 0, y: 1.02, yanchor: 'bottom'}, ...layout}, config);
  place.removeAllListeners('plotly_click');
  place.on('plotly_click', event => { const i = event.points[0].customdata; if (i !== undefined && i !== null) showCell(i); });
}

function select(into, label, choices, chosen, changed) {
  const outer = document.createElement('label'), inner = document.createElement('select');
  outer.textContent = label;
  for (const [key, text] of choices) inner.add(new Option(text, key, false, String(key) === String(chosen)));
  inner.onchange = () => changed(inner.value);
  outer.append(inner);
  into.append(outer);
}

// What is shown: two axes, a figure, and one value of every other axis.
const varied = axes.map((axis, a) => a).filter(a => new Set(cells.at[a]).size > 1);
const numbers = varied.filter(a => axes[a].is_number);
const state = {x: data.main_axis !== null && varied.includes(data.main_axis) ? data.main_axis : varied[0], y: undefined, figure: 'peak_reserved', fixed: {}};
state.y = [...numbers, ...varied].find(a => a !== state.x);
for (const a of varied) {  // at first the value with which the largest share fits
  const fits = new Map();
  for (let i = 0; i < count; ++i) {
    const [good, all] = fits.get(cells.at[a][i]) || [0, 0];
    fits.set(cells.at[a][i], [good + (cells.status[i] === FITS ? 1 : 0), all + 1]);
  }
  const share = ([at, [good, all]]) => good / all;
  state.fixed[a] = [...fits].reduce((best, each) => share(each) > share(best) ? each : best)[0];
}
function chosenCells() {
  let left = [...Array(count).keys()];
  for (const a of varied) {
    if (a === state.x || a === state.y) continue;
    const there = new Set(left.map(i => cells.at[a][i]));
    if (!there.has(state.fixed[a])) state.fixed[a] = Math.min(...there);
    left = left.filter(i => cells.at[a][i] === state.fixed[a]);
  }
  return left;
}
function controls() {
  const into = document.getElementById('controls');
  into.textContent = '';
  const names = varied.map(a => [a, axes[a].name]);
  const swap = (one, other) => chosen => { if (state[other] === +chosen) state[other] = state[one]; state[one] = +chosen; show(); };
  select(into, 'across', names, state.x, swap('x', 'y'));
  if (state.y !== undefined) select(into, 'up, and one line each', names, state.y, swap('y', 'x'));
  select(into, 'map of', figures.map(f => [f.name, title(f)]), state.figure, chosen => { state.figure = chosen; show(); });
  let left = [...Array(count).keys()];
  for (const a of varied) {
    if (a === state.x || a === state.y) continue;
    const there = [...new Set(left.map(i => cells.at[a][i]))].sort((one, other) => one - other);
    select(into, axes[a].name, there.map(at => [at, value(a, at)]), state.fixed[a], chosen => { state.fixed[a] = +chosen; show(); });
    left = left.filter(i => cells.at[a][i] === state.fixed[a]);
  }
}
function ordered(a, chosen) {
  if (a === undefined) return [0];
  const there = [...new Set(chosen.map(i => cells.at[a][i]))];
  return there.sort((one, other) => axes[a].is_number ? axes[a].values[one] - axes[a].values[other] : one - other);
}
const placeOf = (a, i) => a === undefined ? 0 : cells.at[a][i];

function drawMap(chosen) {
  const f = figure(state.figure), xs = ordered(state.x, chosen), ys = ordered(state.y, chosen);
  const grid = fill => ys.map(() => xs.map(() => fill));
  const z = grid(null), bad = grid(null), text = grid(''), badText = grid(''), hovers = grid(''), custom = grid(null);
  for (const i of chosen) {
    const x = xs.indexOf(placeOf(state.x, i)), y = ys.indexOf(placeOf(state.y, i));
    custom[y][x] = i;
    hovers[y][x] = hover(i);
    if (cells.status[i] === FITS) { z[y][x] = scaled(f, i); text[y][x] = shown(f, i); }
    else { bad[y][x] = cells.status[i] - 1; badText[y][x] = cells.status[i] === OOM ? 'OOM' : 'error'; }
  }
  const few = xs.length * ys.length <= 400 && xs.length <= 16;
  const common = {x: xs.map((at, k) => k), y: ys.map((at, k) => k), customdata: custom, hovertext: hovers, hovertemplate: '%{hovertext}<extra></extra>',
    texttemplate: few ? '%{text}' : '', textfont: {size: 11, color: '#1a1a1a'}, xgap: 1, ygap: 1};
  const ticks = (a, places) => ({tickmode: 'array', tickvals: places.map((at, k) => k).filter(k => places.length <= 24 || k % Math.ceil(places.length / 24) === 0),
    ticktext: places.map(at => value(a, at)).filter((t, k) => places.length <= 24 || k % Math.ceil(places.length / 24) === 0), zeroline: false, showgrid: false, automargin: true});
  document.getElementById('map-title').textContent = title(f) + ' over ' + axes[state.x].name + (state.y === undefined ? '' : ' and ' + axes[state.y].name);
  draw('map', [
    {type: 'heatmap', z, text, ...common, colorscale: [[0, '#f2f7fb'], [0.5, '#b3d1e8'], [1, '#5b9bcb']], colorbar: {title: {text: named(f), side: 'right'}}},
    {type: 'heatmap', z: bad, text: badText, ...common, zmin: 0, zmax: 1, showscale: false, colorscale: [[0, '#f3c9bb'], [1, '#d9d9d9']]}],
    {xaxis: {title: {text: axes[state.x].name}, ...ticks(state.x, xs)},
     yaxis: {title: {text: state.y === undefined ? '' : axes[state.y].name}, ...(state.y === undefined ? {showticklabels: false, showgrid: false, zeroline: false} : ticks(state.y, ys))}});
}

// A device's room for the allocator: what it held at its highest and what was spare then.
function rooms() {
  const of = new Map();
  for (let i = 0; i < count; ++i) {
    if (cells.status[i] === ERROR) continue;
    const name = data.device_axis === null ? 'the device' : value(data.device_axis, cells.at[data.device_axis][i]);
    of.set(name, Math.max(of.get(name) || 0, peak.values[i] + spare.values[i]));
  }
  return [...of].sort((one, other) => one[1] - other[1]);
}
function drawLines(chosen) {
  const xs = ordered(state.x, chosen), numeric = axes[state.x].is_number;
  const across = i => numeric ? axes[state.x].values[cells.at[state.x][i]] : xs.indexOf(cells.at[state.x][i]);
  const traces = [];
  ordered(state.y, chosen).forEach((at, k) => {
    const of = chosen.filter(i => placeOf(state.y, i) === at).sort((one, other) => across(one) - across(other));
    const fits = of.filter(i => cells.status[i] === FITS), refused = of.filter(i => cells.status[i] === OOM);
    const colour = COLOURS[k % COLOURS.length], name = state.y === undefined ? 'peak reserved' : axes[state.y].name + ' ' + value(state.y, at);
    const points = (which, more) => ({x: which.map(across), customdata: which, hovertext: which.map(hover), hovertemplate: '%{hovertext}<extra></extra>', name, legendgroup: name, ...more});
    traces.push(points(fits, {y: fits.map(i => scaled(peak, i)), mode: fits.length > 60 ? 'lines' : 'lines+markers', line: {color: colour}, marker: {color: colour, symbol: MARKS[k % MARKS.length], size: 7}}));
    if (refused.length) traces.push(points(refused, {y: refused.map(i => (peak.values[i] + spare.values[i]) / 1073741824), mode: 'markers', showlegend: false,
      marker: {color: colour, symbol: 'x-thin-open', size: 9, line: {width: 2}}}));
  });
  const highest = Math.max(...chosen.filter(i => cells.status[i] !== ERROR).map(i => cells.status[i] === OOM ? peak.values[i] + spare.values[i] : peak.values[i]), 1);
  const all = rooms(), near = all.filter(room => room[1] <= 1.8 * highest), beyond = all.filter(room => room[1] > 1.8 * highest);
  const together = [];  // devices whose lines lie too near for a text each
  for (const room of near) {
    const last = together[together.length - 1];
    if (last && room[1] - last[0][1] < 0.09 * Math.max(highest, near[near.length - 1][1])) last.push(room);
    else together.push([room]);
  }
  const many = numeric && xs.length > 3 && axes[state.x].values[xs[xs.length - 1]] / Math.max(1, axes[state.x].values[xs[0]]) > 50;
  draw('lines', traces, {
    xaxis: {title: {text: axes[state.x].name}, ...(numeric ? {type: many ? 'log' : 'linear'} : {tickmode: 'array', tickvals: xs.map((at, k) => k), ticktext: xs.map(at => value(state.x, at))})},
    yaxis: {title: {text: 'peak reserved, GiB'}, range: [0, Math.max(highest, ...near.map(room => room[1])) / 1073741824 * 1.08]},
    margin: {l: 80, r: 110, t: 30, b: 55},
    shapes: near.map(room => ({type: 'line', xref: 'paper', x0: 0, x1: 1, y0: room[1] / 1073741824, y1: room[1] / 1073741824, line: {color: '#b3261e', dash: 'dash', width: 1.2}})),
    annotations: together.map(rooms => ({xref: 'paper', x: 1, xanchor: 'left', y: rooms[0][1] / 1073741824, text: rooms.map(room => escaped(room[0]) + '<br>' + human(room[1])).join('<br>'),
      showarrow: false, align: 'left', font: {size: 11, color: '#b3261e'}}))});
  document.getElementById('lines-note').textContent = 'Dashed: what a device leaves to the allocator, its CUDA context taken off. Crosses: out of memory.' +
    (beyond.length ? ' Above the picture: ' + beyond.map(room => room[0] + ' ' + human(room[1])).join(', ') + '.' : '');
}

// The front: of an axis or a figure against the peak.
const measures = [...numbers.map(a => ({key: 'axis ' + a, name: axes[a].name, better: 1, of: i => cells.at[a][i] < 0 ? null : axes[a].values[cells.at[a][i]], shown: i => value(a, cells.at[a][i])})),
  ...['time_ns', 'device_calls', 'fragmentation', 'spare'].map(figure).map(f => ({key: f.name, name: named(f), better: f.name === 'spare' ? 1 : -1, of: i => scaled(f, i), shown: i => shown(f, i)}))];
let measure = measures.find(m => m.key === 'axis ' + data.main_axis) || measures[0];
function drawFront() {
  const fits = [...Array(count).keys()].filter(i => cells.status[i] === FITS && measure.of(i) !== null);
  fits.sort((one, other) => measure.better * (measure.of(other) - measure.of(one)) || peak.values[one] - peak.values[other]);
  const front = [];
  let least = Infinity, last = null;
  for (const i of fits) {
    if (peak.values[i] < least) { front.push(i); least = peak.values[i]; last = measure.of(i); }
    else if (peak.values[i] === least && measure.of(i) === last) front.push(i);  // as good
  }
  const on = new Set(front), rest = fits.filter(i => !on.has(i));
  const points = (which, more) => ({x: which.map(i => measure.of(i)), y: which.map(i => scaled(peak, i)), customdata: which, hovertext: which.map(hover), hovertemplate: '%{hovertext}<extra></extra>', ...more});
  draw('front', [points(rest, {type: count > 3000 ? 'scattergl' : 'scatter', mode: 'markers', name: 'others that fit', marker: {color: '#c4c4c4', size: 6}}),
    points(front, {mode: 'lines+markers', name: 'front', line: {color: '#8c2d04', dash: 'dot', width: 1}, marker: {color: '#8c2d04', size: 9, symbol: 'diamond'}})],
    {xaxis: {title: {text: measure.name + (measure.better > 0 ? ' (more is better)' : ' (less is better)')}}, yaxis: {title: {text: 'peak reserved, GiB (less is better)'}, rangemode: 'tozero'}});
  const listed = front.slice(0, 30), kinds = varied.filter(a => 'axis ' + a !== measure.key);
  document.getElementById('front-table').innerHTML = '<table><tr><th class="number">' + escaped(measure.name) + '</th><th class="number">peak reserved</th><th class="number">spare</th>' +
    kinds.map(a => '<th>' + escaped(axes[a].name) + '</th>').join('') + '</tr>' + listed.map(i => '<tr class="row" data-cell="' + i + '"><td class="number">' + escaped(measure.shown(i)) +
    '</td><td class="number">' + human(peak.values[i]) + '</td><td class="number">' + human(spare.values[i]) + '</td>' +
    kinds.map(a => '<td>' + escaped(value(a, cells.at[a][i])) + '</td>').join('') + '</tr>').join('') + '</table>' +
    (front.length > listed.length ? '<p class="note">' + (front.length - listed.length) + ' more on the front.</p>' : '');
  for (const row of document.querySelectorAll('tr.row')) row.onclick = () => showCell(+row.dataset.cell);
}

function show() {
  const chosen = chosenCells();
  controls();
  const fixed = varied.filter(a => a !== state.x && a !== state.y).map(a => axes[a].name + ' ' + value(a, state.fixed[a]));
  document.getElementById('choice').textContent = chosen.length + ' of ' + count + ' combinations' + (fixed.length ? ': ' + fixed.join(', ') : '') + '.';
  drawMap(chosen);
  drawLines(chosen);
}
if (varied.length) {
  show();
  if (measures.length) {
    select(document.getElementById('front-controls'), 'peak reserved against', measures.map(m => [m.key, m.name]), measure.key,
      chosen => { measure = measures.find(m => m.key === chosen); drawFront(); });
    drawFront();
  }
} else if (count) {
  showCell(0);
}
document.body.dataset.ready = 'yes';
"""


def items(texts):
    return "<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in texts) + "</ul>" if texts else ""


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
    parser.add_argument("page", help="the JSON that tidemark gives")
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args()
    with open(args.page, encoding="utf-8") as file:
        page = json.load(file)
    data = {key: page[key] for key in ("main_axis", "device_axis", "axes", "cells", "figures", "again")}
    text = PAGE % {
        "title": html.escape(page["title"]), "headline": html.escape(page["headline"]), "devices": items(page["devices"]),
        "effects": "<p class=\"note\">What the settings change:</p>" + items(page["effects"]) if page["effects"] else "",
        "rests_on": "".join(f"<li>{html.escape(line)}</li>" for line in page["rests_on"]), "scenario": html.escape(page["scenario_text"]),
        "plotly": plotly_script(), "script": SCRIPT,
        # A "</" in a text would end the script element.
        "data": json.dumps(data, separators=(",", ":")).replace("</", "<\\/"),
    }
    with open(args.output, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
