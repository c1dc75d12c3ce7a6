#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/alloc/allocator.h"
#include "sim/alloc/device_memory.h"
#include "sim/alloc/event_clock.h"
#include "sim/alloc/settings.h"
#include "sim/format/allocator_json.h"
#include "sim/format/request_trace.h"

namespace tidemark::golden {

/// A folder of an allocator golden: how it was made, the requests, and what the real allocator
/// answered.
struct AllocatorCase {
  std::string name;
  AllocatorSettings settings;
  DeviceMemory::Config device;
  std::optional<double> memory_fraction;
  TraceClock::Policy policy = TraceClock::Policy::kSync;
  std::uint64_t lag = 0;
  TraceClock clock;  ///< of that policy
  RequestTrace trace;
  std::vector<Event> events;  ///< none for a backend without history
  FlatStatistics statistics;
  std::vector<SegmentInfo> segments;
  std::string segments_text;
};

/// Errors: those of the readers.
AllocatorCase read_case(const std::string& folder);

/// The folders below `folder` that hold a case, sorted by name.
std::vector<std::string> case_folders(const std::string& folder);

/// The folder that holds the full set of goldens, if this machine has it: $TIDEMARK_SHARED, or
/// "shared" beside the sources.
std::optional<std::string> shared_goldens();

/// What an allocator of ours did with the case's requests.
struct Played {
  History history;
  FlatStatistics statistics;
  std::vector<SegmentInfo> segments;
};
Played play(const AllocatorCase& golden);

/// Differences, 0 when all is equal.
struct Differences {
  std::size_t events = 0;
  std::size_t statistics = 0;
  std::size_t segments = 0;
  std::string first;  ///< the first one, in words
  [[nodiscard]] bool none() const { return events + statistics + segments == 0; }
};
Differences compare(const AllocatorCase& golden, const Played& played);

}  // namespace tidemark::golden
