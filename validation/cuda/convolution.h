#pragma once

#include <initializer_list>

#include "validation/cuda/libraries.h"

namespace harness {

/// The first of these shared libraries that is there; null: none.
void* open_library(std::initializer_list<const char*> names);

/// A convolution, or a gradient of one, by cuDNN. As run_by_library(). Without places it is not
/// run, and the workspace told all the same.
Answer convolve(const Kernel& kernel, const std::vector<void*>& places, cudaStream_t stream);

}  // namespace harness
