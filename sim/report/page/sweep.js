'use strict';
// The page of `tidemark report` on a sweep: a map of two axes, peaks against the devices, the best combinations, and the command behind
// every cell. `#data` holds sweep_page_json(). No library, no network.
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const {axes, cells, figures} = data, FITS = 0, OOM = 1, ERROR = 2, STATES = ['fits', 'out of memory', 'cannot be run'];
const COLOURS = ['p1', 'p7', 'p6', 'p3', 'p9', 'p2', 'p5', 'p10'], count = cells.number.length, main = document.querySelector('main');
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) typeof value === 'function' ? made.addEventListener(name, value) : made.setAttribute(name, value);
  made.append(...children);
  return made;
}
function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) typeof value === 'function' ? made.addEventListener(name, value) : made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const human = bytes => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return (unit === 0 ? bytes : bytes.toPrecision(bytes >= 1000 ? 4 : 3)) + ' ' + units[unit];
};
const duration = ns => ns >= 1e9 ? (ns / 1e9).toPrecision(3) + ' s' : (ns / 1e6).toPrecision(3) + ' ms';
const banded = (band, ns) => `${duration(ns)} (${duration(ns * band.low_thousandths / 1000)} to ${duration(ns * band.high_thousandths / 1000)})`;
const figure = name => figures.find(f => f.name === name), peak = figure('peak_reserved'), spare = figure('spare');
const amount = (f, value) => f.unit === 'bytes' ? human(value) : f.unit === 'millionths' ? (value / 1e4).toFixed(1) + ' %' : f.unit === 'ns' ? banded(f.time_band, value) : value.toLocaleString('en');
const shown = (f, i) => amount(f, f.values[i]), title = f => f.name.replace('_ns', '').replace('_', ' ');
const value = (a, at) => at < 0 ? '(not set)' : String(axes[a].values[at]);
const settings = i => axes.map((axis, a) => cells.at[a][i] < 0 ? '' : axis.name + ' ' + value(a, cells.at[a][i])).filter(t => t);
const outcome = i => cells.status[i] === FITS ? human(peak.values[i]) + ' reserved, ' + human(spare.values[i]) + ' spare' : STATES[cells.status[i]] + (cells.message[i] ? ': ' + cells.message[i].slice(0, 80) : '');
const told = i => settings(i).join(', ') + ': ' + outcome(i);
const command = i => [data.again, ...axes.map((axis, a) => cells.at[a][i] < 0 ? '' : axis.options[cells.at[a][i]])].filter(t => t).join(' ');
const row = (...of) => el('tr', {}, ...of.map(text => el('td', /^[\d.,]+( |$)/.test(text) ? {class: 'number'} : {}, text)));
const table = (caption, heads, rows) => el('table', {}, el('caption', {}, caption), el('thead', {}, el('tr', {}, ...heads.map((h, i) => el('th', {scope: 'col', class: rows[0]?.children[i]?.className ?? ''}, h)))), el('tbody', {}, ...rows));
const behind = (name, ...content) => el('details', {}, el('summary', {}, name), ...content);

const panel = el('div', {id: 'cell', 'aria-live': 'polite'}, el('p', {class: 'hint'}, 'Choose a field of the map, a point or a row: all of its figures, and the command that makes it again.'));
function showCell(i) {
  const known = cells.status[i] === ERROR ? [] : figures.map(f => row(title(f), shown(f, i) + (f.unit === 'bytes' ? '  (' + f.values[i].toLocaleString('en') + ')' : '')));
  panel.replaceChildren(el('strong', {}, 'Cell ' + cells.number[i] + ': ' + STATES[cells.status[i]]), cells.message[i] ? ' (' + cells.message[i] + ')' : '',
    el('div', {class: 'pair'}, table('', ['setting', ''], axes.map((axis, a) => cells.at[a][i] < 0 ? '' : row(axis.name, value(a, cells.at[a][i]))).filter(r => r)), table('', ['figure', ''], known)), el('pre', {}, command(i)));
}
function select(label, choices, chosen, changed) {
  const inner = el('select', {change: () => changed(inner.value)}, ...choices.map(([key, text]) => el('option', {value: key, ...(String(key) === String(chosen) ? {selected: ''} : {})}, text)));
  return el('label', {}, label + ' ', inner);
}

