#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/yaml/yaml_form.h"

namespace tidemark {

// The keys of a scenario, map by map: the readers, --set and the schema for editors know no others.
// What depends on several keys (a loop beside `train`, names that code has to have) is for the
// readers. Source: docs/scenario.md.

/// The most that `script.steps` may say.
inline constexpr std::int64_t kMostSteps = 1'000'000'000;

extern const yaml::Map kScenarioMap;
extern const yaml::Map kDeviceMap;
extern const yaml::Map kRanksMap;
extern const yaml::Map kPytorchMap;
extern const yaml::Map kAllocatorMap;
extern const yaml::Map kBackendsMap;
extern const yaml::Map kModelMap;
extern const yaml::Map kScriptMap;
extern const yaml::Map kTrainMap;
extern const yaml::Map kTensorMap;
extern const yaml::Map kOptimizerMap;
extern const yaml::Map kDdpMap;
extern const yaml::Map kParallelMap;
/// Those of kParallelStyles, in its order.
extern const std::span<const std::string_view> kParallelStyleNames;
extern const yaml::Map kOpMap;
extern const yaml::Map kOpStepMap;
extern const yaml::Map kSweepMap;
extern const yaml::Map kSweepRangeMap;
extern const yaml::Map kSweepWhenMap;

}  // namespace tidemark
