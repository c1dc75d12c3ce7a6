#pragma once

#include <string>

#include "sim/cli/output.h"
#include "sim/format/request_trace.h"
#include "sim/run/scenario.h"

namespace tidemark::cli {

/// A scenario's plan (docs/formats/plan.md) for its own device. Errors: InputError where the code
/// asks for memory figures, or needs several devices: a plan is fixed beforehand.
/// What it rests on is told on `err`.
std::string plan_of(const Scenario& scenario, const std::string& name, Output& err);

/// A .tmt, packed or not, by its name.
bool is_trace(const std::string& path);

/// What a scenario or trace is called in files: its name without folder and endings.
std::string input_name(const std::string& path);

/// The settings of --alloc-conf for request traces. Errors: InputError.
AllocatorSettings trace_settings(const std::string& conf, Version version = kTraceRelease);

/// The same of a request trace. Errors: InputError; IoError.
std::string plan_of_trace(const std::string& path, const std::string& name,
                          const DeviceSpec& device, const AllocatorSettings& settings);

}  // namespace tidemark::cli
