#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/parallel_setup.h"

namespace tidemark {

/// A number that is the same in every step, or one a step: expressions of the model language ("64",
/// "batch_size").
struct StepValues {
  std::vector<std::string> values;  ///< empty: not given; one: constant; else one a step
  bool is_list = false;             ///< written as a list, even of one
  friend bool operator==(const StepValues&, const StepValues&) = default;
};

/// A tensor of a batch, made on the host in every step and sent to the device.
struct BatchTensor {
  /// Expression: "torch.zeros(batch, 3, 32, 32)"; may name batch, seq, image and step.
  std::string host;
  /// Known of the expression without running it; where not, the loop asks the tensor.
  std::optional<bool> is_floating;
  std::optional<std::size_t> dims;
  friend bool operator==(const BatchTensor&, const BatchTensor&) = default;
};

/// The shape of a training or inference loop: `train:` of a scenario, read and checked. All texts
/// are expressions of the model language. Source: training goldens, "The loop"; the options are
/// those of their configurations.
struct TrainSpec {
  enum class Precision : std::uint8_t { kFp32, kFp64, kBf16, kFp16, kAmpBf16, kAmpFp16 };
  enum class Cast : std::uint8_t { kHost, kDevice };
  enum class ZeroGradAt : std::uint8_t { kStart, kBeforeBackward, kEnd };
  enum class Metric : std::uint8_t { kNone, kDevice, kHost };
  enum class OnOom : std::uint8_t { kRaise, kStop, kNext };
  enum class Checkpoint : std::uint8_t { kNone, kEveryBlock, kEvery2, kReentrant };

  std::string steps = "3";
  StepValues batch;
  StepValues seq;
  StepValues image;
  std::vector<BatchTensor> inputs;    ///< the model's arguments, in order
  std::optional<BatchTensor> target;  ///< sent last; none: forward only, without a loss
  std::string data;  ///< in place of both: a list of host tensors, the last one the target

  std::string loss = "F.cross_entropy";  ///< called with the output and the target
  bool loss_is_expression = false;       ///< `loss` names out and y itself
  std::string optimizer = "torch.optim.AdamW";
  std::string optimizer_arguments = "lr=1e-3";
  /// Weight decay 0.1 for tensors of two dimensions and more, 0 for the rest.
  bool decay_groups = false;

  Precision precision = Precision::kFp32;
  Cast cast = Cast::kHost;  ///< where a model and inputs of pure precision are cast
  bool scaler = true;       ///< GradScaler, with kAmpFp16 alone
  bool channels_last = false;
  /// Given to the model as its attribute checkpoint_mode.
  Checkpoint checkpoint = Checkpoint::kNone;

  /// Ranks of DistributedDataParallel, this being rank 0; empty: not wrapped.
  std::string ddp_world;
  std::string ddp_arguments;             ///< further ones of its constructor: ", static_graph=True"
  std::optional<ParallelSpec> parallel;  ///< how the ranks of the job share the model

  /// Statements that are run once the model is made, before it goes to the device.
  std::string prepare;
  bool step_in_backward = false;  ///< each weight steps as soon as its gradient is there
  bool save_on_cpu = false;       ///< what forward saves for backward lies on the host

  std::string accumulate = "1";
  bool set_to_none = true;
  ZeroGradAt zero_grad_at = ZeroGradAt::kStart;
  std::string clip;  ///< largest norm; empty: no clipping
  std::optional<bool> clip_foreach;
  Metric metric = Metric::kNone;
  std::string validate_every;  ///< steps; empty: never
  std::string validate_batches = "2";
  bool training_mode = true;  ///< model.train(), else model.eval()
  bool no_grad = false;       ///< inference under no_grad: no loss, no optimizer
  bool forward_only = false;  ///< forward alone, without no_grad
  bool empty_cache = false;   ///< after each step
  bool expand = false;        ///< one sample made once, expanded to the batch in each step
  bool del_outputs = false;
  OnOom on_oom = OnOom::kRaise;
  friend bool operator==(const TrainSpec&, const TrainSpec&) = default;
};

/// The loop that `spec` stands for, as text in the model language, from the model's construction
/// (`model_expression`, made on the host) to the last step. Lifetimes are those of its statements;
/// phases have the goldens' names.
std::string train_to_loop(const TrainSpec& spec, std::string_view model_expression);

/// What stands before a loop that the user wrote: the model, made on the host and moved to the
/// device in phase "model".
std::string model_prologue(std::string_view model_expression);

}  // namespace tidemark
