#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alloc/allocator.h"
#include "sim/alloc/segments.h"
#include "sim/format/snapshot.h"
#include "sim/study/explain/oom_answer.h"
#include "sim/study/replay/agreement.h"
#include "sim/study/replay/purpose.h"

namespace tidemark {

/// A live block with what the recording tells of it.
struct HeldBlock {
  std::uint64_t address = 0;
  Bytes bytes = 0;
  Bytes requested_bytes = 0;
  std::string maker;  ///< stack_summary; empty: not recorded
  Purpose purpose = Purpose::kUnknown;
  RequestId id = kNoRequest;         ///< of the program that rebuilds the moment
  std::optional<std::size_t> event;  ///< its alloc in the trace; none: alive before the recording
  std::size_t step = 0;              ///< in which it was made
};

/// A segment that is largely free and cannot be given back.
struct PinnedSegment {
  std::uint64_t address = 0;
  Bytes total_bytes = 0;
  Bytes free_bytes = 0;
  std::vector<HeldBlock> holders;  ///< smallest first
};

/// One device at one moment of a recording.
struct MemoryPicture {
  std::size_t event = 0;  ///< right after it
  std::size_t step = 0;
  std::string maker;  ///< of the request that the event belongs to; empty: not recorded
  std::string setting;
  Bytes reserved_bytes = 0;
  Bytes active_bytes = 0;  ///< blocks
  Bytes requested_bytes = 0;
  Bytes largest_free_bytes = 0;  ///< the largest free block of any stream and pool
  StreamId stream = 0;           ///< of the event
  /// The largest request on `stream` that free blocks serve, without the driver.
  Bytes largest_cached_bytes = 0;
  std::optional<Bytes> capacity_bytes;  ///< what PyTorch could get of the device, where it is known
  /// With capacity_bytes: the largest request on `stream` that would be served.
  Bytes largest_fitting_bytes = 0;
  std::vector<SegmentInfo> segments;
  std::vector<HeldBlock> live;  ///< by address
  std::array<Bytes, kPurposeNames.size()> by_purpose{};
  std::vector<CallSite> sites;        ///< most bytes first
  std::vector<PinnedSegment> pinned;  ///< most free bytes first; at least half free
  std::optional<OomAnswer> oom;       ///< when the moment is a refusal
};

/// Which moment: an event's number, or "peak" (of reserved bytes), "allocated" (most bytes that
/// owners hold) or "oom" (the first); or recording_moment's other words. Errors: InputError when
/// there is no such moment.
std::size_t picture_moment(const Snapshot& snapshot, std::uint8_t device, std::string_view at);

/// Rebuilds the device by re-simulation up to and with `event`. `capacity`: what PyTorch can get of
/// the device; an out-of-memory error tells it itself. Errors: as agreement_with_recording.
MemoryPicture picture_at(const Snapshot& snapshot, std::uint8_t device, std::size_t event,
                         Version version, std::optional<Bytes> capacity = std::nullopt);

/// The same of a moment by its name (picture_moment); empty: the first refusal where there is one,
/// else the peak.
MemoryPicture picture_named(const Snapshot& snapshot, std::uint8_t device, std::string_view at,
                            Version version, std::optional<Bytes> capacity = std::nullopt);
/// The same under the release that agrees best with the recording.
MemoryPicture picture_named(const Snapshot& snapshot, std::uint8_t device, std::string_view at);

/// What a long recording does over its steps.
struct ChurnReport {
  struct Site {
    std::string maker;
    std::uint64_t allocs = 0;
    Bytes bytes = 0;  ///< asked for in all
    std::vector<std::int64_t> live_at_step_end;
    /// What the last step's end holds more than the first full step's; > 0 in every step between: a
    /// leak's mark.
    std::int64_t growth = 0;
    bool grows_every_step = false;
  };
  /// Block sizes that rounding would make one.
  struct Merged {
    Bytes rounded = 0;
    Bytes smallest = 0;
    Bytes largest = 0;
    std::size_t sizes = 0;
    std::uint64_t requests = 0;
  };
  std::size_t steps = 0;       ///< whole ones of recording_steps()
  std::string_view told_by;    ///< of recording_steps()
  std::vector<Site> growing;   ///< largest growth first
  std::vector<Site> churners;  ///< most bytes asked for first
  std::array<std::uint64_t, 7>
      lifetimes{};  ///< requests that lived at most 1, 10, 100, ... 10^5 events, and longer
  std::uint64_t never_freed = 0;
  std::size_t distinct_sizes = 0;          ///< rounded to 512
  std::size_t distinct_sizes_rounded = 0;  ///< under roundup_power2_divisions:8
  std::vector<Merged> merged;              ///< under the same, most requests first
};
ChurnReport churn_of(const Snapshot& snapshot, std::uint8_t device);

}  // namespace tidemark
