#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/graph/op_graph.h"
#include "sim/ops/context.h"
#include "sim/ops/dispatch_mode.h"
#include "sim/ops/kernel_shape.h"
#include "sim/program/kernel_details.h"
#include "sim/program/source.h"
#include "sim/torch/emitter/graph_recorder.h"
#include "sim/torch/emitter/kept_state.h"
#include "sim/torch/emitter/operator_watch.h"

namespace tidemark::torch {

/// Requests of code that is being compiled are pretended: numbers of their own, which nobody
/// serves.
inline constexpr ops::RequestNumber kPretended = 0x40000000U;
constexpr bool is_pretended(ops::RequestNumber request) {
  return request != ops::kNoMemory && !ops::is_pinned(request) && (request & kPretended) != 0;
}

/// Who answers them, and hears what else operators ask for.
class Pretender {
 public:
  Pretender() = default;
  Pretender(const Pretender&) = delete;
  Pretender& operator=(const Pretender&) = delete;
  virtual ~Pretender() = default;
  virtual ops::RequestNumber allocate(Bytes bytes, ops::Device device) = 0;
  virtual void release(ops::RequestNumber request) = 0;
  virtual void set_role(ops::RequestNumber request, ops::Role role) = 0;
  virtual void launch(ops::Device device, std::uint64_t flops, std::uint64_t bytes_moved,
                      ops::KernelClass kind, ops::ScalarType precision) = 0;
  /// The program ends. `what`: a stream, a copy between host and device, ...
  virtual void refuse(std::string_view what) = 0;
};

/// Turns what kernels ask for into instructions for a Sink, and what operators read and make into
/// the computation graph.
///
/// Every request is answered before allocate() returns, since any code may handle a refusal; what
/// else is asked waits for the next request or question.
class Emitter final : public ops::Memory,
                      public ops::Recorder,
                      public ops::ShapeTaker,
                      public ops::DispatchMode {
 public:
  Emitter(Program& program, Sink& sink);

  // ---- ops::Memory
  ops::RequestNumber allocate(Bytes bytes, ops::Device device, std::uint16_t stream) override;
  void release(ops::RequestNumber request) override;
  void set_role(ops::RequestNumber request, ops::Role role) override;
  void use(ops::RequestNumber request, ops::Device device, std::uint16_t stream) override;
  void take_host(Bytes bytes) override { push_pageable(bytes, 1); }
  void give_host(Bytes bytes) override { push_pageable(bytes, 0); }
  ops::RequestNumber allocate_pinned(Bytes bytes) override;
  void use_pinned(ops::RequestNumber request, ops::Device device, std::uint16_t stream) override;

  // ---- ops::Recorder
  std::uint32_t add_op(std::string_view name, std::uint32_t module_label,
                       const std::vector<const ops::Tensor*>& inputs, ops::Node* node) override;
  void writes(const ops::Tensor& tensor) override {
    if (kept_state_.is_watching() && pretender_ == nullptr)
      kept_state_.writes(tensor, module_label_);
  }
  void set_label(std::uint32_t module_label, std::string_view op) override {
    module_label_ = module_label;
    op_ = op;
    label_known_ = false;
    under_way_.node = nullptr;  // which may be gone when the operator ends
  }
  void launch(ops::Device device, std::uint64_t flops, std::uint64_t bytes_moved,
              ops::KernelClass kind, ops::ScalarType precision) override;
  void set_stream(ops::Device device, std::uint16_t stream) override;
  void copy(ops::Device from, ops::Device to, Bytes bytes, bool host_waits) override;
  std::uint32_t record(ops::Device device, std::uint16_t stream) override {
    if (pretender_ != nullptr) pretender_->refuse("an event");
    record_event(next_event_, device, stream);
    return next_event_++;
  }
  void wait(std::uint32_t event, ops::Device device, std::uint16_t stream) override {
    wait_event(event, device, stream);
  }

  /// Who looks on while operators run; null: nobody. Source of what it may do: OperatorWatch.
  void watch(OperatorWatch* watch) { watch_ = watch; }
  [[nodiscard]] OperatorWatch* watched_by() const { return watch_; }
  /// How many operators are under way that a watch sees as one: none inside them is seen.
  [[nodiscard]] std::uint32_t& unseen() { return unseen_; }
  /// Gives a result of such an operator the memory that was kept of it, if that stands for its run.
  void give_kept(const ops::Tensor& result);
  /// From here on everything is pretended; null: no longer.
  void pretend(Pretender* pretender) { pretender_ = pretender; }
  [[nodiscard]] Pretender* pretended_by() const { return pretender_; }
  /// The switches as they are at each launch, which say how products are computed. Not owned.
  void heed(const ops::Backends* backends) { backends_ = backends; }
  /// One more owner of a request: it is released when all have.
  void hold(ops::RequestNumber request) { ++more_owners_[request]; }

  /// Writes the graph down as it is made, for people. Call it before anything runs.
  void record_graph(graph::Details& into);
  /// Where it is written down; null: nobody asked.
  [[nodiscard]] graph::Details* recorded() { return recorded_; }
  /// Keeps what each kernel works on. Call it before anything runs.
  void record_kernels(KernelDetails& into);

  // ---- ops::ShapeTaker
  [[nodiscard]] bool asks() const override { return details_ != nullptr; }
  void take_shape(const ops::KernelShape& shape) override;

  // ---- ops::DispatchMode
  [[nodiscard]] bool is_dispatching() const override { return watch_ != nullptr && unseen_ == 0; }

  // ---- the loop
  /// From here on the phase is `name`.
  void begin_phase(std::string_view name);
  /// The statistics of this moment are kept under a name.
  void measure(std::string_view name, ops::Device device);
  /// Phases are named by what the program does: "model" now, then "inputs 0", "forward 0" and so
  /// on.
  void name_phases();
  /// What begins now, "forward" say; nothing unless phases are named so.
  void begin(std::string_view kind);
  /// A model is called: a module that no other calls, of this label. Where no gradients are asked
  /// for, and nothing trains, a model that is called again begins another step: of generation each
  /// token is one.
  void begin_call(std::uint32_t model, bool for_gradients);
  void end_call() { kept_state_.end_call(); }
  /// There is an optimizer, whose steps are the program's.
  void set_trains() { trains_ = true; }
  [[nodiscard]] const KeptState& kept_state() const { return kept_state_; }
  /// An optimizer has stepped: what follows is of the next step. Optimizers that step within a
  /// backward pass, from hooks, make one step of it together.
  void end_step() { (backwards_ == 0 ? step_ : steps_in_backward_) += 1; }
  /// A backward pass from its making to its end. What hooks do in it is of its phase.
  class Backward {
   public:
    explicit Backward(Emitter& emitter) : emitter_(emitter) {
      emitter.begin("backward");
      emitter.trains_ = true;
      ++emitter.backwards_;
    }
    ~Backward() {
      if (--emitter_.backwards_ > 0 || emitter_.steps_in_backward_ == 0) return;
      emitter_.steps_in_backward_ = 0;
      ++emitter_.step_;
    }
    Backward(const Backward&) = delete;
    Backward& operator=(const Backward&) = delete;

   private:
    Emitter& emitter_;
  };
  void empty_cache(ops::Device device) override;
  /// What the program does with private pool {capture, user}.
  void use_pool(PoolAction action, std::uint32_t capture, std::uint32_t user, ops::Device device,
                std::uint16_t stream);
  void enter_thread(bool is_engine) override;
  /// From here on kernels are taken down as those of a graph, and do not run.
  void begin_graph();
  /// They run again. Returns the graph's number.
  std::uint32_t end_graph();
  /// All kernels of a graph are queued on the current stream.
  void replay_graph(std::uint32_t graph, ops::Device device);
  void reset_peak(ops::Device device);
  /// An event is recorded on `stream` / `stream` waits for it / the host waits for `stream` or for
  /// all.
  void record_event(std::uint32_t event, ops::Device device, std::uint16_t stream);
  void wait_event(std::uint32_t event, ops::Device device, std::uint16_t stream);
  void synchronize(ops::Device device, std::uint16_t stream);
  void synchronize_device(ops::Device device);
  /// The host waits for an event. / The pinned host memory that nothing uses goes back.
  void synchronize_event(std::uint32_t event);
  void empty_host_cache();
  /// An event's number, for one that is not recorded yet.
  std::uint32_t make_event() { return next_event_++; }
  Bytes query(MemoryQuery what, ops::Device device);
  PinnedStatistics pinned_statistics();
  bool query_event(std::uint32_t event);
  std::optional<bool> query_stream(ops::Device device, std::uint16_t stream);
  std::vector<std::pair<std::string, std::int64_t>> statistics(ops::Device device);
  /// torch.cuda.init(), which the first request or question does by itself.
  void initialize();
  [[nodiscard]] bool is_initialized() const { return is_initialized_; }
  /// What has been asked for so far. It only grows.
  struct Amounts {
    std::uint64_t requests = 0;
    std::uint64_t instructions = 0;
    std::uint64_t refused = 0;     ///< requests that were
    std::uint64_t statistics = 0;  ///< questions for all statistics, sums and counters among them
    std::uint32_t steps = 0;
  };
  [[nodiscard]] Amounts amounts() const {
    return {device_of_.size(), instructions_, refused_, statistics_, step_};
  }
  /// Writes the sink's state, and what it is of the emitter's own that decides over names. Returns
  /// the moment's number.
  std::size_t write_state(StateImage& image);
  /// See Sink::repeat; `then`: amounts() at that moment.
  void repeat(std::size_t moment, const Amounts& then, const Repeat& repeat);
  /// What memory is for, of a module, or of its parameter `name`: "layers.0.weight: unsharded".
  /// `module`: 0 for none.
  void name_memory(ops::RequestNumber request, std::uint32_t module, std::string_view name,
                   std::string_view purpose);
  /// What stands before the module's path of all labels from here on: "microbatch 3"; empty: none.
  void begin_part(std::string_view part);

  /// Gives the rest to the sink.
  void flush();
  /// Tells where a transfer stands: see Sink::transfer. `beside`: the stream that it is on, which
  /// takes it up after the current one (or, of a wait, is waited for); none: it is the next kernel.
  void follow(ops::Device device, std::uint32_t transfer, QueuedTransfer::How how,
              std::uint16_t beside);
  /// From here on nothing is emitted: what the code still holds stays allocated at the end of the
  /// run.
  void stop() { stopped_ = true; }
  /// The moment of simulated time at which the program is to end; 0: it has none.
  void set_end(std::int64_t host_ns) { end_ns_ = host_ns; }
  /// That moment has come.
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// A module path as a number for ops::Context::module_label.
  std::uint32_t module_label(std::string_view path) { return program_.labels.intern(path); }

  [[nodiscard]] graph::OpGraph& graph() { return graph_; }
  [[nodiscard]] Program& program() { return program_; }

 private:
  /// One owner lets go: whether others are left. Who looks on is told where none is.
  bool is_still_owned(ops::RequestNumber request);
  void begin_node(const ops::Node& node);
  [[nodiscard]] ops::KernelShape shape_under_way() const;
  void push_launch(ops::Device device, const Cost& cost);
  void push_pageable(Bytes bytes, std::uint32_t is_taken) {
    if (!stopped_) push(Verb::kPageable, ops::Device{0}, 0, is_taken, bytes);
  }
  void push(Verb verb, ops::Device device, std::uint16_t stream, std::uint32_t id, Bytes bytes);
  LabelId label();
  [[nodiscard]] std::uint16_t stream_of(ops::Device device) const {
    const std::size_t at = static_cast<std::uint8_t>(device.index);
    return at < streams_.size() ? streams_[at] : std::uint16_t{0};
  }

  static constexpr std::size_t kChunk = 4096;
  Program& program_;
  Sink& sink_;
  graph::OpGraph graph_;
  std::optional<GraphRecorder> recorder_;
  graph::Details* recorded_ = nullptr;
  KeptState kept_state_;
  KernelDetails* details_ = nullptr;  ///< null: nobody asks
  OperatorWatch* watch_ = nullptr;
  std::uint32_t unseen_ = 0;
  Pretender* pretender_ = nullptr;
  const ops::Backends* backends_ = nullptr;
  std::unordered_map<ops::RequestNumber, int> more_owners_;  ///< beside the first
  /// The operator or backward function under way: its kernel is taken to work on this where it
  /// tells nothing itself.
  struct UnderWay {
    std::string_view op;  ///< as op_: kernels under another text are not its
    ops::KernelShape shape;
    const ops::Node* node = nullptr;  ///< of an operator, has the results' shapes; null: none made
    std::vector<std::pair<RequestId, Bytes>> asked;  ///< memory since it began
  };
  UnderWay under_way_;
  std::vector<Instruction> chunk_;
  std::vector<std::uint8_t> device_of_;  ///< by request
  std::unordered_map<std::uint64_t, LabelId> labels_;
  std::string_view op_;
  std::uint32_t module_label_ = 0;
  LabelId part_ = 0;  ///< see begin_part()
  /// Of labels with a part before them: by it and by labels_' key.
  std::map<std::pair<LabelId, std::uint64_t>, LabelId> part_labels_;
  LabelId label_ = 0;
  ///< where the kernel runs: the device that memory was last asked of
  std::vector<std::uint16_t> streams_;  ///< the current ones, by device
  bool has_streams_ = false;            ///< one other than the default was ever current
  std::uint32_t next_event_ = 0;
  std::vector<std::vector<std::uint32_t>>
      graphs_;                 ///< of captures: their kernels, as Program::costs
  bool is_capturing_ = false;  ///< into graphs_.back()
  std::uint32_t routes_ = 0;   ///< use_mem_pool under way
  std::uint32_t pinned_ = 0;   ///< pinned requests so far
  std::uint32_t instructions_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t statistics_ = 0;
  std::uint32_t step_ = 0;
  std::uint32_t backwards_ = 0;          ///< passes under way
  std::uint32_t steps_in_backward_ = 0;  ///< of optimizers, in the pass under way
  /// Models called for no gradients, in the step of that number.
  std::vector<std::uint32_t> called_;
  std::uint32_t called_in_ = 0;
  bool trains_ = false;  ///< there is an optimizer, or was a backward pass
  std::string phase_;    ///< kind of the one named last; empty: the program names its phases itself
  std::uint32_t phase_step_ = 0;
  bool label_known_ = true;
  bool is_initialized_ = false;
  bool stopped_ = false;
  bool is_over_ = false;
  std::int64_t end_ns_ = 0;
};

}  // namespace tidemark::torch
