#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/alloc/block.h"
#include "sim/alloc/free_set.h"
#include "sim/alloc/gauge.h"
#include "sim/alloc/stats.h"

namespace tidemark {

struct BlockPool;
struct PrivatePool;

/// A rest of at least `from` bytes is split off, from requests smaller than `below`
/// (docs/rules/allocator.md#8.1).
struct SplitRule {
  Bytes from = 0;
  Bytes below = 0;
};

/// One pool's blocks of one stream.
struct Lane {
  FreeSet free;
  SplitRule split;
  Tally* own = nullptr;  ///< of its kind
  BlockPool* pool = nullptr;
  StreamId stream = 0;
  PoolKind kind = PoolKind::kSmall;
};

/// The small or the large pool of the default pools or of a private one.
struct BlockPool {
  PoolKind kind = PoolKind::kSmall;
  PrivatePool* owner = nullptr;  ///< nullptr: a default pool
  std::uint32_t search_count = 0;
  static constexpr std::size_t kNear = 64;
  std::array<Lane*, kNear> near{};  ///< of the first streams, by stream; nullptr: none yet
  std::vector<Lane*> lanes;         ///< all, ascending by stream
  /// Of expandable ranges, by address.
  std::map<std::pair<StreamId, std::uint64_t>, BlockIndex> unmapped;
};

inline Lane* find_lane(const BlockPool& pool, StreamId stream) {
  if (stream < BlockPool::kNear) return pool.near[stream];
  for (Lane* const lane : pool.lanes) {
    if (lane->stream == stream) return lane;
  }
  return nullptr;
}

/// A pool of a capture or of a MemPool object. Source: docs/rules/allocator.md#13.
struct PrivatePool {
  PoolKey key;
  int use_count = 1;
  std::int64_t segment_count = 0;
  bool no_split = false;
  bool reserved_ever = false;
  StatArray reserved_bytes;
  BlockPool small;
  BlockPool large;
};

/// Of a Routing: whichever.
inline constexpr StreamId kAnyStream = 0xffff;

/// Requests on `stream`, which captures, go to `pool`.
struct Routing {
  PrivatePool* pool = nullptr;
  StreamId stream = 0;  ///< kAnyStream: all requests of the thread that asked for it
};

}  // namespace tidemark
