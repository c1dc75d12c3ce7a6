#pragma once

#include <string>

#include "sim/base/device_spec.h"
#include "sim/device/calibration.h"
#include "sim/format/snapshot.h"

namespace tidemark {

/// What a memory snapshot tells of the card it was recorded on. At each request that was refused
/// PyTorch kept what was free: what neither was free nor its allocator's is the context, with what
/// libraries hold, if nobody else used the card. The order of the driver's addresses is that of its
/// segments. What is not told stays as it is; `calibration.refused` says so.
/// Errors: InputError naming `name` where it cannot have been this card.
void calibrate_by_snapshot(Calibration& calibration, const Snapshot& snapshot,
                           const std::string& name, const DeviceSpec& device);

}  // namespace tidemark
