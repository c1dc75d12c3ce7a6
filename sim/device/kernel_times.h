#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/device_spec.h"
#include "sim/device/robust_fit.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// One kernel as it was timed on a device.
struct KernelTime {
  Cost cost;
  std::string op;
  std::string by;  ///< whose code ran: "cublas", "cudnn", "pytorch"; "kernel": a stand-in
  std::int64_t ns = 0;
};

/// NAME.kernels.csv of the harness, or what kernel_times.py makes of a profiler's trace
/// (docs/formats/plan.md). Errors: InputError with the line.
std::vector<KernelTime> read_kernel_times(std::string_view text, std::string_view name);

/// As plans name them: "matmul", "bf16".
std::string_view cost_class_name(CostClass kind);
std::string_view cost_precision_name(CostPrecision precision);

/// What a class of work reaches of the card's peak rate.
struct ClassShare {
  CostClass kind = CostClass::kMatmul;
  CostPrecision precision = CostPrecision::kFp32;
  int size = 0;  ///< decimal digits of the operations, or of the bytes where traffic is the work
  std::int64_t count = 0;
  Interval share;  ///< of the peak, in thousandths
};

struct ClassShares {
  std::vector<ClassShare> by_class;  ///< one a class, all precisions and sizes
  std::vector<ClassShare> by_size;
  std::vector<std::string> refused;  ///< kernels that are not believed, and why
};

/// Shares of the classes that were timed. A kernel counts where a library that PyTorch takes ran
/// it, where it lasts twice the shortest kernel at least, and where arithmetic is what it waits for
/// (of elementwise, reductions and copies: traffic). What is faster than the card's peak, and what
/// is three times slower than the middle, is refused by name.
ClassShares shares_of(const std::vector<KernelTime>& times, const DeviceSpec& device);

}  // namespace tidemark
