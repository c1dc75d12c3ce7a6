'use strict';
// The page of `tidemark report`: what the allocator did, rebuilt from its events and drawn on canvases. No library, no network.
// `#data` holds the words and tables as JSON; `#events-N` the events of run N, gzip in base64 (sim/report/page_data.h).
(() => {
const ALLOC = 4, FREE_REQUESTED = 5, FREE_COMPLETED = 6, OOM = 7, SEGMENT_ALLOC = 0, SEGMENT_FREE = 1, MAP = 2, UNMAP = 3;
const MIB = 1048576, SMALL = 2 * MIB, NO_PURPOSE = 0;
const el = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in made && typeof value !== 'string') made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
function human(bytes) {
  let unit = 0, value = Math.abs(bytes);
  while (value >= 1024 && unit < 4) { value /= 1024; ++unit; }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return (bytes < 0 ? '−' : '') + value.toFixed(digits) + ' ' + units[unit];
}
const grouped = number => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
const percent = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(1) + ' %' : '';

async function unpacked(base64) {
  const packed = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/// Where `value` stands in an ascending array, or would: the first place that is not smaller.
function lowerBound(array, value, of = x => x) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(array[middle]) < value) low = middle + 1; else high = middle;
  }
  return low;
}

/// The segments of a device and the blocks in them, moved along by events.
class Memory {
  // by address; each with its live blocks, by address
  constructor(run) { this.run = run; this.segments = []; }
  copy() {
    const other = new Memory(this.run);
    other.segments = this.segments.map(s => ({...s, blocks: s.blocks.slice()}));
    return other;
  }
  at(address) {
    const place = lowerBound(this.segments, address + 1, s => s.address) - 1;
    const segment = this.segments[place];
    return segment && address < segment.address + segment.bytes ? segment : null;
  }
  grow(address, bytes, stream, pool, small, expandable) {
    const place = lowerBound(this.segments, address, s => s.address);
    const before = this.segments[place - 1], after = this.segments[place];
    // Ranges of an expandable segment that touch are one.
    if (expandable && before && before.expandable && before.address + before.bytes === address) {
      before.bytes += bytes;
      if (after && after.expandable && address + bytes === after.address) {
        before.bytes += after.bytes;
        before.blocks.push(...after.blocks);
        this.segments.splice(place, 1);
      }
    } else if (expandable && after && after.expandable && address + bytes === after.address) {
      after.address = address;
      after.bytes += bytes;
    } else {
      this.segments.splice(place, 0, {address, bytes, stream, pool, small, expandable, blocks: []});
    }
  }
  shrink(address, bytes) {
    const segment = this.at(address);
    if (!segment) return;
    const place = this.segments.indexOf(segment), end = segment.address + segment.bytes;
    const parts = [[segment.address, address], [address + bytes, end]].filter(([from, to]) => to > from);
    this.segments.splice(place, 1, ...parts.map(([from, to]) => ({...segment, address: from, bytes: to - from,
      blocks: segment.blocks.filter(b => this.run.address[b] >= from && this.run.address[b] < to)})));
  }
  put(block) {
    const {address} = this.run, segment = this.at(address[block]);
    if (segment) segment.blocks.splice(lowerBound(segment.blocks, address[block], b => address[b]), 0, block);
  }
  take(block) {
    const {address} = this.run, segment = this.at(address[block]);
    if (!segment) return;
    const place = lowerBound(segment.blocks, address[block], b => address[b]);
    if (segment.blocks[place] === block) segment.blocks.splice(place, 1);
  }
  /// Bytes of the block that serves a request at `address`: all of the free block, or cut off it. Source: should_split().
  blockBytes(address, asked) {
    const segment = this.at(address);
    if (!segment) return asked;
    const next = lowerBound(segment.blocks, address, b => this.run.address[b]);
    const end = next < segment.blocks.length ? this.run.address[segment.blocks[next]] : segment.address + segment.bytes;
    const rest = end - address - asked;
    const isOversize = this.run.meta.max_split > 0 && asked >= this.run.meta.max_split && !segment.small;
    const isSplit = segment.small || segment.expandable ? rest >= 512 : rest > MIB && !isOversize;
    return isSplit ? asked : Math.max(asked, end - address);
  }
  /// One event; `block` is the one that it makes or ends.
  apply(event, block) {
    const run = this.run, action = run.action[event];
    if (action === ALLOC) this.put(block);
    else if (action === FREE_COMPLETED) { if (block >= 0) this.take(block); }
    else if (action === SEGMENT_ALLOC || action === MAP)
      this.grow(run.eventAddress(event), run.eventBytes(event), run.stream[event], run.pool[event],
        run.eventBytes(event) === SMALL, action === MAP);
    else if (action === SEGMENT_FREE || action === UNMAP) this.shrink(run.eventAddress(event), run.eventBytes(event));
  }
  *free() {
    for (const segment of this.segments) {
      let from = segment.address;
      for (const block of segment.blocks) {
        if (this.run.address[block] > from) yield {segment, address: from, bytes: this.run.address[block] - from};
        from = this.run.address[block] + this.run.bytes[block];
      }
      const end = segment.address + segment.bytes;
      if (end > from) yield {segment, address: from, bytes: end - from};
    }
  }
}

