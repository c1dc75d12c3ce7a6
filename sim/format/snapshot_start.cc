#include "sim/format/snapshot_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/format/address_map.h"

namespace tidemark {

namespace {

constexpr Bytes kMinBlock = 512;
constexpr Bytes kSmallMax = kMiB;
constexpr Bytes kSmallSegment = 2 * kMiB;
constexpr Bytes kLargeMin = 10 * kMiB;
/// What driver and allocator hand out begins at multiples of it.
constexpr Bytes kLeastAlignment = 256;
/// Small pools are tiled by requests of 1 MiB: more than 16 GiB of them that nobody uses is no
/// allocator's. Each of some ten simulations of a recording plays them.
constexpr std::size_t kMostMadeUp = std::size_t{1} << 14U;

}  // namespace

RequestId StartBuilder::request(Bytes bytes, const StateSegment& segment, const StateBlock* block) {
  const RequestId id = out_.requests++;
  if (options_.keep_origins)
    out_.origins.add_alive_before(block == nullptr ? StackId{0} : block->stack);
  if (block != nullptr) out_.start_ids.emplace_back(block->address, id);
  const LabelId label = block == nullptr
                            ? LabelId{0}
                            : out_.program.labels.intern(stack_summary(snapshot_, block->stack));
  out_.instructions.push_back({bytes, id, label, segment.stream,
                               pool_number(snapshot_.pools[segment.pool]), Verb::kAlloc,
                               options_.played_device});
  return id;
}

void StartBuilder::give_up(RequestId id) {
  out_.instructions.push_back({0, id, 0, 0, 0, Verb::kFree, options_.played_device});
}

void StartBuilder::run() {
  if (out_.start.segments.empty()) return;
  if (options_.exact_start) {
    exact();
  } else {
    plain();
  }
}

void StartBuilder::plain() {
  std::size_t next = 0;
  for (const StateSegment& segment : out_.start.segments) {
    for (; next < out_.start.blocks.size() &&
           out_.start.blocks[next].address < segment.address + segment.bytes;
         ++next) {
      const StateBlock& block = out_.start.blocks[next];
      request(std::max<Bytes>(block.requested_bytes, 1), segment, &block);
    }
  }
}

void StartBuilder::note_first_events() {
  const EventTrace trace = snapshot_.trace(options_.device);
  AddressMap<std::size_t> allocs;
  AddressMap<std::size_t> frees;
  // One past the event, so that 0 is none yet.
  const auto note = [](AddressMap<std::size_t>& first, std::uint64_t address, std::size_t event) {
    std::size_t& noted = first[address];
    if (noted == 0) noted = event + 1;
  };
  for (std::size_t i = from_event_; i < trace.size(); ++i) {
    const SnapshotEvent event = trace[i];
    if (event.address % kLeastAlignment != 0) continue;
    if (event.action == Action::kAlloc) note(allocs, event.address, i);
    if (event.action == Action::kFreeCompleted) note(frees, event.address, i);
  }
  for (const auto& [found, list] :
       {std::pair(&allocs, &first_allocs_), std::pair(&frees, &first_frees_)}) {
    list->reserve(found->size());
    found->for_each([&list = *list](std::uint64_t address, std::size_t event) {
      list.push_back({address, event - 1});
    });
    std::ranges::sort(*list, {}, &FirstEvent::address);
  }
}

/// A block of a large pool may be up to 1 MiB larger than its request, when less than that would
/// have been left. A later request that is put right behind it while it lives tells where it ends.
Bytes StartBuilder::revealed_bytes(const StateBlock& block, Bytes bytes, Bytes gap) {
  const auto freed =
      std::ranges::lower_bound(first_frees_, block.address, {}, &FirstEvent::address);
  const bool known = freed != first_frees_.end() && freed->address == block.address;
  const std::size_t until = known ? freed->event : std::numeric_limits<std::size_t>::max();
  const std::uint64_t end = block.address + bytes;
  for (auto each = std::ranges::upper_bound(first_allocs_, end, {}, &FirstEvent::address);
       each != first_allocs_.end() && each->address <= end + kSmallMax; ++each) {
    if (each->event < until) return each->address - block.address;
  }
  if (gap > kSmallMax + kMinBlock) ++of_unknown_size_;
  return bytes;
}

/// Live blocks and the free stretches between them. A gap that no free block can be belongs to the
/// block before it.
std::vector<StartBuilder::Tile> StartBuilder::tiles_of(const StateSegment& segment,
                                                       std::size_t& next_block) {
  std::vector<Tile> tiles;
  std::uint64_t at = segment.address;
  const std::uint64_t end = segment.address + segment.bytes;
  const auto gap = [&tiles, &segment](Bytes bytes) {
    if (bytes == 0) return;
    const bool slack = !segment.small && !segment.expandable && bytes <= kSmallMax &&
                       !tiles.empty() && tiles.back().block != nullptr &&
                       tiles.back().block->bytes == 0;
    if (slack) {
      tiles.back().bytes += bytes;
    } else {
      tiles.push_back({bytes, nullptr});
    }
  };
  for (; next_block < out_.start.blocks.size() && out_.start.blocks[next_block].address < end;
       ++next_block) {
    const StateBlock& block = out_.start.blocks[next_block];
    if (block.address < at) {
      inexact_ = true;
      continue;
    }
    gap(block.address - at);
    Bytes bytes = block.bytes;
    if (bytes == 0) {
      bytes = options_.rounded(block.requested_bytes);
      if (!segment.small && !segment.expandable) {
        const bool last = next_block + 1 == out_.start.blocks.size() ||
                          out_.start.blocks[next_block + 1].address >= end;
        const std::uint64_t next = last ? end : out_.start.blocks[next_block + 1].address;
        bytes = revealed_bytes(block, bytes, next - std::min(next, block.address + bytes));
      }
    }
    bytes = std::min(bytes, end - block.address);
    tiles.push_back({bytes, &block});
    at = block.address + bytes;
  }
  gap(end - std::min(at, end));
  return tiles;
}

/// A request for a stretch that is free in the end, in as many parts as rounding and the small pool
/// make necessary.
void StartBuilder::temporary(Bytes bytes, const StateSegment& segment, bool hole) {
  while (bytes > 0) {
    if (++made_up_ > kMostMadeUp) {
      inexact_ = true;
      return;
    }
    Bytes part = segment.small ? std::min(bytes, kSmallMax) : bytes;
    if (options_.rounded(part) != part) part = std::bit_floor(part);
    (hole ? holes_ : free_blocks_).push_back(request(part, segment, nullptr));
    bytes -= part;
    if (!segment.small && bytes <= kSmallMax) {
      // So little is not split off the request before it; expandable segments do split it, and
      // nothing can ask for it.
      inexact_ = inexact_ || (segment.expandable && bytes > 0);
      return;
    }
  }
}

void StartBuilder::tile_segment(const StateSegment& segment, std::vector<Tile> tiles) {
  // In a large pool every request is above 1 MiB: a smaller free stretch is cut off the request
  // before it.
  struct Later {
    RequestId whole;
    Bytes bytes;
    const StateBlock* block;
  };
  std::vector<Later> later;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Tile& tile = tiles[i];
    if (tile.block == nullptr) {
      if (!segment.small && tile.bytes <= kSmallMax) {
        // Behind the last request it is what remains; before the first one nothing can make it.
        inexact_ = inexact_ || i + 1 < tiles.size();
        continue;
      }
      temporary(tile.bytes, segment, false);
      continue;
    }
    const Bytes wanted = std::max<Bytes>(tile.block->requested_bytes, 1);
    const bool small_gap_follows = !segment.small && i + 2 < tiles.size() &&
                                   tiles[i + 1].block == nullptr && tiles[i + 1].bytes <= kSmallMax;
    const Bytes room = tile.bytes + (small_gap_follows ? tiles[i + 1].bytes : 0);
    if (room == options_.rounded(wanted)) {
      request(wanted, segment, tile.block);
    } else if (options_.rounded(room) == room) {
      later.push_back({request(room, segment, nullptr), wanted, tile.block});
      if (small_gap_follows) ++i;
    } else {
      inexact_ = true;
      request(wanted, segment, tile.block);
    }
  }
  // From the highest address down: what one leaves free must not touch the next one that is given
  // up.
  for (auto each = later.rbegin(); each != later.rend(); ++each) {
    give_up(each->whole);
    request(each->bytes, segment, each->block);
  }
}

