#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/ops/context.h"

namespace tidemark::ops {

/// Memory that cuDNN asks for by itself, around a kernel (workspace) or until backward (reserve).
enum class CudnnBuffer : std::uint8_t {
  kConvolutionForward,
  kConvolutionBackwardData,
  kConvolutionBackwardFilter,
  kBatchNormForward,
  kBatchNormReserve,
  kBatchNormBackward,
  kAttentionForward,
  kAttentionBackward,
  kRnnForward,
  kRnnReserve,
  kRnnBackward,
};

struct CudnnBufferSize {
  CudnnBuffer buffer;
  Bytes bytes;
  std::string_view origin;
};

/// What is assumed for them. cuDNN picks sizes by closed heuristics; a measured figure belongs
/// here, with its origin. Source: docs/rules/convolution.md#3, docs/rules/normalisation.md#1,
/// docs/rules/attention.md#4, docs/rules/recurrent.md.
inline constexpr std::array<CudnnBufferSize, 11> kCudnnBuffers{{
    {CudnnBuffer::kConvolutionForward, 0, "assumed: closed heuristic, not measured"},
    {CudnnBuffer::kConvolutionBackwardData, 0, "assumed: closed heuristic, not measured"},
    {CudnnBuffer::kConvolutionBackwardFilter, 0, "assumed: closed heuristic, not measured"},
    {CudnnBuffer::kBatchNormForward, 0, "assumed: none in the SPATIAL mode"},
    {CudnnBuffer::kBatchNormReserve, 0, "assumed: none in the SPATIAL mode"},
    {CudnnBuffer::kBatchNormBackward, 0, "assumed: none in the SPATIAL mode"},
    {CudnnBuffer::kAttentionForward, 0, "assumed: the plan's own part, not measured"},
    {CudnnBuffer::kAttentionBackward, 0, "assumed: the plan's own part, not measured"},
    {CudnnBuffer::kRnnForward, 0, "assumed: not measured"},
    {CudnnBuffer::kRnnReserve, 0, "assumed: not measured"},
    {CudnnBuffer::kRnnBackward, 0, "assumed: not measured"},
}};

constexpr Bytes cudnn_bytes(CudnnBuffer buffer) {
  return kCudnnBuffers[static_cast<std::size_t>(buffer)].bytes;
}
/// The buffer, alive as long as the handle; zero bytes take no memory. A convolution's is at least
/// what Backends::cudnn_workspace says.
inline Tensor cudnn_buffer(Context& c, CudnnBuffer buffer, Device device) {
  const bool is_convolution = buffer <= CudnnBuffer::kConvolutionBackwardFilter;
  const Bytes asked = is_convolution ? c.backends.cudnn_workspace : 0;
  return c.scratch(std::max(asked, cudnn_bytes(buffer)), device);
}

}  // namespace tidemark::ops
