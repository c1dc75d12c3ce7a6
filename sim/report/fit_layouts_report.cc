#include <algorithm>

#include <fmt/format.h>

#include "sim/format/json_writer.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/fit_report.h"
#include "sim/report/run_report.h"
#include "sim/report/tune_layouts_report.h"

namespace tidemark {

namespace {

using Align = Table::Align;

/// Of those that fit, the one whose worst rank needs the least.
std::vector<LayoutProbe>::const_iterator best_of(const std::vector<LayoutProbe>& layouts) {
  auto best = layouts.end();
  for (auto each = layouts.begin(); each != layouts.end(); ++each) {
    if (!each->probe.fits) continue;
    if (best == layouts.end() || each->probe.peak_reserved < best->probe.peak_reserved) best = each;
  }
  return best;
}

const RunBasis& basis_of(const std::vector<LayoutProbe>& layouts) {
  const auto best = best_of(layouts);
  return (best == layouts.end() ? layouts.front() : *best).probe.basis;
}

std::string gpus(std::int64_t world) {
  return fmt::format("{} GPU{}", world, world == 1 ? "" : "s");
}

}  // namespace

std::string fit_layouts_text(const std::vector<LayoutProbe>& layouts, const FitOptions& options,
                             const TextStyle& style) {
  const auto best = best_of(layouts);
  std::string headroom;
  if (options.headroom_ppm > 0)
    headroom = fmt::format(" with {} kept free", percent(options.headroom_ppm));
  std::string out;
  if (best == layouts.end()) {
    out = bad("Nothing fits", style) +
          fmt::format("{}: no layout of up to {}.\n", headroom, gpus(layouts.back().layout.world));
  } else {
    out = good(fmt::format("{} fit", gpus(best->layout.world)), style) + headroom +
          fmt::format(": {} needs the least.\n", layout_name(best->layout));
  }
  Table table(
      {Align::kRight, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kLeft}, 2);
  table.add({"GPUs", "layout", "", "peak reserved", "stays free", ""});
  for (const LayoutProbe& one : layouts) {
    const bool failed = !one.probe.error.empty();
    table.add({grouped(static_cast<std::uint64_t>(one.layout.world)), layout_name(one.layout),
               one.probe.fits ? "fits" : "no", failed ? "" : human_bytes(one.probe.peak_reserved),
               failed ? "" : human_bytes(one.probe.spare), one.probe.error});
  }
  out += table.text(style.width);
  out +=
      "Each layout has the scenario's batch on each of its shards; figures are of its worst "
      "rank.\n";
  const std::string basis = assumptions_text(basis_of(layouts), style);
  if (!basis.empty()) out += "\n" + basis;
  return out;
}

std::string fit_layouts_json(const std::vector<LayoutProbe>& layouts, const FitOptions& options) {
  std::string text;
  JsonWriter json(text);
  const auto write_layout = [&](const Layout& layout) {
    json.member("gpus", layout.world);
    json.member("fsdp", layout.fsdp);
    json.member("tp", layout.tp);
    json.member("pp", layout.pp);
    json.member("cp", layout.cp);
    json.member("ep", layout.ep);
  };
  json.begin_object();
  json.member("schema_version", kReportSchemaVersion);
  json.member("kind", "fit");
  json.member("path", "gpus");
  json.member("headroom_ppm", std::uint64_t{options.headroom_ppm});
  json.key("best");
  if (const auto best = best_of(layouts); best != layouts.end()) {
    json.begin_object();
    write_layout(best->layout);
    json.end_object();
  } else {
    json.null();
  }
  json.key("probes");
  json.begin_array();
  for (const LayoutProbe& one : layouts) {
    json.begin_object();
    write_layout(one.layout);
    json.member("fits", one.probe.fits);
    json.member("retries", one.probe.retries);
    json.member("peak_reserved_bytes", one.probe.peak_reserved);
    json.member("spare_bytes", one.probe.spare);
    json.member("error", one.probe.error);
    json.end_object();
  }
  json.end_array();
  write_assumptions(basis_of(layouts), json);
  json.end_object();
  json.finish();
  return text;
}

}  // namespace tidemark
