#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/alloc/allocator.h"
#include "sim/alloc/settings.h"
#include "sim/format/snapshot.h"
#include "sim/format/snapshot_program.h"
#include "sim/timeline/event_comparison.h"

namespace tidemark {

/// What a recording amounts to, told from the recording alone; or a simulation of it.
struct RecordingFigures {
  std::size_t events = 0;
  Bytes peak_reserved_bytes = 0;
  Bytes peak_requested_bytes = 0;  ///< of blocks that are allocated or wait for another stream
  Bytes end_reserved_bytes = 0;
  std::size_t end_segments = 0;
  std::size_t end_blocks = 0;
  std::size_t ooms = 0;
  friend bool operator==(const RecordingFigures&, const RecordingFigures&) = default;
};

/// How a recording and its re-simulation from its own settings compare.
struct Agreement {
  std::uint8_t device = 0;
  AllocatorSettings settings;  ///< those used: the recording's
  bool is_run = false;         ///< what is replayed was simulated, not recorded
  bool warm = false;
  /// Of SnapshotProgram: what may explain a difference in placement.
  std::size_t start_blocks_of_unknown_size = 0;
  /// Waited for another stream; with any, frees that follow one another compare as a set.
  std::size_t late_frees = 0;
  RecordingFigures recorded;
  RecordingFigures simulated;
  EventComparison::Result events;      ///< a: recorded, b: simulated
  bool goes_on_after_oom = false;      ///< an allocation follows the last recorded oom
  std::size_t placed_differently = 0;  ///< allocations at another address
  std::size_t allocations = 0;
  std::size_t differing_blocks = 0;  ///< of the final layout: address, size, state or live request
  std::vector<std::string> block_differences;  ///< the first few, one line each
  std::vector<std::string> notes;              ///< of SnapshotProgram
  bool compares_end = true;                    ///< the range reaches the snapshot itself
  [[nodiscard]] bool complete() const {
    return !events.first && recorded == simulated && (!compares_end || differing_blocks == 0);
  }
};

struct AgreementOptions {
  std::uint8_t device = 0;
  std::size_t from_event = 0;
  std::size_t to_event = std::numeric_limits<std::size_t>::max();
  /// The release that recorded; none: what the recording's keys tell, and among those the one that
  /// agrees best.
  std::optional<Version> version;
};

/// Re-simulates a recording from its own settings, with the driver answering as it did, and
/// compares event by event, some at a time: memory is that of what is alive. Errors: InputError for
/// a recording without events, or whose settings cannot be read.
Agreement agreement_with_recording(const Snapshot& snapshot, const AgreementOptions& options);

/// The settings that a recording names. A recording without any (PyTorch 2.1, 2.2): the default, or
/// expandable segments where it shows them. Errors: as parse_settings.
AllocatorSettings recorded_settings(const Snapshot& snapshot, Version version);

/// The releases that may have written the recording, the likeliest first: later ones record more
/// keys.
std::vector<Version> plausible_versions(const Snapshot& snapshot);

/// The size of the block that a request gets when it is cut off a larger one.
Bytes rounded_request(const AllocatorSettings& settings, Bytes bytes);

/// What the device must have had: the recorded capacity where the recording ran out of memory, else
/// room for any setting.
Bytes roomy_capacity(const SnapshotProgram& program, Bytes peak_reserved_bytes);

}  // namespace tidemark
