#include "sim/report/fit_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/format/json_writer.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/run_report.h"

namespace tidemark {

namespace {

using Align = Table::Align;

void write_probe(const FitProbe& probe, JsonWriter& json) {
  json.member("fits", probe.fits);
  json.member("retries", probe.retries);
  json.member("peak_reserved_bytes", probe.peak_reserved);
  json.member("spare_bytes", probe.spare);
  json.member("error", probe.error);
}

std::string headroom_text(const FitOptions& options) {
  return options.headroom_ppm == 0
             ? std::string()
             : fmt::format(" with {} kept free", percent(options.headroom_ppm));
}

/// "fits", peak reserved, stays free, and what there is to say.
std::vector<std::string> probe_cells(const FitProbe& probe) {
  const bool failed = !probe.error.empty();
  const std::string remark = failed              ? probe.error
                             : probe.retries > 0 ? fmt::format("{} retr{}", probe.retries,
                                                               probe.retries == 1 ? "y" : "ies")
                                                 : "";
  return {probe.fits ? "fits" : "no",
          failed ? "" : human_bytes(probe.peak_reserved),
          failed ? "" : grouped(probe.peak_reserved),
          failed ? "" : human_bytes(probe.spare),
          failed ? "" : grouped(probe.spare),
          remark};
}

std::vector<std::string> row(std::vector<std::string> first, const FitProbe& probe) {
  for (std::string& cell : probe_cells(probe)) first.push_back(std::move(cell));
  return first;
}

/// The run of the value that was found, else the first.
const FitProbe& answer_of(const FitResult& result) {
  const auto found = std::ranges::find(result.probes, result.best.value_or(0), &FitProbe::value);
  return found == result.probes.end() ? result.probes.front() : *found;
}

/// What the answer rests on.
const RunBasis& basis_of(const FitResult& result) { return answer_of(result).basis; }

/// Of a grid: the last row with an answer.
const RunBasis* basis_of(const FitGrid& grid) {
  const RunBasis* basis = nullptr;
  for (const FitGrid::Row& row : grid.rows) {
    if (!row.fit.probes.empty() && (row.fit.best || basis == nullptr)) basis = &basis_of(row.fit);
  }
  return basis;
}

const RunBasis& basis_of(const std::vector<DeviceProbe>& devices) {
  const auto found =
      std::ranges::find_if(devices, [](const DeviceProbe& one) { return one.probe.fits; });
  return (found == devices.end() ? devices.front() : *found).probe.basis;
}

void add_basis(std::string& out, const RunBasis& basis, const TextStyle& style) {
  const std::string text = assumptions_text(basis, style);
  if (!text.empty()) out += "\n" + text;
}

}  // namespace

std::string fit_text(const FitResult& result, const FitOptions& options, const TextStyle& style) {
  std::string out;
  const std::string headroom = headroom_text(options);
  if (!result.best) {
    out = bad("Nothing fits", style) + fmt::format("{}: not even {} = 1.\n", headroom, result.path);
  } else {
    out = good(fmt::format("{} = {} fits", result.path, *result.best), style) + headroom;
    out += result.reached_highest ? fmt::format("; nothing above {} was tried.\n", options.highest)
                                  : fmt::format(", {} does not.\n", *result.best + 1);
  }
  Table table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
               Align::kRight, Align::kLeft},
              2);
  table.add({"value", "", "peak reserved", "bytes", "stays free", "bytes", ""});
  for (const FitProbe& probe : result.probes)
    table.add(row({grouped(static_cast<std::uint64_t>(probe.value))}, probe));
  out += table.text(style.width);
  if (result.holes.empty() && result.islands.empty()) {
    out += "No holes among the values tried.\n";
  }
  if (!result.holes.empty())
    out += fmt::format("Smaller, yet do not fit: {}\n", fmt::join(result.holes, ", "));
  if (!result.islands.empty())
    out += fmt::format("Larger, yet fit: {}\n", fmt::join(result.islands, ", "));
  add_basis(out, basis_of(result), style);
  return out;
}

std::string fit_devices_text(const std::vector<DeviceProbe>& devices, const FitOptions& options,
                             const TextStyle& style) {
  const auto first = std::find_if(devices.begin(), devices.end(),
                                  [](const DeviceProbe& one) { return one.probe.fits; });
  const std::string headroom = headroom_text(options);
  std::string out =
      first == devices.end()
          ? bad("Nothing fits", style) + headroom + ": no GPU known is large enough.\n"
          : good(first->device + " is the smallest GPU that fits", style) + headroom + "\n";
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kRight,
               Align::kRight, Align::kRight, Align::kRight, Align::kLeft},
              2);
  table.add({"device", "total", "bytes", "", "peak reserved", "bytes", "stays free", "bytes", ""});
  for (const DeviceProbe& one : devices)
    table.add(row({one.device, human_bytes(one.total_bytes), grouped(one.total_bytes)}, one.probe));
  out += table.text(style.width);
  std::string holes;
  for (auto each = first; each != devices.end(); ++each) {
    if (!each->probe.fits) holes += (holes.empty() ? "" : ", ") + each->device;
  }
  if (!holes.empty()) out += fmt::format("Larger, yet do not fit: {}\n", holes);
  add_basis(out, basis_of(devices), style);
  return out;
}

