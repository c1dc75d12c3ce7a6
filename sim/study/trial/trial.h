#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/run/overrides.h"
#include "sim/run/run_result.h"
#include "sim/run/scenario.h"
#include "sim/run/verdict.h"

namespace tidemark {

/// A scenario as it was given, so that it can be changed and read again.
struct ScenarioSource {
  std::shared_ptr<const SourceText> text;
  std::string folder;  ///< where relative paths in it start
  std::vector<Override> overrides;
  std::string variant;         ///< the named one of `variants:`; empty: the file as it stands
  EditedFilesPtr edited = {};  ///< read in place of a script's own files; null: none
  std::vector<std::string> imported = {};  ///< RunResult::own_files of a run, once one is made
};
/// Errors: IoError when the file cannot be read.
ScenarioSource open_scenario(const std::string& path, std::vector<Override> overrides,
                             std::string variant = {});
/// Errors: as parse_scenario.
Scenario read_scenario(const ScenarioSource& source);
/// The file's tree with the variant and the overrides in it, without sections that a run does not
/// read. Errors: InputError.
yaml::Node read_tree(const ScenarioSource& source);
/// `more` after the overrides that are there.
ScenarioSource overridden(const ScenarioSource& source, const std::vector<Override>& more);
/// The scenario on a device that has room for whatever is asked (kRoomyBytes).
ScenarioSource with_room(const ScenarioSource& source);
inline constexpr Bytes kRoomyBytes = Bytes{4} << 40U;

/// What a run of a scenario came to. Refused: an error in the scenario or its code, whose first
/// line `error` holds.
struct Trial : Verdict {
  std::string error;
  Nanoseconds end_ns = 0;  ///< simulated time; 0 unless asked for
  RunResult result;
  [[nodiscard]] bool fits() const { return error.empty() && Verdict::fits(); }
};
/// Runs it. `keep_events`: RunResult with all that a diagnosis needs. Errors: none; see Trial.
Trial try_scenario(const ScenarioSource& source, bool keep_events = false, bool keep_times = false);

/// What must stay free of a device of `total` bytes. Range: ppm below 1,000,000.
Bytes headroom_bytes(Bytes total, std::uint32_t ppm);

}  // namespace tidemark
