/// Colours of the style sheet, as it is now: dark, light or for print.
function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue('--' + name).trim();
  const rgb = text => [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16));
  return {ink: of('ink'), faint: of('faint'), paper: of('paper'), line: of('line'), bad: of('bad'), free: of('free'), mark: of('mark'),
    purposes: Array.from({length: 11}, (_, i) => rgb(of('p' + i))), paperRgb: rgb(of('paper'))};
}
// as ImageData has it in memory
const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
const shaded = (rgb, by) => rgb.map(c => Math.max(0, Math.min(255, Math.round(by < 0 ? c * (1 + by) : c + (255 - c) * by))));

/// A canvas with the device's pixels, drawn again when its size changes.
class Picture {
  constructor(canvas, draw) {
    this.canvas = canvas;
    this.draw = draw;
    new ResizeObserver(() => this.later()).observe(canvas);
  }
  later() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => { this.waits = false; this.now(); });
  }
  now() {
    const box = this.canvas.getBoundingClientRect(), scale = window.devicePixelRatio || 1;
    if (box.width < 10) return;
    const width = Math.round(box.width * scale), height = Math.round(box.height * scale);
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, {width, height});
    this.scale = scale;
    const context = this.canvas.getContext('2d', {willReadFrequently: true});
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    this.draw(context, width, height, scale);
  }
}

