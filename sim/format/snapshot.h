#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/base/release.h"
#include "sim/format/pickle.h"
#include "sim/format/snapshot_events.h"
#include "sim/program/event.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// One line of a call stack.
struct SnapshotFrame {
  TextId name = 0;
  TextId filename = 0;
  std::int32_t line = 0;
  friend bool operator==(const SnapshotFrame&, const SnapshotFrame&) = default;
};

enum class SnapshotBlockState : std::uint8_t { kActiveAllocated, kActivePendingFree, kInactive };

struct SnapshotBlock {
  std::uint64_t address = 0;
  Bytes bytes = 0;
  Bytes requested_bytes = 0;
  StackId stack = 0;
  SnapshotBlockState state = SnapshotBlockState::kInactive;
};

/// One cudaMalloc, or one mapped range of an expandable segment, as it was when the snapshot was
/// taken.
struct SnapshotSegment {
  std::uint64_t address = 0;
  Bytes total_bytes = 0;
  /// Its blocks are Snapshot::blocks[first_block ...], ascending, and tile it.
  std::size_t first_block = 0;
  std::size_t block_count = 0;
  StackId stack = 0;
  std::uint16_t pool = 0;
  StreamId stream = 0;
  std::uint8_t device = 0;
  bool small = false;
  bool expandable = false;
};

/// The range of Snapshot::events that one device recorded, oldest first.
struct DeviceTrace {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// torch.autograd.profiler's record_function and the like: a stretch of the program with a name.
struct SnapshotAnnotation {
  std::int64_t time_us = 0;
  TextId name = 0;
  std::uint8_t device = 0;
  bool end = false;
};

/// What the allocator understood of its settings. Older versions record less.
struct SnapshotSettings {
  bool recorded = false;
  std::string text;                   ///< PYTORCH_CUDA_ALLOC_CONF
  std::int64_t max_split_bytes = -1;  ///< -1: unlimited
  double garbage_collection_threshold = 0;
  bool expandable_segments = false;
  std::array<std::uint32_t, 16> roundup_power2_divisions{};
};

/// A private pool as PyTorch prints it.
struct SnapshotPool {
  std::uint64_t capture = 0;
  std::uint64_t user = 0;
  friend bool operator==(const SnapshotPool&, const SnapshotPool&) = default;
};

/// Keys of trace entries that tell releases apart. Source: docs/rules/snapshots.md#3,
/// docs/rules/allocator.md#16.
struct SnapshotKeys {
  bool compile_context = false;
  bool user_metadata = false;  ///< from 2.11 on
  bool pool_id = false;        ///< from 2.12 on
  bool host = false;           ///< the snapshot has 'host_segments': after 2.12, by 2.15
};

/// A PyTorch memory snapshot, whole: torch.cuda.memory._snapshot() of PyTorch 2.1 to 2.15.
struct Snapshot {
  std::string name;  ///< of the input, for messages
  Texts texts;
  std::vector<SnapshotFrame> frames;
  SnapshotEvents events;
  std::vector<SnapshotBlock> blocks;
  std::vector<SnapshotSegment> segments;  ///< by device, then ascending by address
  std::vector<DeviceTrace> traces;        ///< by device
  std::vector<SnapshotAnnotation> annotations;
  /// Handle of each StreamId, ascending; [0] is 0, the default stream.
  std::vector<std::uint64_t> streams;
  std::vector<SnapshotPool> pools;  ///< [0]: no private pool
  SnapshotSettings settings;
  SnapshotKeys keys;
  std::optional<Version> release;  ///< whose allocator it was; a recording does not say, a run does
  std::uint64_t unknown_actions = 0;  ///< trace entries of kinds that are not known, left out

  /// Frames of a stack, the innermost first.
  [[nodiscard]] std::span<const std::uint32_t> stack(StackId id) const {
    const StackRange& range = stacks[id];
    return std::span(stack_frames).subspan(range.first, range.count);
  }
  /// What the view looks at is the snapshot's.
  [[nodiscard]] EventTrace trace(std::size_t device) const {
    if (device >= traces.size()) return {};
    return {events, traces[device].first, traces[device].count};
  }
  [[nodiscard]] std::span<const SnapshotBlock> blocks_of(const SnapshotSegment& segment) const {
    return std::span(blocks).subspan(segment.first_block, segment.block_count);
  }

  struct StackRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  std::vector<StackRange> stacks;           ///< [0] is empty; equal stacks have one number
  std::vector<std::uint32_t> stack_frames;  ///< indexes into frames
};

/// Reads a snapshot, plain or gzip. `name` is for messages. Nothing in the file is executed.
///
/// Memory: that of SnapshotEvents, PickleMemo and each different stack once; never more than
/// limits.memory_bytes and the growth of one megabyte of input. Errors: IoError; InputError, one
/// message each, for whatever is no snapshot, is truncated, damaged or hostile; InputError with
/// every problem for segments whose blocks contradict them. Cost: linear in the bytes.
Snapshot read_snapshot(ByteSource& source, const std::string& name,
                       const ReadProgress& progress = {}, PickleLimits limits = {});
/// The same, from a file.
Snapshot read_snapshot_file(const std::string& path, const ReadProgress& progress = {});

}  // namespace tidemark
