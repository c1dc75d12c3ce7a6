#include "sim/report/record_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/format/json_writer.h"
#include "sim/report/run_report.h"
#include "sim/timeline/diff.h"
#include "sim/timeline/event_layout.h"

namespace tidemark {

namespace {

std::vector<Event> events_of(const MeasuredRun& run, std::size_t device) {
  std::vector<Event> events;
  for (const Event& event : run.events.events) {
    if (event.device == device) events.push_back(event);
  }
  return events;
}

/// Who asked at the event that is number `event` of its device.
std::string_view op_at(const MeasuredRun& run, std::size_t device, std::size_t event) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < run.events.events.size(); ++i) {
    if (run.events.events[i].device != device) continue;
    if (index++ == event && i < run.events.ops.size())
      return run.events.labels.text(run.events.ops[i]);
  }
  return {};
}

/// The last request that was refused.
std::optional<std::size_t> last_oom(const std::vector<Event>& events) {
  for (std::size_t i = events.size(); i > 0; --i) {
    if (events[i - 1].action == Action::kOom) return i - 1;
  }
  return std::nullopt;
}

std::string curve(const std::vector<EventAmounts>& amounts, std::size_t width) {
  constexpr std::size_t kLabels = 30;
  const std::size_t columns = std::min<std::size_t>(width - kLabels, amounts.size());
  std::vector<Bytes> values(columns, 0);
  Bytes highest = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    Bytes& value = values[i * columns / amounts.size()];
    value = std::max(value, amounts[i].reserved);
    highest = std::max(highest, value);
  }
  return fmt::format("Reserved  {}  {}\n", sparkline(values, highest), human_bytes(highest));
}

std::string device_text(const MeasuredRun& run, std::size_t index, const TextStyle& style) {
  const MeasuredDevice& device = run.devices[index];
  const std::vector<Event> events = events_of(run, index);
  const EventTotals totals = event_totals(events);
  const auto left = Table::Align::kLeft;
  const auto right = Table::Align::kRight;
  Table table({left, right, right, left}, 2);
  const auto row = [&table](std::string name, Bytes bytes, std::string_view when) {
    table.add({std::move(name), human_bytes(bytes), grouped(bytes), std::string(when)});
  };
  row("allocated", device.peak_allocated_bytes.value_or(0),
      op_at(run, index, totals.peak_requested_event));
  row("reserved", device.peak_reserved_bytes, op_at(run, index, totals.peak_reserved_event));
  row("device total", device.device_total_bytes.value_or(0), "reserved + what is beside it");
  std::string out = bold("Peaks", style) + "\n" + table.text(style.width);
  if (!events.empty()) out += "\n" + curve(event_amounts(events), style.width);
  return out;
}

}  // namespace

std::string record_text(const MeasuredRun& run, const std::string& title, const std::string& files,
                        const TextStyle& style) {
  std::string out = bold(title, style) + "\n";
  out += fmt::format("{}{}; PyTorch {}\n", run.provenance.device,
                     run.provenance.pretend ? " (the pretend GPU)" : "", run.provenance.torch);
  const std::vector<Event> first = events_of(run, 0);
  const std::optional<std::size_t> refused = last_oom(first);
  if (run.ended_by_oom) {
    out += bad("DOES NOT FIT.", style) + " Out of memory at " +
           std::string(refused ? op_at(run, 0, *refused) : "an unknown place") + ".\n" +
           wrapped(run.oom_message, style.width, 2);
  } else {
    out += good("FITS.", style);
    out += refused ? " Requests were refused on the way, and the program went on.\n" : "\n";
  }
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    if (run.devices.size() > 1) out += fmt::format("\nGPU {}\n", i);
    out += "\n" + device_text(run, i, style);
  }
  out += fmt::format("{} events\n", grouped(run.events.events.size()));
  if (run.provenance.pretend) {
    out +=
        "\n" +
        dim(wrapped("Nothing was computed: every value is zero, and what branches on values took "
                    "the branch of zeros. Workspaces that cuDNN and cuSOLVER would ask for "
                    "are 0, and times mean nothing.",
                    style.width, 0),
            style);
  }
  if (!files.empty()) {
    out += fmt::format(
        "\nWritten: {0}. What else would have helped?\n"
        "  tidemark replay {0} --grid\n  tidemark explain {0}\n",
        files);
  }
  return out;
}

std::string record_json(const MeasuredRun& run, const std::string& title) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().member("schema_version", kReportSchemaVersion).member("kind", "record");
  json.member("title", title).member("device", run.provenance.device);
  json.member("pretend", run.provenance.pretend).member("torch", run.provenance.torch);
  json.member("ended_by_oom", run.ended_by_oom).member("oom_message", run.oom_message);
  json.key("devices").begin_array();
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const MeasuredDevice& device = run.devices[i];
    const std::vector<Event> events = events_of(run, i);
    const EventTotals totals = event_totals(events);
    const std::optional<std::size_t> refused = last_oom(events);
    json.begin_object().member("events", std::uint64_t{events.size()});
    json.member("peak_allocated_bytes", device.peak_allocated_bytes.value_or(0));
    json.member("peak_allocated_op", op_at(run, i, totals.peak_requested_event));
    json.member("peak_reserved_bytes", device.peak_reserved_bytes);
    json.member("peak_reserved_op", op_at(run, i, totals.peak_reserved_event));
    json.member("device_total_bytes", device.device_total_bytes.value_or(0));
    json.member("oom_op", refused ? op_at(run, i, *refused) : std::string_view()).end_object();
  }
  json.end_array().end_object();
  json.finish();
  return out;
}

}  // namespace tidemark