// How far the main axis goes, by model and device.
function reach() {
  if (data.main_axis === null || !data.reach.length) return;
  const models = [...new Set(data.reach.map(r => r.model))], devices = [...new Set(data.reach.map(r => r.device))];
  const cell = (model, device) => {
    const found = data.reach.find(r => r.model === model && r.device === device);
    if (!found) return el('td', {}, '');
    if (found.cell < 0) return el('td', {class: 'oom'}, 'nothing fits');
    return el('td', {}, el('button', {type: 'button', title: told(found.cell), click: () => showCell(found.cell)}, found.value + (found.is_largest ? ' or more' : '')));
  };
  main.append(el('h2', {}, 'Largest ' + axes[data.main_axis].name + ' that fits'), el('div', {class: 'scroll'}, el('table', {id: 'reach', class: 'map-table'}, el('caption', {}, '“or more”: the largest that was tried'),
    el('thead', {}, el('tr', {}, el('th', {}, ''), ...devices.map(d => el('th', {scope: 'col'}, d || 'the device')))),
    el('tbody', {}, ...models.map(m => el('tr', {}, el('th', {scope: 'row'}, m || axes[data.main_axis].name), ...devices.map(d => cell(m, d))))))));
}

// What is shown: two axes, a figure, and one value of every other axis.
const varied = axes.map((axis, a) => a).filter(a => new Set(cells.at[a]).size > 1), numbers = varied.filter(a => axes[a].is_number);
const state = {x: data.main_axis !== null && varied.includes(data.main_axis) ? data.main_axis : varied[0], y: undefined, figure: 'peak_reserved', fixed: {}};
state.y = [...numbers, ...varied].find(a => a !== state.x);
for (const a of varied) {  // at first the value with which the largest share fits
  const fits = new Map();
  for (let i = 0; i < count; ++i) {
    const [good, all] = fits.get(cells.at[a][i]) || [0, 0];
    fits.set(cells.at[a][i], [good + (cells.status[i] === FITS ? 1 : 0), all + 1]);
  }
  const share = ([, [good, all]]) => good / all;
  state.fixed[a] = [...fits].reduce((best, each) => share(each) > share(best) ? each : best)[0];
}
const others = () => varied.filter(a => a !== state.x && a !== state.y);
function chosenCells(into) {
  let left = [...Array(count).keys()];
  for (const a of others()) {
    const there = [...new Set(left.map(i => cells.at[a][i]))].sort((one, other) => one - other);
    if (!there.includes(state.fixed[a])) state.fixed[a] = there[0];
    into.push(select(axes[a].name, there.map(at => [at, value(a, at)]), state.fixed[a], chosen => { state.fixed[a] = +chosen; show(); }));
    left = left.filter(i => cells.at[a][i] === state.fixed[a]);
  }
  return left;
}
function ordered(a, chosen) {
  if (a === undefined) return [0];
  return [...new Set(chosen.map(i => cells.at[a][i]))].sort((one, other) => axes[a].is_number ? axes[a].values[one] - axes[a].values[other] : one - other);
}
const placeOf = (a, i) => a === undefined ? 0 : cells.at[a][i];

function drawMap(chosen, place) {
  const f = figure(state.figure), xs = ordered(state.x, chosen), ys = ordered(state.y, chosen), at = new Map(chosen.map(i => [placeOf(state.x, i) + ' ' + placeOf(state.y, i), i]));
  const good = chosen.filter(i => cells.status[i] === FITS).map(i => f.values[i]), least = Math.min(...good), most = Math.max(...good);
  const field = i => {
    if (i === undefined) return el('td', {}, '');
    const kind = ['fits', 'oom', 'error'][cells.status[i]], share = most > least ? (f.values[i] - least) / (most - least) : 0.5;
    return el('td', {class: kind, style: kind === 'fits' ? `--share:${Math.round(8 + 52 * share)}%` : ''},
      el('button', {type: 'button', title: told(i), click: () => showCell(i)}, kind === 'fits' ? shown(f, i) : kind === 'oom' ? 'OOM' : 'error'));
  };
  place.replaceChildren(el('table', {id: 'map', class: 'map-table'}, el('caption', {}, title(f) + ', ' + axes[state.x].name + ' across' + (state.y === undefined ? '' : ', ' + axes[state.y].name + ' down') + '. OOM: out of memory'),
    el('thead', {}, el('tr', {}, el('th', {}, ''), ...xs.map(x => el('th', {scope: 'col'}, value(state.x, x))))),
    el('tbody', {}, ...ys.map(y => el('tr', {}, el('th', {scope: 'row'}, state.y === undefined ? '' : value(state.y, y)), ...xs.map(x => field(at.get(x + ' ' + y))))))));
}

