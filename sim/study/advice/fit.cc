#include "sim/study/advice/fit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/device/device.h"
#include "sim/study/advice/script_numbers.h"

namespace tidemark {
namespace {

class Search {
 public:
  Search(const FitOptions& options, Varied varied)
      : options_(options), varied_(std::move(varied)) {}

  const FitProbe& probe(std::int64_t value) {
    const auto known = probes_.find(value);
    if (known != probes_.end()) return known->second;
    return probes_.emplace(value, probe_of(varied_.with(value), value)).first->second;
  }

  FitProbe probe_of(const ScenarioSource& source, std::int64_t value) const {
    const Trial trial = try_scenario(source);
    FitProbe probe;
    probe.value = value;
    probe.error = trial.error;
    if (!trial.error.empty()) return probe;
    const Bytes total = trial.result.devices.front().spec.total_bytes;
    probe.fits = trial.fits() && trial.spare >= headroom_bytes(total, options_.headroom_ppm);
    probe.retries = trial.retries;
    probe.peak_reserved = trial.peak_reserved;
    probe.spare = trial.spare;
    probe.basis = trial.result;
    return probe;
  }

  FitResult run(std::int64_t first) {
    std::int64_t low = 0;
    std::int64_t high = options_.highest + 1;
    std::int64_t next = std::clamp<std::int64_t>(first, 1, options_.highest);
    std::int64_t stride = 0;  // 0: no guess yet
    while (high - low > 1) {
      (probe(next).fits ? low : high) = next;
      const bool is_open = high > options_.highest;
      if (stride == 0 && guess().value_or(0) > low) {
        next = *guess();
        stride = 1;
      } else if (is_open) {
        next = stride == 0 ? std::max<std::int64_t>(low, 1) * 2 : low + stride;
        stride *= 2;
      } else if (stride > 0 && high - low > 2 * stride) {
        next = high - stride;  // the line led too high
        stride *= 2;
      } else {
        next = low + (high - low) / 2;
      }
      next = std::clamp(next, low + 1, std::max(low + 1, high - 1));
    }
    for (std::int64_t i = 1; low > 0 && i <= options_.window; ++i) {
      if (low + 1 + i > options_.highest || !probe(low + 1 + i).fits) continue;
      low += 1 + i;
      while (low < options_.highest && probe(low + 1).fits) ++low;
      i = 0;
    }
    FitResult result;
    result.path = varied_.shown;
    result.reached_highest = low == options_.highest;
    if (low > 0) result.best = low;
    for (std::int64_t i = 1; i <= options_.window; ++i) {
      if (low - i >= 1) probe(low - i);
    }
    for (const auto& [value, one] : probes_) {
      if (value < low && !one.fits) result.holes.push_back(value);
      if (value > low && one.fits) result.islands.push_back(value);
      result.probes.push_back(one);
    }
    return result;
  }

 private:
  /// Where the straight line through the two largest values that fit meets the device's room.
  std::optional<std::int64_t> guess() const {
    const FitProbe* below = nullptr;
    const FitProbe* above = nullptr;
    for (const auto& [value, one] : probes_) {
      if (!one.fits) continue;
      below = above;
      above = &one;
    }
    if (below == nullptr || above->peak_reserved <= below->peak_reserved) return std::nullopt;
    const auto rise = static_cast<Wide>(above->peak_reserved - below->peak_reserved);
    const auto steps = static_cast<Wide>(above->value - below->value);
    const auto room = static_cast<Wide>(above->spare);
    return above->value + static_cast<std::int64_t>(room * steps / rise);
  }

  const FitOptions& options_;
  Varied varied_;
  std::map<std::int64_t, FitProbe> probes_;
};

}  // namespace

FitResult fit(const ScenarioSource& source, const FitOptions& options) {
  const Varied varied = require_varied(source, "--over", options.over);
  Search search(options, varied);
  const std::int64_t first = std::max<std::int64_t>(varied.value, 1);
  const FitProbe& as_given = search.probe(first);
  if (!as_given.error.empty()) {
    throw InputError(Problem{{},
                             fmt::format("--over {}", options.over),
                             as_given.error,
                             "run it with `tidemark run` to see where"});
  }
  return search.run(first);
}

FitGrid fit_grid(const ScenarioSource& source, const FitOptions& options,
                 const std::string& beside) {
  const Varied other = require_varied(source, "--over", beside);
  FitGrid grid;
  grid.path = require_varied(source, "--over", options.over).shown;
  grid.beside_path = other.shown;
  const std::int64_t given = std::max<std::int64_t>(other.value, 1);
  for (std::int64_t eighths = 2; eighths <= 64; eighths *= 2) {
    const std::int64_t value = given * eighths / 8;
    if (value < 1) continue;
    FitGrid::Row row;
    row.beside = value;
    try {
      row.fit = fit(other.with(value), options);
    } catch (const InputError& error) {
      if (value == given) throw;
      row.error = error.problems().front().message;
    }
    const bool nothing_fits = !row.fit.best;
    grid.rows.push_back(std::move(row));
    if (nothing_fits) break;
  }
  return grid;
}

std::vector<DeviceProbe> fit_devices(const ScenarioSource& source, const FitOptions& options,
                                     std::size_t after) {
  read_scenario(source);
  std::vector<DeviceProbe> devices;
  for (const std::string_view id : device_ids()) {
    const Device device = load_device(id);
    devices.push_back({std::string(id), device.spec.name, device.spec.total_bytes, {}});
  }
  std::stable_sort(devices.begin(), devices.end(),
                   [](const auto& a, const auto& b) { return a.total_bytes < b.total_bytes; });
  const Search search(options, {});
  std::size_t fitting = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].probe = search.probe_of(overridden(source, {{"device", devices[i].device}}), 0);
    if (devices[i].probe.fits && ++fitting > after) {
      devices.resize(i + 1);
      break;
    }
  }
  return devices;
}

}  // namespace tidemark
