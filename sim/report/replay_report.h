#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/format/request_trace.h"
#include "sim/report/text.h"
#include "sim/study/replay/agreement.h"
#include "sim/study/replay/recording_range.h"
#include "sim/study/replay/replay.h"

namespace tidemark {

/// What a report on replays says beside the results.
struct ReplayReport {
  std::string trace;                       ///< the file's name as it was given
  const RequestTrace* requests = nullptr;  ///< Requires: outlives the call
  const ReplayOptions* options = nullptr;  ///< the same; its device: the first row's
  std::span<const ReplayResult> results;   ///< one a row (a device and a setting), at least one
  std::span<const ReplaySpeed> speeds;     ///< one a row, or empty
  std::span<const DeviceSpec> devices;     ///< one a row; empty: all rows have options->device
  bool limited = true;                     ///< false: the device is made to hold everything
  const Agreement* recording = nullptr;    ///< of a memory snapshot; nullptr: a request trace
  std::span<const std::string> notes;      ///< what to bear in mind with the rows
  std::vector<RecordedDevice> gpus;        ///< of a recording: all of them
};

/// One row: its figures one a line. Several: a table.
std::string replay_text(const ReplayReport& report, const TextStyle& style);
/// Schema: docs/formats/json.md, "replay".
std::string replay_json(const ReplayReport& report);
/// One row a setting.
std::string replay_csv(const ReplayReport& report);

/// The event trace of one replay (docs/formats/events.md) with a column `phase`: the mark that each
/// event came after.
std::string replay_events_csv(const RequestTrace& requests, const ReplayResult& result);

/// The amounts right after each event of one replay, one row an event: docs/formats/timeline.md,
/// "replay". Requires: the replay kept its samples.
std::string replay_timeline_csv(const RequestTrace& requests, const ReplayResult& result);

/// The text of the mark that each event came after, empty before the first.
std::vector<std::string_view> event_marks(const RequestTrace& requests,
                                          std::span<const Event> events);

}  // namespace tidemark
