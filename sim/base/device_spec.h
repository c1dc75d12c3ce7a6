#pragma once

#include <cstdint>
#include <string>

#include "sim/base/bytes.h"

namespace tidemark {

/// What the rest of the program needs to know of one GPU. Plain data, filled from configs/devices/.
/// Source: docs/rules/devices.md.
struct DeviceSpec {
  std::string id;              ///< "h100-sxm-80gb"
  std::string name;            ///< as the driver says it: "NVIDIA H100 80GB HBM3"
  Bytes total_bytes = 0;       ///< cudaGetDeviceProperties: the capacity that counts
  Bytes context_bytes = 0;     ///< gone once a context exists
  int compute_capability = 0;  ///< major * 10 + minor: 90, 86, 120
  int sm_count = 0;
  int max_threads_per_sm = 0;  ///< 2048, 1536 or 1024
  Bytes shared_memory_per_sm = 0;
  Bytes shared_memory_per_block_optin = 0;
  Bytes l2_bytes = 0;
  std::uint64_t memory_bytes_per_s = 0;
  std::uint64_t fp32_flops_per_s = 0;
  std::uint64_t tf32_flops_per_s = 0;  ///< 0: the device has none
  std::uint64_t fp16_flops_per_s = 0;
  std::uint64_t bf16_flops_per_s = 0;
  std::uint64_t fp64_flops_per_s = 0;
  std::uint64_t fp8_flops_per_s = 0;
  std::uint64_t fp16_accumulated_flops_per_s = 0;  ///< summed up in fp16; 0: as fp16
};

}  // namespace tidemark
