#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/program/event.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// A training run of the real PyTorch, as one of the folders here holds it.
struct RecordedRun {
  struct Phase {
    std::string name;
    std::int64_t first_event = 0;
    std::int64_t events = 0;
    std::map<std::string, std::int64_t> bytes;  ///< "allocated_bytes.peak" and the like
  };
  struct Oom {
    std::string phase;
    std::string message;
    Bytes requested = 0;
    Bytes device_free = 0;
  };
  std::vector<Event> events;
  std::vector<std::pair<std::string, std::int64_t>> statistics;
  std::vector<Phase> phases;
  std::vector<Oom> ooms;
  /// Autocast dropped its weight cache: the order of those frees is PyTorch's chance.
  bool frees_in_no_order = false;
};

/// Errors: IoError, InputError.
RecordedRun read_recorded_run(const std::string& folder);

/// How a simulated run compares with a recorded one. All counts are 0 when it is exact.
struct RunComparison {
  std::size_t events = 0;  ///< of the recorded run
  std::size_t differing_events = 0;
  std::size_t differing_statistics = 0;
  std::size_t differing_phases = 0;
  std::size_t differing_ooms = 0;
  std::string first;  ///< the first difference in words; empty: none
  [[nodiscard]] bool exact() const {
    return differing_events + differing_statistics + differing_phases + differing_ooms == 0;
  }
};
RunComparison compare(const RecordedRun& recorded, const RunResult& result);

}  // namespace tidemark
