/// A table with a caption; `rows` of cells: texts, numbers to be right-aligned, or elements. A head stands as what is under it.
function table(caption, heads, rows) {
  const kind = content => typeof content === 'number' || /^(=|[−+]?[\d.,]+ ?(B|KiB|MiB|GiB|TiB|%)?)$/.test(content) ? {class: 'number'} : {};
  return el('table', {}, el('caption', {}, caption), el('thead', {}, el('tr', {}, ...heads.map((h, i) => el('th', {scope: 'col', ...(rows[0] && kind(rows[0][i]))}, h)))),
    el('tbody', {}, ...rows.map(row => el('tr', {}, ...row.map(content => el('td', kind(content), typeof content === 'number' ? grouped(content) : content))))));
}
const behind = (name, ...content) => el('details', {}, el('summary', {}, name), ...content);
const bar = (part, whole, color) => el('span', {class: 'bar', style: `--part:${whole > 0 ? 100 * part / whole : 0}%;--of:${color}`});

/// What one run has on the page.
class Section {
  constructor(page, run, index) {
    Object.assign(this, {page, run});
    const meta = run.meta, id = name => name + '-' + index;
    this.root = el('section', {class: 'run', id: id('run'), 'aria-label': meta.title});
    if (page.runs.length > 1) this.root.append(el('h2', {class: 'name'}, 'ab'[index] + '  ' + meta.title));
    this.root.append(el('p', {class: meta.failed ? 'verdict failed' : 'verdict'}, meta.headline));
    const canvas = el('canvas', {id: id('timeline'), class: 'timeline', tabindex: '0', role: 'img', 'aria-describedby': id('said')});
    canvas.setAttribute('aria-label', `Blocks in memory over ${grouped(run.events)} events of ${meta.title}. Peak in use ${human(run.active[run.peakActive])} `
      + `${run.momentText(run.peakActive)}; peak reserved ${human(run.reserved[run.peakReserved])} ${run.momentText(run.peakReserved)}. `
      + (run.ooms.length ? `${run.ooms.length} requests refused, the first at event ${run.ooms[0]}. ` : '')
      + 'Arrow keys move the moment, plus and minus zoom, 0 shows all, p goes to the peak of reserved, a of allocated, o to the refusal. The table below has the same.');
    this.timeline = new Timeline(page, run, canvas);
    const view = this.timeline, go = moment => { view.show(moment - (view.to - view.from) / 2, moment + (view.to - view.from) / 2); page.select(run, moment, -1); canvas.focus(); };
    const button = (text, act, title) => { const made = el('button', {type: 'button', title}, text); made.addEventListener('click', act); return made; };
    const tools = el('div', {class: 'tools', role: 'group', 'aria-label': 'View'}, button('+', () => view.zoom(0.5), 'zoom in'), button('−', () => view.zoom(2), 'zoom out'),
      button('all', () => view.show(0, run.events + 1), 'every event'), button('peak of allocated', () => go(run.peakActive), 'most in use'),
      button('peak of reserved', () => go(run.peakReserved), 'most reserved'));
    if (run.ooms.length) tools.append(button('refusal', () => go(run.ooms[0]), 'the request that was refused'));
    this.categories = el('div', {class: 'categories', id: id('categories')});
    this.said = el('p', {class: 'said', id: id('said'), 'aria-live': 'polite'});
    this.mapCanvas = el('canvas', {id: id('addresses'), class: 'map', role: 'img'});
    this.map = new AddressMap(page, run, this.mapCanvas);
    this.why = el('p', {class: 'why', id: id('why')});
    this.block = el('p', {class: 'block', id: id('block')});
    this.segmentTable = el('div', {});
    this.blockTable = el('div', {});
    this.root.append(el('h3', {}, 'Blocks over time'), tools, el('div', {class: 'beside'}, el('div', {}, canvas, el('p', {class: 'hint'}, 'Drag to move, wheel or + and − to zoom, click for a moment. ' +
      'Each band is a block, from its making to its end; above them, light: reserved and free.')), this.categories), this.said, this.block,
      behind('Table: peaks, refusals and phases', this.overTime()), el('h3', {}, 'Segments at that moment'), this.mapCanvas, this.why,
      behind('Table: segments', this.segmentTable), behind('Table: largest blocks', this.blockTable));
    this.rest();
    view.timeline = this;
  }
  overTime() {
    const run = this.run, row = (what, moment) => [what, run.momentText(moment), human(run.active[moment]), human(run.reserved[moment])];
    const rows = [row('peak of allocated', run.peakActive), row('peak of reserved', run.peakReserved)];
    for (const event of run.ooms.slice(0, 20)) rows.push(row('refused: ' + human(run.eventBytes(event)), event));
    const {starts} = phaseStarts(run);
    for (let i = 0; i < Math.min(starts.length, 500); ++i) {
      const end = i + 1 < starts.length ? starts[i + 1].event : run.events;
      let best = starts[i].event + 1;
      for (let m = best; m <= end; ++m) if (run.active[m] > run.active[best]) best = m;
      rows.push(row('highest of ' + starts[i].name, best));
    }
    rows.push(row('end', run.events));
    return table('What was held', ['', 'moment', 'in use', 'reserved'], rows);
  }
  /// What does not follow the moment: who holds memory at the moment that the report is of, settings, grounds.
  rest() {
    const {meta} = this.run, add = (...of) => this.root.append(...of);
    if (meta.host.length) {
      const most = meta.host.reduce((best, p) => Math.max(best, p.held), 1), last = meta.host[meta.host.length - 1].event || 1;
      const line = of => meta.host.map((p, i) => i ? `H${600 * p.event / last}V${100 - 96 * of(p) / most}` : `M${600 * p.event / last} ${100 - 96 * of(p) / most}`).join(' ');
      const made = name => document.createElementNS('http://www.w3.org/2000/svg', name), path = (d, name) => { const one = made('path'); one.setAttribute('d', d); one.setAttribute('class', name); return one; };
      const svg = made('svg');
      for (const [name, value] of [['viewBox', '0 0 600 100'], ['preserveAspectRatio', 'none'], ['class', 'host'], ['role', 'img'],
        ['aria-label', 'Host memory over time, at most ' + human(most)]]) svg.setAttribute(name, value);
      svg.append(path(line(p => p.held), 'held'), path(line(p => p.pinned), 'pinned'));
      const largest = [...meta.host].sort((a, b) => b.held - a.held).slice(0, 20);
      add(el('h3', {}, 'Memory of the host’s tensors: at most ' + human(most)), svg, behind('Table: host memory', table('The highest moments', ['before event', 'held', 'of it pinned', 'by'],
        largest.map(p => [p.event, human(p.held), human(p.pinned), p.maker]))));
    }
    const whole = meta.sites.reduce((sum, s) => sum + s.bytes, 0);
    add(el('h3', {}, 'Who holds it, after event ' + grouped(meta.event)), table('By call site, most bytes first', ['bytes', '', 'category', 'maker'],
      meta.sites.map(s => [human(s.bytes), bar(s.bytes, whole, `var(--p${Math.max(0, meta.purposes.indexOf(s.purpose))})`), s.purpose, s.maker])));
    const most = meta.settings.reduce((best, s) => Math.max(best, s.peak_reserved), 0);
    if (meta.settings.length) add(el('h3', {}, 'Other allocator settings, simulated'), table('Fewest refusals first, then least reserved', ['setting', 'peak reserved', '', 'refused'],
      meta.settings.map(s => [s.own ? el('strong', {}, s.name + ' (this run)') : s.name, human(s.peak_reserved), bar(s.peak_reserved, most, s.own ? 'var(--bad)' : 'var(--p4)'), s.ooms])));
    add(el('h3', {}, 'The answer in full'), el('pre', {}, meta.answer), el('h3', {}, 'What this rests on'), el('pre', {}, meta.assumptions.join('\n')));
  }
  show(moment, block) {
    const run = this.run, {memory, live} = run.state(moment), sums = new Float64Array(run.meta.purposes.length);
    this.timeline.moment = moment;
    this.timeline.picture.later();
    for (const each of live) sums[run.of[each]] += run.bytes[each];
    const reserved = run.reserved[moment], rows = Array.from(sums, (bytes, i) => [run.meta.purposes[i], bytes, `var(--p${i})`]).filter(r => r[1] > 0).sort((a, b) => b[1] - a[1]);
    rows.push(['free in the cache', reserved - run.active[moment], 'var(--free)']);
    this.categories.replaceChildren(table('At this moment', ['category', 'bytes', '', ''], rows.map(([name, bytes, color]) =>
      [el('span', {}, el('i', {class: 'key', style: '--of:' + color}), name), human(bytes), percent(bytes, reserved), bar(bytes, reserved, color)])));
    this.said.textContent = run.momentText(moment).replace(/^a/, 'A') + ': ' + human(run.active[moment]) + ' in use, ' + human(reserved) + ' reserved, ' + live.length + ' blocks.';
    this.block.textContent = block >= 0 ? 'Block: ' + blockLines(run, block).join('; ') : '';
    const lost = run.unserved(moment, memory);
    this.why.textContent = lost ? (lost.failed ? 'Refused' : 'The next request that the cache does not serve') + ': ' + human(lost.asked) + ' at event ' + grouped(lost.event) + ' (' + lost.maker + '). '
      + (lost.total ? human(lost.total) + ' free at this moment: ' + Object.entries(lost.sums).sort((a, b) => b[1] - a[1]).map(([reason, bytes]) => human(bytes) + ' ' + reason).join(', ')
        + '; the largest piece of its pool has ' + human(lost.largest) + '.' : 'Nothing is free at this moment.') : 'Every later request is served by the cache.';
    this.mapCanvas.setAttribute('aria-label', `${memory.segments.length} segments, ${human(reserved)}, at this moment; the table below has them.`);
    this.map.set(memory, lost);
    const used = s => s.blocks.reduce((sum, b) => sum + run.bytes[b], 0), shown = [...memory.segments].sort((a, b) => b.bytes - a.bytes).slice(0, 300);
    this.segmentTable.replaceChildren(table(`${memory.segments.length} segments${memory.segments.length > 300 ? ', the 300 largest' : ''}`, ['address', 'bytes', 'stream', 'pool', 'in use', 'free', 'blocks', 'free memory, to the next request'],
      shown.map(s => ['0x' + s.address.toString(16), human(s.bytes), s.stream, (s.pool ? 'private ' + s.pool + ', ' : '') + (s.small ? 'small' : 'large'), human(used(s)), human(s.bytes - used(s)), s.blocks.length,
        lost && used(s) < s.bytes ? lost.why(s) || 'of its pool' : ''])));
    this.blockTable.replaceChildren(table(`The largest of ${live.length} blocks`, ['bytes', 'category', 'maker', 'made'],
      [...live].sort((a, b) => run.asked[b] - run.asked[a]).slice(0, 50).map(b => [grouped(run.asked[b]), run.meta.purposes[run.of[b]], run.makerOf(b), run.phaseOf(run.born[b])])));
  }
}

