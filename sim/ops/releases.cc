#include "sim/ops/releases.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "sim/base/check.h"

namespace tidemark::ops {

namespace {

template <auto Member>
void set(ReleaseRules& rules, std::uint8_t value) {
  using T = std::remove_reference_t<decltype(rules.*Member)>;
  rules.*Member = static_cast<T>(value);
}

template <class T>
constexpr ReleaseVariant variant(Version from, Version to, T value, std::string_view does) {
  return {{from, to}, static_cast<std::uint8_t>(value), does};
}

/// A rule that changed once: `before` up to the release before `since`, then `after`.
template <class T>
constexpr std::array<ReleaseVariant, ReleaseRule::kMaxVariants> changed(
    Version since, std::pair<T, std::string_view> before, std::pair<T, std::string_view> after) {
  const Version last{since.major, static_cast<std::uint8_t>(since.minor - 1)};
  return {variant(kOldestVersion, last, before.first, before.second),
          variant(since, kNewestVersion, after.first, after.second)};
}
/// The same of one that came with `since`.
constexpr std::array<ReleaseVariant, ReleaseRule::kMaxVariants> came(Version since,
                                                                     std::string_view before,
                                                                     std::string_view after) {
  return changed<bool>(since, {false, before}, {true, after});
}

/// Of names that came with a release.
constexpr std::string_view kIsNot = "does not exist";
constexpr std::string_view kIs = "exists";
constexpr std::string_view kByCudnn = "cuDNN's";

constexpr ReleaseRule kRules[] = {
    {"cublas_workspace", "cuBLAS's workspace",
     changed<CublasWorkspace>(
         {2, 15},
         {CublasWorkspace::kKept, "made at a thread's first product on a stream, and kept"},
         {CublasWorkspace::kCall,
          "made after each product's output and freed when the product is queued; with "
          "TORCH_CUBLAS_WORKSPACE_CACHE=1 as before"}),
     set<&ReleaseRules::cublas_workspace>, "pytorch/pytorch 194311"},
    {"wide_workspace_from_blackwell", "size of cuBLAS's workspace on Blackwell",
     came({2, 12}, "8.1 MiB, as on all but Hopper", "32 MiB, as on Hopper"),
     set<&ReleaseRules::wide_workspace_from_blackwell>, "pytorch/pytorch 175344"},
    {"cublaslt_workspace",
     "cuBLASLt's workspace (addmm and linear with a bias)",
     {variant({2, 4}, {2, 8}, CublasLtWorkspace::kCallBesideKept,
              "1 MiB for each call, beside cuBLAS's, which is made with the first"),
      variant({2, 9}, {2, 11}, CublasLtWorkspace::kKeptBesideKept,
              "1 MiB of its own, kept beside cuBLAS's"),
      variant({2, 12}, {2, 14}, CublasLtWorkspace::kShared, "cuBLAS's, and none of its own"),
      variant({2, 15}, {2, 15}, CublasLtWorkspace::kCall,
              "1 MiB for each call, and no other; with TORCH_CUBLAS_WORKSPACE_CACHE=1 as before")},
     set<&ReleaseRules::cublaslt_workspace>,
     "pytorch/pytorch 156495, 168175, 173002, 183923"},
    {"foreach_norm_by_chunks", "_foreach_norm (clip_grad_norm_)",
     came({2, 15}, "one buffer for as many chunks as the largest tensor has, for each tensor",
          "offsets of 8 bytes a tensor, and a buffer for the chunks that there are"),
     set<&ReleaseRules::foreach_norm_by_chunks>, "pytorch/pytorch 190549"},
    {"efficient_attention_seed", "efficient attention",
     came({2, 14}, "keeps no random state without dropout",
          "keeps two numbers of 8 bytes without dropout too"),
     set<&ReleaseRules::efficient_attention_seed>, "oracle"},
    {"efficient_attention_groups", "attention with enable_gqa and fewer heads of keys",
     came({2, 14}, "no efficient attention",
          "efficient attention, where flash attention cannot be"),
     set<&ReleaseRules::efficient_attention_groups>, "oracle"},
    {"flash_attention_seed", "flash attention",
     came({2, 7}, "makes no random state",
          "makes a random state of 16 and 8 bytes, and 16 more with dropout"),
     set<&ReleaseRules::flash_attention_seed>, "oracle"},
    {"half_group_norm_statistics", "group_norm of half-precision tensors",
     came({2, 13}, "mean and rstd in the tensor's type alone",
          "two more in fp32, for the length of the call"),
     set<&ReleaseRules::half_group_norm_statistics>, "pytorch/pytorch 183946"},
    {"rms_norm",
     "rms_norm",
     {variant({2, 4}, {2, 5}, RmsNorm::kNarrow,
              "pow, mean, add, rsqrt, mul, each with a node of its own, in the input's type"),
      variant({2, 6}, {2, 6}, RmsNorm::kWeightLast, "the same in fp32; cast before the weight"),
      variant({2, 7}, {2, 8}, RmsNorm::kCastLast, "the same in fp32; cast after the weight"),
      variant({2, 9}, {2, 15}, RmsNorm::kKernel, "one kernel, which keeps rstd")},
     set<&ReleaseRules::rms_norm>,
     "oracle"},
    {"rms_norm_autocasts", "rms_norm under autocast",
     came({2, 12}, "takes its arguments as they are", "in fp32"),
     set<&ReleaseRules::rms_norm_autocasts>, "oracle"},
    {"open_slice_is_whole", "a whole slice among several indices (x[:, 0])",
     came({2, 9}, "makes a node of its own, whose backward makes zeros of the whole input",
          "makes no node"),
     set<&ReleaseRules::open_slice_is_whole>, "oracle"},
    {"multinomial_extremes_first", "multinomial's checks",
     came({2, 12}, "each extreme is compared before the next is computed",
          "both extremes are computed first"),
     set<&ReleaseRules::multinomial_extremes_first>, "oracle"},
    {"index_put_extremes_first", "index_put_'s checks, where it sorts",
     came({2, 13}, "each extreme is compared before the next is computed",
          "both extremes are computed first"),
     set<&ReleaseRules::index_put_extremes_first>, "oracle"},
    {"multinomial_normalises_in_place", "multinomial with replacement",
     came({2, 15}, "normalises a copy of its copy of the distribution",
          "normalises its copy of the distribution in place"),
     set<&ReleaseRules::multinomial_normalises_in_place>, "oracle"},
    {"host_draws_by_mkl",
     "random numbers of the host: bernoulli_, dropout, exponential_, multinomial",
     changed<bool>({2, 7}, {true, "MKL's streams"}, {false, "the generator's own words"}),
     set<&ReleaseRules::host_draws_by_mkl>, "oracle"},
    {"numbers_fill_by_index", "x[index] = number, of one tensor of positions or one mask",
     came({2, 15}, "index_put_, for which positions put the number on the device",
          "index_fill_, masked_fill_"),
     set<&ReleaseRules::numbers_fill_by_index>, "oracle"},
    {"embedding_sorts_row_bits", "embedding's and embedding_bag's backward",
     came({2, 13}, "sorts all bits of the indices", "sorts as many bits as the number of rows has"),
     set<&ReleaseRules::embedding_sorts_row_bits>, "oracle"},
    {"embedding_renorm_sorts_flat", "embedding with max_norm",
     came({2, 13}, "sorts the indices row by row", "sorts all indices at once"),
     set<&ReleaseRules::embedding_renorm_sorts_flat>, "oracle"},
    {"group_norm_layout",
     "group_norm of other than contiguous, and of flat inputs",
     {variant({2, 4}, {2, 13}, GroupNormLayout::kCopiedBefore,
              "copies the input, and keeps the copy; sums by channel in backward of flat ones too"),
      variant({2, 14}, {2, 14}, GroupNormLayout::kCopiedInside,
              "copies the input for the length of each kernel; no sums by channel of flat ones"),
      variant({2, 15}, {2, 15}, GroupNormLayout::kKept,
              "takes channels_last as it is; no sums by channel of flat ones")},
     set<&ReleaseRules::group_norm_layout>,
     "oracle"},
    {"histc_extremes_first", "histc without a range",
     came({2, 12}, "drops the least value before it looks for the greatest",
          "computes both extremes first"),
     set<&ReleaseRules::histc_extremes_first>, "oracle"},
    {"bincount_extremes_first", "bincount",
     came({2, 13}, "drops the least value before it looks for the greatest",
          "computes both extremes first"),
     set<&ReleaseRules::bincount_extremes_first>, "oracle"},
    {"fused_encoder_of_any_head", "TransformerEncoderLayer's fast path",
     came({2, 12}, "fused attention for heads of a multiple of 8 alone",
          "fused attention for heads of every size that a kernel takes"),
     set<&ReleaseRules::fused_encoder_of_any_head>, "oracle"},
    {"ldexp_power_is_floating", "ldexp's backward",
     came({2, 14}, "the power of two in the exponent's type, which may be int64",
          "the power of two in floating point"),
     set<&ReleaseRules::ldexp_power_is_floating>, "oracle"},
    {"lp_pool_of_infinity_is_max_pool", "lp_pool of infinite norm",
     came({2, 13}, "avg_pool of powers", "max_pool of absolute values"),
     set<&ReleaseRules::lp_pool_of_infinity_is_max_pool>, "oracle"},
    {"asarray_keeps_history", "asarray of a tensor that requires grad",
     came({2, 12}, "is cut from its history", "keeps its history"),
     set<&ReleaseRules::asarray_keeps_history>, "oracle"},
    {"quantile_ranks_first", "quantile and nanquantile",
     came({2, 14}, "sorts first; ranks in the tensor's type",
          "computes the ranks first, in fp64; sorts then"),
     set<&ReleaseRules::quantile_ranks_first>, "oracle"},
    {"max_unpool_reads_strides", "max_unpool2d's backward",
     came({2, 14}, "copies a gradient that is not contiguous", "reads it as it lies"),
     set<&ReleaseRules::max_unpool_reads_strides>, "oracle"},
    {"bmm_of_one_multiplies", "bmm over an inner dimension of one",
     came({2, 13}, "cuBLAS's product", "an element-wise product, which takes no workspace"),
     set<&ReleaseRules::bmm_of_one_multiplies>, "oracle"},
    {"grouped_mm_more_tensor_maps", "grouped_mm's workspace",
     changed<bool>({2, 11},
                   {true, "5 tensor maps a multiprocessor on compute capability 9, 54 on 10"},
                   {false, "4 tensor maps a multiprocessor on compute capability 9, 42 on 10"}),
     set<&ReleaseRules::grouped_mm_more_tensor_maps>, "oracle"},
    {"linear_gives_views", "linear with a bias, of more than two dimensions",
     changed<bool>({2, 15},
                   {true, "gives a view of a matrix: written in place, it copies in backward"},
                   {false, "gives no view"}),
     set<&ReleaseRules::linear_gives_views>, "oracle"},
    {"attention_drops_projections", "MultiheadAttention",
     came({2, 12}, "keeps query, key and value until it ends",
          "drops them when the scores and the result are there"),
     set<&ReleaseRules::attention_drops_projections>, "torch/nn/functional.py"},
    {"addmm_bias",
     "addmm's bias by cuBLASLt",
     {variant({2, 4}, {2, 9}, AddmmBias::kVector, "a vector"),
      variant({2, 10}, {2, 10}, AddmmBias::kRowToSeveral,
              "a vector or a matrix of one row, where the product has several rows"),
      variant({2, 11}, {2, 15}, AddmmBias::kRow, "a vector or a matrix of one row")},
     set<&ReleaseRules::addmm_bias>,
     "oracle"},
    {"half_addmm_by_cublaslt", "addmm of half types with a whole matrix added",
     came({2, 15}, "cuBLAS's product", "cuBLASLt's"), set<&ReleaseRules::half_addmm_by_cublaslt>,
     "oracle"},
    {"clamp_splits_ties", "clamp with tensors as bounds, backward",
     came({2, 14}, "the gradient goes where the value is chosen from",
          "what is chosen from several alike is shared out"),
     set<&ReleaseRules::clamp_splits_ties>, "oracle"},
    {"graphs_die_by_members", "a graph that nobody ran backward through",
     came({2, 13}, "its last node drops what it saved in order, as the others do",
          "its last node drops what it saved last first"),
     set<&ReleaseRules::graphs_die_by_members>, "oracle"},
    {"topk_counters",
     "topk by many blocks",
     {variant({2, 4}, {2, 6}, TopkCounters::kNarrow, "counts with 32-bit numbers"),
      variant({2, 7}, {2, 9}, TopkCounters::kWide, "counts with 64-bit numbers"),
      variant({2, 10}, {2, 15}, TopkCounters::kDigitSums, "keeps sums of digits")},
     set<&ReleaseRules::topk_counters>,
     "oracle"},
    {"layer_norm_sums_in_blocks", "layer_norm's gradients of weight and bias over many rows",
     came({2, 8}, "summed at once", "partial sums first, then their sum"),
     set<&ReleaseRules::layer_norm_sums_in_blocks>, "oracle"},
    {"take_along_dim_wraps", "take_along_dim",
     came({2, 10}, "takes the indices as they are", "brings the indices into range first"),
     set<&ReleaseRules::take_along_dim_wraps>, "oracle"},
    {"cosine_epsilon_is_tensor", "cosine_similarity",
     came({2, 11}, "compares the norms with a number", "makes a tensor of epsilon"),
     set<&ReleaseRules::cosine_epsilon_is_tensor>, "oracle"},
    {"flash_parts_die_in_order", "flash attention over split keys",
     came({2, 7}, "drops the parts of the result first", "drops the parts of the softmax first"),
     set<&ReleaseRules::flash_parts_die_in_order>, "oracle"},
    {"embedding_sums_by_segment", "embedding's backward of few rows with many indices each",
     came({2, 11}, "sums in parts, then the parts", "sums each row in one block"),
     set<&ReleaseRules::embedding_sums_by_segment>, "oracle"},
    {"einsum_follows_output", "einsum whose second factor has the result's first dimensions",
     came({2, 9}, "multiplies the factors as they are given",
          "multiplies them the other way round, in the order of the result"),
     set<&ReleaseRules::einsum_follows_output>, "oracle"},
    {"whole_tensordot_is_dot", "tensordot and inner over all dimensions",
     came({2, 8}, "a product of a row and a column",
          "dot where both are contiguous, else a product and its sum"),
     set<&ReleaseRules::whole_tensordot_is_dot>, "oracle"},
    {"ldexp",
     "ldexp",
     {variant({2, 4}, {2, 4}, Ldexp::kNumber, "mul and a power of the number 2"),
      variant({2, 5}, {2, 10}, Ldexp::kTensor, "mul and a power of 2 in the mantissa's type"),
      variant({2, 11}, {2, 15}, Ldexp::kKernel, "one kernel")},
     set<&ReleaseRules::ldexp>,
     "oracle"},
    {"positions_move_first", "host tensors of positions that are broadcast",
     came({2, 9}, "spread on the host, then moved", "moved, then spread"),
     set<&ReleaseRules::positions_move_first>, "oracle"},
    {"attention_of_nothing_is_zeros", "scaled_dot_product_attention without a query or a key",
     came({2, 12}, "the same kernels as ever", "zeros, and the sums of all three"),
     set<&ReleaseRules::attention_of_nothing_is_zeros>, "oracle"},
    {"attention_softmax",
     "attention by other operators (math)",
     {variant({2, 4}, {2, 4}, AttentionSoftmax::kPlain, "softmax in the inputs' type"),
      variant({2, 5}, {2, 5}, AttentionSoftmax::kSafeCopied,
              "in fp32; rows that are masked as a whole become zeros in a copy"),
      variant({2, 6}, {2, 15}, AttentionSoftmax::kSafeInPlace,
              "in fp32; rows that are masked as a whole become zeros in place")},
     set<&ReleaseRules::attention_softmax>,
     "oracle"},
    {"bool_mask",
     "attention's masks of bools",
     {variant({2, 4}, {2, 4}, BoolMask::kFilled, "zeros, filled through the inverse"),
      variant({2, 5}, {2, 5}, BoolMask::kInverse, "where by the inverse"),
      variant({2, 6}, {2, 15}, BoolMask::kChosen, "where by the mask")},
     set<&ReleaseRules::bool_mask>,
     "oracle"},
    {"flash_blocks_per_sm",
     "flash attention's splits of the keys",
     {variant<std::uint8_t>({2, 4}, {2, 4}, 1, "as many as fill the GPU with a block each"),
      variant<std::uint8_t>({2, 5}, {2, 15}, 2, "as many as fill the GPU with two blocks each")},
     set<&ReleaseRules::flash_blocks_per_sm>,
     "oracle"},
    {"nonzero_drops_count_first", "nonzero",
     came({2, 6}, "keeps what it counted with until it has selected",
          "drops it when it has counted"),
     set<&ReleaseRules::nonzero_drops_count_first>, "oracle"},
    {"clip_grad_norm_drops_norms_first", "clip_grad_norm_",
     came({2, 6}, "keeps the gradients' norms until it ends",
          "drops them when it has the norm of all"),
     set<&ReleaseRules::clip_grad_norm_drops_norms_first>, "oracle"},
    {"nanmedian_halves_on_device", "nanmedian of everything",
     came({2, 5}, "reads the count of what is no number", "halves the count on the device"),
     set<&ReleaseRules::nanmedian_halves_on_device>, "oracle"},
    {"instance_norm_averages_always", "instance_norm's running statistics in evaluation",
     changed<bool>({2, 11}, {true, "are averaged over the instances, as in training"},
                   {false, "are left alone"}),
     set<&ReleaseRules::instance_norm_averages_always>, "oracle"},
    {"autocast_caches_in_inference", "autocast's copies of weights in inference mode",
     changed<bool>({2, 11}, {true, "are kept until the region ends, as elsewhere"},
                   {false, "are made anew for each use"}),
     set<&ReleaseRules::autocast_caches_in_inference>, "oracle"},
    {"autocast_copies_have_history", "autocast's copies of weights made under no_grad",
     came({2, 11}, "have no history: products of inputs that lie otherwise become batched ones",
          "have a history, for whoever uses them later"),
     set<&ReleaseRules::autocast_copies_have_history>, "oracle"},
    {"half_conv3d_by_cudnn",
     "convolutions of half types in three dimensions, with a kernel of more than one element",
     {variant({2, 4}, {2, 8}, true, kByCudnn),
      variant({2, 9}, {2, 9}, false, "PyTorch's own, with the cuDNN of its wheel (9.10.2)"),
      variant({2, 10}, {2, 15}, true, kByCudnn)},
     set<&ReleaseRules::half_conv3d_by_cudnn>,
     "oracle"},
    {"channels_last_depthwise_of_any_type",
     "depthwise convolutions of channels_last tensors of bfloat16 on devices without it",
     came({2, 9}, "PyTorch's own", kByCudnn),
     set<&ReleaseRules::channels_last_depthwise_of_any_type>, "oracle"},
    {"has_fused_adagrad", "torch.optim.Adagrad(fused=True)",
     came({2, 12}, "raises on a GPU", "one kernel"), set<&ReleaseRules::has_fused_adagrad>,
     "oracle"},
    {"collectives_record_streams", "collectives of torch.distributed",
     changed<bool>({2, 8},
                   {true,
                    "run on the communicator's stream, which is recorded on their tensors: what is "
                    "freed is given back when that stream has come past"},
                   {false, "run on the current stream, or keep their tensors until wait()"}),
     set<&ReleaseRules::collectives_record_streams>, "oracle"},
    {"all_gather_through_flat", "all_gather of a list of tensors of one size",
     changed<bool>({2, 15}, {true, "through one flat tensor"}, {false, "into them"}),
     set<&ReleaseRules::all_gather_through_flat>, "oracle"},
    {"pairs_have_communicators", "send and recv, one at a time, in a group made with device_id",
     changed<bool>({2, 9}, {true, "run on a stream of the pair's own"},
                   {false, "run on the group's stream"}),
     set<&ReleaseRules::pairs_have_communicators>, "pull request 156748"},
    {"has_adafactor", "torch.optim.Adafactor", came({2, 5}, kIsNot, kIs),
     set<&ReleaseRules::has_adafactor>, "oracle"},
    {"has_buffer", "torch.nn.Buffer", came({2, 5}, kIsNot, kIs), set<&ReleaseRules::has_buffer>,
     "oracle"},
    {"graph_collects", "torch.cuda.graph",
     changed<bool>({2, 9}, {true, "collects garbage first"}, {false, "only if asked"}),
     set<&ReleaseRules::graph_collects>, "torch/cuda/graphs.py"},
    {"graphs_have_seeds", "torch.cuda.CUDAGraph",
     changed<bool>({2, 14}, {true, "holds two numbers that random ones begin with"},
                   {false, "holds no tensors of its own"}),
     set<&ReleaseRules::graphs_have_seeds>, "oracle"},
    {"graphs_share_seeds", "numbers that random ones of a CUDA graph begin with",
     changed<bool>({2, 12}, {true, "shared by all graphs, made as the first begins to capture"},
                   {false, "each graph's own, of the default stream, until it is reset"}),
     set<&ReleaseRules::graphs_share_seeds>, "oracle"},
    {"graph_empties_host_cache", "torch.cuda.graph",
     came({2, 11}, "leaves pinned memory cached", "empties the cache of pinned memory"),
     set<&ReleaseRules::graph_empties_host_cache>, "torch/cuda/graphs.py"},
    {"has_muon", "torch.optim.Muon", came({2, 9}, kIsNot, kIs), set<&ReleaseRules::has_muon>,
     "oracle"},
    {"cub_allocations",
     "CUB's scans, selections and unique",
     {variant<std::uint8_t>({11, 8}, {12, 9}, 1, "round up one allocation"),
      variant<std::uint8_t>({13, 0}, {13, 2}, 2, "round up two allocations: 256 bytes more")},
     set<&ReleaseRules::cub_allocations>,
     "oracle",
     true},
    {"cub_unique_by_key_state",
     "CUB's unique by key (embedding's backward)",
     {variant<std::uint8_t>({11, 8}, {12, 4}, 8, "8 bytes a tile"),
      variant<std::uint8_t>({12, 6}, {13, 2}, 16, "16 bytes a tile")},
     set<&ReleaseRules::cub_unique_by_key_state>,
     "oracle",
     true},
    {"cub_policies",
     "CUB's tiles",
     {variant({11, 8}, {12, 1}, CubPolicies::kSortsAlone,
              "compute capability 9.0 sorts as 8.0; other kernels are the same for all"),
      variant({12, 4}, {13, 2}, CubPolicies::kAll, "each generation has its own")},
     set<&ReleaseRules::cub_policies>,
     "oracle",
     true},
};

}  // namespace

const ReleaseVariant& ReleaseRule::variant_of(const Wheel& wheel) const {
  const Version version = by_toolkit ? wheel.cuda : wheel.pytorch;
  const auto found = std::find_if(variants.begin(), variants.end(), [&](const ReleaseVariant& v) {
    return !v.does.empty() && v.releases.contain(version);
  });
  TIDEMARK_CHECK(found != variants.end(), fmt::format("{} of {}", name, to_string(version)));
  return *found;
}

std::string later_names(std::string_view module, Version release) {
  std::string out;
  for (const ReleaseRule& rule : kRules) {
    if (rule.variants.front().does != kIsNot) continue;
    if (rule.what.substr(0, rule.what.rfind('.')) != module) continue;
    const Version since = rule.variants.at(1).releases.from;
    if (since <= release) continue;
    out += fmt::format("{}{} is there since PyTorch {}", out.empty() ? "" : "; ", rule.what,
                       to_string(since));
  }
  return out;
}

std::uint8_t variant_of_rule(std::string_view name, const Wheel& wheel) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const ReleaseRule& rule) { return rule.name == name; });
  TIDEMARK_CHECK(found != std::end(kRules), fmt::format("no rule {}", name));
  return found->variant_of(wheel).value;
}

std::span<const ReleaseRule> release_rules() { return kRules; }

ReleaseRules rules_of(const Wheel& wheel) {
  ReleaseRules rules;
  for (const ReleaseRule& rule : kRules) rule.set(rules, rule.variant_of(wheel).value);
  return rules;
}

}  // namespace tidemark::ops