/// An axis from nothing to `most`, in round steps.
function ticks(most, of = 5) {
  const step = [1, 2, 5, 10].map(n => n * 10 ** Math.floor(Math.log10(most / of))).find(s => most / s <= of) || most;
  return Array.from({length: Math.floor(most / step + 1e-9) + 1}, (_, i) => i * step);
}
const W = Math.max(420, Math.min(900, main.clientWidth || 900)), H = 400, LEFT = 84, RIGHT = 150, TOP = 14, BOTTOM = 48;
function chart(id, words, xTicks, yMost, yTicks, x, xName, yName) {
  const y = v => TOP + (H - TOP - BOTTOM) * (1 - v / yMost), svg = shape('svg', {id, viewBox: `0 0 ${W} ${H}`, role: 'group', 'aria-label': words});
  svg.append(shape('rect', {x: LEFT, y: TOP, width: W - LEFT - RIGHT, height: H - TOP - BOTTOM, class: 'frame'}));
  for (const [at, text] of yTicks) svg.append(shape('line', {x1: LEFT, x2: W - RIGHT, y1: y(at), y2: y(at), class: 'grid'}), shape('text', {x: LEFT - 6, y: y(at) + 4, 'text-anchor': 'end'}, text));
  let free = -1;
  for (const [at, text] of xTicks) {
    if (x(at) - 4 * text.length < free) continue;
    svg.append(shape('text', {x: x(at), y: H - BOTTOM + 18, 'text-anchor': 'middle'}, text));
    free = x(at) + 4 * text.length;
  }
  svg.append(shape('text', {x: (LEFT + W - RIGHT) / 2, y: H - 8, 'text-anchor': 'middle'}, xName), shape('text', {transform: `translate(14 ${(TOP + H - BOTTOM) / 2}) rotate(-90)`, 'text-anchor': 'middle'}, yName));
  return {svg, y};
}
const mark = (tag, attributes, i) => shape(tag, {...attributes, tabindex: 0, role: 'button', 'aria-label': told(i), click: () => showCell(i), keydown: e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); showCell(i); } }}, shape('title', {}, told(i)));
const cross = (x, y, color, i) => mark('path', {d: `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x - 5} ${y + 5}L${x + 5} ${y - 5}`, stroke: color, 'stroke-width': 2.5, class: 'cross'}, i);

