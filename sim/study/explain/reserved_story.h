#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alloc/settings.h"
#include "sim/format/snapshot.h"
#include "sim/study/explain/memory_explain.h"

namespace tidemark {

/// Why a free block of the cache does not serve a request. The first that holds counts.
enum class Unserved : std::uint8_t {
  kOtherStream,  ///< it belongs to another stream
  kOtherPool,    ///< it lies in the pool of small blocks, of large ones, or in a private pool
  kTooSmall,
  kUnsplit,  ///< large enough, but max_split_size or an oversized rest forbids it
};
inline constexpr std::array<std::string_view, 4> kUnservedNames{
    "of another stream", "of another pool", "in smaller pieces", "not to be split"};

/// A request that made reserved memory grow.
struct ReservedGrowth {
  std::size_t event = 0;  ///< its alloc in the trace
  std::size_t step = 0;
  std::string maker;  ///< stack_summary; empty: not recorded
  Bytes request_bytes = 0;
  Bytes grown_bytes = 0;
  Bytes free_bytes = 0;                                 ///< in the cache right before
  std::array<Bytes, kUnservedNames.size()> unserved{};  ///< they sum to free_bytes
  Bytes largest_bytes = 0;                              ///< of those in smaller pieces
};

/// How reserved memory came to its peak. What is told of other settings and of empty_cache() was
/// played from the recorded requests.
struct ReservedStory {
  Bytes peak_bytes = 0;
  std::size_t growths = 0;  ///< requests that made it grow, up to the peak
  /// Of these the ones beside which as much as they asked for lay free, and what they grew it by.
  std::size_t avoidable = 0;
  Bytes avoidable_bytes = 0;
  std::vector<ReservedGrowth> largest;  ///< of the avoidable: at most kMostGrowths, in order
  /// The peak over the whole recording, had empty_cache() come before each of `largest`; none:
  /// there are none.
  std::optional<Bytes> emptied_peak_bytes;
  std::size_t settings_tried = 0;
  std::string best_setting;  ///< of those tried the one with the lowest peak
  Bytes best_peak_bytes = 0;
};
inline constexpr std::size_t kMostGrowths = 5;

/// The moments at which a device's recording held most, each with what held it.
struct PeakPictures {
  MemoryPicture allocated;  ///< most bytes in blocks that have an owner
  MemoryPicture reserved;   ///< of the moments with most reserved the one with most in use
  ReservedStory story;      ///< of the second
};

/// Requires: the device recorded events. Errors: as make_snapshot_program. Cost: some twenty
/// re-simulations.
PeakPictures peaks_of(const Snapshot& snapshot, std::uint8_t device, Version version);

}  // namespace tidemark
