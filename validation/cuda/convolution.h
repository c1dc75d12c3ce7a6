#pragma once

#include "validation/cuda/libraries.h"

namespace harness {

/// A convolution, or a gradient of one, by cuDNN. As run_by_library(). Without places it is not
/// run, and the workspace told all the same.
Answer convolve(const Kernel& kernel, const std::vector<void*>& places, const Workspace& workspace,
                cudaStream_t stream);

}  // namespace harness
