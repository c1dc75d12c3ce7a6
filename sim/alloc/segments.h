#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/alloc/stats.h"
#include "sim/program/instruction.h"

namespace tidemark {

enum class BlockState : std::uint8_t { kActiveAllocated, kActivePendingFree, kInactive };
constexpr std::string_view block_state_name(BlockState state) {
  return state == BlockState::kActiveAllocated     ? "active_allocated"
         : state == BlockState::kActivePendingFree ? "active_pending_free"
                                                   : "inactive";
}

/// A block as a snapshot shows it. An inactive block's requested size is a left-over of its last
/// life (docs/rules/allocator.md#2.2).
struct BlockInfo {
  std::uint64_t address = 0;
  Bytes bytes = 0;
  Bytes requested_bytes = 0;
  RequestId id = kNoRequest;  ///< whose it is while active
  BlockState state = BlockState::kInactive;
  friend bool operator==(const BlockInfo&, const BlockInfo&) = default;
};

/// One cudaMalloc, or one maximal mapped range of an expandable reservation. Source:
/// docs/rules/snapshots.md#3.
struct SegmentInfo {
  std::uint64_t address = 0;
  Bytes total_bytes = 0;
  Bytes allocated_bytes = 0;
  Bytes active_bytes = 0;
  Bytes requested_bytes = 0;  ///< of active blocks
  PoolKey pool;
  StreamId stream = 0;
  PoolKind kind = PoolKind::kSmall;
  bool expandable = false;
  std::uint8_t device = 0;
  std::vector<BlockInfo> blocks;  ///< ascending, tile the segment
  friend bool operator==(const SegmentInfo&, const SegmentInfo&) = default;
};

}  // namespace tidemark
