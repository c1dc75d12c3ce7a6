#include "sim/device/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/check.h"
#include "sim/base/problem.h"
#include "sim/device/calibration_keys.h"
#include "sim/device/robust_fit.h"

namespace tidemark {

namespace {

constexpr Bytes kPage = kCalibratedPage;
constexpr std::int64_t kProbeSchema = 2;

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

struct Fit {
  LineFit line;
  FitQuality quality;
};

std::int64_t rounded(double value) { return std::llround(value); }

/// Each point that is believed is foretold by the others, which tells how good the line is.
Fit fit_latency(const JsonValue& latencies, std::string_view key, std::string_view what,
                std::vector<std::string>& refused) {
  std::vector<FitPoint> all;
  for (const JsonValue& each : latencies.items) {
    all.push_back({static_cast<double>(whole(each, "bytes")) / static_cast<double>(kPage),
                   std::max(1.0, static_cast<double>(whole(each, key)))});
  }
  Fit fit{fit_line(all), {std::string(what), 0, 0, 0}};
  std::vector<FitPoint> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!std::ranges::binary_search(fit.line.refused, i)) {
      kept.push_back(all[i]);
      continue;
    }
    refused.push_back(fmt::format("{} of {} pages in {} ns, where the others say {}", what,
                                  all[i].x, all[i].y,
                                  rounded(fit.line.base.value + fit.line.slope.value * all[i].x)));
  }
  double sum = 0;
  for (std::size_t i = 0; kept.size() > 2 && i < kept.size(); ++i) {
    std::vector<FitPoint> others(kept);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const LineFit line = fit_line(others);
    const double foretold = line.base.value + line.slope.value * kept[i].x;
    const double error = std::abs(foretold - kept[i].y) / kept[i].y * 1e6;
    fit.quality.max_error_ppm = std::max(fit.quality.max_error_ppm, rounded(error));
    sum += error;
    ++fit.quality.held_out;
  }
  if (fit.quality.held_out > 0)
    fit.quality.mean_error_ppm = rounded(sum / static_cast<double>(fit.quality.held_out));
  return fit;
}

double amount(const JsonValue& value, std::string_view key) {
  using Kind = JsonValue::Kind;
  if (value.kind != Kind::kInteger && value.kind != Kind::kUnsigned && value.kind != Kind::kReal)
    fail(value.at, std::string(key), "expected a number");
  return value.real;
}

class Maker {
 public:
  enum Adds { kAdds };
  Maker(Calibration& calibration, Adds /*to what is there*/) : calibration_(calibration) {}
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
    const bool is_known = basis != Basis::kAssumed;
    put({std::string(key), value, basis, is_known ? value : 0, is_known ? value : 0,
         is_known ? 1 : 0});
  }

  void put(CalibrationEntry entry) {
    const auto at = std::ranges::find(calibration_.entries, entry.key, &CalibrationEntry::key);
    if (at != calibration_.entries.end()) {
      *at = std::move(entry);
    } else {
      calibration_.entries.push_back(std::move(entry));
    }
  }

  void put(std::string_view key, const Interval& value, Basis basis, std::int64_t count) {
    put({std::string(key), rounded(value.value), basis, rounded(value.low), rounded(value.high),
         count});
  }

  /// What the probe timed several times: KEY and, where it tells, KEY_spread.
  void put_timed(std::string_view key, const JsonValue& object, std::string_view name) {
    const std::int64_t value = whole(object, name);
    const JsonValue* spread = object.find(std::string(name) + "_spread");
    if (spread == nullptr || spread->items.size() != 3) return put(key, value, Basis::kMeasured);
    put({std::string(key), value, Basis::kMeasured, spread->items[0].integer,
         spread->items[1].integer, spread->items[2].integer});
  }

 private:
  Calibration& calibration_;
};

/// A rate of the card's peak, in thousandths; KEY_spread as in put_timed(). Errors: InputError
/// where no card of that name can do it.
void put_share(std::string_view key, const JsonValue& object, std::string_view name,
               std::uint64_t peak, Maker& maker) {
  constexpr double kPossible = 1.05;
  const JsonValue& rate = member(object, name);
  const auto share = [peak](const JsonValue& value, std::string_view what) {
    return amount(value, what) * 1000 / static_cast<double>(std::max<std::uint64_t>(peak, 1));
  };
  const double found = share(rate, name);
  if (found > kPossible * 1000) {
    fail(rate.at, std::string(name),
         fmt::format("is {:.1f} times the peak of the card", found / 1000),
         "measure it again; no card does more than its peak");
  }
  Interval interval{found, found, found};
  std::int64_t count = 1;
  const JsonValue* spread = object.find(std::string(name) + "_spread");
  if (spread != nullptr && spread->items.size() == 3) {
    interval.low = share(spread->items[0], name);
    interval.high = share(spread->items[1], name);
    count = spread->items[2].integer;
  }
  interval.value = std::clamp(interval.value, 1.0, 1000.0);
  maker.put(key, interval, Basis::kMeasured, count);
}

