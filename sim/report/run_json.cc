#include <fmt/format.h>

#include <span>

#include "sim/format/events_csv.h"
#include "sim/format/json_writer.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/headline.h"
#include "sim/report/kv_cache.h"
#include "sim/report/run_report.h"
#include "sim/report/time_text.h"
#include "sim/run/verdict.h"

namespace tidemark {

namespace {

/// The amounts of a moment by their column names: one list for every format.
struct NamedAmount {
  std::string_view name;
  Bytes Amounts::*field;
};
constexpr std::array kAmounts{NamedAmount{"reserved_bytes", &Amounts::reserved},
                              NamedAmount{"active_bytes", &Amounts::active},
                              NamedAmount{"allocated_bytes", &Amounts::allocated},
                              NamedAmount{"requested_bytes", &Amounts::requested},
                              NamedAmount{"inactive_split_bytes", &Amounts::inactive_split},
                              NamedAmount{"largest_free_bytes", &Amounts::largest_free}};

/// "optimizer state" -> "optimizer_state_bytes"
std::string category_column(Category category) {
  std::string name(kCategoryNames[static_cast<std::size_t>(category)]);
  for (char& c : name) {
    if (c == ' ') c = '_';
  }
  return name + "_bytes";
}

void add_moment(JsonWriter& json, const RunResult& result, const DeviceResult& device,
                std::uint32_t event, std::uint32_t phase, LabelId label) {
  json.key("event");
  if (event == kNoEvent) {
    json.null();
  } else {
    json.value(event);
  }
  const PhaseName name =
      phase == kNoPhase ? PhaseName{} : split_phase_name(device.phases[phase].name);
  json.member("phase", name.phase).member("step", name.step);
  json.member("op", result.program.labels.text(label));
}

void add_blocks(JsonWriter& json, const RunResult& result, const DeviceResult& device,
                std::span<const LiveBlock> blocks) {
  for (const LiveBlock& block : blocks) {
    json.begin_object(true).member("id", block.id).member("block_bytes", block.block_bytes);
    json.member("requested_bytes", block.requested_bytes);
    json.member("category", kCategoryNames[static_cast<std::size_t>(block.category)]);
    add_moment(json, result, device, block.alloc_event, phase_of(device, block.alloc_event),
               block.label);
    json.end_object();
  }
}

void add_live(JsonWriter& json, const RunResult& result, const DeviceResult& device,
              const PeakResult& peak, std::size_t top) {
  if (top == 0) return;
  json.key("largest_blocks").begin_array();
  add_blocks(json, result, device, std::span(peak.live).first(std::min(top, peak.live.size())));
  json.end_array();
}

/// All that is live after one event.
void add_moment_blocks(JsonWriter& json, const RunResult& result, const DeviceResult& device,
                       std::uint32_t event) {
  json.key("live_at").begin_object();
  add_moment(json, result, device, event, phase_of(device, event), device.labels[event]);
  json.key("blocks").begin_array();
  add_blocks(json, result, device, live_at(device, result.program, event));
  json.end_array().end_object();
}

void add_peak(JsonWriter& json, std::string_view name, const RunResult& result,
              const DeviceResult& device, const PeakResult& peak, std::size_t top) {
  json.key(name).begin_object().member("bytes", peak.bytes);
  add_moment(json, result, device, peak.event, peak.phase, peak.label);
  if (result.is_timed) json.member("time_ns", std::int64_t{peak.time_ns});
  if (peak.event != kNoEvent) {
    const Amounts at = amounts_of(peak.sample);
    json.key("amounts").begin_object(true);
    for (const NamedAmount& amount : kAmounts) json.member(amount.name, at.*amount.field);
    json.end_object();
    json.key("by_category").begin_object(true);
    for (const Category category : kCategoryOrder) {
      json.member(category_column(category), peak.by_category[static_cast<std::size_t>(category)]);
    }
    json.end_object();
    const Fragmentation gap = fragmentation(at);
    json.key("fragmentation").begin_object(true);
    json.member("internal_bytes", gap.internal_bytes).member("external_bytes", gap.external_bytes);
    json.member("external_ppm", peak.sample.reserved == 0
                                    ? 0
                                    : parts_per_million(gap.external_bytes, peak.sample.reserved));
    json.end_object();
    add_live(json, result, device, peak, top);
  }
  json.end_object();
}

void add_phase_bytes(JsonWriter& json, std::string_view name, const PhaseBytes& bytes) {
  json.key(name)
      .begin_object(true)
      .member("end_bytes", bytes.current)
      .member("peak_bytes", bytes.peak);
  json.end_object();
}

void add_phases(JsonWriter& json, const RunResult& result, const DeviceResult& device) {
  json.key("phases").begin_array();
  for (const PhaseResult& phase : device.phases) {
    json.begin_object(true).member("name", phase.name);
    json.member("first_event", phase.first_event).member("events", phase.events);
    if (result.is_timed) {
      json.member("begin_ns", std::int64_t{phase.begin_ns})
          .member("end_ns", std::int64_t{phase.end_ns});
    }
    add_phase_bytes(json, "allocated", phase.allocated);
    add_phase_bytes(json, "reserved", phase.reserved);
    add_phase_bytes(json, "active", phase.active);
    add_phase_bytes(json, "requested", phase.requested);
    json.end_object();
  }
  json.end_array();
}

/// torch.cuda.memory_stats() at every mark().
void add_points(JsonWriter& json, const RunResult& result, const DeviceResult& device) {
  if (device.points.empty()) return;
  json.key("points").begin_array();
  for (const MeasuredPoint& point : device.points) {
    json.begin_object(true).member("name", point.name).member("event", point.event);
    if (result.is_timed) json.member("time_ns", std::int64_t{point.time_ns});
    json.member("device_used_bytes", device.spec.total_bytes - point.device_free_bytes);
    json.key("stats").begin_object(true);
    for (const auto& [key, value] : flatten(point.statistics, device.settings.version))
      json.member(key, value);
    json.end_object().end_object();
  }
  json.end_array();
}

void add_ooms(JsonWriter& json, const RunResult& result, const DeviceResult& device) {
  json.key("ooms").begin_array();
  for (const OomResult& oom : device.ooms) {
    json.begin_object();
    add_moment(json, result, device, oom.event, oom.phase, oom.label);
    json.member("requested_bytes", oom.figures.requested_bytes);
    json.member("device_free_bytes", oom.figures.device_free_bytes);
    json.member("message", oom.message).end_object();
  }
  json.end_array();
}

void add_device(JsonWriter& json, const RunResult& result, const DeviceResult& device,
                std::size_t top, std::span<const std::uint32_t> at) {
  const Headline headline = headline_of(device);
  json.begin_object();
  json.member("id", device.spec.id).member("name", device.spec.name);
  json.member("total_bytes", device.spec.total_bytes)
      .member("context_bytes", device.spec.context_bytes);
  const Version version = device.settings.version;
  json.member("pytorch", to_string(version));
  json.member("pytorch_by_default", result.took_default_pytorch);
  json.member("allocator_settings", device.settings.text);
  json.member("fits", !(result.ended_by_oom && !device.ooms.empty()));
  json.member("device_peak_bytes", headline.device_peak_bytes)
      .member("spare_bytes", headline.spare_bytes);
  json.member("outside_bytes", headline.outside_bytes);
  add_peak(json, "peak_allocated", result, device, device.peak_allocated, top);
  add_peak(json, "peak_reserved", result, device, device.peak_reserved, top);
  write_kv_cache(json, device, result.program);
  add_phases(json, result, device);
  add_points(json, result, device);
  add_ooms(json, result, device);
  if (!at.empty()) add_moment_blocks(json, result, device, at.front());
  json.end_object();
}

void add_host(JsonWriter& json, const RunResult& result) {
  const HostSample& peak = result.host.peak;
  if (peak.held() == 0) return;
  json.key("host").begin_object().member("peak_bytes", peak.held());
  add_moment(json, result, result.devices.front(), peak.event, peak.phase, peak.label);
  json.member("pageable_bytes", peak.pageable).member("pinned_bytes", peak.pinned_held);
  json.member("end_pageable_bytes", result.host.pageable_bytes);
  const PinnedStatistics& pinned = result.host.pinned;
  json.key("pinned").begin_object(true).member("peak_bytes", pinned.peak_held);
  json.member("peak_in_use_bytes", pinned.peak_in_use).member("end_bytes", pinned.held);
  json.member("made", pinned.made).member("given", pinned.given).end_object().end_object();
}

void add_repeats(JsonWriter& json, const RunResult& result) {
  if (result.repeats.empty()) return;
  json.key("repeats").begin_array();
  for (const RepeatResult& left_out : result.repeats) {
    const Repeat& repeat = left_out.repeat;
    json.begin_object().member("variable", repeat.variable);
    json.member("pattern_first", repeat.pattern_first).member("pattern_last", repeat.pattern_last);
    json.member("first", repeat.first).member("last", repeat.last);
    json.member("times", repeat.times).member("instructions", left_out.instructions);
    json.key("events").begin_array(true);
    for (const std::uint64_t events : left_out.events) json.value(events);
    json.end_array();
    if (result.is_timed) json.member("duration_ns", std::int64_t{left_out.duration_ns});
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string run_json(const RunResult& result, const RunReportOptions& options) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema_version", kReportSchemaVersion).member("kind", "run");
  json.member("title", options.title);
  json.member("instructions", result.instructions).member("ended_by_oom", result.ended_by_oom);
  const Verdict verdict = verdict_of(result);
  json.member("verdict", ending_name(verdict.ending))
      .member("worst_device", std::uint64_t{verdict.device});
  if (result.is_timed) json.member("end_ns", std::int64_t{result.end_ns});
  write_time(json, result);
  json.member("printed", result.printed);
  if (!result.packages.empty()) {
    json.key("packages").begin_array();
    for (const PackageUse& package : result.packages) {
      json.begin_object();
      json.member("name", package.name);
      if (!package.version.empty()) json.member("version", package.version);
      json.member("modules", std::uint64_t{package.modules}).end_object();
    }
    json.end_array();
  }
  json.key("devices").begin_array();
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const std::span<const std::uint32_t> at(options.at);
    add_device(json, result, result.devices[i], options.top,
               i < at.size() ? at.subspan(i, 1) : std::span<const std::uint32_t>());
  }
  json.end_array();
  add_host(json, result);
  add_repeats(json, result);
  write_assumptions(result, json);
  json.end_object().finish();
  return out;
}

std::string run_csv(const RunResult& result) {
  std::string out =
      "device,phase,step,first_event,events,allocated_end_bytes,allocated_peak_bytes,reserved_end_"
      "bytes,"
      "reserved_peak_bytes,active_end_bytes,active_peak_bytes,requested_end_bytes,requested_peak_"
      "bytes\n";
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    for (const PhaseResult& phase : result.devices[i].phases) {
      const PhaseName name = split_phase_name(phase.name);
      out += fmt::format("{},", i);
      append_csv_field(name.phase, out);
      out += fmt::format(",{},{},{}", name.step, phase.first_event, phase.events);
      for (const PhaseBytes* bytes :
           {&phase.allocated, &phase.reserved, &phase.active, &phase.requested}) {
        out += fmt::format(",{},{}", bytes->current, bytes->peak);
      }
      out += '\n';
    }
  }
  return out;
}

std::string run_events_csv(const DeviceResult& device, const Program& program) {
  EventColumns columns;
  columns.events = device.events;
  columns.phases.reserve(device.events.size());
  for (const PhaseResult& phase : device.phases) {
    columns.phases.insert(columns.phases.end(), phase.events, phase.name);
  }
  columns.ops.reserve(device.labels.size());
  for (const LabelId label : device.labels) columns.ops.push_back(program.labels.text(label));
  std::string out;
  write_events_csv(columns, out);
  return out;
}

Timeline timeline_of(const DeviceResult& device, const Program& program) {
  Timeline timeline;
  timeline.device = device.spec.name;
  timeline.device_total_bytes = device.spec.total_bytes;
  timeline.device_context_bytes = device.spec.context_bytes;
  timeline.events = device.events;
  timeline.amounts.reserve(device.samples.size());
  for (const MemorySample& sample : device.samples) timeline.amounts.push_back(amounts_of(sample));
  timeline.by_category = stack_categories(timeline.events, timeline.amounts, program.categories);
  timeline.times_ns = device.times_ns;
  for (const LabelId label : device.labels)
    timeline.labels.emplace_back(program.labels.text(label));
  for (const PhaseResult& phase : device.phases) {
    timeline.phases.push_back({phase.name, phase.first_event, phase.events});
  }
  return timeline;
}

std::string timeline_csv(const Timeline& timeline) {
  std::string out = "index,action,bytes,phase,op";
  if (!timeline.times_ns.empty()) out += ",time_ns";
  for (const NamedAmount& amount : kAmounts) out += fmt::format(",{}", amount.name);
  for (const Category category : kCategoryOrder) out += "," + category_column(category);
  out += '\n';
  out.reserve(out.size() + timeline.events.size() * 160);
  std::size_t phase = 0;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    while (phase < timeline.phases.size() &&
           i >= timeline.phases[phase].first_event + timeline.phases[phase].events) {
      ++phase;
    }
    const Event& event = timeline.events[i];
    append_number(i, out);
    out += ',';
    out += action_name(event.action);
    out += ',';
    append_number(event.bytes, out);
    out += ',';
    if (phase < timeline.phases.size()) append_csv_field(timeline.phases[phase].name, out);
    out += ',';
    if (!timeline.labels.empty()) append_csv_field(timeline.labels[i], out);
    if (!timeline.times_ns.empty()) {
      out += ',';
      append_number(static_cast<std::uint64_t>(timeline.times_ns[i]), out);
    }
    for (const NamedAmount& amount : kAmounts) {
      out += ',';
      append_number(timeline.amounts[i].*amount.field, out);
    }
    for (const Category category : kCategoryOrder) {
      out += ',';
      append_number(timeline.by_category[i][static_cast<std::size_t>(category)], out);
    }
    out += '\n';
  }
  return out;
}

