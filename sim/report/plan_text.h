#pragma once

#include <span>
#include <string>

#include "sim/base/device_spec.h"
#include "sim/program/source.h"
#include "sim/study/replay.h"

namespace tidemark {

/// What a program asks of a device, as text that a harness on a real one executes: requests and
/// frees, the driver calls that the allocator makes for them, kernels by kind and work, stream
/// order, marks. Source: docs/formats/plan.md. `result`: of replay() with these instructions, its
/// events kept. Cost: linear.
std::string plan_text(const std::string& name, std::span<const Instruction> instructions,
                      const Program& program, const DeviceSpec& device, const ReplayResult& result);

}  // namespace tidemark
