#include "sim/report/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/format/events_csv.h"
#include "sim/format/json_writer.h"
#include "sim/report/agreement_report.h"
#include "sim/report/duration.h"
#include "sim/report/run_report.h"
#include "sim/report/time_text.h"

namespace tidemark {

namespace {

using Align = Table::Align;

struct Counts {
  std::size_t requests = 0;
  std::size_t frees = 0;
};

Counts count(const Requests& requests) {
  Counts counts;
  InstructionReader(requests.instructions).for_each([&counts](const Instruction& instruction) {
    if (instruction.verb == Verb::kAlloc) ++counts.requests;
    if (instruction.verb == Verb::kFree) ++counts.frees;
  });
  return counts;
}

/// "41.2 M/s"
std::string rate_text(std::uint64_t per_second) {
  const std::uint64_t tenths = (per_second + 50'000) / 100'000;
  return fmt::format("{}.{} M/s", tenths / 10, tenths % 10);
}

std::string setting_text(const AllocatorSettings& settings) {
  return settings.text.empty() ? "(default)" : settings.text;
}

std::string device_text(const ReplayOptions& options) {
  std::string out = options.device.name.empty() ? "a device" : options.device.name;
  out += fmt::format(" of {}, context {}", human_bytes(options.device.total_bytes),
                     human_bytes(options.device.context_bytes));
  if (options.memory_fraction) out += fmt::format(", memory fraction {}", *options.memory_fraction);
  return out;
}

const DeviceSpec& device_of_row(const ReplayReport& report, std::size_t row) {
  return report.devices.empty() ? report.options->device : report.devices[row];
}

bool has_several_devices(const ReplayReport& report) {
  return std::ranges::any_of(report.devices, [&report](const DeviceSpec& device) {
    return device.id != report.devices.front().id ||
           device.total_bytes != report.devices.front().total_bytes;
  });
}

/// What the driver still has at the peak.
Bytes spare_bytes(const ReplayReport& report, std::size_t row) {
  const DeviceSpec& device = device_of_row(report, row);
  const Bytes room = device.total_bytes - device.context_bytes - report.options->other_bytes;
  return room - std::min(room, report.results[row].summary.peak_reserved);
}

std::string header(const ReplayReport& report, const TextStyle& style) {
  const Counts counts = count(report.requests);
  const Version version = report.results.front().settings.version;
  return fmt::format(
      "{}\n{}; PyTorch {}.{}; event policy {}\n{} requests, {} frees\n\n",
      bold(report.trace, style),
      has_several_devices(report) ? std::string("several devices") : device_text(*report.options),
      version.major, version.minor, event_policy_name(report.options->policy),
      grouped(counts.requests), grouped(counts.frees));
}

std::string single_text(const ReplayReport& report, const TextStyle& style) {
  const ReplayResult& result = report.results.front();
  const ReplaySummary& summary = result.summary;
  std::string out = fmt::format("Setting: {}\n\n", setting_text(result.settings));
  Table figures({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  figures.add({"", "", "bytes", ""});
  const auto amount = [&](std::string name, Bytes bytes, std::string remark) {
    figures.add({std::move(name), human_bytes(bytes), grouped(bytes), std::move(remark)});
  };
  amount("peak reserved", summary.peak_reserved, "held from the driver");
  amount("peak allocated", summary.peak_allocated, "blocks that owners hold");
  amount("peak live", summary.peak_live, "what they asked for: the least any allocator needs");
  out += figures.text(style.width);
  out += fmt::format(
      "\nFragmentation {} at the peak of reserved, {} in the mean (reserved, less live bytes)\n",
      percent(summary.fragmentation_at_peak), percent(summary.mean_fragmentation));
  out += fmt::format("Segments      {} at most\n", grouped(summary.most_segments));
  out += fmt::format("Device calls  {}, {} of simulated time\n", grouped(summary.device_calls),
                     duration_text(summary.device_call_ns));
  out += fmt::format("Retries       {}\n", summary.retries);
  const std::string ooms = summary.ooms == 0 ? "0" : bad(std::to_string(summary.ooms), style);
  out += fmt::format("Out of memory {}\n", ooms);
  if (result.first_oom) out += fmt::format("  first: {}\n", oom_message(*result.first_oom));
  if (!report.speeds.empty()) {
    const ReplaySpeed& speed = report.speeds.front();
    out += fmt::format("\nAllocator alone, {} runs of {} requests and frees: median {}, best {}\n",
                       speed.run_ns.size(), grouped(speed.events),
                       rate_text(speed.median_events_per_s), rate_text(speed.best_events_per_s));
  }
  return out;
}

std::string table_text(const ReplayReport& report, const TextStyle& style) {
  std::string out = "Settings\n";
  const bool several = has_several_devices(report);
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    const DeviceSpec& device = device_of_row(report, i);
    const std::string name = device.name.empty() ? std::string("a device") : device.name;
    out += fmt::format("{:>3}  {}{}\n", i + 1, setting_text(report.results[i].settings),
                       several ? fmt::format("  on {} of {}", name, human_bytes(device.total_bytes))
                               : std::string());
  }
  out += "\n";
  const bool timed = !report.speeds.empty();
  constexpr std::size_t kMostColumns = 13;
  Table table(std::vector<Align>(kMostColumns, Align::kRight));
  std::vector<std::string> top{"",      "peak", "peak", "fragmentation", "", "most", "device",
                               "their", "",     ""};
  std::vector<std::string> names{"#",        "reserved", "allocated", "at peak", "mean",
                                 "segments", "calls",    "time",      "retries", "OOMs"};
  if (report.limited) {
    top.emplace_back();
    names.emplace_back("spare");
  }
  if (timed) {
    top.insert(top.end(), {"median", "best"});
    names.insert(names.end(), {"events", "events"});
  }
  table.add(std::move(top));
  table.add(std::move(names));
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    const ReplaySummary& summary = report.results[i].summary;
    std::vector<std::string> row{std::to_string(i + 1),
                                 human_bytes(summary.peak_reserved),
                                 human_bytes(summary.peak_allocated),
                                 percent(summary.fragmentation_at_peak),
                                 percent(summary.mean_fragmentation),
                                 grouped(summary.most_segments),
                                 grouped(summary.device_calls),
                                 duration_text(summary.device_call_ns),
                                 std::to_string(summary.retries),
                                 std::to_string(summary.ooms)};
    if (report.limited) row.push_back(human_bytes(spare_bytes(report, i)));
    if (timed) {
      row.push_back(rate_text(report.speeds[i].median_events_per_s));
      row.push_back(rate_text(report.speeds[i].best_events_per_s));
    }
    table.add(std::move(row));
  }
  out += table.text(style.width);
  out += fmt::format(
      "\nFragmentation: the share of what is reserved that live bytes do not need.\n{}\n",
      kDriverTimes);
  return out;
}

/// Those with refused requests first, then by what they reserved.
std::vector<RecordedDevice> worst_first(std::vector<RecordedDevice> gpus) {
  std::ranges::stable_sort(gpus, std::greater<>{}, [](const RecordedDevice& one) {
    return std::pair(one.ooms > 0, one.ooms > 0 ? Bytes{0} : one.peak_reserved_bytes);
  });
  return gpus;
}

/// Every GPU of a recording of several, as it was recorded.
std::string gpus_text(const ReplayReport& report) {
  if (report.recording == nullptr || report.gpus.size() < 2) return {};
  std::string out;
  for (const RecordedDevice& each : worst_first(report.gpus)) {
    out += fmt::format("GPU {}: peak reserved {}, {} refused{}\n", each.device,
                       human_bytes(each.peak_reserved_bytes), each.ooms,
                       each.device == report.recording->device ? "; replayed here" : "");
  }
  return out + "\n";
}

}  // namespace

std::string replay_text(const ReplayReport& report, const TextStyle& style) {
  std::string out = header(report, style);
  out += gpus_text(report);
  if (report.recording != nullptr) out += agreement_text(*report.recording, style) + "\n";
  out += report.results.size() == 1 ? single_text(report, style) : table_text(report, style);
  if (report.recording != nullptr && report.results.size() > 1) {
    const auto own =
        std::ranges::find(report.results, report.recording->settings.text,
                          [](const ReplayResult& result) { return result.settings.text; });
    out += fmt::format("The recording's own setting is number {}.\n",
                       own - report.results.begin() + 1);
  }
  for (const std::string& note : report.notes) out += "Note: " + note + ".\n";
  return fitted(out, style.width);
}

std::string replay_json(const ReplayReport& report) {
  std::string out;
  JsonWriter json(out);
  const ReplayOptions& options = *report.options;
  const Counts counts = count(report.requests);
  const Version version = report.results.front().settings.version;
  json.begin_object().member("schema_version", kReportSchemaVersion).member("kind", "replay");
  json.member("trace", report.trace);
  json.member("requests", std::uint64_t{counts.requests})
      .member("frees", std::uint64_t{counts.frees});
  json.key("device").begin_object(true).member("id", options.device.id);
  json.member("total_bytes", options.device.total_bytes);
  json.member("context_bytes", options.device.context_bytes).end_object();
  json.member("pytorch", fmt::format("{}.{}", version.major, version.minor));
  json.member("event_policy", event_policy_name(options.policy));
  json.key("memory_fraction");
  if (options.memory_fraction) {
    json.value(fmt::format("{}", *options.memory_fraction));
  } else {
    json.null();
  }
  if (report.recording != nullptr) {
    json.key("recording");
    write_agreement(*report.recording, json);
    json.key("gpus").begin_array();
    for (const RecordedDevice& each : worst_first(report.gpus)) {
      json.begin_object(true).member("device", std::uint32_t{each.device});
      json.member("events", std::uint64_t{each.events})
          .member("refused", std::uint64_t{each.ooms})
          .member("peak_reserved_bytes", each.peak_reserved_bytes)
          .end_object();
    }
    json.end_array();
    json.key("notes").begin_array();
    for (const std::string& note : report.notes) json.value(note);
    json.end_array();
  }
  json.key("settings").begin_array();
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    const ReplayResult& result = report.results[i];
    const ReplaySummary& summary = result.summary;
    json.begin_object().member("alloc_conf", result.settings.text);
    if (has_several_devices(report)) {
      json.member("device", device_of_row(report, i).id)
          .member("device_bytes", device_of_row(report, i).total_bytes);
    }
    json.key("spare_bytes");
    if (report.limited) {
      json.value(spare_bytes(report, i));
    } else {
      json.null();
    }
    json.member("peak_reserved_bytes", summary.peak_reserved);
    json.member("peak_allocated_bytes", summary.peak_allocated);
    json.member("peak_live_bytes", summary.peak_live);
    json.member("fragmentation_at_peak_ppm", summary.fragmentation_at_peak);
    json.member("mean_fragmentation_ppm", summary.mean_fragmentation);
    json.member("most_segments", summary.most_segments)
        .member("device_calls", summary.device_calls);
    json.member("device_call_ns", std::int64_t{summary.device_call_ns});
    json.member("retries", summary.retries).member("ooms", summary.ooms);
    json.key("first_oom");
    if (result.first_oom) {
      json.value(oom_message(*result.first_oom));
    } else {
      json.null();
    }
    if (!report.speeds.empty()) {
      const ReplaySpeed& speed = report.speeds[i];
      json.key("speed").begin_object(true).member("events", speed.events);
      json.member("runs", std::uint64_t{speed.run_ns.size()});
      json.member("median_events_per_s", speed.median_events_per_s);
      json.member("best_events_per_s", speed.best_events_per_s).end_object();
    }
    json.end_object();
  }
  json.end_array().end_object().finish();
  return out;
}

std::string replay_csv(const ReplayReport& report) {
  std::string out =
      "alloc_conf,peak_reserved_bytes,peak_allocated_bytes,peak_live_bytes,fragmentation_at_peak_"
      "ppm,"
      "mean_fragmentation_ppm,most_segments,device_calls,device_call_ns,retries,ooms,spare_bytes";
  const bool several = has_several_devices(report);
  if (several) out += ",device,device_bytes";
  if (!report.speeds.empty()) out += ",median_events_per_s,best_events_per_s";
  out += '\n';
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    const ReplaySummary& summary = report.results[i].summary;
    append_csv_field(report.results[i].settings.text, out);
    out += fmt::format(",{},{},{},{},{},{},{},{},{},{}", summary.peak_reserved,
                       summary.peak_allocated, summary.peak_live, summary.fragmentation_at_peak,
                       summary.mean_fragmentation, summary.most_segments, summary.device_calls,
                       summary.device_call_ns, summary.retries, summary.ooms);
    out += report.limited ? fmt::format(",{}", spare_bytes(report, i)) : std::string(",");
    if (several) {
      const DeviceSpec& device = device_of_row(report, i);
      out += fmt::format(",{},{}", device.id, device.total_bytes);
    }
    if (!report.speeds.empty()) {
      out += fmt::format(",{},{}", report.speeds[i].median_events_per_s,
                         report.speeds[i].best_events_per_s);
    }
    out += '\n';
  }
  return out;
}