/// Times of the device's own: not of the pretend one, which takes none unless it was given some.
void measure_times(const JsonValue& probe, const DeviceSpec& device, Maker& maker,
                   Calibration& calibration) {
  // A bare launch is a part of what PyTorch takes to issue a kernel: only its own loop tells that.
  if (probe.find("host_op_ns") != nullptr)
    maker.put_timed("launch_overhead_ns", probe, "host_op_ns");
  if (probe.find("kernel_ns") != nullptr) maker.put_timed("kernel_floor_ns", probe, "kernel_ns");
  put_share("memory_share", probe, "bytes_per_s", device.memory_bytes_per_s, maker);
  const std::string& by = member(probe, "flops_by").text;
  if ((by == "cublas" || by == "pytorch") && device.bf16_flops_per_s > 0)
    put_share("matmul_share", member(probe, "flops_per_s"), "bf16", device.bf16_flops_per_s, maker);
  const JsonValue& latencies = member(probe, "latencies");
  struct Call {
    std::string_view measured, what, base, page;
  };
  for (const Call& call : {Call{"malloc_ns", "cudaMalloc", "malloc_ns", "malloc_page_ns"},
                           Call{"free_ns", "cudaFree", "free_ns", "free_page_ns"}}) {
    if (latencies.items.size() < 3) break;
    const Fit fit = fit_latency(latencies, call.measured, call.what, calibration.refused);
    const auto count = static_cast<std::int64_t>(latencies.items.size() - fit.line.refused.size());
    maker.put(call.base, fit.line.base, Basis::kInterpolated, count);
    maker.put(call.page, fit.line.slope, Basis::kInterpolated, count);
    calibration.fits.push_back(fit.quality);
  }
  // PyTorch maps page by page: what one page takes is what counts.
  if (!latencies.items.empty()) {
    maker.put_timed("map_ns", latencies.items.front(), "map_ns");
    maker.put_timed("unmap_ns", latencies.items.front(), "unmap_ns");
  }
}

/// Others on the device take of its time and memory.
void check_idle(const JsonValue& probe, Calibration& calibration) {
  calibration.idle = "yes";
  for (const std::string_view key : {"other_processes", "other_processes_after"}) {
    const JsonValue& value = member(probe, key);
    if (value.kind != JsonValue::Kind::kInteger)
      fail(value.at, std::string(key), "expected a whole number, or -1");
    if (value.integer < 0) calibration.idle = "not told";
    if (value.integer > 0) {
      fail(value.at, std::string(key),
           fmt::format("{} more on the device while it was measured", value.integer),
           "end them and measure again: they take of its time and memory");
    }
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
  if (const std::int64_t schema = whole(probe, "schema_version"); schema != kProbeSchema) {
    fail(probe.at, "schema_version",
         fmt::format("the probe is of another release: {}, not {}", schema, kProbeSchema),
         "measure again with the probe of this release");
  }
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
  const JsonValue* by = probe.find("by");
  calibration.by = by == nullptr ? "probe" : by->text;
  calibration.address_order = member(probe, "address_order").text;
  calibration.pretend = member(probe, "pretend").boolean;
  calibration.repeats = whole(probe, "repeats");
  calibration.took_ns = whole(probe, "took_ns");
  if (const std::string other = other_card(calibration, device); !other.empty())
    fail(probe.at, "device", "the probe " + other, "name the card with --device");
  check_idle(probe, calibration);
  Maker maker(calibration);
  // What this process has of a device that others use too is known to NVML alone.
  if (const JsonValue& context = member(probe, "context_bytes"); context.integer >= 0) {
    maker.put("context_bytes", context.integer + whole(probe, "first_kernel_bytes"),
              Basis::kMeasured);
  }
  maker.put("granularity_bytes", whole(probe, "granularity_bytes"), Basis::kMeasured);
  measure_libraries(probe, maker, calibration);
  const JsonValue* given = probe.find("given_times");
  if (!calibration.pretend || (given != nullptr && given->boolean))
    measure_times(probe, device, maker, calibration);
  return calibration;
}

Calibration assumed_calibration(const DeviceSpec& device) {
  Calibration calibration;
  calibration.device = device.name;
  calibration.compute_capability = device.compute_capability;
  calibration.total_bytes = device.total_bytes;
  calibration.idle = "not told";
  calibration.address_order = "down";
  const Maker maker(calibration);
  return calibration;
}

void calibrate_by_kernels(Calibration& calibration, const std::vector<KernelTime>& times,
                          const std::string& name, const DeviceSpec& device) {
  constexpr std::int64_t kFewest = 3;
  const ClassShares found = shares_of(times, device);
  std::int64_t believed = 0;
  for (const ClassShare& each : found.by_class) believed += each.count;
  if (static_cast<std::int64_t>(found.refused.size()) > believed) {
    fail({}, name,
         fmt::format("{} of {} kernels cannot be: {}", found.refused.size(),
                     static_cast<std::int64_t>(found.refused.size()) + believed,
                     found.refused.front()),
         "is it of this card?");
  }
  const auto key_of = [](CostClass kind) -> std::string_view {
    switch (kind) {
      case CostClass::kMatmul:
        return "matmul_share";
      case CostClass::kConvolution:
        return "convolution_share";
      case CostClass::kAttention:
        return "attention_share";
      default:
        return "memory_share";
    }
  };
  Maker maker(calibration, Maker::kAdds);
  // Traffic is measured best by what moves the most of it: elementwise comes first in the order.
  bool has_traffic = false;
  for (const ClassShare& each : found.by_class) {
    const std::string_view key = key_of(each.kind);
    if (each.count < kFewest || (key == "memory_share" && has_traffic)) continue;
    has_traffic = has_traffic || key == "memory_share";
    maker.put(key, each.share, Basis::kMeasured, each.count);
  }
  for (const ClassShare& each : found.by_size) {
    calibration.rates.push_back({std::string(cost_class_name(each.kind)),
                                 std::string(cost_precision_name(each.precision)), each.size,
                                 each.count, rounded(each.share.value), rounded(each.share.low),
                                 rounded(each.share.high)});
  }
  calibration.refused.insert(calibration.refused.end(), found.refused.begin(), found.refused.end());
}

}  // namespace tidemark
