#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

/// How the ranks of a job share a model: `train.parallel` of a scenario, read and checked. Numbers
/// are expressions of the model language. Source: torch.distributed.fsdp.fully_shard,
/// torch.distributed.tensor.parallel.parallelize_module.
struct ParallelSpec {
  std::string fsdp;             ///< ranks that share each parameter; empty: all that are left
  std::string replicate = "1";  ///< copies of the sharded model
  std::string tp = "1";         ///< ranks that share each layer of `plan`
  /// Of tensor parallelism: a module's path, where * stands for one name, and what becomes of it
  /// ("blocks.*.attn.qkv", "colwise").
  std::vector<std::pair<std::string, std::string>> plan;
  bool reshard = true;                   ///< after forward
  bool offload = false;                  ///< parameters and optimizer state on the host
  std::optional<std::string> precision;  ///< of what is gathered: "torch.bfloat16"; reduced in fp32
  friend bool operator==(const ParallelSpec&, const ParallelSpec&) = default;
};

/// What becomes of a module in a plan.
struct ParallelStyle {
  std::string_view name;  ///< "colwise"
  std::string_view call;  ///< "ColwiseParallel()"
};
inline constexpr ParallelStyle kParallelStyles[] = {
    {"colwise", "ColwiseParallel()"},
    {"rowwise", "RowwiseParallel()"},
    {"colwise_rep", "ColwiseParallel(output_layouts=Replicate())"},
    {"rowwise_rep", "RowwiseParallel(input_layouts=Replicate())"},
    {"sequence_parallel", "SequenceParallel()"}};

/// The lines, in the model language, that shard `model` over the ranks of the job, one an entry,
/// without their line ends. Blocks (entries of a ModuleList or a Sequential that have modules of
/// their own) are sharded one by one, then the rest as a whole.
std::vector<std::string> parallel_setup(const ParallelSpec& spec);

}  // namespace tidemark
