#pragma once

#include <memory>
#include <optional>

#include "sim/alloc/allocator.h"
#include "sim/alloc/device_memory.h"
#include "sim/alloc/event_clock.h"
#include "sim/alloc/settings.h"

namespace tidemark {

/// The allocator that `settings.backend` names. `memory_fraction`: what
/// set_per_process_memory_fraction() was called with before the first request; std::nullopt: not
/// called. Range: [0, 1]. Requires: `device` and `clock` outlive the allocator.
std::unique_ptr<Allocator> make_allocator(const AllocatorSettings& settings, DeviceMemory& device,
                                          EventClock& clock,
                                          std::optional<double> memory_fraction = std::nullopt);

}  // namespace tidemark