std::string_view EventMarks::before(const Event& event) {
  while (seen_ < event.instruction) {
    if (some_.empty()) some_ = reader_.next();
    if (some_.empty()) break;
    const Instruction& instruction = some_.front();
    if (instruction.verb == Verb::kMark) mark_ = labels_->text(instruction.label);
    some_ = some_.subspan(1);
    ++seen_;
  }
  return mark_;
}

std::vector<std::string_view> event_marks(const Requests& requests, std::span<const Event> events) {
  std::vector<std::string_view> marks;
  marks.reserve(events.size());
  EventMarks before(requests);
  for (const Event& event : events) marks.push_back(before.before(event));
  return marks;
}

ReplayFiles::ReplayFiles(const Requests& requests, const std::string& events,
                         const std::string& timeline)
    : marks_(requests) {
  if (!events.empty()) events_.emplace(events);
  if (timeline.empty()) return;
  timeline_.emplace(timeline);
  timeline_->append(
      "index,action,bytes,phase,reserved_bytes,active_bytes,allocated_bytes,requested_bytes,"
      "inactive_split_bytes,"
      "largest_free_bytes,internal_bytes,external_bytes,ideal_bytes\n");
}

void ReplayFiles::take(const ReplayedEvents& some) {
  phases_.clear();
  for (const Event& event : some.events) phases_.push_back(marks_.before(event));
  if (events_) {
    text_.clear();
    if (!has_events_) write_events_head(true, text_);
    write_events_rows(some.events, phases_, some.first, text_);
    events_->append(text_);
  }
  has_events_ = true;
  if (timeline_) write_timeline(some);
}

void ReplayFiles::write_timeline(const ReplayedEvents& some) {
  text_.clear();
  for (std::size_t i = 0; i < some.events.size(); ++i) {
    const Event& event = some.events[i];
    const MemorySample& sample = some.samples[i];
    append_number(some.first + i, text_);
    text_ += ',';
    text_ += action_name(event.action);
    text_ += ',';
    append_number(event.bytes, text_);
    text_ += ',';
    append_csv_field(phases_[i], text_);
    for (const Bytes bytes :
         {sample.reserved, sample.active, sample.allocated, sample.requested, sample.inactive_split,
          sample.largest_free, sample.active - sample.requested, sample.reserved - sample.active,
          some.live[i]}) {
      text_ += ',';
      append_number(bytes, text_);
    }
    text_ += '\n';
  }
  timeline_->append(text_);
}

void ReplayFiles::finish() {
  if (events_) {
    text_.clear();
    if (!has_events_) write_events_head(false, text_);
    events_->append(text_);
    events_->finish();
  }
  if (timeline_) timeline_->finish();
}

}  // namespace tidemark
