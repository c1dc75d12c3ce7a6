#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/device_spec.h"
#include "sim/base/rank.h"
#include "sim/base/routing.h"
#include "sim/base/source.h"
#include "sim/base/wheel.h"
#include "sim/lang/runtime/interp.h"
#include "sim/lang/runtime/notes.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/ops/context.h"
#include "sim/program/kernel_details.h"
#include "sim/program/source.h"
#include "sim/torch/modules/model_watch.h"
#include "sim/torch/tensors/compiled_code.h"
#include "sim/torch/tensors/custom_op_spec.h"
#include "sim/torch/tensors/run_notes.h"

namespace tidemark::lang {
class Alike;
}  // namespace tidemark::lang

namespace tidemark::graph {
class OpGraph;
struct Details;
}  // namespace tidemark::graph

namespace tidemark::torch {

struct Mailbox;

/// A model and the loop that trains or runs it, as code in the model language.
struct ModelProgram {
  /// Run first, as the module that the loop shares: classes and functions of the model. May be
  /// null.
  std::shared_ptr<const SourceText> model;
  /// Named values, bound between model and loop: name and expression.
  std::vector<std::pair<std::string, std::shared_ptr<const SourceText>>> names;
  /// Operators that the user declares.
  std::vector<CustomOpSpec> ops;
  /// What values that are not known are taken for, by place (lang::parse_given_value), or
  /// lang::kAssumeZeros.
  std::vector<std::string> assume;
  /// Run before the loop. May be null.
  std::shared_ptr<const SourceText> setup;
  /// What PyTorch leaves to chance takes its latest end, in place of its earliest.
  bool takes_late_ends = false;
  /// The loop, or a whole program.
  std::shared_ptr<const SourceText> loop;
  /// `loop` is a program of its own: no name is there without an import, `names` are not bound, and
  /// phases are named by what it does.
  bool is_script = false;
  /// Takes the graph as people look at it; null: nobody asks.
  graph::Details* details = nullptr;
  /// Takes what each kernel works on; null: nobody asks.
  KernelDetails* kernels = nullptr;
  /// Takes the models that the code calls or names; null: nobody asks.
  std::vector<WatchedModel>* watched = nullptr;
  /// The files that the code may see; null: none. `path` is where its imports look, of which
  /// `packages` have installed packages.
  std::shared_ptr<lang::SourceFiles> files;
  std::vector<std::string> path;
  std::vector<std::string> packages;
  std::vector<std::string> arguments;  ///< sys.argv
  std::vector<std::pair<std::string, std::string>> environment;
  std::uint32_t end_after_steps = 0;  ///< of optimizers; 0: it goes on to its own end
  std::int64_t end_at_ns = 0;         ///< of the host's clock; 0: it goes on to its own end
  lang::Limits limits;
  ops::Backends backends;
  CompileMode compile = CompileMode::kModel;
  Wheel wheel = kDefaultWheel;      ///< the PyTorch that runs it
  std::vector<DeviceSpec> devices;  ///< at least one
  /// The process that the program is, of a job of several; none: it was not started as one.
  std::optional<Rank> rank;
  /// How routers spread tokens over experts; none: what they choose is not known.
  std::optional<Routing> routing;
  /// Takes which ranks of the job do the same; null: nobody asks.
  lang::Alike* alike = nullptr;
  /// What other ranks send; null: nothing of them is known.
  Mailbox* mailbox = nullptr;
  /// Turns of loops that repeat earlier ones are left out, and the sink is told (Sink::repeat).
  bool leave_out_repeats = false;
  /// The process ends soon after this run: what the run made is left standing. Taking it apart is a
  /// tenth of a small run.
  bool is_last = false;
};

/// Runs a model's code abstractly and gives what it asks of the device. Everything that the code
/// still holds at its end stays allocated: nothing is torn down.
class ModelSource final : public Source {
 public:
  /// `print` takes what the code prints; null: it is dropped.
  ModelSource(ModelProgram program, lang::PrintSink print);
  ~ModelSource() override;
  /// Errors: InputError with a place in the code. An out-of-memory error that the code does not
  /// handle ends the run: ended_by_oom() tells.
  void run(Program& program, Sink& sink) override;
  [[nodiscard]] bool ended_by_oom() const { return ended_by_oom_; }
  /// PyTorch's text of the failure that ended the run; empty without one.
  [[nodiscard]] const std::string& oom_message() const { return oom_message_; }
  /// What the run rests on, in the order in which it was first asked. Requires: run() has returned.
  [[nodiscard]] const std::vector<lang::Assumption>& assumptions() const { return assumptions_; }
  /// What it rests on besides conditions, in the order in which it was first noted. Requires: as
  /// assumptions().
  [[nodiscard]] const std::vector<lang::Note>& notes() const { return notes_.all(); }
  /// The operators that the code called, by name, sorted. Requires: run() has returned.
  [[nodiscard]] const std::vector<std::string_view>& operators() const { return operators_; }
  /// PYTORCH_ALLOC_CONF as the program set it before it asked for memory; empty: it did not.
  /// Requires: as assumptions().
  [[nodiscard]] const std::string& allocator_conf() const { return allocator_conf_; }
  /// The computation graph that the run recorded. Requires: run() has returned.
  [[nodiscard]] const graph::OpGraph& graph() const { return *graph_; }

 private:
  ModelProgram model_;
  lang::PrintSink print_;
  std::unique_ptr<graph::OpGraph> graph_;
  std::string oom_message_;
  std::string allocator_conf_;
  std::vector<lang::Assumption> assumptions_;
  RunNotes notes_;
  std::vector<std::string_view> operators_;
  bool ended_by_oom_ = false;
};

}  // namespace tidemark::torch
