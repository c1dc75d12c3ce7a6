#pragma once

#include <array>
#include <string_view>

namespace tidemark {

/// What plans and tables of kernel times call kinds of kernels, in the order of CostClass.
inline constexpr std::array<std::string_view, 8> kKernelKinds{
    "elementwise", "reduction", "matmul",   "convolution",
    "attention",   "copy_h2d",  "copy_d2h", "copy_d2d"};
/// Types that kernels compute in, in the order of CostPrecision.
inline constexpr std::array<std::string_view, 7> kKernelPrecisions{
    "fp32", "tf32", "fp16", "bf16", "fp64", "int8", "fp16_accumulated"};

}  // namespace tidemark
