#pragma once

#include <initializer_list>

namespace harness {

/// The first of these shared libraries that is there: where LD_LIBRARY_PATH says; else in the
/// packages of a Python (nvidia-cublas and its kin), since PyTorch there has those: that of
/// TIDEMARK_TORCH, of the environment that is active, of the path; else where the loader looks.
/// Null: none.
void* open_library(std::initializer_list<const char*> names);

}  // namespace harness
