#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/report/text.h"
#include "sim/run/run_result.h"
#include "sim/timeline/timeline.h"

namespace tidemark {

/// The version of every JSON document and CSV table that Tidemark writes; docs/adr/0006 says when
/// it moves.
inline constexpr std::uint32_t kReportSchemaVersion = 1;

/// What a report says beside the result itself.
struct RunReportOptions {
  std::string title;  ///< what ran: the scenario's name as it was given
  /// How many of the live blocks to list at each peak; needs RunOptions::keep_live.
  std::size_t top = 0;
  /// By device: after which event to list what is live; or none.
  std::vector<std::uint32_t> at = {};
};

/// What a person wants first: does it fit; the peaks with when and what held the memory;
/// fragmentation; the curve.
std::string run_text(const RunResult& result, const RunReportOptions& options,
                     const TextStyle& style);

/// The same and the phases for programs. Schema: docs/formats/json.md, "run".
std::string run_json(const RunResult& result, const RunReportOptions& options);

/// One row a phase and device: device,phase,step,first_event,events and the bytes at its end and at
/// its peak.
std::string run_csv(const RunResult& result);

/// The columns of one device's run, categories stacked.
Timeline timeline_of(const DeviceResult& device, const Program& program);

/// One row an event. Schema: docs/formats/timeline.md.
std::string timeline_csv(const Timeline& timeline);
/// The same by columns, with phases and device.
std::string timeline_json(const Timeline& timeline);

/// One row a change of the host's memory. Schema: docs/formats/timeline.md, "Of the host".
std::string host_timeline_csv(const RunResult& result);
/// The same by columns.
std::string host_timeline_json(const RunResult& result);

/// Every event with its phase and operator: docs/formats/events.md.
std::string run_events_csv(const DeviceResult& device, const Program& program);

}  // namespace tidemark
