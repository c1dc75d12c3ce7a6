#include <array>

#include "sim/format/events_csv.h"
#include "sim/format/json_writer.h"
#include "sim/report/run_report.h"

namespace tidemark {

namespace {

/// One list of columns for every format.
struct HostColumn {
  std::string_view name;
  Bytes (*of)(const HostSample&);
};
constexpr std::array kColumns{
    HostColumn{"host_bytes", [](const HostSample& s) { return s.held(); }},
    HostColumn{"pageable_bytes", [](const HostSample& s) { return s.pageable; }},
    HostColumn{"pinned_bytes", [](const HostSample& s) { return s.pinned_held; }},
    HostColumn{"pinned_in_use_bytes", [](const HostSample& s) { return s.pinned_in_use; }}};

std::string_view phase_name(const RunResult& result, const HostSample& sample) {
  const std::vector<PhaseResult>& phases = result.devices.front().phases;
  return sample.phase < phases.size() ? std::string_view(phases[sample.phase].name)
                                      : std::string_view();
}

}  // namespace

std::string host_timeline_csv(const RunResult& result) {
  std::string out = "index,event,phase,op";
  if (result.is_timed) out += ",time_ns";
  for (const HostColumn& column : kColumns) (out += ',') += column.name;
  out += '\n';
  for (std::size_t i = 0; i < result.host.samples.size(); ++i) {
    const HostSample& sample = result.host.samples[i];
    append_number(i, out);
    out += ',';
    append_number(sample.event, out);
    out += ',';
    append_csv_field(phase_name(result, sample), out);
    out += ',';
    append_csv_field(result.program.labels.text(sample.label), out);
    if (result.is_timed) {
      out += ',';
      append_number(static_cast<std::uint64_t>(sample.time_ns), out);
    }
    for (const HostColumn& column : kColumns) {
      out += ',';
      append_number(column.of(sample), out);
    }
    out += '\n';
  }
  return out;
}

std::string host_timeline_json(const RunResult& result) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema_version", kReportSchemaVersion).member("kind", "host_timeline");
  json.member("changes", std::uint64_t{result.host.samples.size()});
  json.key("columns").begin_object();
  const auto column = [&](std::string_view name, auto&& value_of) {
    json.key(name).begin_array(true);
    for (const HostSample& sample : result.host.samples) json.value(value_of(sample));
    json.end_array();
  };
  column("event", [](const HostSample& s) { return s.event; });
  column("phase", [&](const HostSample& s) { return phase_name(result, s); });
  column("op", [&](const HostSample& s) { return result.program.labels.text(s.label); });
  if (result.is_timed)
    column("time_ns", [](const HostSample& s) { return std::int64_t{s.time_ns}; });
  for (const HostColumn& each : kColumns) column(each.name, each.of);
  json.end_object().end_object().finish();
  return out;
}

}  // namespace tidemark
