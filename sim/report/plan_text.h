#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/base/device_spec.h"
#include "sim/program/kernel_details.h"
#include "sim/program/source.h"
#include "sim/study/replay/replay.h"

namespace tidemark {

/// What becomes of a plan at a request that is refused as foreseen: a program ends, a trace goes
/// on.
enum class AfterRefusal : std::uint8_t { kEnds, kGoesOn };

/// What a program asks of a device, as text that a harness on a real one executes: requests and
/// frees, the driver calls that the allocator makes for them, kernels by kind, operands and work,
/// stream order, marks. Source: docs/formats/plan.md. `result`: of replay() with these
/// instructions, its events kept. Cost: linear.
std::string plan_text(const std::string& name, std::span<const Instruction> instructions,
                      const Program& program, const KernelDetails& kernels,
                      const DeviceSpec& device, const ReplayResult& result, AfterRefusal then);

}  // namespace tidemark
