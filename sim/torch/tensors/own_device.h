#pragma once

#include "sim/torch/tensors/session.h"

/// A rank's own device, where the run asks which ranks of a job do the same.
namespace tidemark::torch {

/// torch.device.index: a value of each rank's own where it is the own device of the rank that runs.
lang::Value device_number(lang::Interp& interp, ops::Device device);
/// The current device, which the program names by leaving the number out.
ops::Device device_in_use(Session& session);

}  // namespace tidemark::torch
