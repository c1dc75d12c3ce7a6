#include "sim/report/diagnosis_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/format/json_writer.h"
#include "sim/report/headline.h"
#include "sim/report/oom_report.h"
#include "sim/report/run_report.h"

namespace tidemark {

namespace {

using Align = Table::Align;

void write_change(JsonWriter& json, const TriedRemedy& tried) {
  json.begin_object();
  json.key("remedies");
  json.begin_array();
  for (const Remedy* remedy : tried.remedies) json.value(remedy->id);
  json.end_array();
  json.member("price", kPriceNames[static_cast<std::size_t>(tried.price)]);
  json.member("change", tried.change.text);
  json.key("overrides");
  json.begin_object();
  for (const Override& one : tried.change.overrides) {
    json.member(one.path, one.value);
  }
  json.end_object();
  json.member("undoes", tried.undoes);
  json.member("error", tried.error);
  json.member("peak_allocated_bytes", tried.peak_allocated);
  json.member("peak_reserved_bytes", tried.peak_reserved);
  json.end_object();
}

std::string outcome(const TriedRemedy& tried) {
  if (!tried.error.empty()) return "cannot be run: " + tried.error;
  return fmt::format("{}  peak reserved {}", tried.undoes ? "undoes it" : "does not help",
                     human_bytes(tried.peak_reserved));
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis, const TextStyle& style) {
  const std::string title(fault_title(diagnosis.fault));
  std::string out = bold("Why: ", style);
  out += diagnosis.fault == Fault::kHealthy ? good(title, style) : bad(title, style);
  if (diagnosis.is_refused)
    out += fmt::format(" ({}{})", diagnosis.when,
                       diagnosis.was_handled ? "; the program handled it" : "");
  out += "\n" + wrapped(diagnosis.finding, style.width, 2);
  if (diagnosis.fault == Fault::kHealthy)
    out += fmt::format("  Headroom at its highest ({}): {}.\n", diagnosis.when,
                       exact_bytes(diagnosis.spare));
  Table proof({Align::kLeft, Align::kRight, Align::kRight}, 2);
  for (const ProofLine& line : diagnosis.proof)
    proof.add({line.what, human_bytes(line.bytes), grouped(line.bytes)});
  out += proof.text(style.width);
  if (diagnosis.need) out += wrapped(need_text(*diagnosis.need), style.width, 2);
  if (diagnosis.growth) {
    Table holders({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft}, 2);
    for (const Growth::Holder& holder : diagnosis.growth->holders)
      holders.add({"kept", human_bytes(holder.bytes), fmt::format("{} blocks", holder.blocks),
                   "made by " + holder.maker});
    out += holders.text(style.width);
  }
  if (diagnosis.tried.empty()) return fitted(out, style.width);
  out += "Tried, each by running it:\n";
  Table tried({Align::kLeft, Align::kLeft, Align::kLeft}, 2);
  for (const TriedRemedy& one : diagnosis.tried) {
    tried.add({one.change.text, std::string(kPriceNames[static_cast<std::size_t>(one.price)]),
               outcome(one)});
  }
  out += tried.text(style.width);
  if (!diagnosis.smallest)
    return fitted(out + "  None of the known changes undoes it.\n", style.width);
  const TriedRemedy& best = diagnosis.tried[*diagnosis.smallest];
  out += bold("Smallest change that undoes it: ", style) + best.change.text + "\n";
  for (const Remedy* remedy : best.remedies) {
    if (!remedy->note.empty()) out += fmt::format("  note: {}\n", remedy->note);
  }
  const std::string options = change_options(best.change);
  if (!options.empty()) out += fmt::format("  tidemark run SCENARIO {}\n", options);
  return fitted(out, style.width);
}

std::string diagnosis_json(const Diagnosis& diagnosis) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("schema_version", kReportSchemaVersion);
  json.member("kind", "diagnosis");
  json.member("fault", fault_name(diagnosis.fault));
  json.member("refused", diagnosis.is_refused);
  json.member("handled", diagnosis.was_handled);
  json.member("when", diagnosis.when);
  json.member("finding", diagnosis.finding);
  json.member("spare_bytes", diagnosis.spare);
  json.key("proof");
  json.begin_array();
  for (const ProofLine& line : diagnosis.proof) {
    json.begin_object();
    json.member("what", line.what);
    json.member("bytes", line.bytes);
    json.end_object();
  }
  json.end_array();
  json.key("need");
  diagnosis.need ? write_need(*diagnosis.need, json) : (void)json.null();
  json.key("tried");
  json.begin_array();
  for (const TriedRemedy& one : diagnosis.tried) write_change(json, one);
  json.end_array();
  json.key("smallest");
  if (diagnosis.smallest) {
    json.value(std::uint64_t{*diagnosis.smallest});
  } else {
    json.null();
  }
  json.end_object();
  json.finish();
  return text;
}

std::string equation_text(const RunResult& result, const TextStyle& style) {
  std::string out;
  for (const DeviceResult& device : result.devices) {
    const PeakResult& peak = device.peak_allocated;
    if (peak.event == kNoEvent) continue;
    std::array<Bytes, kCategoryNames.size()> requested{};
    Bytes of_live = 0;
    for (const LiveBlock& block : peak.live) {
      requested[static_cast<std::size_t>(block.category)] += block.requested_bytes;
      of_live += block.requested_bytes;
    }
    const auto at = [&](Category category) {
      return requested[static_cast<std::size_t>(category)];
    };
    // The equation takes each term whole, whether or not all of it is there at the peak.
    Bytes gradients = 0;
    Bytes state = 0;
    Bytes inputs = 0;
    Bytes saved = 0;
    std::vector<Bytes> size_of;
    std::array<Bytes, kCategoryNames.size()> now{};
    std::array<Bytes, kCategoryNames.size()> most{};
    for (const Event& event : device.events) {
      if (event.id == kNoRequest) continue;
      const Category category = event.id < result.program.categories.size()
                                    ? result.program.categories[event.id]
                                    : Category::kUnknown;
      Bytes& sum = now[static_cast<std::size_t>(category)];
      if (event.action == Action::kAlloc) {
        if (event.id >= size_of.size()) size_of.resize(std::size_t{event.id} * 2 + 1, 0);
        size_of[event.id] = event.bytes;
        sum += event.bytes;
      } else if (event.action == Action::kFreeRequested && event.id < size_of.size()) {
        sum -= size_of[event.id];
        size_of[event.id] = 0;
      }
      most[static_cast<std::size_t>(category)] =
          std::max(most[static_cast<std::size_t>(category)], sum);
    }
    const Bytes model = most[static_cast<std::size_t>(Category::kParameter)];
    gradients = most[static_cast<std::size_t>(Category::kGradient)];
    state = most[static_cast<std::size_t>(Category::kOptimizerState)];
    saved = most[static_cast<std::size_t>(Category::kActivation)];
    inputs = most[static_cast<std::size_t>(Category::kInput)];
    const Bytes equation = model + gradients + state + saved + inputs;
    Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
    table.add({"Memory equation", "", "each at its most", "there at the peak"});
    const auto row = [&](std::string_view name, Bytes whole, Bytes there) {
      table.add({fmt::format("  {}", name), human_bytes(whole), grouped(whole), grouped(there)});
    };
    row("model", model, at(Category::kParameter));
    row("+ gradients", gradients, at(Category::kGradient));
    row("+ optimizer", state, at(Category::kOptimizerState));
    row("+ activations", saved, at(Category::kActivation));
    row("+ batch", inputs, at(Category::kInput));
    row("= equation", equation,
        at(Category::kParameter) + at(Category::kGradient) + at(Category::kOptimizerState) +
            at(Category::kActivation) + at(Category::kInput));
    const auto missing = [&](std::string_view name, Bytes bytes) {
      if (bytes > 0) table.add({fmt::format("  {}", name), human_bytes(bytes), "", grouped(bytes)});
    };
    table.add({"What it leaves out"});
    missing("library workspaces", at(Category::kWorkspace));
    missing("temporaries", at(Category::kTemporary));
    missing("unknown", at(Category::kUnknown));
    missing("rounding inside blocks",
            peak.sample.allocated - std::min(of_live, peak.sample.allocated));
    missing("= peak allocated", peak.sample.allocated);
    missing("reserved, not allocated", peak.sample.reserved - peak.sample.allocated);
    missing("CUDA context", device.spec.context_bytes);
    missing("= device, then", peak.sample.reserved + device.spec.context_bytes);
    out += table.text(style.width);
    const Bytes truth = peak.bytes;
    const bool is_low = equation < truth;
    out += fmt::format("The equation is {} by {} of the peak allocated.\n", is_low ? "low" : "high",
                       percent(parts_per_million(
                           std::min(truth, is_low ? truth - equation : equation - truth), truth)));
  }
  return out;
}

std::string process_view_text(const RunResult& result, const TextStyle& style) {
  std::string out = bold("What nvidia-smi would show at the highest", style) + "\n";
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const DeviceResult& device = result.devices[i];
    const Headline headline = headline_of(device);
    const Bytes process = device.spec.context_bytes + device.peak_reserved.bytes;
    Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft}, 2);
    table.add({"CUDA context", human_bytes(device.spec.context_bytes),
               grouped(device.spec.context_bytes), "differs by driver; grows as kernels load"});
    table.add({"reserved by PyTorch", human_bytes(device.peak_reserved.bytes),
               grouped(device.peak_reserved.bytes),
               "exact; of which allocated at most " + human_bytes(device.peak_allocated.bytes)});
    table.add(
        {"this process", fmt::format("{}MiB", (process + kMiB / 2) / kMiB), grouped(process), ""});
    if (headline.outside_bytes > 0) {
      table.add({"libraries and other processes", human_bytes(headline.outside_bytes),
                 grouped(headline.outside_bytes), "as the scenario says"});
    }
    table.add({"device in use",
               fmt::format("{}MiB", (headline.device_peak_bytes + kMiB / 2) / kMiB),
               grouped(headline.device_peak_bytes),
               fmt::format("of {}MiB that CUDA can use", device.spec.total_bytes / kMiB)});
    out += fmt::format("  GPU {}  {}\n", i, device.spec.name) + table.text(style.width);
  }
  out +=
      "  Uncertain: the context (tens of MiB between drivers), cuDNN's and NCCL's own memory, the "
      "driver's share.\n";
  return out;
}

}  // namespace tidemark