/// A device's room for the allocator: what it held at its highest and what was spare then.
function rooms() {
  const of = new Map();
  for (let i = 0; i < count; ++i) {
    if (cells.status[i] === ERROR) continue;
    const name = data.device_axis === null ? 'the device' : value(data.device_axis, cells.at[data.device_axis][i]);
    of.set(name, Math.max(of.get(name) || 0, peak.values[i] + spare.values[i]));
  }
  return [...of].sort((one, other) => one[1] - other[1]);
}
const bytesTicks = most => ticks(most / 2 ** 30).map(v => [v * 2 ** 30, v.toPrecision(3).replace(/\.?0+$/, '') + ' GiB']);
function drawLines(chosen, place) {
  const xs = ordered(state.x, chosen), numeric = axes[state.x].is_number, number = at => axes[state.x].values[at];
  const many = numeric && xs.length > 3 && number(xs[0]) > 0 && number(xs[xs.length - 1]) / number(xs[0]) > 20;
  const along = at => !numeric ? xs.indexOf(at) : many ? Math.log(number(at)) : number(at), from = along(xs[0]), to = along(xs[xs.length - 1]);
  const x = at => LEFT + 12 + (W - LEFT - RIGHT - 24) * (to > from ? (along(at) - from) / (to - from) : 0.5), needs = i => cells.status[i] === OOM ? peak.values[i] + spare.values[i] : peak.values[i];
  const highest = Math.max(...chosen.filter(i => cells.status[i] !== ERROR).map(needs), 1), all = rooms(), near = all.filter(room => room[1] <= 1.8 * highest);
  const most = Math.max(highest, ...near.map(room => room[1])) * 1.06;
  const {svg, y} = chart('lines', `Peak reserved over ${axes[state.x].name}; the table below has the same`, xs.map(at => [at, value(state.x, at)]), most, bytesTicks(most), x, axes[state.x].name, 'peak reserved');
  let low = Infinity;
  for (const [name, bytes] of [...near].reverse()) {
    svg.append(shape('line', {x1: LEFT, x2: W - RIGHT, y1: y(bytes), y2: y(bytes), class: 'limit'}));
    const at = low === Infinity ? y(bytes) + 4 : Math.max(y(bytes) + 4, low + 13);
    svg.append(shape('text', {x: W - RIGHT + 6, y: at, class: 'limit-name'}, name + ' ' + human(bytes)));
    low = at;
  }
  const keys = [];
  ordered(state.y, chosen).forEach((at, k) => {
    const of = chosen.filter(i => placeOf(state.y, i) === at).sort((one, other) => along(placeOf(state.x, one)) - along(placeOf(state.x, other))), color = `var(--${COLOURS[k % COLOURS.length]})`;
    const fits = of.filter(i => cells.status[i] === FITS), name = state.y === undefined ? 'peak reserved' : axes[state.y].name + ' ' + value(state.y, at);
    svg.append(shape('polyline', {points: fits.map(i => x(cells.at[state.x][i]) + ',' + y(peak.values[i])).join(' '), fill: 'none', stroke: color, 'stroke-width': 2, 'stroke-dasharray': ['', '7 3', '2 3'][Math.floor(k / COLOURS.length) % 3]}));
    for (const i of fits) svg.append(mark('circle', {cx: x(cells.at[state.x][i]), cy: y(peak.values[i]), r: 4, fill: color}, i));
    for (const i of of.filter(i => cells.status[i] === OOM)) svg.append(cross(x(cells.at[state.x][i]), y(needs(i)), color, i));
    keys.push(el('span', {class: 'legend'}, el('i', {class: 'key', style: `--of:${color}`}), name));
  });
  const beyond = all.filter(room => room[1] > 1.8 * highest);
  place.replaceChildren(el('p', {class: 'keys'}, ...keys), svg, el('p', {class: 'hint'}, 'Dashed: what a device leaves to the allocator, its CUDA context taken off. Crosses: out of memory.' +
    (beyond.length ? ' Above the picture: ' + beyond.map(room => room[0] + ' ' + human(room[1])).join(', ') + '.' : '')), behind('Table: these combinations', table('', [...axes.map(a => a.name), 'outcome'],
    chosen.slice(0, 500).map(i => row(...axes.map((axis, a) => value(a, cells.at[a][i])), outcome(i))))));
}

// The front: of an axis or a figure against the peak.
const measures = [...numbers.map(a => ({key: 'axis ' + a, name: axes[a].name, better: 1, of: i => cells.at[a][i] < 0 ? null : axes[a].values[cells.at[a][i]], text: v => String(v)})),
  ...['time_ns', 'device_calls', 'fragmentation', 'spare'].map(figure).map(f => ({key: f.name, name: title(f), better: f.name === 'spare' ? 1 : -1, of: i => f.values[i], text: v => amount(f, v),
    tick: f.unit === 'ns' ? duration : null}))];