std::string timeline_json(const Timeline& timeline) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema_version", kReportSchemaVersion).member("kind", "timeline");
  json.key("device").begin_object(true).member("name", timeline.device);
  json.member("total_bytes", timeline.device_total_bytes);
  json.member("context_bytes", timeline.device_context_bytes).end_object();
  json.member("events", std::uint64_t{timeline.events.size()});
  json.key("phases").begin_array();
  for (const PhaseSpan& phase : timeline.phases) {
    json.begin_object(true).member("name", phase.name);
    json.member("first_event", std::uint64_t{phase.first_event});
    json.member("events", std::uint64_t{phase.events}).end_object();
  }
  json.end_array();
  json.key("columns").begin_object();
  const auto column = [&](std::string_view name, auto&& value_at) {
    json.key(name).begin_array(true);
    for (std::size_t i = 0; i < timeline.events.size(); ++i) json.value(value_at(i));
    json.end_array();
  };
  column("action", [&](std::size_t i) { return action_name(timeline.events[i].action); });
  column("bytes", [&](std::size_t i) { return timeline.events[i].bytes; });
  if (!timeline.labels.empty())
    column("op", [&](std::size_t i) { return std::string_view(timeline.labels[i]); });
  if (!timeline.times_ns.empty())
    column("time_ns", [&](std::size_t i) { return std::int64_t{timeline.times_ns[i]}; });
  for (const NamedAmount& amount : kAmounts) {
    column(amount.name, [&](std::size_t i) { return timeline.amounts[i].*amount.field; });
  }
  for (const Category category : kCategoryOrder) {
    column(category_column(category), [&](std::size_t i) {
      return timeline.by_category[i][static_cast<std::size_t>(category)];
    });
  }
  json.end_object().end_object().finish();
  return out;
}

}  // namespace tidemark
