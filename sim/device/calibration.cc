#include "sim/device/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/check.h"
#include "sim/base/problem.h"
#include "sim/yaml/yaml_fields.h"

namespace tidemark {

namespace {

constexpr Bytes kPage = Bytes{2} << 20U;
constexpr std::int64_t kThousand = 1000;

/// An entry that sets a figure of the cost model.
struct CostKey {
  std::string_view key;
  Nanoseconds CostModel::*time = nullptr;
  std::uint32_t CostModel::*share = nullptr;
};

constexpr std::array kCostKeys{
    CostKey{"launch_overhead_ns", &CostModel::launch_overhead_ns},
    CostKey{"kernel_floor_ns", &CostModel::kernel_floor_ns},
    CostKey{"matmul_share", nullptr, &CostModel::matmul_share},
    CostKey{"convolution_share", nullptr, &CostModel::convolution_share},
    CostKey{"attention_share", nullptr, &CostModel::attention_share},
    CostKey{"plain_share", nullptr, &CostModel::plain_share},
    CostKey{"memory_share", nullptr, &CostModel::memory_share},
    CostKey{"malloc_ns", &CostModel::malloc_ns},
    CostKey{"malloc_page_ns", &CostModel::malloc_page_ns},
    CostKey{"free_ns", &CostModel::free_ns},
    CostKey{"free_page_ns", &CostModel::free_page_ns},
    CostKey{"reserve_ns", &CostModel::reserve_ns},
    CostKey{"map_ns", &CostModel::map_ns},
    CostKey{"unmap_ns", &CostModel::unmap_ns},
};
constexpr std::array<std::string_view, 6> kMemoryKeys{"context_bytes", "granularity_bytes",
                                                      "cublas_bytes",  "cudnn_bytes",
                                                      "nccl_bytes",    "cudnn_workspace_bytes"};
constexpr std::array<std::string_view, 3> kLibraryKeys{"cublas_bytes", "cudnn_bytes", "nccl_bytes"};

[[noreturn]] void fail(const SourceSpan& at, std::string path, std::string message,
                       std::string hint = {}) {
  throw InputError(Problem{at, std::move(path), std::move(message), std::move(hint)});
}

const JsonValue& member(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  if (value == nullptr) fail(object.at, std::string(key), "is missing in what the probe printed");
  return *value;
}

std::int64_t whole(const JsonValue& object, std::string_view key) {
  const JsonValue& value = member(object, key);
  if (value.kind != JsonValue::Kind::kInteger || value.integer < 0)
    fail(value.at, std::string(key), "expected a whole number");
  return value.integer;
}

/// base + slope * pages.
struct Line {
  double base = 0;
  double slope = 0;
};

struct Point {
  double pages;
  double ns;
};

/// Least squares of the relative errors: a call of 2 MiB counts as much as one of 2 GiB.
Line fitted(const std::vector<Point>& points) {
  double w = 0;
  double wx = 0;
  double wy = 0;
  double wxx = 0;
  double wxy = 0;
  for (const Point& p : points) {
    const double weight = 1 / std::max(p.ns * p.ns, 1.0);
    w += weight;
    wx += weight * p.pages;
    wy += weight * p.ns;
    wxx += weight * p.pages * p.pages;
    wxy += weight * p.pages * p.ns;
  }
  const double spread = w * wxx - wx * wx;
  if (points.size() < 2 || spread <= 0) return {points.empty() ? 0 : wy / w, 0};
  Line line{(wy * wxx - wx * wxy) / spread, (w * wxy - wx * wy) / spread};
  if (line.slope < 0 || line.base < 0) return {wy / w, 0};
  return line;
}

struct Fit {
  Line line;
  FitQuality quality;
};

/// Every other point is held out, and tells how good the line is.
Fit fit_latency(const JsonValue& latencies, std::string_view key, std::string_view what) {
  std::vector<Point> all;
  for (const JsonValue& each : latencies.items) {
    all.push_back({static_cast<double>(whole(each, "bytes")) / static_cast<double>(kPage),
                   static_cast<double>(whole(each, key))});
  }
  std::vector<Point> kept;
  for (std::size_t i = 0; i < all.size(); i += 2) kept.push_back(all[i]);
  Fit fit{fitted(kept), {std::string(what), 0, 0, 0}};
  double sum = 0;
  for (std::size_t i = 1; i < all.size(); i += 2) {
    const double foretold = fit.line.base + fit.line.slope * all[i].pages;
    const double error = std::abs(foretold - all[i].ns) / std::max(all[i].ns, 1.0) * 1e6;
    fit.quality.max_error_ppm =
        std::max(fit.quality.max_error_ppm, static_cast<std::int64_t>(std::lround(error)));
    sum += error;
    ++fit.quality.held_out;
  }
  if (fit.quality.held_out > 0) {
    fit.quality.mean_error_ppm =
        static_cast<std::int64_t>(std::lround(sum / static_cast<double>(fit.quality.held_out)));
  }
  return fit;
}

/// In thousandths of the peak, at most all of it.
std::int64_t share_of(double achieved, std::uint64_t peak) {
  const double share = achieved * static_cast<double>(kThousand) / static_cast<double>(peak);
  return std::clamp(static_cast<std::int64_t>(std::lround(share)), std::int64_t{1}, kThousand);
}

double amount(const JsonValue& value, std::string_view key) {
  using Kind = JsonValue::Kind;
  if (value.kind != Kind::kInteger && value.kind != Kind::kUnsigned && value.kind != Kind::kReal)
    fail(value.at, std::string(key), "expected a number");
  return value.real;
}

class Maker {
 public:
  explicit Maker(Calibration& calibration) : calibration_(calibration) {
    const CostModel defaults;
    put("context_bytes", 0, Basis::kAssumed);
    put("granularity_bytes", static_cast<std::int64_t>(kPage), Basis::kAssumed);
    for (const std::string_view key : kLibraryKeys) put(key, 0, Basis::kAssumed);
    put("cudnn_workspace_bytes", 0, Basis::kAssumed);
    for (const CostKey& each : kCostKeys) {
      put(each.key, each.time != nullptr ? defaults.*each.time : defaults.*each.share,
          Basis::kAssumed);
    }
  }