class Page {
  constructor(runs) {
    this.runs = runs;
    this.bubble = document.getElementById('tip');
    const main = document.querySelector('main');
    if (runs.length > 1) main.append(this.difference());
    const sections = el('div', {class: 'runs'});
    main.append(sections);
    this.sections = runs.map((run, i) => new Section(this, run, i));
    sections.append(...this.sections.map(s => s.root));
    for (const section of this.sections) section.show(section.timeline.moment, -1);
    const redraw = () => this.sections.forEach(s => { s.timeline.picture.now(); s.map.picture.now(); });
    redraw();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
    addEventListener('beforeprint', () => { document.querySelectorAll('details').forEach(d => { d.dataset.was = d.open; d.open = true; }); document.documentElement.classList.add('print'); redraw(); });
    addEventListener('afterprint', () => { document.querySelectorAll('details').forEach(d => { d.open = d.dataset.was === 'true'; }); document.documentElement.classList.remove('print'); redraw(); });
  }
  section(run) { return this.sections[this.runs.indexOf(run)]; }
  select(run, moment, block) { this.section(run).show(moment, block); }
  tip(event, lines = []) {
    this.bubble.hidden = !event;
    if (!event) return;
    this.bubble.replaceChildren(...lines.map((line, i) => el(i ? 'div' : 'strong', {}, line)));
    const {width, height} = this.bubble.getBoundingClientRect();
    this.bubble.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8)) + 'px';
    this.bubble.style.top = (event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18) + 'px';
  }
  /// What differs between two runs: amounts, and what held memory at the peaks.
  difference() {
    const [a, b] = this.runs, signed = (x, of = human) => x === 0 ? '=' : (x > 0 ? '+' : '−') + of(Math.abs(x));
    const bytes = (name, of) => [name, human(of(a)), human(of(b)), signed(of(b) - of(a))], counts = (name, of) => [name, of(a), of(b), signed(of(b) - of(a), grouped)];
    const rows = [bytes('peak of allocated', r => r.active[r.peakActive]), bytes('peak of reserved', r => r.reserved[r.peakReserved]),
      bytes('free in the cache at the peak', r => r.reserved[r.peakReserved] - r.active[r.peakReserved]), counts('requests refused', r => r.ooms.length), counts('events', r => r.events),
      counts('blocks', r => r.blocks), counts('segments asked of the driver', r => r.growths.length)];
    const sums = run => run.state(run.peakActive).live.reduce((sum, block) => { sum[run.of[block]] += run.bytes[block]; return sum; }, new Float64Array(run.meta.purposes.length));
    const [inA, inB] = [sums(a), sums(b)];
    a.meta.purposes.forEach((name, i) => { if (inA[i] || inB[i]) rows.push([name + ' at the peak of allocated', human(inA[i]), human(inB[i]), signed(inB[i] - inA[i])]); });
    return el('section', {class: 'difference', id: 'difference'}, el('h2', {}, 'What differs'), table('a: ' + a.meta.title + '; b: ' + b.meta.title, ['', 'a', 'b', 'b − a'], rows));
  }
}

(async () => {
  try {
    const data = JSON.parse(document.getElementById('data').textContent);
    const runs = [];
    for (const [i, meta] of data.runs.entries()) runs.push(new Run(meta, await unpacked(document.getElementById('events-' + i).textContent.trim())));
    window.tidemark = new Page(runs);
    document.body.dataset.ready = 'yes';
  } catch (error) {
    document.querySelector('main').append(el('p', {class: 'verdict failed'}, 'This page could not be drawn: ' + error.message + '. It needs a browser of 2023 or later.'));
    throw error;
  }
})();
})();
