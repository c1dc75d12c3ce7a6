#pragma once

#include <span>

#include "sim/ops/registry.h"

namespace tidemark::ops {

std::span<const OpDef>
pointwise_rules();  ///< pointwise_table.cc: element-wise operators given as data
std::span<const OpDef> embedding_ops();   ///< embedding_ops.cc
std::span<const OpDef> indexing_ops();    ///< scatter_ops.cc: gather, scatter, index_put, nonzero
std::span<const OpDef> sort_ops();        ///< sort_ops.cc: sort, topk, median, unique
std::span<const OpDef> arrange_ops();     ///< arrange_ops.cc: flip, roll, tril, repeat, meshgrid
std::span<const OpDef> repeating_ops();   ///< repeating_ops.cc: repeat_interleave
std::span<const OpDef> foreach_ops();     ///< foreach_ops.cc: the optimizers' operators on lists
std::span<const OpDef> resampling_ops();  ///< interpolate, grid_sample, shuffles, unfold, fold
std::span<const OpDef> convolution_ops();
std::span<const OpDef> recurrent_ops();
std::span<const OpDef> transformer_ops();  ///< the fused layers of inference
std::span<const OpDef> attention_ops();
std::span<const OpDef> padding_ops();
std::span<const OpDef> batch_norm_ops();       ///< batch_norm and instance_norm
std::span<const OpDef> norm_ops();             ///< layer_norm, rms_norm, group_norm
std::span<const OpDef> grouped_product_ops();  ///< grouped_product_ops.cc: grouped_mm
std::span<const OpDef> distance_ops();         ///< distance_ops.cc: cdist, pdist
std::span<const OpDef> scatter_reduce_ops();   ///< scatter_reduce_ops.cc: writes that reduce
std::span<const OpDef> window_ops();  ///< window_ops.cc: unfold, as_strided, views in place
std::span<const OpDef>
unpooling_ops();  ///< unpooling_ops.cc: unpooling, affine grids, weight norm, packing
std::span<const OpDef> complex_ops();   ///< complex_ops.cc: complex numbers and their parts
std::span<const OpDef> fourier_ops();   ///< fourier_ops.cc: transforms
std::span<const OpDef> counting_ops();  ///< counting_ops.cc: nansum, searchsorted, histc
std::span<const OpDef>
scattered_copies();  ///< scattered_copies.cc: slice_scatter and its like, block_diag
std::span<const OpDef> packed_copies();  ///< packed_copies.cc: many tensors, one buffer
std::span<const OpDef> linalg_ops();     ///< linalg_ops.cc: systems of equations

}  // namespace tidemark::ops