/// Every block as a band from its making to its end, the oldest below. One column of pixels is the moment with most in use of all
/// that fall into it, so that no peak is lost; its blocks are walked once. Cost: the events in view, and columns times live blocks.
class Timeline {
  constructor(page, run, canvas) {
    Object.assign(this, {page, run, canvas, from: 0, to: run.events + 1});
    this.picture = new Picture(canvas, (...of) => this.draw(...of));
    this.moment = run.meta.moment + 1;
    this.listen();
  }
  plot() { const s = this.picture.scale || 1; return {left: Math.round(64 * s), top: Math.round(14 * s), right: Math.round(10 * s), bottom: Math.round(34 * s)}; }
  show(from, to) {
    const n = this.run.events + 1, span = Math.max(8, Math.min(n, to - from));
    from = Math.max(0, Math.min(n - span, from));
    Object.assign(this, {from, to: from + span});
    this.picture.later();
  }
  zoom(by, around = this.moment) {
    const span = (this.to - this.from) * by, share = (around - this.from) / (this.to - this.from);
    this.show(around - span * share, around + span * (1 - share));
  }
  momentAt(x) {
    const {left, right} = this.plot(), width = this.canvas.width - left - right;
    const share = (x * this.picture.scale - left) / width;
    const column = Math.max(0, Math.min(width - 1, Math.floor(share * width)));
    return this.columns ? this.columns[column] : 0;
  }
  /// The moments that columns show: of each stretch the one with most in use.
  /// For each column the moment with most in use, and the most reserved of all. Where many events share a column, by groups of them.
  choose(width) {
    const {active, reserved} = this.run, n = this.run.events, out = new Int32Array(width);
    const groups = this.groups ||= Array.from({length: n + 1 >> 8}, (_, g) => {
      let a = g << 8, r = a;
      for (let i = a; i < g + 1 << 8; ++i) {
        if (active[i] > active[a]) a = i;
        if (reserved[i] > reserved[r]) r = i;
      }
      return [a, r];
    });
    const at = x => Math.floor(this.from + (this.to - this.from) * x / width);
    let highest = 1;
    for (let x = 0; x < width; ++x) {
      const first = Math.min(n, at(x)), end = Math.max(first + 1, Math.min(n + 1, at(x + 1)));
      let best = first;
      for (let i = first; i < end;) {
        const group = !(i & 255) && i + 256 <= end && groups[i >> 8], a = group ? group[0] : i, r = group ? group[1] : i;
        if (active[a] > active[best]) best = a;
        if (reserved[r] > highest) highest = reserved[r];
        i += group ? 256 : 1;
      }
      out[x] = best;
    }
    return [out, highest];
  }
  draw(context, width, height, scale) {
    const c = colours(), {left, top, right, bottom} = this.plot(), run = this.run;
    const w = width - left - right, h = height - top - bottom;
    if (w < 20 || h < 20) return;
    const [columns, highest] = this.choose(w);
    this.columns = columns;
    const limit = run.meta.capacity, failures = run.ooms.filter(e => e >= this.from && e < this.to);
    const wanted = failures.reduce((most, e) => Math.max(most, run.reserved[e] + run.eventBytes(e)), highest);
    this.highest = Math.max(wanted, limit && limit < wanted * 1.5 ? limit : 0) * 1.04;
    const y = bytes => top + h - bytes / this.highest * h;
    this.paint(context, c, columns, left, top, w, h);
    // What is reserved, and what of it is free.
    context.fillStyle = c.free;
    for (let x = 0; x < w; ++x) {
      const above = Math.round(y(run.reserved[columns[x]])), below = Math.round(y(run.active[columns[x]]));
      if (below > above) context.fillRect(left + x, above, 1, below - above);
    }
    context.strokeStyle = c.ink;
    context.lineWidth = 1.5 * scale;
    context.beginPath();
    for (let x = 0; x < w; ++x) context.lineTo(left + x, y(run.reserved[columns[x]]));
    context.stroke();
    this.axes(context, c, left, top, w, h, y, scale);
    context.font = 11 * scale + 'px system-ui, sans-serif';
    if (limit && limit <= this.highest) {
      context.strokeStyle = context.fillStyle = c.bad;
      context.setLineDash([6 * scale, 4 * scale]);
      context.beginPath();
      context.moveTo(left, y(limit));
      context.lineTo(left + w, y(limit));
      context.stroke();
      context.setLineDash([]);
      context.textAlign = 'left';
      context.fillText('what the device gives: ' + human(limit), left + 6 * scale, y(limit) + (w < 480 * scale ? 12 : -4) * scale);
    }
    for (const event of failures.slice(0, 200)) {
      const x = this.x(event + 0.5, left, w), base = y(run.reserved[event]), tip = y(run.reserved[event] + run.eventBytes(event));
      context.fillStyle = context.strokeStyle = c.bad;
      context.globalAlpha = 0.35;
      context.fillRect(x - 5 * scale, tip, 10 * scale, base - tip);
      context.globalAlpha = 1;
      context.lineWidth = scale;
      context.strokeRect(x - 5 * scale, tip, 10 * scale, base - tip);
      context.fillRect(x, top, scale, h);
      const isRight = x > left + w * 0.7;
      context.textAlign = isRight ? 'right' : 'left';
      context.fillText('refused: ' + human(run.eventBytes(event)), x + (isRight ? -8 : 8) * scale, Math.max(tip - 4 * scale, top + 10 * scale));
    }
    const x = this.x(this.moment, left, w);
    if (x >= left && x <= left + w) {
      context.fillStyle = c.mark;
      context.fillRect(Math.round(x) - scale, top, 2 * scale, h);
    }
  }
  x(moment, left, w) { return left + (moment - this.from) / (this.to - this.from) * w; }
  /// The bands, a pixel at a time; `this.hit` keeps which block each shows.
  paint(context, c, columns, left, top, w, h) {
    const of = [this.from, this.to, w, h, this.highest, c.purposes].join();
    if (this.of !== of) this.bands(context, c, columns, w, h);
    this.of = of;
    context.putImageData(this.image, left, top);
  }
  bands(context, c, columns, w, h) {
    const run = this.run, image = this.image = context.createImageData(w, h), pixels = new Uint32Array(image.data.buffer);
    const shades = c.purposes.map(rgb => [0, 0.12, -0.1, 0.2].map(by => packed(shaded(rgb, by))));
    const edges = c.purposes.map(rgb => packed(shaded(rgb, -0.35)));
    const hit = this.hit = new Int32Array(w * h).fill(-1);
    this.hitWidth = w;
    // Live blocks, in the order of their making, as a list that is cut and mended.
    const end = run.blocks, [next, before] = this.lists || (this.lists = [new Int32Array(end + 1), new Int32Array(end + 1)]);
    let last = end;
    next[end] = -1;
    const append = block => { next[last] = block; before[block] = last; next[block] = -1; last = block; };
    const cut = block => {
      next[before[block]] = next[block];
      if (next[block] >= 0) before[next[block]] = before[block]; else last = before[block];
    };
    const kept = Math.min(run.kept.length - 1, Math.floor(columns[0] / run.every));
    if (kept < 0) return;
    for (const block of run.kept[kept].order) append(block);
    let at = kept * run.every;
    const rate = h / this.highest;
    for (let x = 0; x < w; ++x) {
      for (; at < columns[x]; ++at) {
        if (run.action[at] === ALLOC) append(run.blockOf[at]);
        else if (run.action[at] === FREE_COMPLETED && run.blockOf[at] >= 0) cut(run.blockOf[at]);
      }
      let sum = 0, row = h;
      for (let block = next[end]; block >= 0; block = next[block]) {
        sum += run.bytes[block];
        const to = Math.max(0, h - Math.round(sum * rate));
        if (to >= row) continue;
        const of = run.of[block], shade = shades[of][block & 3], isTall = row - to > 3;
        for (let i = to; i < row; ++i) {
          pixels[i * w + x] = shade;
          hit[i * w + x] = block;
        }
        if (isTall) pixels[to * w + x] = edges[of];
        row = to;
      }
    }
  }
  axes(context, c, left, top, w, h, y, scale) {
    context.font = 11 * scale + 'px system-ui, sans-serif';
    context.fillStyle = c.faint;
    context.strokeStyle = c.line;
    context.lineWidth = scale;
    context.textAlign = 'right';
    let step = 1;
    while (this.highest / step > 6) step *= 2;
    for (let bytes = 0; bytes <= this.highest; bytes += step) {
      context.fillText(human(bytes), left - 6 * scale, y(bytes) + 4 * scale);
      context.fillRect(left - 3 * scale, y(bytes), 3 * scale, scale);
    }
    context.strokeRect(left, top, w, h);
    // Phases, where there is room for their names.
    context.textAlign = 'left';
    let free = -1;
    const {starts} = this.run.phaseStarts || (this.run.phaseStarts = phaseStarts(this.run));
    for (let i = lowerBound(starts, this.from, s => s.event); i < starts.length && starts[i].event < this.to; ++i) {
      const x = this.x(starts[i].event, left, w), text = starts[i].name;
      if (x < free || x + context.measureText(text).width > left + w) continue;
      context.fillRect(x, top + h, scale, 6 * scale);
      context.fillText(text, x + 3 * scale, top + h + 14 * scale);
      free = x + context.measureText(text).width + 14 * scale;
    }
    context.fillText('event ' + grouped(Math.floor(this.from)), left, top + h + 29 * scale);
    context.textAlign = 'right';
    context.fillText(grouped(Math.min(this.run.events, Math.ceil(this.to) - 1)), left + w, top + h + 29 * scale);
  }
  blockAt(x, y) {
    const s = this.picture.scale || 1, {left, top} = this.plot();
    const column = Math.floor(x * s - left), row = Math.floor(y * s - top);
    if (!this.hit || column < 0 || row < 0 || column >= this.hitWidth) return -1;
    return this.hit[row * this.hitWidth + column] ?? -1;
  }
  listen() {
    const canvas = this.canvas, place = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    let grip = null;
    canvas.addEventListener('pointerdown', event => { grip = {x: event.clientX, from: this.from, to: this.to, moved: false}; try { canvas.setPointerCapture(event.pointerId); } catch { /* made by a script */ } });
    canvas.addEventListener('pointermove', event => {
      const [x, y] = place(event);
      if (!grip) return this.hover(x, y, event);
      const by = (grip.x - event.clientX) / canvas.clientWidth * (grip.to - grip.from);
      grip.moved = grip.moved || Math.abs(grip.x - event.clientX) > 3;
      if (grip.moved) this.show(grip.from + by, grip.to + by);
    });
    canvas.addEventListener('pointerup', event => {
      const [x, y] = place(event);
      if (grip && !grip.moved) this.page.select(this.run, this.momentAt(x), this.blockAt(x, y));
      grip = null;
    });
    canvas.addEventListener('pointerleave', () => this.page.tip(null));
    canvas.addEventListener('wheel', event => { event.preventDefault(); this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.momentAt(place(event)[0])); }, {passive: false});
    canvas.addEventListener('dblclick', () => this.show(0, this.run.events + 1));
    canvas.addEventListener('keydown', event => {
      const span = this.to - this.from, step = event.shiftKey ? Math.max(1, Math.round(span / 50)) : 1;
      const move = to => { to = Math.max(0, Math.min(this.run.events, to)); this.page.select(this.run, to, -1);
        if (to < this.from || to >= this.to) this.show(to - span / 2, to + span / 2); };
      const keys = {ArrowLeft: () => move(this.moment - step), ArrowRight: () => move(this.moment + step), '+': () => this.zoom(0.5), '=': () => this.zoom(0.5),
        '-': () => this.zoom(2), Home: () => move(0), End: () => move(this.run.events), 0: () => this.show(0, this.run.events + 1),
        PageUp: () => this.show(this.from - span / 2, this.to - span / 2), PageDown: () => this.show(this.from + span / 2, this.to + span / 2),
        p: () => move(this.run.peakReserved), a: () => move(this.run.peakActive), o: () => this.run.ooms.length && move(this.run.ooms[0])};
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
  hover(x, y, event) {
    const block = this.blockAt(x, y), moment = this.momentAt(x), run = this.run;
    const lines = block >= 0 ? blockLines(run, block) : [];
    lines.push(run.momentText(moment) + ': ' + human(run.active[moment]) + ' in use, ' + human(run.reserved[moment]) + ' reserved');
    this.page.tip(event, lines);
  }
}
function blockLines(run, block) {
  const born = run.born[block], died = run.died[block];
  return [human(run.asked[block]) + ' (' + grouped(run.asked[block]) + ' bytes), ' + run.meta.purposes[run.of[block]], run.makerOf(block),
    (born < 0 ? 'from before the recording' : 'from event ' + grouped(born) + ', ' + run.phaseOf(born)) +
    (died >= run.events ? ', never freed' : ', to event ' + grouped(died))];
}
/// Where a phase begins that is not the one before it.
function phaseStarts(run) {
  const starts = [];
  for (let i = 0; i < run.events; ++i)
    if (i === 0 || run.phase[i] !== run.phase[i - 1]) starts.push({event: i, name: run.meta.phases[run.phase[i]] || ''});
  return {starts: starts.filter(s => s.name)};
}

/// The segments of a moment, one after the other in lines, all on one scale: area is memory.
class AddressMap {
  constructor(page, run, canvas) {
    Object.assign(this, {page, run, canvas, cells: []});
    this.picture = new Picture(canvas, (...of) => this.draw(...of));
    canvas.addEventListener('pointermove', event => {
      const box = canvas.getBoundingClientRect(), s = this.picture.scale || 1, x = (event.clientX - box.left) * s, y = (event.clientY - box.top) * s;
      const cell = this.cells.find(each => x >= each.x && x < each.x + each.w && y >= each.y && y < each.y + each.h);
      page.tip(cell ? event : null, cell ? cell.lines() : []);
    });
    canvas.addEventListener('pointerleave', () => page.tip(null));
  }
  set(memory, unserved) {
    Object.assign(this, {memory, unserved});
    this.picture.later();
  }
  draw(context, width, height, scale) {
    if (!this.memory) return;
    const c = colours(), run = this.run, segments = this.memory.segments, line = 22 * scale, bar = 16 * scale, gap = 3 * scale;
    const total = segments.reduce((sum, s) => sum + s.bytes, 0), lines = Math.max(1, Math.floor(height / line));
    let perPixel = Math.max(1, total / (width * lines));
    const rows = () => segments.reduce(([x, count], s) => { x += Math.max(scale, s.bytes / perPixel) + gap; return [x, count]; }, [0, 0])[0] / width;
    for (let tries = 0; tries < 60 && rows() > lines - 0.05; ++tries) perPixel *= 1.08;
    this.cells = [];
    let x = 0, y = 0;
    for (const segment of segments) {
      let left = Math.max(scale, segment.bytes / perPixel), at = segment.address;
      if (x > 0 && x + Math.min(left, 12 * scale) > width) { x = 0; y += line; }
      while (left > 0.01) {
        const w = Math.min(left, width - x), bytes = Math.min(segment.address + segment.bytes - at, w * perPixel);
        this.stretch(context, c, segment, at, at + bytes, x, y, w, bar, scale);
        at += bytes;
        left -= w;
        x += w;
        if (x >= width - 0.5) { x = 0; y += line; }
      }
      if (x > 0) x += gap;
      if (x >= width) { x = 0; y += line; }
    }
  }
  stretch(context, c, segment, from, to, x, y, w, h, scale) {
    const run = this.run, px = address => x + (address - from) / (to - from) * w, why = this.unserved ? this.unserved.why(segment) : '';
    context.fillStyle = c.free;
    context.fillRect(x, y, w, h);
    this.cells.push({x, y, w, h, lines: () => this.segmentLines(segment)});
    for (const block of segment.blocks) {
      const a = Math.max(from, run.address[block]), b = Math.min(to, run.address[block] + run.bytes[block]);
      if (b <= a) continue;
      const [r, g, blue] = shaded(c.purposes[run.of[block]], [0, 0.12, -0.1, 0.2][block & 3]);
      context.fillStyle = `rgb(${r},${g},${blue})`;
      context.fillRect(px(a), y, Math.max(px(b) - px(a), 0.6), h);
      if (px(b) - px(a) > 1) this.cells.unshift({x: px(a), y, w: px(b) - px(a), h, lines: () => blockLines(run, block)});
    }
    context.strokeStyle = why ? c.line : c.ink;
    context.lineWidth = scale;
    context.strokeRect(x + scale / 2, y + scale / 2, Math.max(1, w - scale), h - scale);
  }
  segmentLines(segment) {
    const used = segment.blocks.reduce((sum, b) => sum + this.run.bytes[b], 0);
    const why = this.unserved ? this.unserved.why(segment) || 'of the pool and stream of the next request' : '';
    return ['Segment 0x' + segment.address.toString(16) + ', ' + human(segment.bytes) + (segment.expandable ? ', expandable' : ''),
      human(segment.bytes - used) + ' free, ' + segment.blocks.length + ' blocks', why].filter(Boolean);
  }
}
