#include "sim/report/validation_report.h"

#include <fmt/format.h>

#include <set>

#include "sim/format/json_writer.h"
#include "sim/report/diff_report.h"
#include "sim/report/run_report.h"

namespace tidemark {

namespace {

using Align = Table::Align;

std::string ppm_text(std::int64_t ppm) {
  if (ppm == 0) return "0";
  const std::int64_t size = ppm < 0 ? -ppm : ppm;
  return fmt::format("{}.{:04} %", size / 10'000, size % 10'000);
}

std::string share(std::size_t part, std::size_t whole) {
  return whole == 0
             ? "-"
             : fmt::format("{} of {} ({})", part, whole, percent(parts_per_million(part, whole)));
}

std::string curve_text(const CurveError& curve) {
  if (curve.events == 0) return "-";
  return curve.differing == 0 ? "0" : human_bytes(curve.largest);
}

std::string cases_table(const std::vector<ValidationCase>& cases, std::size_t width) {
  const auto r = Align::kRight;
  Table table({Align::kLeft, r, r, r, r, r, r, r, r, Align::kLeft});
  table.add(
      {"", "", "differing", "peak of", "peak of", "device", "per event:", "largest", "", "out of"});
  table.add({"case", "events", "events", "allocated", "reserved", "total", "reserved", "free",
             "reserved", "memory"});
  for (const ValidationCase& each : cases) {
    table.add({each.name, grouped(each.events.a_events), grouped(each.events.differing),
               signed_percent(each.peak_allocated), signed_percent(each.peak_reserved),
               signed_percent(each.device_total), curve_text(each.reserved_curve),
               curve_text(each.largest_free_curve),
               human_bytes(each.peak_reserved.measured.value_or(0)), oom_verdict(each)});
  }
  return table.text(width);
}

std::string notes(const ValidationCase& each) {
  std::string out;
  if (each.other_order > 0) {
    out += fmt::format(
        "{}: {} frees that follow one another come in another order, which PyTorch leaves open\n",
        each.name, grouped(each.other_order));
  }
  if (each.after_oom > 0) {
    out += fmt::format(
        "{}: {} events after the request that ended the run are not compared: the interpreter lets "
        "go of values\n",
        each.name, grouped(each.after_oom));
  }
  if (each.warm) {
    out += fmt::format(
        "{}: the recording begins with a filled cache; kinds and bytes of the run's last {} events "
        "are compared\n",
        each.name, grouped(each.events.a_events));
  }
  if (each.by_segment) {
    out += fmt::format(
        "{}: on another driver, so places are compared apart, by segment and offset: {} of {} "
        "allocations lie elsewhere\n",
        each.name, grouped(each.placed_elsewhere), grouped(each.allocations));
  }
  return out;
}

/// Where the measurements come from: devices and releases, each once.
std::string origins(const std::vector<ValidationCase>& cases) {
  std::set<std::string> devices;
  std::set<std::string> releases;
  bool pretend = false;
  for (const ValidationCase& each : cases) {
    if (!each.provenance.device.empty()) devices.insert(each.provenance.device);
    if (!each.provenance.torch.empty()) releases.insert("PyTorch " + each.provenance.torch);
    pretend = pretend || each.provenance.pretend;
  }
  std::string out = devices.size() == 1 ? *devices.begin()
                    : devices.empty()   ? std::string("an unnamed device")
                                        : fmt::format("{} devices", devices.size());
  if (pretend) out += " (the pretend GPU)";
  for (const std::string& release : releases) out += ", " + release;
  return out;
}

std::string summary_row(std::string_view name, const ErrorSummary& summary) {
  if (summary.cases == 0) return fmt::format("  {:<16} not measured\n", name);
  return fmt::format("  {:<16} mean {}, median {}, max {}; too low in {}\n", name,
                     ppm_text(summary.mean_ppm), ppm_text(summary.median_ppm),
                     ppm_text(summary.max_ppm), share(summary.under, summary.cases));
}

void write_figure(JsonWriter& json, std::string_view name, const ComparedBytes& figure) {
  json.key(name).begin_object(true).member("simulated", figure.simulated).key("measured");
  if (figure.measured) {
    json.value(*figure.measured);
  } else {
    json.null();
  }
  json.key("error_ppm");
  if (const auto error = figure.error_ppm()) {
    json.value(*error);
  } else {
    json.null();
  }
  json.end_object();
}

void write_curve(JsonWriter& json, std::string_view name, const CurveError& curve) {
  json.key(name).begin_object(true);
  json.member("events", std::uint64_t{curve.events});
  json.member("differing_events", std::uint64_t{curve.differing});
  json.member("mean_bytes", curve.mean).member("largest_bytes", curve.largest);
  json.member("largest_at", std::uint64_t{curve.largest_at}).end_object();
}

void write_summary(JsonWriter& json, std::string_view name, const ErrorSummary& summary) {
  json.key(name).begin_object(true).member("cases", std::uint64_t{summary.cases});
  json.member("mean_ppm", summary.mean_ppm).member("median_ppm", summary.median_ppm);
  json.member("max_ppm", summary.max_ppm).member("under", std::uint64_t{summary.under});
  json.end_object();
}

void write_event(JsonWriter& json, std::string_view name, const EventTable& table,
                 std::size_t index) {
  json.key(name);
  if (index >= table.events.size()) {
    json.null();
    return;
  }
  const Event& event = table.events[index];
  json.begin_object(true).member("action", action_name(event.action));
  json.member("address", event.address).member("bytes", event.bytes);
  json.member("stream", std::uint32_t{event.stream});
  if (!table.ops.empty()) json.member("op", table.labels.text(table.ops[index]));
  json.end_object();
}

}  // namespace

std::string signed_percent(const ComparedBytes& figure) {
  const std::optional<std::int64_t> error = figure.error_ppm();
  if (!error) return "-";
  if (*error == 0) return "0";
  return (*error < 0 ? "-" : "+") + ppm_text(*error);
}

std::string oom_verdict(const ValidationCase& each) {
  if (each.oom_right()) return each.oom_measured ? "yes, foreseen" : "no";
  return each.oom_measured ? "WRONG: not foreseen" : "WRONG: foreseen";
}

std::string validation_text(const std::vector<ValidationCase>& cases, const std::string& against,
                            std::size_t context, const TextStyle& style) {
  const ValidationSummary summary = summarise(cases);
  std::string out = bold(fmt::format("Simulated against {}", against), style) + "\n";
  out += origins(cases) + "; errors are simulated less measured\n";
  out += "\n" + cases_table(cases, style.width) + "\n";
  for (const ValidationCase& each : cases) {
    if (each.events.equal()) continue;
    out += bold(each.name, style) + "\n";
    out += diff_text(each.events, {"measured", &each.measured}, {"simulated", &each.simulated},
                     each.options, context, style) +
           "\n";
  }
  for (const ValidationCase& each : cases) out += notes(each);
  const std::string verdict =
      fmt::format("{} of {} cases exact; {} of {} events differ", summary.exact_cases,
                  summary.cases, grouped(summary.differing_events), grouped(summary.events));
  out += summary.exact_cases == summary.cases ? good(verdict, style) : bad(verdict, style);
  out += "\n" + summary_row("peak allocated", summary.peak_allocated);
  out += summary_row("peak reserved", summary.peak_reserved);
  out += summary_row("device total", summary.device_total);
  out += fmt::format("  {:<16} wrong in {}\n", "out of memory",
                     share(summary.wrong_oom_verdicts, summary.cases));
  return out;
}

std::string validation_json(const std::vector<ValidationCase>& cases, const std::string& against) {
  const ValidationSummary summary = summarise(cases);
  std::string out;
  JsonWriter json(out);
  json.begin_object().member("schema_version", kReportSchemaVersion).member("kind", "validate");
  json.member("against", against).key("cases").begin_array();
  for (const ValidationCase& each : cases) {
    json.begin_object().member("name", each.name);
    const Provenance& origin = each.provenance;
    json.key("provenance").begin_object(true).member("device", origin.device);
    json.member("pretend", origin.pretend).member("driver", origin.driver);
    json.member("torch", origin.torch).member("date", origin.date);
    json.member("command", origin.command).end_object();
    json.member("events", std::uint64_t{each.events.a_events});
    json.member("simulated_events", std::uint64_t{each.events.b_events});
    json.member("differing_events", std::uint64_t{each.events.differing});
    json.member("frees_in_another_order", std::uint64_t{each.other_order});
    json.member("events_after_oom", std::uint64_t{each.after_oom});
    json.member("warm", each.warm).member("by_segment", each.by_segment);
    json.member("allocations", std::uint64_t{each.allocations});
    json.member("placed_elsewhere", std::uint64_t{each.placed_elsewhere});
    json.key("first_difference");
    if (each.events.first) {
      json.begin_object().member("index", std::uint64_t{*each.events.first});
      write_event(json, "measured", each.measured, *each.events.first);
      write_event(json, "simulated", each.simulated, *each.events.first);
      json.end_object();
    } else {
      json.null();
    }
    write_figure(json, "peak_allocated", each.peak_allocated);
    write_figure(json, "peak_reserved", each.peak_reserved);
    write_figure(json, "device_total", each.device_total);
    write_curve(json, "reserved_curve", each.reserved_curve);
    write_curve(json, "largest_free_curve", each.largest_free_curve);
    json.member("oom_simulated", each.oom_simulated).member("oom_measured", each.oom_measured);
    json.end_object();
  }
  json.end_array().key("summary").begin_object();
  json.member("cases", std::uint64_t{summary.cases});
  json.member("exact_cases", std::uint64_t{summary.exact_cases});
  json.member("events", std::uint64_t{summary.events});
  json.member("differing_events", std::uint64_t{summary.differing_events});
  json.member("wrong_oom_verdicts", std::uint64_t{summary.wrong_oom_verdicts});
  write_summary(json, "peak_allocated", summary.peak_allocated);
  write_summary(json, "peak_reserved", summary.peak_reserved);
  write_summary(json, "device_total", summary.device_total);
  json.end_object().end_object();
  json.finish();
  return out;
}

}  // namespace tidemark
