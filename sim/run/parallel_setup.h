#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

/// How the ranks of a job share a model: `train.parallel` of a scenario, read and checked. Numbers
/// are expressions of the model language. Source: torch.distributed.fsdp.fully_shard,
/// torch.distributed.tensor.parallel.parallelize_module, torch.distributed.pipelining,
/// torch.distributed.tensor.experimental.context_parallel.
struct ParallelSpec {
  std::string fsdp;             ///< ranks that share each parameter; empty: all that are left
  std::string replicate = "1";  ///< copies of the sharded model
  std::string tp = "1";         ///< ranks that share each layer of `plan`
  std::string cp = "1";         ///< ranks that share each sequence
  std::string pp = "1";         ///< ranks that have one part of the blocks each
  std::string ep = "1";         ///< of `fsdp`: ranks that share the experts among them
  /// Modules whose parameters have an expert an entry of their first dimension, by path, where *
  /// stands for one name. They take and give (experts, rows, width).
  std::vector<std::string> experts;
  /// Of tensor parallelism: a module's path, where * stands for one name, and what becomes of it
  /// ("blocks.*.attn.qkv", "colwise").
  std::vector<std::pair<std::string, std::string>> plan;
  bool reshard = true;                   ///< after forward
  bool offload = false;                  ///< parameters and optimizer state on the host
  std::optional<std::string> precision;  ///< of what is gathered: "torch.bfloat16"; reduced in fp32

  std::string schedule = "1F1B";  ///< a class of torch.distributed.pipelining, without "Schedule"
  std::string microbatches;       ///< that a batch is cut into; empty: one a stage
  std::string stages;             ///< of each rank; empty: 1, or 2 where the schedule wants several
  /// Buffers of the model, by path, and the dimension along which they are as long as a sequence.
  std::vector<std::pair<std::string, std::string>> sequence_buffers;
  friend bool operator==(const ParallelSpec&, const ParallelSpec&) = default;

  [[nodiscard]] bool has_pipeline() const { return pp != "1"; }
  [[nodiscard]] bool has_context() const { return cp != "1"; }
  [[nodiscard]] bool has_experts() const { return ep != "1"; }
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

/// A schedule of pipeline stages.
struct PipelineSchedule {
  std::string_view name;  ///< "interleaved"
  std::string_view kind;  ///< "Interleaved1F1B"
  bool is_v = false;      ///< a rank has one stage of the first half, and its mirror of the second
  bool has_several = false;  ///< stages a rank
};
inline constexpr PipelineSchedule kPipelineSchedules[] = {
    {"gpipe", "GPipe"},
    {"1f1b", "1F1B"},
    {"interleaved", "Interleaved1F1B", false, true},
    {"looped_bfs", "LoopedBFS", false, true},
    {"zero_bubble", "InterleavedZeroBubble", false, true},
    {"zbv", "ZBVZeroBubble", true, true},
    {"dualpipev", "DualPipeV", true, true}};

/// What a loop has that a pipeline's stages need of it.
struct ParallelLoop {
  std::vector<std::string> inputs;  ///< expressions of a batch on the host: the model's arguments
  std::string loss;                 ///< expression of out and y
  /// The type that the model is cast to later ("torch.bfloat16"); empty: it stays as it is.
  std::string dtype;
};

/// The lines, in the model language, that share `model` among the ranks of the job, one an entry,
/// without their line ends. Blocks are entries of a ModuleList or a Sequential that have modules of
/// their own. They are sharded one by one, then the rest as a whole. With a pipeline, each stage
/// has an equal share of them; `model` is then a list of this rank's stages.
std::vector<std::string> parallel_setup(const ParallelSpec& spec, const ParallelLoop& loop);

/// The lines that make the pipeline's schedule `_schedule` of stages that are on the device.
std::vector<std::string> pipeline_schedule(const ParallelSpec& spec, const ParallelLoop& loop);

/// The contexts in which sequences are shared: `inputs` are the names of what is as long as one.
std::string sequence_context(const ParallelSpec& spec, const std::vector<std::string>& inputs);

}  // namespace tidemark
