#pragma once

#include <vector>

#include "sim/graph/inductor/pass_graph.h"

namespace tidemark::graph::inductor {

/// Strides as PyTorch's fake tensors have them, by node, once they have gone through a pass whose
/// inputs are laid out as the forward pass left them. What is not behind such an input keeps what
/// was traced. Source: docs/rules/compile.md#4; torch's fake_tensor_prop.
std::vector<ops::Dims> fake_strides(const PassGraph& pass);

/// Without gaps and without elements that share a place.
bool is_dense(const ops::Dims& sizes, const ops::Dims& strides);

/// A convolution of these gives channels last, and so do its gradients. Source: torch's fake_impls
/// (conv), cudnn_conv_suggest_memory_format.
bool convolves_channels_last(const GraphNode& x, const ops::Dims& x_strides,
                             const GraphNode& weight, const ops::Dims& weight_strides);
/// A result of a convolution, laid out so or not.
ops::Dims convolved_strides(const ops::Dims& sizes, bool is_last);
/// The same strides but for dimensions of one element.
/// Whether a tensor that lies so has its channels innermost, as far as strides can say.
bool suggests_channels_last(const ops::Dims& sizes, const ops::Dims& strides);
bool lies_as(const ops::Dims& sizes, const ops::Dims& a, const ops::Dims& b);
/// The strides of an array without gaps whose dimensions lie as these say. Source: torch's
/// get_stride_order.
ops::Dims dense_in_order(const ops::Dims& sizes, const ops::Dims& strides);

}  // namespace tidemark::graph::inductor
