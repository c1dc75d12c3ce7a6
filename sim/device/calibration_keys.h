#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sim/device/calibration.h"

namespace tidemark {

/// An entry that sets a figure of the cost model.
struct CostKey {
  std::string_view key;
  Nanoseconds CostModel::*time = nullptr;
  std::uint32_t CostModel::*share = nullptr;
};

inline constexpr std::array kCostKeys{
    CostKey{"launch_overhead_ns", &CostModel::launch_overhead_ns},
    CostKey{"kernel_floor_ns", &CostModel::kernel_floor_ns},
    CostKey{"matmul_share", nullptr, &CostModel::matmul_share},
    CostKey{"convolution_share", nullptr, &CostModel::convolution_share},
    CostKey{"attention_share", nullptr, &CostModel::attention_share},
    CostKey{"plain_share", nullptr, &CostModel::plain_share},
    CostKey{"memory_share", nullptr, &CostModel::memory_share},
    CostKey{"malloc_ns", &CostModel::malloc_ns},
    CostKey{"malloc_page_ns", &CostModel::malloc_page_ns},
    CostKey{"free_ns", &CostModel::free_ns},
    CostKey{"free_page_ns", &CostModel::free_page_ns},
    CostKey{"reserve_ns", &CostModel::reserve_ns},
    CostKey{"map_ns", &CostModel::map_ns},
    CostKey{"unmap_ns", &CostModel::unmap_ns},
};
inline constexpr std::array<std::string_view, 6> kMemoryKeys{
    "context_bytes", "granularity_bytes", "cublas_bytes",
    "cudnn_bytes",   "nccl_bytes",        "cudnn_workspace_bytes"};
inline constexpr Bytes kCalibratedPage = Bytes{2} << 20U;

/// Why a calibration is of another card than `device`; empty: it is of this one.
std::string other_card(const Calibration& calibration, const DeviceSpec& device);

}  // namespace tidemark