  void put(std::string_view key, std::int64_t value, Basis basis) {
    const auto at = std::ranges::find(calibration_.entries, key, &CalibrationEntry::key);
    if (at != calibration_.entries.end()) {
      *at = {std::string(key), value, basis};
    } else {
      calibration_.entries.push_back({std::string(key), value, basis});
    }
  }

 private:
  Calibration& calibration_;
};

/// Times of the device's own: not of the pretend one, which takes none.
void measure_times(const JsonValue& probe, const DeviceSpec& device, Maker& maker,
                   Calibration& calibration) {
  maker.put("launch_overhead_ns", whole(probe, "launch_ns"), Basis::kMeasured);
  maker.put("memory_share",
            share_of(amount(member(probe, "bytes_per_s"), "bytes_per_s"),
                     std::max<std::uint64_t>(device.memory_bytes_per_s, 1)),
            Basis::kMeasured);
  if (member(probe, "flops_by").text == "cublas" && device.bf16_flops_per_s > 0) {
    const JsonValue& rates = member(probe, "flops_per_s");
    maker.put("matmul_share",
              share_of(amount(member(rates, "bf16"), "bf16"), device.bf16_flops_per_s),
              Basis::kMeasured);
  }
  const JsonValue& latencies = member(probe, "latencies");
  struct Call {
    std::string_view measured, what, base, page;
  };
  for (const Call& call : {Call{"malloc_ns", "cudaMalloc", "malloc_ns", "malloc_page_ns"},
                           Call{"free_ns", "cudaFree", "free_ns", "free_page_ns"}}) {
    const Fit fit = fit_latency(latencies, call.measured, call.what);
    maker.put(call.base, std::lround(fit.line.base), Basis::kInterpolated);
    maker.put(call.page, std::lround(fit.line.slope), Basis::kInterpolated);
    calibration.fits.push_back(fit.quality);
  }
  // PyTorch maps page by page: what one page takes is what counts.
  if (!latencies.items.empty()) {
    maker.put("map_ns", whole(latencies.items.front(), "map_ns"), Basis::kMeasured);
    maker.put("unmap_ns", whole(latencies.items.front(), "unmap_ns"), Basis::kMeasured);
  }
}

/// A library that is not there tells -1, and stays assumed. Of workspaces the largest of the table
/// is taken for what lies between its points: cuDNN changes algorithms from shape to shape.
void measure_libraries(const JsonValue& probe, Maker& maker, Calibration& calibration) {
  for (const std::string_view key : kLibraryKeys) {
    const JsonValue& value = member(probe, key);
    if (value.kind != JsonValue::Kind::kInteger || value.integer < -1)
      fail(value.at, std::string(key), "expected a whole number, or -1");
    if (value.integer >= 0) maker.put(key, value.integer, Basis::kMeasured);
  }
  std::int64_t largest = 0;
  for (const JsonValue& each : member(probe, "cudnn_workspaces").items) {
    calibration.workspaces.push_back({member(each, "pass").text, member(each, "dtype").text,
                                      whole(each, "batch"), whole(each, "channels"),
                                      whole(each, "side"), whole(each, "bytes")});
    largest = std::max(largest, calibration.workspaces.back().bytes);
  }
  if (!calibration.workspaces.empty())
    maker.put("cudnn_workspace_bytes", largest, Basis::kInterpolated);
}

std::string other_card(const Calibration& calibration, const DeviceSpec& device) {
  if (calibration.device != device.name)
    return fmt::format("is of '{}', the device is '{}'", calibration.device, device.name);
  if (calibration.compute_capability != device.compute_capability) {
    return fmt::format("is of compute capability {}.{}, the device has {}.{}",
                       calibration.compute_capability / 10, calibration.compute_capability % 10,
                       device.compute_capability / 10, device.compute_capability % 10);
  }
  return {};
}

constexpr std::string_view kOtherCardHint =
    "calibrate on the card itself; figures of another are not bent";

}  // namespace

const CalibrationEntry& Calibration::entry(std::string_view key) const {
  const auto at = std::ranges::find(entries, key, &CalibrationEntry::key);
  TIDEMARK_CHECK(at != entries.end(), std::string(key));
  return *at;
}

std::size_t Calibration::count(Basis basis) const {
  return static_cast<std::size_t>(std::ranges::count(entries, basis, &CalibrationEntry::basis));
}

std::vector<std::string_view> calibration_keys() {
  std::vector<std::string_view> keys(kMemoryKeys.begin(), kMemoryKeys.end());
  for (const CostKey& each : kCostKeys) keys.push_back(each.key);
  return keys;
}

Calibration calibrate(const JsonValue& probe, const DeviceSpec& device) {
  if (probe.kind != JsonValue::Kind::kObject || member(probe, "kind").text != "probe")
    fail(probe.at, "kind", "this is not what tidemark-probe prints");
  Calibration calibration;
  calibration.device = member(probe, "device").text;
  std::string capability = member(probe, "compute_capability").text;
  std::erase(capability, '.');
  calibration.compute_capability = std::atoi(capability.c_str());
  calibration.total_bytes = static_cast<Bytes>(whole(probe, "total_bytes"));
  calibration.driver = member(probe, "driver").text;
  calibration.cuda = member(probe, "cuda").text;
  calibration.date = member(probe, "date").text;
  if (const JsonValue* pytorch = probe.find("pytorch")) calibration.pytorch = pytorch->text;
  calibration.address_order = member(probe, "address_order").text;
  calibration.pretend = member(probe, "pretend").boolean;
  calibration.repeats = whole(probe, "repeats");
  calibration.took_ns = whole(probe, "took_ns");
  if (const std::string other = other_card(calibration, device); !other.empty())
    fail(probe.at, "device", "the probe " + other, "name the card with --device");
  Maker maker(calibration);
  maker.put("context_bytes", whole(probe, "context_bytes") + whole(probe, "first_kernel_bytes"),
            Basis::kMeasured);
  maker.put("granularity_bytes", whole(probe, "granularity_bytes"), Basis::kMeasured);
  measure_libraries(probe, maker, calibration);
  if (!calibration.pretend) measure_times(probe, device, maker, calibration);
  return calibration;
}

std::string calibration_yaml(const Calibration& c) {
  std::string out = "schema_version: 2\n";
  out += fmt::format(
      "device: {{name: \"{}\", compute_capability: {}, total_bytes: {}}}\n"
      "receipt: {{driver: \"{}\", cuda: \"{}\", date: \"{}\", pretend: {}, repeats: {}, "
      "took_ns: {}, address_order: {}, pytorch: \"{}\"}}\n",
      c.device, c.compute_capability, c.total_bytes, c.driver, c.cuda, c.date, c.pretend, c.repeats,
      c.took_ns, c.address_order, c.pytorch);
  out += "entries:\n";
  for (const CalibrationEntry& each : c.entries) {
    out += fmt::format("  {}: {{value: {}, basis: {}}}\n", each.key, each.value,
                       kBasisNames[static_cast<std::size_t>(each.basis)]);
  }
  if (!c.workspaces.empty()) out += "workspaces:\n";
  for (const WorkspacePoint& w : c.workspaces) {
    out +=
        fmt::format("  - {{pass: {}, dtype: {}, batch: {}, channels: {}, side: {}, bytes: {}}}\n",
                    w.pass, w.dtype, w.batch, w.channels, w.side, w.bytes);
  }
  if (c.fits.empty()) return out;
  out += "fits:\n";
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
  fields.integer("schema_version", 2, 2);
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
          {std::string(key), value.value_or(0), static_cast<Basis>(basis.value_or(2))});
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
  fields.done();
  if (!problems.empty()) throw InputError(std::move(problems));
  return calibration;
}

void apply_calibration(const Calibration& calibration, const std::string& name, DeviceSpec& device,
                       CostModel& costs) {
  if (const std::string other = other_card(calibration, device); !other.empty())
    fail({}, name, "the calibration " + other, std::string(kOtherCardHint));
  if (const std::int64_t page = calibration.entry("granularity_bytes").value;
      page != static_cast<std::int64_t>(kPage)) {
    fail({}, name,
         fmt::format("the driver hands memory out in pieces of {} bytes; 2 MiB is what is "
                     "modelled",
                     page));
  }
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