/// A run's events, the blocks that they make, and what was held after each.
class Run {
  constructor(meta, buffer) {
    Object.assign(this, {meta, events: meta.events});
    const n = meta.events;
    let at = 0;
    const array = (Type, count) => {
      const made = new Type(buffer.slice(at, at + count * Type.BYTES_PER_ELEMENT));
      at += count * Type.BYTES_PER_ELEMENT;
      return made;
    };
    this.addresses = array(Float64Array, meta.addresses);
    this.sizes = array(Float64Array, meta.sizes);
    this.addressOf = array(Uint32Array, n);
    this.sizeOf = array(Uint32Array, n);
    this.askedOf = array(Uint32Array, n);
    this.maker = array(Uint32Array, n);
    this.phase = array(Uint32Array, n);
    this.stream = array(Uint16Array, n);
    this.pool = array(Uint16Array, n);
    this.action = array(Uint8Array, n);
    this.purpose = array(Uint8Array, n);
    this.rebuild();
  }
  eventAddress(event) { return this.addresses[this.addressOf[event]]; }
  eventBytes(event) { return this.sizes[this.sizeOf[event]]; }

  rebuild() {
    const n = this.events, start = this.meta.start, most = start.blocks.length + this.action.reduce((sum, a) => sum + (a === ALLOC), 0);
    this.address = new Float64Array(most);
    this.bytes = new Float64Array(most);
    this.asked = new Float64Array(most);
    // -1: before the recording
    this.born = new Int32Array(most).fill(-1);
    // n: never
    this.died = new Int32Array(most).fill(n);
    this.of = new Uint8Array(most);
    this.blockOf = new Int32Array(n).fill(-1);
    this.reserved = new Float64Array(n + 1);
    this.active = new Float64Array(n + 1);
    this.ooms = [];
    this.growths = [];
    this.every = Math.max(256, Math.ceil(n / 200));
    // every so many events: memory, and the live blocks in the order of their making
    this.kept = [];
    const memory = new Memory(this), live = new Map();
    let blocks = 0, held = 0, used = 0;
    for (const [address, bytes, stream, pool, small, expandable] of start.segments) {
      memory.grow(address, bytes, stream, pool, small === 1, expandable === 1);
      held += bytes;
    }
    const make = (address, asked, bytes, purpose) => {
      const block = blocks++;
      this.address[block] = address;
      this.asked[block] = asked;
      this.bytes[block] = bytes;
      this.of[block] = purpose;
      live.set(address, block);
      used += bytes;
      return block;
    };
    this.startMakers = start.blocks.map(b => b[3]);
    for (const [address, asked, bytes, , purpose] of start.blocks)
      memory.put(make(address, asked, bytes || memory.blockBytes(address, Math.max(512, Math.ceil(asked / 512) * 512)), purpose));
    this.reserved[0] = held;
    this.active[0] = used;
    for (let event = 0; event < n; ++event) {
      if (event % this.every === 0) this.kept.push({memory: memory.copy(), order: Int32Array.from(live.values())});
      const action = this.action[event];
      let block = -1;
      if (action === ALLOC) {
        const address = this.eventAddress(event);
        block = make(address, this.eventBytes(event), memory.blockBytes(address, this.sizes[this.askedOf[event]]), this.purpose[event]);
        this.born[block] = event;
      } else if (action === FREE_REQUESTED) {
        block = live.get(this.eventAddress(event)) ?? -1;
      } else if (action === FREE_COMPLETED) {
        const address = this.eventAddress(event);
        block = live.get(address) ?? -1;
        if (block >= 0) {
          this.died[block] = event;
          used -= this.bytes[block];
          live.delete(address);
        }
      } else if (action === SEGMENT_ALLOC || action === MAP) {
        held += this.eventBytes(event);
        this.growths.push(event);
      } else if (action === SEGMENT_FREE || action === UNMAP) {
        held -= this.eventBytes(event);
      } else if (action === OOM) {
        this.ooms.push(event);
      }
      this.blockOf[event] = block;
      memory.apply(event, block);
      this.reserved[event + 1] = held;
      this.active[event + 1] = used;
    }
    this.blocks = blocks;
    const peak = of => of.reduce((best, value, i) => value > of[best] ? i : best, 0);
    this.peakReserved = peak(this.reserved);
    this.peakActive = peak(this.active);
  }
  /// Memory and live blocks after `moment` events.
  state(moment) {
    const kept = Math.min(this.kept.length - 1, Math.floor(moment / this.every));
    if (kept < 0) return {memory: new Memory(this), live: []};
    const memory = this.kept[kept].memory.copy(), live = new Set(this.kept[kept].order);
    for (let event = kept * this.every; event < moment; ++event) {
      const block = this.blockOf[event];
      memory.apply(event, block);
      if (this.action[event] === ALLOC) live.add(block);
      else if (this.action[event] === FREE_COMPLETED) live.delete(block);
    }
    return {memory, live: [...live]};
  }
  makerOf(block) {
    const maker = this.born[block] < 0 ? this.startMakers[block] : this.maker[this.born[block]];
    return this.meta.makers[maker] || 'unknown';
  }
  phaseOf(event) { return event < 0 ? 'before the recording' : this.meta.phases[this.phase[Math.min(event, this.events - 1)]] || ''; }
  momentText(moment) {
    if (moment === 0) return 'at the start';
    const phase = this.phaseOf(moment - 1);
    return 'after event ' + grouped(moment - 1) + (phase ? ', ' + phase : '');
  }
  /// Why what is free at a moment serves no request of the next that makes memory grow, or fails; null: none follows.
  unserved(moment, memory) {
    const isAsked = e => this.action[e] === OOM || this.action[e] === SEGMENT_ALLOC || this.action[e] === MAP;
    // right behind a refusal it is told
    if (moment > 0 && this.action[moment - 1] === OOM) --moment;
    const growth = lowerBound(this.growths, moment), failure = lowerBound(this.ooms, moment);
    const event = Math.min(this.growths[growth] ?? Infinity, this.ooms[failure] ?? Infinity);
    if (!isFinite(event) || !isAsked(event)) return null;
    let alloc = event;
    while (this.action[event] !== OOM && alloc < this.events && this.action[alloc] !== ALLOC && this.action[alloc] !== OOM) ++alloc;
    if (alloc >= this.events) return null;
    const failed = this.action[alloc] === OOM;
    const asked = failed ? this.eventBytes(alloc) : this.sizes[this.askedOf[alloc]];
    const stream = this.stream[alloc], pool = this.pool[alloc], small = asked <= MIB;
    const why = segment => segment.stream !== stream ? 'of another stream'
      : segment.pool !== pool || segment.small !== small ? 'of another pool' : '';
    const sums = {};
    let largest = 0, total = 0;
    for (const piece of memory.free()) {
      const reason = why(piece.segment) || (piece.bytes < asked ? 'in smaller pieces' : 'large enough');
      sums[reason] = (sums[reason] || 0) + piece.bytes;
      if (!why(piece.segment)) largest = Math.max(largest, piece.bytes);
      total += piece.bytes;
    }
    return {event: alloc, failed, asked, sums, largest, total, why, maker: this.meta.makers[this.maker[alloc]]};
  }
}