let measure = measures.find(m => m.key === 'axis ' + data.main_axis) || measures[0];
function drawFront(place) {
  const fits = [...Array(count).keys()].filter(i => cells.status[i] === FITS && measure.of(i) !== null);
  fits.sort((one, other) => measure.better * (measure.of(other) - measure.of(one)) || peak.values[one] - peak.values[other]);
  const front = [];
  let least = Infinity, last = null;
  for (const i of fits) {
    if (peak.values[i] < least || (peak.values[i] === least && measure.of(i) === last)) { front.push(i); least = peak.values[i]; last = measure.of(i); }
  }
  const on = new Set(front), xMost = Math.max(1, ...fits.map(measure.of)) * 1.05, yMost = Math.max(1, ...fits.map(i => peak.values[i])) * 1.06, x = v => LEFT + (W - LEFT - RIGHT) * v / xMost;
  const {svg, y} = chart('front', `Peak reserved against ${measure.name} of ${fits.length} combinations that fit; the table below has the best`, ticks(xMost, 6).map(v => [v, (measure.tick || measure.text)(v)]), yMost, bytesTicks(yMost), x,
    measure.name + (measure.tick ? ', 8 of 10 published times lie in the interval that each has' : '') + (measure.better > 0 ? ' (more is better)' : ' (less is better)'), 'peak reserved (less is better)');
  for (const i of fits.filter(i => !on.has(i)).slice(0, 3000)) svg.append(mark('circle', {cx: x(measure.of(i)), cy: y(peak.values[i]), r: 3, class: 'other'}, i));
  svg.append(shape('polyline', {points: front.map(i => x(measure.of(i)) + ',' + y(peak.values[i])).join(' '), class: 'front'}));
  for (const i of front) svg.append(mark('circle', {cx: x(measure.of(i)), cy: y(peak.values[i]), r: 5, class: 'best'}, i));
  const kinds = varied.filter(a => 'axis ' + a !== measure.key);
  place.replaceChildren(select('peak reserved against', measures.map(m => [m.key, m.name]), measure.key, chosen => { measure = measures.find(m => m.key === chosen); drawFront(place); }), svg,
    el('div', {class: 'scroll'}, table(front.length > 30 ? 'The first 30 of ' + front.length + ' on the front' : 'On the front', [measure.name, 'peak reserved', 'spare', ...kinds.map(a => axes[a].name), ''], front.slice(0, 30).map(i => {
      const made = row(measure.text(measure.of(i)), human(peak.values[i]), human(spare.values[i]), ...kinds.map(a => value(a, cells.at[a][i])));
      made.classList.add('row');
      made.append(el('td', {}, el('button', {type: 'button', click: () => showCell(i)}, 'command')));
      return made;
    }))));
}

const places = Object.fromEntries(['controls', 'choice', 'map-place', 'lines-place', 'front-place'].map(id => [id, el('div', {id})]));
function show() {
  const more = [], chosen = chosenCells(more), names = varied.map(a => [a, axes[a].name]);
  const swap = (one, other) => picked => { if (state[other] === +picked) state[other] = state[one]; state[one] = +picked; show(); };
  places.controls.replaceChildren(select('across', names, state.x, swap('x', 'y')), ...(state.y === undefined ? [] : [select('down, and one line each', names, state.y, swap('y', 'x'))]),
    select('figure', figures.map(f => [f.name, title(f)]), state.figure, picked => { state.figure = picked; show(); }), ...more);
  const fixed = others().map(a => axes[a].name + ' ' + value(a, state.fixed[a]));
  places.choice.textContent = chosen.length + ' of ' + count + ' combinations' + (fixed.length ? ': ' + fixed.join(', ') : '') + '.';
  drawMap(chosen, places['map-place']);
  drawLines(chosen, places['lines-place']);
}
reach();
if (varied.length) {
  main.append(el('h2', {}, 'Over two axes'), places.controls, places.choice, places['map-place'], el('h2', {}, 'Peak against the devices'), places['lines-place']);
  if (measures.length) main.append(el('h2', {}, 'The best combinations of all'), el('p', {class: 'hint'}, 'A combination is on the front when it fits and no other that fits is at least as good in both and better in one.'), places['front-place']);
  main.append(panel);
  show();
  if (measures.length) drawFront(places['front-place']);
} else if (count) {
  main.append(panel);
  showCell(0);
}
document.body.dataset.ready = 'yes';
})();
