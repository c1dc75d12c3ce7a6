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
#include "sim/study/agreement.h"

namespace tidemark {

/// What a block seems to be for, told from the stack that made it: snapshots do not say.
enum class Purpose : std::uint8_t {
  kUnknown,
  kForward,
  kBackward,
  kOptimizer,
  kParameters,
  kInputs
};
inline constexpr std::array<std::string_view, 6> kPurposeNames{
    "unknown", "forward", "backward", "optimizer", "parameters", "inputs"};
/// The rule in one line a purpose, in the order in which they are tried.
std::string_view purpose_rule();
Purpose purpose_of(const Snapshot& snapshot, StackId stack, TextId user_metadata);

/// A live block with what the recording tells of it.
struct HeldBlock {
  std::uint64_t address = 0;
  Bytes bytes = 0;
  Bytes requested_bytes = 0;
  std::string maker;  ///< stack_summary; empty: not recorded
  Purpose purpose = Purpose::kUnknown;
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

/// What one call site holds.
struct CallSite {
  std::string maker;
  Purpose purpose = Purpose::kUnknown;
  Bytes bytes = 0;
  std::size_t blocks = 0;
};

/// Why a request was refused. With the figures that prove it in OomAnswer.
enum class OomClass : std::uint8_t {
  kTooMuchLive,    ///< live bytes and the request exceed the device: no allocator setting helps
  kFragmentation,  ///< enough is free inside the cache, but in no one piece that could serve or be
                   ///< given back
  kRounding,       ///< the blocks' rounding and unsplit rests take what was missing
};
struct OomAnswer {
  std::size_t event = 0;
  OomClass why = OomClass::kTooMuchLive;
  Bytes rounded_bytes = 0;   ///< of the request
  Bytes capacity_bytes = 0;  ///< what PyTorch could get in all
  Bytes live_bytes = 0;      ///< requested by the owners of live blocks
  Bytes cached_free_bytes = 0;
  Bytes largest_free_bytes = 0;
  std::string helps;  ///< the first setting of the grid that avoids every refusal; empty: none does
  bool settings_help = false;
  Bytes more_bytes =
      0;  ///< the least further device memory (in 2 MiB) that avoids it under the same setting
};

/// One device at one moment of a recording.
struct MemoryPicture {
  std::size_t event = 0;  ///< right after it
  std::size_t step = 0;
  std::string setting;
  Bytes reserved_bytes = 0;
  Bytes active_bytes = 0;  ///< blocks
  Bytes requested_bytes = 0;
  Bytes largest_free_bytes = 0;  ///< the largest request that the cache serves without the driver
  std::vector<SegmentInfo> segments;
  std::vector<HeldBlock> live;  ///< by address
  std::array<Bytes, kPurposeNames.size()> by_purpose{};
  std::vector<CallSite> sites;        ///< most bytes first
  std::vector<PinnedSegment> pinned;  ///< most free bytes first; at least half free
  std::optional<OomAnswer> oom;       ///< when the moment is a refusal
};

/// Which moment: an event's number, or "peak" (of reserved bytes) or "oom" (the first); or
/// recording_moment's other words. Errors: InputError when there is no such moment.
std::size_t picture_moment(const Snapshot& snapshot, std::uint8_t device, std::string_view at);

/// Rebuilds the device by re-simulation up to and with `event`. Errors: as
/// agreement_with_recording.
MemoryPicture picture_at(const Snapshot& snapshot, std::uint8_t device, std::size_t event,
                         Version version);

/// The amounts right after each event of the re-simulation from the recording's own settings.
std::vector<MemorySample> recorded_amounts(const Snapshot& snapshot, std::uint8_t device,
                                           Version version);

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
  std::size_t steps = 0;
  std::vector<Site> growing;   ///< largest growth first
  std::vector<Site> churners;  ///< most bytes asked for first
  std::array<std::uint64_t, 7>
      lifetimes{};  ///< requests that lived at most 1, 10, 100, ... 10^5 events, and longer
  std::uint64_t never_freed = 0;
  std::size_t distinct_sizes = 0;          ///< rounded to 512
  std::size_t distinct_sizes_rounded = 0;  ///< under roundup_power2_divisions:8
};
ChurnReport churn_of(const Snapshot& snapshot, std::uint8_t device);

}  // namespace tidemark
