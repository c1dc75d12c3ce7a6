#pragma once

#include <cstdint>

#include "sim/base/bytes.h"
#include "sim/base/device_spec.h"
#include "sim/base/sim_time.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// Calls into the driver that take time.
enum class DriverCall : std::uint8_t { kMalloc, kFree, kReserve, kMap, kUnmap };

/// How long things take, from a device's published figures. A roofline: a kernel lasts as long as
/// the slower of its arithmetic and its traffic, never less than kernel_floor_ns:
///
///     max(kernel_floor_ns, bytes / (bandwidth x memory share), flops / (peak rate x arithmetic
///     share))
///
/// Caches, occupancy and overlap within a kernel are not modelled; on one stream no byte of memory
/// depends on any of it. Shares are in thousandths of the peak. Each figure can be set for a device
/// that was measured.
struct CostModel {
  /// Host time to issue one kernel or copy. General knowledge: 4 to 8 us in eager PyTorch.
  Nanoseconds launch_overhead_ns = 5'000;
  /// The shortest kernel. General knowledge: 2 to 4 us.
  Nanoseconds kernel_floor_ns = 2'500;
  /// Source: docs/rules/devices.md#4: bf16 products reach 73 to 87 % of the peak on A100 to GB200.
  std::uint32_t matmul_share = 780;
  /// Convolutions and attention reach less; a middle figure, not measured.
  std::uint32_t convolution_share = 600;
  std::uint32_t attention_share = 550;
  /// Elementwise and reductions are bound by traffic; their arithmetic runs at this share of the
  /// fp32 peak.
  std::uint32_t plain_share = 500;
  /// Source: docs/rules/devices.md#4: a device copy on H200 moves 4.3 of 4.8 TB/s.
  std::uint32_t memory_share = 850;
  /// Host to device and back: PCIe 4.0 x16 as pageable memory sees it. General knowledge.
  std::uint64_t host_link_bytes_per_s = 12'000'000'000;
  /// cudaMalloc: a call, and each 2 MiB page that it maps. Source:
  /// docs/rules/devices.md#3.3, for the order of size.
  Nanoseconds malloc_ns = 50'000;
  Nanoseconds malloc_page_ns = 1'500;
  /// cudaFree, after the wait for the device.
  Nanoseconds free_ns = 40'000;
  Nanoseconds free_page_ns = 500;
  /// Reserving addresses; making, mapping and opening one page; taking it away. Source:
  /// docs/rules/devices.md#3.3.
  Nanoseconds reserve_ns = 20'000;
  Nanoseconds map_ns = 60'000;
  Nanoseconds unmap_ns = 40'000;
  friend bool operator==(const CostModel&, const CostModel&) = default;
};

/// The time of a kernel or copy on its stream. A precision that the device has no figure for runs
/// at its fp32 rate, fp64 at half of it where it is not given. Errors: none; a device without
/// figures gives kernel_floor_ns.
Nanoseconds kernel_ns(const CostModel& model, const DeviceSpec& device, const Cost& cost);

/// The host time of one driver call on `bytes`, waits not included. kMap and kUnmap: one page.
Nanoseconds driver_call_ns(const CostModel& model, DriverCall call, Bytes bytes);

}  // namespace tidemark
