#include "sim/report/tune_layouts_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/format/json_writer.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/duration.h"
#include "sim/report/run_report.h"

namespace tidemark {

namespace {

using Align = Table::Align;

/// "1f1b, 8 micro-batches; kept after forward".
std::string rest_of(const LayoutChoice& choice) {
  std::string text;
  if (choice.microbatches > 0)
    text = fmt::format("{}, {} micro-batches", choice.schedule, choice.microbatches);
  if (!choice.reshard) text += fmt::format("{}reshard: false", text.empty() ? "" : "; ");
  return text;
}

std::string time_of(Nanoseconds ns) { return ns > 0 ? duration_text(ns) : "-"; }

}  // namespace

std::string layout_name(const Layout& layout) {
  std::string name;
  const auto add = [&](std::string_view key, std::int64_t size) {
    if (size > 1) name += fmt::format("{}{} {}", name.empty() ? "" : " x ", key, size);
  };
  add("pp", layout.pp);
  add("fsdp", layout.fsdp);
  add("ep", layout.ep);
  add("cp", layout.cp);
  add("tp", layout.tp);
  return name.empty() ? "one GPU" : name;
}

std::string tune_layouts_text(const TunedLayouts& tuned, const TuneReportOptions& options,
                              const TextStyle& style) {
  const TunedLayout& best = tuned.layouts.front();
  std::string out = fmt::format("{}\n{} GPUs, each {}\n\n", bold(options.title, style), tuned.world,
                                options.device);
  if (best.fits) {
    const std::string rest = rest_of(best.choice);
    out += fmt::format("{} {}{}{}\n", bold("Best:", style), layout_name(best.choice.layout),
                       rest.empty() ? "" : "; ", rest);
    out += wrapped(fmt::format("The worst rank reserves {}; a step takes {} for {} batch{} side by "
                               "side, an estimate.",
                               human_bytes(best.peak_reserved), time_of(best.step_ns),
                               best.choice.layout.fsdp, best.choice.layout.fsdp == 1 ? "" : "es"),
                   style.width, 2);
  } else {
    out += bad("No layout fits.", style) + "\n";
  }
  Table table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight,
               Align::kRight, Align::kRight, Align::kRight},
              2);
  table.add({"layout", "", "", "reserved", "stays free", "a step", "a batch", "bubble"});
  std::size_t failed = 0;
  std::size_t shown = 0;
  for (const TunedLayout& one : tuned.layouts) {
    if (!one.error.empty()) {
      ++failed;
      continue;
    }
    if (options.limit > 0 && shown >= options.limit) continue;
    ++shown;
    table.add({layout_name(one.choice.layout), rest_of(one.choice), one.fits ? "fits" : "no",
               human_bytes(one.peak_reserved), human_bytes(one.spare), time_of(one.step_ns),
               time_of(one.batch_ns), percent(one.bubble_ppm)});
  }
  const std::size_t ran = tuned.layouts.size() - failed;
  out += fmt::format("\n{} layouts run; those that fit first, by the time of a batch{}\n", ran,
                     shown < ran ? fmt::format(": the first {}", shown) : "");
  out += table.text(style.width);
  if (failed > 0) {
    const TunedLayout& first = *std::ranges::find_if(
        tuned.layouts, [](const TunedLayout& one) { return !one.error.empty(); });
    out += wrapped(fmt::format("{} more cannot be run; {}: {}", failed,
                               layout_name(first.choice.layout), first.error),
                   style.width, 2);
  }
  if (tuned.left_out > 0)
    out += fmt::format("{} more were possible, and were not run.\n", tuned.left_out);
  out += wrapped(
      "Figures are of the worst rank. Times are estimates, waits for other ranks among "
      "them (docs/ranks.md). A step takes the scenario's batch on each of its shards.",
      style.width, 0);
  const std::string basis = assumptions_text(tuned.basis, style);
  if (!basis.empty()) out += "\n" + basis;
  return out;
}

std::string tune_layouts_json(const TunedLayouts& tuned, const TuneReportOptions& options) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().member("schema_version", kReportSchemaVersion).member("kind", "layouts");
  json.member("title", options.title).member("device", options.device);
  json.member("gpus", tuned.world).member("fits", tuned.layouts.front().fits);
  json.member("left_out", std::uint64_t{tuned.left_out});
  json.key("layouts").begin_array();
  for (const TunedLayout& one : tuned.layouts) {
    const Layout& layout = one.choice.layout;
    json.begin_object();
    json.member("fsdp", layout.fsdp).member("tp", layout.tp).member("pp", layout.pp);
    json.member("cp", layout.cp).member("ep", layout.ep);
    json.member("schedule", one.choice.schedule).member("microbatches", one.choice.microbatches);
    json.member("reshard", one.choice.reshard).member("fits", one.fits);
    json.member("peak_allocated_bytes", one.peak_allocated);
    json.member("peak_reserved_bytes", one.peak_reserved).member("spare_bytes", one.spare);
    json.member("step_ns", one.step_ns).member("batch_ns", one.batch_ns);
    json.member("bubble_ppm", std::uint64_t{one.bubble_ppm}).member("error", one.error);
    json.end_object();
  }
  json.end_array();
  write_assumptions(tuned.basis, json);
  json.end_object().finish();
  return text;
}

}  // namespace tidemark