std::string fit_grid_text(const FitGrid& grid, const FitOptions& options, const TextStyle& style) {
  std::string out = fmt::format("The largest {} that fits{}, beside each {}\n", grid.path,
                                headroom_text(options), grid.beside_path);
  Table table({Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft}, 2);
  table.add({grid.beside_path, grid.path, "peak reserved", "stays free", ""});
  for (const FitGrid::Row& row : grid.rows) {
    const std::string beside = grouped(static_cast<std::uint64_t>(row.beside));
    if (!row.fit.best) {
      const std::string why = !row.error.empty()       ? row.error
                              : row.fit.probes.empty() ? std::string()
                                                       : row.fit.probes.front().error;
      table.add({beside, "none", "", "", why});
      continue;
    }
    const FitProbe& answer = answer_of(row.fit);
    table.add({beside, grouped(static_cast<std::uint64_t>(*row.fit.best)),
               human_bytes(answer.peak_reserved), human_bytes(answer.spare),
               row.fit.reached_highest ? "nothing above was tried" : ""});
  }
  out += table.text(style.width);
  if (const RunBasis* basis = basis_of(grid)) add_basis(out, *basis, style);
  return out;
}

std::string fit_grid_json(const FitGrid& grid, const FitOptions& options) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("schema_version", kReportSchemaVersion);
  json.member("kind", "fit");
  json.member("path", grid.path);
  json.member("beside", grid.beside_path);
  json.member("headroom_ppm", std::uint64_t{options.headroom_ppm});
  json.key("rows");
  json.begin_array();
  for (const FitGrid::Row& row : grid.rows) {
    json.begin_object();
    json.member("beside", row.beside);
    json.key("best");
    if (row.fit.best) {
      json.value(*row.fit.best);
    } else {
      json.null();
    }
    json.member("reached_highest", row.fit.reached_highest);
    const bool has_answer = row.fit.best.has_value();
    json.member("peak_reserved_bytes", has_answer ? answer_of(row.fit).peak_reserved : Bytes{0});
    json.member("spare_bytes", has_answer ? answer_of(row.fit).spare : Bytes{0});
    json.member("error", row.error);
    json.end_object();
  }
  json.end_array();
  if (const RunBasis* basis = basis_of(grid)) write_assumptions(*basis, json);
  json.end_object();
  json.finish();
  return text;
}

std::string fit_json(const FitResult& result, const FitOptions& options) {
  std::string text;
  JsonWriter json(text);
  const auto list = [&](std::string_view key, const std::vector<std::int64_t>& values) {
    json.key(key);
    json.begin_array();
    for (const std::int64_t value : values) json.value(value);
    json.end_array();
  };
  json.begin_object();
  json.member("schema_version", kReportSchemaVersion);
  json.member("kind", "fit");
  json.member("path", result.path);
  json.member("headroom_ppm", std::uint64_t{options.headroom_ppm});
  json.key("best");
  if (result.best) {
    json.value(*result.best);
  } else {
    json.null();
  }
  json.member("reached_highest", result.reached_highest);
  list("holes", result.holes);
  list("islands", result.islands);
  json.key("probes");
  json.begin_array();
  for (const FitProbe& probe : result.probes) {
    json.begin_object();
    json.member("value", probe.value);
    write_probe(probe, json);
    json.end_object();
  }
  json.end_array();
  write_assumptions(basis_of(result), json);
  json.end_object();
  json.finish();
  return text;
}

std::string fit_devices_json(const std::vector<DeviceProbe>& devices, const FitOptions& options) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("schema_version", kReportSchemaVersion);
  json.member("kind", "fit");
  json.member("path", "device");
  json.member("headroom_ppm", std::uint64_t{options.headroom_ppm});
  const auto first = std::find_if(devices.begin(), devices.end(),
                                  [](const DeviceProbe& one) { return one.probe.fits; });
  json.key("best");
  if (first != devices.end()) {
    json.value(first->device);
  } else {
    json.null();
  }
  json.key("probes");
  json.begin_array();
  for (const DeviceProbe& one : devices) {
    json.begin_object();
    json.member("device", one.device);
    json.member("name", one.name);
    json.member("total_bytes", one.total_bytes);
    write_probe(one.probe, json);
    json.end_object();
  }
  json.end_array();
  write_assumptions(basis_of(devices), json);
  json.end_object();
  json.finish();
  return text;
}

}  // namespace tidemark
