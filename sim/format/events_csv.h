#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/program/event.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// An event trace as a CSV file holds it: the six columns of docs/formats/events.md, and what else
/// the file tells of them.
struct EventTable {
  std::vector<Event> events;    ///< `instruction` is 0: files do not have it
  Labels labels;                ///< the texts of phases and ops
  std::vector<LabelId> phases;  ///< one an event; empty when the file has no such column
  std::vector<LabelId> ops;
};

/// Reads an event trace. Columns are found by the header's names, in any order; those not known are
/// skipped. Required: action, address, bytes, stream, id. Optional: index (must count from 0),
/// phase, op, device. `name` is for messages. Cost: linear, about one pass over `text`. Errors:
/// InputError with up to twenty problems, each with its line and column.
EventTable read_events_csv(std::string_view text, std::string_view name);

/// The same file from events. Phases and ops: one text an event, or empty for no such column. A
/// column `device` is added when an event lies on a device other than 0.
struct EventColumns {
  std::span<const Event> events;
  std::vector<std::string_view> phases;
  std::vector<std::string_view> ops;
};

/// Appends the whole file to `out`. Requires: phases and ops are empty or as many as the events.
/// Cost: linear.
void write_events_csv(const EventColumns& columns, std::string& out);

/// The same in parts, of events on device 0: the header, then rows with a column of phases.
void write_events_head(bool has_phases, std::string& out);
/// `first`: the index of the first of `events`. Requires: as many phases.
void write_events_rows(std::span<const Event> events, std::span<const std::string_view> phases,
                       std::size_t first, std::string& out);

/// `text` as one CSV field: in quotes, quotes doubled, where it holds a comma, a quote or a line
/// break.
void append_csv_field(std::string_view text, std::string& out);
/// `number` in decimal.
void append_number(std::uint64_t number, std::string& out);

}  // namespace tidemark
