#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/format/request_trace.h"
#include "sim/format/whole_file.h"
#include "sim/report/text.h"
#include "sim/study/replay/agreement.h"
#include "sim/study/replay/recording_range.h"
#include "sim/study/replay/replay.h"

namespace tidemark {

/// What a report on replays says beside the results.
struct ReplayReport {
  std::string trace;                       ///< the file's name as it was given
  Requests requests;                       ///< Requires: outlives the call
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

/// The text of the mark that comes before each of some events, empty before the first.
class EventMarks {
 public:
  explicit EventMarks(const Requests& requests)
      : labels_(requests.labels), reader_(requests.instructions) {}
  /// Requires: called for the events in their order.
  std::string_view before(const Event& event);

 private:
  const Labels* labels_;
  InstructionReader reader_;
  std::span<const Instruction> some_;  ///< read, and not looked at
  std::size_t seen_ = 0;
  std::string_view mark_;
};
/// The same of all events.
std::vector<std::string_view> event_marks(const Requests& requests, std::span<const Event> events);

/// Writes the files of one replay, row by row while it is played: ReplayOptions::follow. Errors:
/// IoError.
class ReplayFiles {
 public:
  /// `events`: the event trace (docs/formats/events.md) with a column `phase`, the mark that each
  /// event came after. `timeline`: the amounts right after each event (docs/formats/timeline.md,
  /// "replay"), which needs the replay's samples. Empty: not wanted.
  ReplayFiles(const Requests& requests, const std::string& events, const std::string& timeline);
  void take(const ReplayedEvents& some);
  /// Puts the files in their places.
  void finish();

 private:
  void write_timeline(const ReplayedEvents& some);
  EventMarks marks_;
  std::optional<FileWriter> events_;
  std::optional<FileWriter> timeline_;
  std::vector<std::string_view> phases_;
  std::string text_;
  bool has_events_ = false;
};

}  // namespace tidemark
