#include "sim/study/fit.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/device/device.h"
#include "sim/lang/yaml.h"

namespace tidemark {
namespace {

/// What people call the things that they vary, by the names that scenarios give them.
struct Alias {
  std::string_view word;
  std::array<std::string_view, 4> parameters;
  std::string_view key;  ///< of train; empty: none
};
constexpr std::array<Alias, 3> kAliases{{
    {"batch", {"batch", "batch_size", "bs", ""}, "batch"},
    {"length", {"seq", "seq_len", "length", "tokens"}, "seq"},
    {"layers", {"layers", "n_layer", "depth", "blocks"}, ""},
}};

const Parameter* integer_parameter(const Scenario& scenario, std::string_view name) {
  for (const Parameter& parameter : scenario.params) {
    if (!name.empty() && parameter.name == name && parameter.integer) return &parameter;
  }
  return nullptr;
}

class Search {
 public:
  Search(const ScenarioSource& source, const FitOptions& options, std::string path)
      : source_(source), options_(options), path_(std::move(path)) {}

  const FitProbe& probe(std::int64_t value) {
    const auto known = probes_.find(value);
    if (known != probes_.end()) return known->second;
    return probes_
        .emplace(value, probe_of(changed(source_, {{{path_, std::to_string(value)}}, {}}), value))
        .first->second;
  }

  FitProbe probe_of(const ScenarioSource& source, std::int64_t value) const {
    const Trial trial = try_scenario(source);
    FitProbe probe;
    probe.value = value;
    probe.error = trial.error;
    if (!trial.error.empty()) return probe;
    const Bytes total = trial.result.devices.front().spec.total_bytes;
    const Bytes headroom =
        static_cast<Bytes>(static_cast<Wide>(total) * options_.headroom_ppm / 1'000'000U);
    probe.fits = trial.fits && trial.spare >= headroom;
    probe.retries = trial.retries;
    probe.peak_reserved = trial.peak_reserved;
    probe.spare = trial.spare;
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
    result.path = path_;
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

  const ScenarioSource& source_;
  const FitOptions& options_;
  std::string path_;
  std::map<std::int64_t, FitProbe> probes_;
};

[[noreturn]] void refuse(std::string_view over, std::string message, std::string hint) {
  throw InputError(
      Problem{{}, fmt::format("--over {}", over), std::move(message), std::move(hint)});
}

/// The integer that stands there now; 1 where the path names none of the usual ones.
std::int64_t value_at(const Scenario& scenario, std::string_view path) {
  if (path.starts_with("params.")) {
    const Parameter* parameter = integer_parameter(scenario, path.substr(7));
    return parameter == nullptr ? 1 : *parameter->integer;
  }
  if (!scenario.train) return 1;
  const StepValues* values = path == "train.batch" ? &scenario.train->batch
                             : path == "train.seq" ? &scenario.train->seq
                                                   : nullptr;
  if (values == nullptr || values->values.empty()) return 1;
  lang::YamlNode node;
  node.kind = lang::YamlNode::Kind::kScalar;
  node.text = values->values.front();
  return yaml_integer(node).value_or(1);
}

}  // namespace

std::string fit_path(const Scenario& scenario, std::string_view over) {
  for (const Alias& alias : kAliases) {
    if (alias.word != over) continue;
    for (const std::string_view name : alias.parameters) {
      if (integer_parameter(scenario, name) != nullptr) return fmt::format("params.{}", name);
    }
    if (!alias.key.empty() && scenario.train) {
      const StepValues& values = alias.key == "batch" ? scenario.train->batch : scenario.train->seq;
      if (values.values.size() == 1) return fmt::format("train.{}", alias.key);
      if (values.values.size() > 1)
        refuse(over, "the scenario gives one a step", "set a single value");
    }
    refuse(over, "the scenario has no parameter of that kind",
           "name the key or parameter to vary: --over params.width");
  }
  if (over.find('.') != std::string_view::npos) return std::string(over);
  if (integer_parameter(scenario, over) != nullptr) return fmt::format("params.{}", over);
  std::vector<std::string_view> names{"batch", "length", "layers", "device"};
  for (const Parameter& parameter : scenario.params) names.push_back(parameter.name);
  refuse(over, "is no parameter with an integer value", did_you_mean(over, names));
}

FitResult fit(const ScenarioSource& source, const FitOptions& options) {
  const Scenario scenario = read_scenario(source);
  const std::string path = fit_path(scenario, options.over);
  Search search(source, options, path);
  const std::int64_t first = value_at(scenario, path);
  const FitProbe& as_given = search.probe(std::max<std::int64_t>(first, 1));
  if (!as_given.error.empty())
    refuse(options.over, as_given.error, "run it with `tidemark run` to see where");
  return search.run(std::max<std::int64_t>(first, 1));
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
  const Search search(source, options, "device");
  std::size_t fitting = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].probe = search.probe_of(changed(source, {{{"device", devices[i].device}}, {}}), 0);
    if (devices[i].probe.fits && ++fitting > after) {
      devices.resize(i + 1);
      break;
    }
  }
  return devices;
}

}  // namespace tidemark
