#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/base/problem.h"
#include "sim/device/calibration.h"
#include "sim/device/calibration_keys.h"
#include "sim/device/published_band.h"
#include "sim/yaml/yaml_fields.h"

// A calibration as a file, and onto a device: docs/formats/calibration.md.

namespace tidemark {

namespace {

[[noreturn]] void fail(const SourceSpan& at, std::string path, std::string message,
                       std::string hint = {}) {
  throw InputError(Problem{at, std::move(path), std::move(message), std::move(hint)});
}

constexpr std::string_view kOtherCardHint =
    "calibrate on the card itself; figures of another are not bent";

}  // namespace

std::string other_card(const Calibration& calibration, const DeviceSpec& device) {
  if (calibration.device != device.name)
    return fmt::format("is of '{}', the device is '{}'", calibration.device, device.name);
  if (calibration.compute_capability != device.compute_capability) {
    return fmt::format("is of compute capability {}.{}, the device has {}.{}",
                       calibration.compute_capability / 10, calibration.compute_capability % 10,
                       device.compute_capability / 10, device.compute_capability % 10);
  }
  // A driver keeps a little for itself, ECC more; a slice of a card or one of another size is
  // another card.
  const auto total = static_cast<double>(calibration.total_bytes);
  const auto whole = static_cast<double>(device.total_bytes);
  if (total < 0.9 * whole || total > 1.1 * whole) {
    return fmt::format("is of a card of {} bytes, the device has {}", calibration.total_bytes,
                       device.total_bytes);
  }
  return {};
}

std::string calibration_yaml(const Calibration& c) {
  std::string out = "schema_version: 3\n";
  out += fmt::format(
      "device: {{name: \"{}\", compute_capability: {}, total_bytes: {}}}\n"
      "receipt: {{driver: \"{}\", cuda: \"{}\", date: \"{}\", pretend: {}, repeats: {}, "
      "took_ns: {}, address_order: {}, pytorch: \"{}\", by: \"{}\", idle: \"{}\"}}\n",
      c.device, c.compute_capability, c.total_bytes, c.driver, c.cuda, c.date, c.pretend, c.repeats,
      c.took_ns, c.address_order, c.pytorch, c.by, c.idle);
  out += "entries:\n";
  for (const CalibrationEntry& each : c.entries) {
    out += fmt::format("  {}: {{value: {}, basis: {}", each.key, each.value,
                       kBasisNames[static_cast<std::size_t>(each.basis)]);
    out += each.count == 0
               ? "}\n"
               : fmt::format(", low: {}, high: {}, count: {}}}\n", each.low, each.high, each.count);
  }
  if (!c.workspaces.empty()) out += "workspaces:\n";
  for (const WorkspacePoint& w : c.workspaces) {
    out +=
        fmt::format("  - {{pass: {}, dtype: {}, batch: {}, channels: {}, side: {}, bytes: {}}}\n",
                    w.pass, w.dtype, w.batch, w.channels, w.side, w.bytes);
  }
  if (!c.rates.empty()) out += "rates:\n";
  for (const RatePoint& r : c.rates) {
    out += fmt::format(
        "  - {{kind: {}, precision: {}, digits: {}, count: {}, share: {}, low: {}, high: {}}}\n",
        r.kind, r.precision, r.digits, r.count, r.share, r.low, r.high);
  }
  if (!c.refused.empty()) out += "refused:\n";
  for (const std::string& each : c.refused) out += fmt::format("  - {{what: \"{}\"}}\n", each);
  if (!c.fits.empty()) out += "fits:\n";
  for (const FitQuality& fit : c.fits) {
    out += fmt::format("  - {{what: {}, held_out: {}, mean_error_ppm: {}, max_error_ppm: {}}}\n",
                       fit.what, fit.held_out, fit.mean_error_ppm, fit.max_error_ppm);
  }
  return out;
}

Calibration parse_calibration(const std::shared_ptr<const SourceText>& source) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const yaml::Node root = yaml::parse(source);
  std::vector<Problem> problems;
  yaml::Fields fields(root, {}, problems);
  fields.require("schema_version");
  fields.integer("schema_version", 3, 3);
  Calibration calibration;
  for (const char* key : {"device", "receipt", "entries"}) fields.require(key);
  if (const yaml::Node* node = fields.get("device")) {
    yaml::Fields device(*node, "device", problems);
    calibration.device = device.text("name").value_or("");
    calibration.compute_capability =
        static_cast<int>(device.integer("compute_capability", 10, 999).value_or(0));
    calibration.total_bytes = device.bytes("total_bytes").value_or(0);
    device.done();
  }
  if (const yaml::Node* node = fields.get("receipt")) {
    yaml::Fields receipt(*node, "receipt", problems);
    calibration.driver = receipt.text("driver").value_or("");
    calibration.cuda = receipt.text("cuda").value_or("");
    calibration.date = receipt.text("date").value_or("");
    calibration.pretend = receipt.boolean("pretend").value_or(false);
    calibration.repeats = receipt.integer("repeats", 0, kMost).value_or(0);
    calibration.took_ns = receipt.integer("took_ns", 0, kMost).value_or(0);
    calibration.address_order = receipt.text("address_order").value_or("");
    calibration.pytorch = receipt.text("pytorch").value_or("");
    calibration.by = receipt.text("by").value_or("");
    calibration.idle = receipt.text("idle").value_or("");
    receipt.done();
  }
  if (const yaml::Node* node = fields.get("entries")) {
    yaml::Fields entries(*node, "entries", problems);
    for (const std::string_view key : calibration_keys()) {
      entries.require(key);
      const yaml::Node* each = entries.get(key);
      if (each == nullptr) continue;
      yaml::Fields entry(*each, entries.path_of(key), problems);
      entry.require("value");
      entry.require("basis");
      const auto value = entry.integer("value", 0, kMost);
      const auto basis = entry.choice("basis", kBasisNames);
      calibration.entries.push_back(
          {std::string(key), value.value_or(0), static_cast<Basis>(basis.value_or(2)),
           entry.integer("low", 0, kMost).value_or(0), entry.integer("high", 0, kMost).value_or(0),
           entry.integer("count", 0, kMost).value_or(0)});
      entry.done();
    }
    entries.done();
  }
  if (const yaml::Node* node = fields.get("fits")) {
    for (const yaml::Node& item : node->items) {
      yaml::Fields fit(item, "fits", problems);
      calibration.fits.push_back({fit.text("what").value_or(""),
                                  fit.integer("held_out", 0, kMost).value_or(0),
                                  fit.integer("mean_error_ppm", 0, kMost).value_or(0),
                                  fit.integer("max_error_ppm", 0, kMost).value_or(0)});
      fit.done();
    }
  }
  if (const yaml::Node* node = fields.get("workspaces")) {
    for (const yaml::Node& item : node->items) {
      yaml::Fields point(item, "workspaces", problems);
      calibration.workspaces.push_back({point.text("pass").value_or(""),
                                        point.text("dtype").value_or(""),
                                        point.integer("batch", 1, kMost).value_or(1),
                                        point.integer("channels", 1, kMost).value_or(1),
                                        point.integer("side", 1, kMost).value_or(1),
                                        point.integer("bytes", 0, kMost).value_or(0)});
      point.done();
    }
  }
  if (const yaml::Node* node = fields.get("rates")) {
    for (const yaml::Node& item : node->items) {
      yaml::Fields rate(item, "rates", problems);
      calibration.rates.push_back(
          {rate.text("kind").value_or(""), rate.text("precision").value_or(""),
           rate.integer("digits", 0, kMost).value_or(0),
           rate.integer("count", 0, kMost).value_or(0), rate.integer("share", 0, kMost).value_or(0),
           rate.integer("low", 0, kMost).value_or(0), rate.integer("high", 0, kMost).value_or(0)});
      rate.done();
    }
  }
  if (const yaml::Node* node = fields.get("refused")) {
    for (const yaml::Node& item : node->items) {
      yaml::Fields refused(item, "refused", problems);
      calibration.refused.push_back(refused.text("what").value_or(""));
      refused.done();
    }
  }
  fields.done();
  if (!problems.empty()) throw InputError(std::move(problems));
  return calibration;
}

