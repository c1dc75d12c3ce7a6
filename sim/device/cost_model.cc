#include "sim/device/cost_model.h"

#include <algorithm>

namespace tidemark {
namespace {

constexpr Bytes kPage = 2 * kMiB;

std::uint64_t share_of(std::uint64_t rate, std::uint32_t thousandths) {
  return static_cast<std::uint64_t>(static_cast<Wide>(rate) * thousandths / 1000);
}

std::uint64_t peak_rate(const DeviceSpec& device, CostPrecision precision) {
  const auto or_fp32 = [&](std::uint64_t rate) {
    return rate != 0 ? rate : device.fp32_flops_per_s;
  };
  switch (precision) {
    case CostPrecision::kFp32:
      return device.fp32_flops_per_s;
    case CostPrecision::kTf32:
      return or_fp32(device.tf32_flops_per_s);
    case CostPrecision::kFp16:
      return or_fp32(device.fp16_flops_per_s);
    case CostPrecision::kBf16:
      return or_fp32(device.bf16_flops_per_s);
    case CostPrecision::kFp64:
      return device.fp64_flops_per_s != 0 ? device.fp64_flops_per_s : device.fp32_flops_per_s / 2;
    case CostPrecision::kInt8:
      return or_fp32(device.fp16_flops_per_s);
    case CostPrecision::kFp16Accumulated:
      return or_fp32(device.fp16_accumulated_flops_per_s != 0 ? device.fp16_accumulated_flops_per_s
                                                              : device.fp16_flops_per_s);
  }
  return device.fp32_flops_per_s;
}

std::uint32_t arithmetic_share(const CostModel& model, CostClass kind) {
  switch (kind) {
    case CostClass::kMatmul:
      return model.matmul_share;
    case CostClass::kConvolution:
      return model.convolution_share;
    case CostClass::kAttention:
      return model.attention_share;
    default:
      return model.plain_share;
  }
}

Nanoseconds time_at(std::uint64_t amount, std::uint64_t rate) {
  return amount == 0 || rate == 0 ? 0 : duration_at_rate(amount, rate);
}

Nanoseconds per_page(Nanoseconds call, Nanoseconds page, Bytes bytes) {
  return call + page * static_cast<Nanoseconds>(round_up(bytes, kPage) / kPage);
}

}  // namespace

Nanoseconds kernel_ns(const CostModel& model, const DeviceSpec& device, const Cost& cost) {
  const bool crosses_host_link =
      cost.kind == CostClass::kCopyHostToDevice || cost.kind == CostClass::kCopyDeviceToHost;
  const std::uint64_t memory_rate = crosses_host_link
                                        ? model.host_link_bytes_per_s
                                        : share_of(device.memory_bytes_per_s, model.memory_share);
  const std::uint64_t arithmetic_rate =
      share_of(peak_rate(device, cost.precision), arithmetic_share(model, cost.kind));
  const Nanoseconds own = std::max({model.kernel_floor_ns, time_at(cost.bytes_moved, memory_rate),
                                    time_at(cost.flops, arithmetic_rate)});
  const bool has_tf32 = device.tf32_flops_per_s != 0;
  if (!cost.is_turned || (cost.precision == CostPrecision::kTf32 && !has_tf32)) return own;
  return own + time_at(2 * cost.bytes_moved, memory_rate);
}

Nanoseconds driver_call_ns(const CostModel& model, DriverCall call, Bytes bytes) {
  switch (call) {
    case DriverCall::kMalloc:
      return per_page(model.malloc_ns, model.malloc_page_ns, bytes);
    case DriverCall::kFree:
      return per_page(model.free_ns, model.free_page_ns, bytes);
    case DriverCall::kReserve:
      return model.reserve_ns;
    case DriverCall::kMap:
      return model.map_ns;
    case DriverCall::kUnmap:
      return model.unmap_ns;
  }
  return 0;
}

}  // namespace tidemark
