#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/release.h"

namespace tidemark::ops {

/// How long cuBLAS's workspace lives: made at a handle's first use on a stream and kept, or taken
/// for each call.
enum class CublasWorkspace : std::uint8_t { kKept, kCall };
/// What a product with the bias epilogue, which cuBLASLt computes, takes: a workspace of its own
/// for the call beside cuBLAS's, one of its own that is kept beside cuBLAS's, cuBLAS's, or one of
/// its own for the call.
enum class CublasLtWorkspace : std::uint8_t { kCallBesideKept, kKeptBesideKept, kShared, kCall };

/// How a search for the largest k by many blocks counts: with 32-bit numbers, with 64-bit ones, or
/// with sums of digits in place of a counter.
enum class TopkCounters : std::uint8_t { kNarrow, kWide, kDigitSums };
/// What group_norm does with an input that is not contiguous: copies it and keeps the copy for
/// backward, copies it for the length of a kernel, or takes channels_last as it is.
enum class GroupNormLayout : std::uint8_t { kCopiedBefore, kCopiedInside, kKept };

/// What rms_norm is: other operators, in the input's type, or in fp32 with the result cast before
/// or after the weight is multiplied in; or one kernel.
enum class RmsNorm : std::uint8_t { kNarrow, kWeightLast, kCastLast, kKernel };
/// What addmm may add by cuBLASLt's bias epilogue: a vector; that or a matrix of one row, to a
/// product of several rows; or that to any.
enum class AddmmBias : std::uint8_t { kVector, kRowToSeveral, kRow };

/// The softmax of attention by other operators: as any other, in the inputs' type; or in fp32, with
/// rows that are masked as a whole zeroed in a copy, or in place.
enum class AttentionSoftmax : std::uint8_t { kPlain, kSafeCopied, kSafeInPlace };
/// How attention makes numbers of a mask of bools: fills zeros through the inverse, chooses by the
/// inverse, or chooses by the mask.
enum class BoolMask : std::uint8_t { kFilled, kInverse, kChosen };
/// What ldexp is: a product with a power of the number 2, of 2 in the mantissa's type, or a kernel.
enum class Ldexp : std::uint8_t { kNumber, kTensor, kKernel };
/// For which generations of GPUs CUB has tile sizes of its own: up to 8.0 for sorts and for nothing
/// else, or all.
enum class CubPolicies : std::uint8_t { kSortsAlone, kAll };

/// What one PyTorch does, where not all releases do the same: one member a rule, picked once from
/// the table of release_rules() when a program starts. Operators read it and know no release.
struct ReleaseRules {
  CublasWorkspace cublas_workspace = CublasWorkspace::kKept;
  CublasLtWorkspace cublaslt_workspace = CublasLtWorkspace::kKeptBesideKept;
  bool wide_workspace_from_blackwell = false;
  bool foreach_norm_by_chunks = false;
  bool efficient_attention_seed = false;
  bool efficient_attention_groups = false;
  bool flash_attention_seed = true;
  bool half_group_norm_statistics = false;
  RmsNorm rms_norm = RmsNorm::kKernel;
  bool rms_norm_autocasts = false;
  bool open_slice_is_whole = true;
  bool multinomial_extremes_first = false;
  bool multinomial_normalises_in_place = false;
  bool host_draws_by_mkl = false;
  bool index_put_extremes_first = false;
  bool numbers_fill_by_index = false;
  bool embedding_sorts_row_bits = false;
  bool embedding_renorm_sorts_flat = false;
  GroupNormLayout group_norm_layout = GroupNormLayout::kCopiedBefore;
  bool histc_extremes_first = false;
  bool bincount_extremes_first = false;
  bool fused_encoder_of_any_head = false;
  bool ldexp_power_is_floating = false;
  bool lp_pool_of_infinity_is_max_pool = false;
  bool asarray_keeps_history = false;
  bool quantile_ranks_first = false;
  bool max_unpool_reads_strides = false;
  bool bmm_of_one_multiplies = false;
  bool grouped_mm_more_tensor_maps = false;  ///< of a multiprocessor
  bool linear_gives_views = true;
  bool attention_drops_projections = false;
  AddmmBias addmm_bias = AddmmBias::kRow;
  bool half_addmm_by_cublaslt = false;
  bool clamp_splits_ties = false;
  bool graphs_die_by_members = false;
  TopkCounters topk_counters = TopkCounters::kDigitSums;
  bool layer_norm_sums_in_blocks = true;
  bool take_along_dim_wraps = true;
  bool cosine_epsilon_is_tensor = true;
  bool flash_parts_die_in_order = true;
  bool embedding_sums_by_segment = true;
  bool einsum_follows_output = true;
  bool whole_tensordot_is_dot = true;
  Ldexp ldexp = Ldexp::kKernel;
  bool positions_move_first = true;
  bool attention_of_nothing_is_zeros = false;
  AttentionSoftmax attention_softmax = AttentionSoftmax::kSafeInPlace;
  BoolMask bool_mask = BoolMask::kChosen;
  std::uint8_t flash_blocks_per_sm = 2;  ///< that splitting the keys is to fill
  bool nonzero_drops_count_first = true;
  bool clip_grad_norm_drops_norms_first = true;
  bool nanmedian_halves_on_device = true;
  bool instance_norm_averages_always = false;
  bool autocast_caches_in_inference = false;
  bool autocast_copies_have_history = true;
  bool half_conv3d_by_cudnn = true;
  bool channels_last_depthwise_of_any_type = true;
  bool has_fused_adagrad = false;
  bool collectives_record_streams = false;
  bool all_gather_through_flat = true;
  bool pairs_have_communicators = false;
  bool has_adafactor = true;
  bool has_buffer = true;
  bool graph_collects = false;
  bool graphs_have_seeds = false;
  bool graphs_share_seeds = false;
  bool graph_empties_host_cache = true;
  bool has_muon = true;
  std::uint8_t cub_allocations = 2;           ///< that tiles' states stand in, and room to align
  std::uint8_t cub_unique_by_key_state = 16;  ///< bytes a tile
  CubPolicies cub_policies = CubPolicies::kAll;
};

/// What some releases do.
struct ReleaseVariant {
  Releases releases;
  std::uint8_t value = 0;      ///< of the member of ReleaseRules
  std::string_view does = {};  ///< in words, for people; empty: not in use
};

/// One thing that PyTorch's releases do differently.
struct ReleaseRule {
  static constexpr std::size_t kMaxVariants = 4;
  std::string_view name;  ///< of the member of ReleaseRules
  std::string_view what;  ///< the operator or library
  /// Every known release (toolkit of CUDA, where these decide) is in exactly one.
  std::array<ReleaseVariant, kMaxVariants> variants;
  void (*set)(ReleaseRules&, std::uint8_t);
  std::string_view source;
  bool by_toolkit = false;  ///< the variants' versions are of the wheel's CUDA toolkit

  /// Requires: a known release.
  [[nodiscard]] const ReleaseVariant& variant_of(const Wheel& wheel) const;
};

/// What later releases than `release` have in the module: "torch.optim.Muon is there since PyTorch
/// 2.9", one after another; empty: nothing that is known.
std::string later_names(std::string_view module, Version release);
/// The number of the variant of the rule of that name. Requires: there is one; a known release.
std::uint8_t variant_of_rule(std::string_view name, const Wheel& wheel);
/// All of them, in the order of docs/releases.md.
std::span<const ReleaseRule> release_rules();
/// Requires: a known release.
ReleaseRules rules_of(const Wheel& wheel);

}  // namespace tidemark::ops