namespace {

/// A file is shared and edited: what no card does is refused when it is loaded too.
void refuse_what_cannot_be(const Calibration& calibration, const std::string& name) {
  constexpr std::int64_t kPeak = 1000;
  for (const CostKey& each : kCostKeys) {
    const std::int64_t value = calibration.entry(each.key).value;
    if (each.share != nullptr && (value < 1 || value > kPeak)) {
      fail({}, name,
           fmt::format("{} is {} thousandths of the card's peak: a card reaches 1 to {}", each.key,
                       value, kPeak),
           "measure again; rates in configs/devices are the peaks");
    }
  }
  const std::int64_t context = calibration.entry("context_bytes").value;
  if (context > static_cast<std::int64_t>(calibration.total_bytes / 2)) {
    fail({}, name,
         fmt::format("a CUDA context of {} bytes is more than half of the card's {}", context,
                     calibration.total_bytes),
         "something else was on the card when it was measured");
  }
}

}  // namespace

TimeBand time_band_of(const Calibration& calibration) {
  for (const std::string_view key : {"matmul_share", "memory_share"}) {
    if (calibration.entry(key).basis == Basis::kAssumed) return published_band();
  }
  constexpr std::int64_t kWhole = 1000;
  TimeBand band{kWhole, kWhole, 0, true};
  for (const CostKey& each : kCostKeys) {
    const CalibrationEntry& entry = calibration.entry(each.key);
    if (entry.basis == Basis::kAssumed || entry.value <= 0 || entry.low <= 0) continue;
    // Twice the share is half the time; a latency is a time itself.
    const bool is_share = each.share != nullptr;
    const std::int64_t low = is_share ? kWhole * entry.value / std::max(entry.high, entry.value)
                                      : kWhole * entry.low / entry.value;
    const std::int64_t high =
        is_share ? (kWhole * entry.value + entry.low - 1) / std::min(entry.low, entry.value)
                 : (kWhole * entry.high + entry.value - 1) / entry.value;
    band.low = std::min(band.low, low);
    band.high = std::max(band.high, high);
    band.count += entry.count;
  }
  return band;
}

void apply_calibration(const Calibration& calibration, const std::string& name, DeviceSpec& device,
                       CostModel& costs) {
  if (const std::string other = other_card(calibration, device); !other.empty())
    fail({}, name, "the calibration " + other, std::string(kOtherCardHint));
  if (const std::int64_t page = calibration.entry("granularity_bytes").value;
      page != static_cast<std::int64_t>(kCalibratedPage)) {
    fail({}, name,
         fmt::format("the driver hands memory out in pieces of {} bytes; 2 MiB is what is "
                     "modelled",
                     page));
  }
  refuse_what_cannot_be(calibration, name);
  if (const CalibrationEntry& context = calibration.entry("context_bytes"); context.value > 0)
    device.context_bytes = static_cast<Bytes>(context.value);
  for (const CostKey& each : kCostKeys) {
    const std::int64_t value = calibration.entry(each.key).value;
    if (each.time != nullptr) {
      costs.*each.time = value;
    } else {
      costs.*each.share = static_cast<std::uint32_t>(value);
    }
  }
}

}  // namespace tidemark
