#pragma once

#include "sim/yaml/yaml_form.h"

namespace tidemark {

// The keys of a scenario, map by map: the readers, --set and the schema for editors know no others.
// What depends on several keys (a loop beside `train`, names that code has to have) is for the
// readers. Source: docs/scenario.md.

extern const lang::YamlMap kScenarioMap;
extern const lang::YamlMap kDeviceMap;
extern const lang::YamlMap kAllocatorMap;
extern const lang::YamlMap kBackendsMap;
extern const lang::YamlMap kModelMap;
extern const lang::YamlMap kTrainMap;
extern const lang::YamlMap kTensorMap;
extern const lang::YamlMap kOptimizerMap;
extern const lang::YamlMap kDdpMap;
extern const lang::YamlMap kOpMap;
extern const lang::YamlMap kOpStepMap;
extern const lang::YamlMap kSweepMap;
extern const lang::YamlMap kSweepRangeMap;
extern const lang::YamlMap kSweepWhenMap;

}  // namespace tidemark
