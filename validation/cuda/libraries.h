#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "validation/cuda/plan.h"
#include "validation/cuda/workspaces.h"

namespace harness {

/// NVIDIA's libraries, opened when they are there: the harness links none that a machine may lack.
bool has_cublas();
bool has_cudnn();

/// What a library's handle takes of the device's memory when it is made, in bytes; -1 where the
/// library is not there. Requires: no work of that library was done before.
std::int64_t cublas_bytes();
std::int64_t cudnn_bytes();
/// A communicator of one device.
std::int64_t nccl_bytes();

/// A square product of about so many operations, within the memory given, as often as comes nearest
/// to them; how many it did. 0: no cuBLAS, or too little memory.
std::uint64_t square_product(const std::string& precision, std::uint64_t flops, void* p,
                             std::uint64_t span, cudaStream_t stream);

/// What a library made of a kernel.
struct Answer {
  bool ran = false;  ///< false: it is not there, or cannot do this one
  /// Of a convolution: what the plan that PyTorch would choose asks for; -1: not asked.
  std::int64_t workspace_bytes = -1;
};

/// Whether PyTorch has cuBLASLt do this product, with what it adds.
bool is_by_lt(const Kernel& kernel);

/// A kernel by the library that does it in PyTorch, by the calls that PyTorch makes: `matmul` by
/// cuBLAS or cuBLASLt, `convolution` by a plan of cuDNN's graphs. `places`: an address for each
/// operand, inputs first; null: not at hand. `workspace`: what the library may work in.
Answer run_by_library(const Kernel& kernel, const std::vector<void*>& places,
                      const Workspace& workspace, cudaStream_t stream);

}  // namespace harness