void StartBuilder::exact() {
  note_first_events();
  std::map<std::tuple<StreamId, std::uint16_t, bool>, std::uint64_t> tiled_until;
  std::size_t next_block = 0;
  for (const StateSegment& segment : out_.start.segments) {
    std::vector<Tile> tiles = tiles_of(segment, next_block);
    if (segment.expandable) {
      const std::tuple key(segment.stream, segment.pool, segment.small);
      const auto [until, fresh] = tiled_until.try_emplace(key, segment.address);
      if (fresh) out_.addresses.reservations.push_back(segment.address);
      // Pages that are not mapped lie between two ranges of one reservation.
      if (until->second < segment.address)
        temporary(segment.address - until->second, segment, true);
      until->second = segment.address + segment.bytes;
      out_.mapped[key] += segment.bytes;
    } else {
      out_.addresses.segments.push_back({segment.bytes, segment.address});
      if (!segment.small) {
        // A request as large as the segment makes it; smaller segments are what the setting says.
        const Bytes whole =
            segment.bytes >= kLargeMin && options_.rounded(segment.bytes) == segment.bytes
                ? segment.bytes
                : kSmallMax + 1;
        give_up(request(whole, segment, nullptr));
      } else if (segment.bytes != kSmallSegment) {
        inexact_ = true;
      }
    }
    tile_segment(segment, std::move(tiles));
  }
  if (next_block < out_.start.blocks.size()) inexact_ = true;
  if (!holes_.empty()) {
    for (const RequestId id : holes_) give_up(id);
    out_.instructions.push_back(
        {0, kNoRequest, 0, 0, 0, Verb::kEmptyCache, options_.played_device});
  }
  for (const RequestId id : free_blocks_) give_up(id);
  out_.start_blocks_of_unknown_size = of_unknown_size_;
  if (of_unknown_size_ > 0) {
    out_.notes.push_back(
        fmt::format("{} blocks alive at the start may be up to 1 MiB larger than what was asked "
                    "for: the recording does not tell",
                    of_unknown_size_));
  }
  if (inexact_)
    out_.notes.emplace_back(
        "the layout at the start of the recording could be rebuilt only in part");
}

}  // namespace tidemark
