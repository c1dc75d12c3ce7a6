#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/format/snapshot.h"

namespace tidemark {

/// A block that was alive at some moment of a recording.
struct StateBlock {
  std::uint64_t address = 0;
  Bytes requested_bytes = 0;
  /// Of the block; 0: freed before the snapshot, so that only its request is known.
  Bytes bytes = 0;
  StackId stack = 0;     ///< who made it; 0 where the recording does not say
  bool pending = false;  ///< freed, waiting for another stream
};

/// Memory held from the driver at some moment: a cudaMalloc, or a mapped range of an expandable
/// segment.
struct StateSegment {
  std::uint64_t address = 0;
  Bytes bytes = 0;
  StreamId stream = 0;
  std::uint16_t pool = 0;  ///< index into Snapshot::pools
  bool small = false;
  bool expandable = false;
  friend bool operator==(const StateSegment&, const StateSegment&) = default;
};

/// One device between two events of its trace.
struct SnapshotState {
  std::vector<StateSegment> segments;  ///< ascending
  std::vector<StateBlock> blocks;      ///< ascending
  [[nodiscard]] Bytes reserved_bytes() const;
};

/// Walks a device's trace backwards from the segments that the snapshot ends with: the only full
/// state that a recording whose beginning was overwritten, or that began late, holds. Source:
/// docs/rules/snapshots.md#2, #5.
class SnapshotRewind {
 public:
  /// Stands after the last event. Requires: the snapshot outlives this.
  SnapshotRewind(const Snapshot& snapshot, std::uint8_t device);

  /// The state just before event `event` of the trace (0: where the recording begins; its size: the
  /// snapshot itself). Cost: linear in the trace.
  [[nodiscard]] SnapshotState before(std::size_t event);

  /// Events that contradict the segments or each other (an alloc of a block that is not there), as
  /// far as before() walked: recordings with skipped actions, or taken while another thread
  /// allocated.
  [[nodiscard]] std::size_t contradictions() const { return contradictions_; }
  [[nodiscard]] const std::string& first_contradiction() const { return first_contradiction_; }

 private:
  void contradict(std::size_t event, std::string_view what);

  const Snapshot& snapshot_;
  std::uint8_t device_;
  std::size_t contradictions_ = 0;
  std::string first_contradiction_;
};

}  // namespace tidemark
