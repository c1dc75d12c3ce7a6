#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace harness {

/// Work of a kind on some memory: moves `bytes` through [p, p + span) and computes `flops`,
/// whatever the values. Requires: span > 0 when bytes > 0.
cudaError_t work(const std::string& kind, std::uint64_t flops, std::uint64_t bytes, void* p,
                 std::uint64_t span, cudaStream_t stream);

/// A kernel that does nothing, on the default stream.
cudaError_t empty_kernel();

}  // namespace harness
