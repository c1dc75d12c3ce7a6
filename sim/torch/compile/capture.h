#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sim/graph/node_graph.h"
#include "sim/ops/tracer.h"
#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// Ends a graph where the program does what no graph can say. Source: docs/rules/compile.md#10.
class GraphBreaks {
 public:
  virtual ~GraphBreaks() = default;
  /// What was captured has been compiled and run when this returns, and nothing is captured. False:
  /// there cannot be a break here.
  virtual bool break_graph(std::string_view what) = 0;
  /// The same; nothing is captured until resume(). `read`: what the code reads there.
  virtual void leave_graph(std::string_view what, const ops::TensorList& read) = 0;
  virtual void resume() = 0;
  [[nodiscard]] virtual bool is_capturing() const = 0;
  /// Until resume() the frames that are called are not compiled each for itself. False: they are
  /// not anyway.
  virtual bool suspend() = 0;
};

/// Code that runs while this lives is captured: its operators become nodes of a graph, in-place
/// ones as those that give a new tensor, and nothing is asked of a device. Tensors that exist
/// already are the graph's inputs. Source: AOTAutograd's tracing; docs/compile.md.
class Capture final : public ops::Tracer, public Pretender {
 public:
  /// `arguments`: what the code is called with; other tensors that it reads are its module's.
  /// `decomposes`: the compiler knows operators that PyTorch decomposes while it traces.
  Capture(Session& session, const ops::TensorList& arguments, bool decomposes = false);
  ~Capture() override { stop(); }

  /// The node of a tensor that the code reads or makes.
  graph::NodeId node_of(const ops::Tensor& tensor);
  /// The graph's input that a tensor is, or looks into. Requires: it was read before.
  [[nodiscard]] graph::NodeId input_of(const ops::Tensor& tensor) const {
    return input_storages_.at(tensor->storage.get());
  }
  /// An incoming gradient for a result.
  ops::Tensor tangent_of(const ops::Tensor& result);
  /// What the captured code made. Its own tensors are pretended ones.
  [[nodiscard]] static bool is_made_here(const ops::Tensor& tensor) {
    return tensor.defined() && tensor->storage && is_pretended(tensor->storage->request());
  }
  [[nodiscard]] const std::vector<const ops::TensorImpl*>& arguments() const { return arguments_; }
  /// Operators were cast as torch.autocast has it when the capture began.
  [[nodiscard]] bool under_autocast() const { return under_autocast_; }
  /// Some memory that the captured code made is still held.
  [[nodiscard]] bool is_something_held() const { return live_ > 0; }
  /// What is captured until it ends is a checkpointed region. False: this is not modelled here.
  bool begin_region();
  /// What becomes of an operator's results in the region under way.
  enum class Fate : std::uint8_t { kKept, kFree, kComputedAgain };
  using Policy =
      std::function<Fate(std::string_view op, const std::vector<const ops::Tensor*>& reads)>;
  /// Asked for each operator of the region under way. Source: torch.utils.checkpoint's
  /// _CachingTorchDispatchMode, compiling.
  void set_policy(Policy policy) {
    if (!regions_.empty()) regions_.back().policy = std::move(policy);
    has_policies = true;
  }
  void end_region();
  /// A view of an input outlives the capture: it is no node's any longer.
  static void forget_node(const ops::Tensor& tensor);
  /// Nothing is captured any longer.
  void stop();
  /// The backward pass begins.
  void begin_gradients() { in_backward_ = true; }

  /// Asked where the program leaves the graph; null: it is refused there.
  GraphBreaks* breaks = nullptr;
  /// Functions of the program's own (torch.autograd.Function) are in it.
  bool has_functions = false;
  bool has_policies = false;    ///< of what checkpointed code keeps
  bool is_later_graph = false;  ///< of a function whose graph broke before
  /// A call of the program's, as Dynamo has it, while `notes_calls`.
  struct ProgramCall {
    graph::NodeId first = 0;           ///< of its nodes
    Bytes parameters = 0;              ///< that it reads and that want gradients
    std::vector<graph::NodeId> reads;  ///< in the order of its arguments
  };
  bool notes_calls = false;
  std::vector<ProgramCall> program_calls;
  std::unordered_map<graph::NodeId, ops::Tensor> read_tensors;  ///< by node, while `notes_calls`
  /// All between these counts as one call.
  void begin_whole_call();
  void end_whole_call();
  /// By node: it is only how something else was seen, no operator's result.
  [[nodiscard]] std::vector<bool> are_looks() const;
  graph::NodeGraph graph;
  /// The graph's inputs in the order in which they were first read, and their nodes.
  std::vector<std::pair<ops::Tensor, graph::NodeId>> inputs;
  /// Inputs that are written into when all has been computed, and what with.
  std::vector<std::pair<ops::Tensor, graph::NodeId>> written_inputs;

  // ---- ops::Tracer
  void begin_call(std::string settings, const std::vector<const ops::Tensor*>& tensors) override;
  void end_call() override;
  void looks_at(const ops::Tensor& tensor) override;
  void begin_op(std::string_view name, const std::vector<const ops::Tensor*>& reads) override;
  void gives(const ops::Tensor& tensor) override;
  void keeps(const ops::Tensor& tensor) override;
  void writes(const ops::Tensor& tensor) override;
  void end_op() override;
  void puts(const ops::Tensor& part, const ops::Tensor& values) override;
  void begin_backward(const ops::Node& node, const ops::TensorList& incoming,
                      const ops::TensorList& saved) override;
  void end_backward(const ops::TensorList& grads) override;
  void begin_kernel(ops::KernelKind kind, const std::vector<const ops::Tensor*>& reads) override;
  void end_kernel() override;
  void makes_on_host(const ops::Storage& memory) override;
  bool moves(const ops::Tensor& from) override;
  void workspace(ops::Device device, bool lt, std::int64_t calls) override;

  // ---- Pretender
  ops::RequestNumber allocate(Bytes bytes, ops::Device device) override;
  void release(ops::RequestNumber request) override;
  void set_role(ops::RequestNumber request, ops::Role role) override;
  void launch(ops::Device device, std::uint64_t flops, std::uint64_t bytes_moved,
              ops::KernelClass kind, ops::ScalarType precision) override;
  void refuse(std::string_view what) override;

 private:
  /// An operator, a backward function or a kernel under way. `inner`: calls within that are part of
  /// it.
  struct Scope {
    enum class Kind : std::uint8_t { kOp, kBackward, kKernel };
    Kind kind = Kind::kOp;
    std::string_view name;
    std::vector<graph::NodeId> reads;
    std::vector<graph::Effect> effects;
    std::size_t results_from = 0;  ///< so many effects came before it gave its results
    std::vector<ops::Tensor> results;
    ops::ScalarType promoted = ops::ScalarType::kFloat32;  ///< kOp: of what it reads
    std::uint64_t settings = 0;                            ///< as GraphNode has them
    std::vector<graph::NodeId> incoming;  ///< kBackward: gradients among what it reads
    std::size_t kept = 0;                 ///< so many results, the last, were only kept
    std::vector<ops::Tensor> written;
    std::vector<ops::Tensor> given_anew;  ///< kOp: running statistics
    std::vector<ops::KernelKind> kernels;
    graph::StorageId first_storage = 0;
    graph::NodeId first_node = 0;
    std::string_view call;
    std::uint8_t numbers = 0;
    int inner = 0;
    int inner_kernels = 0;
    bool asks_itself = false;    ///< for memory, outside of kernels
    bool reads_of_host = false;  ///< numbers that were there before
  };
  /// A call of the program's under way, and how many operators it has made.
  struct Call {
    std::string settings;
    int operators = 0;
    bool leaves_graph = false;
  };
  struct Storage {
    Bytes bytes;
    graph::NodeId maker = graph::kNoNode;
    bool is_live = true;
  };

  static graph::StorageId number(ops::RequestNumber request) { return request & ~kPretended; }
  /// The memory of a tensor that was made here.
  static graph::StorageId storage_of(const ops::Tensor& tensor) {
    return number(tensor->storage->request());
  }
  [[nodiscard]] Scope* top() { return scopes_.empty() ? nullptr : &scopes_.back(); }
  void push(Scope::Kind kind, std::string_view name, std::vector<graph::NodeId> reads);
  [[nodiscard]] bool reads_of_host(const std::vector<const ops::Tensor*>& tensors) const;
  [[nodiscard]] std::vector<graph::NodeId> nodes_of(const std::vector<const ops::Tensor*>& tensors);
  [[nodiscard]] std::vector<graph::NodeId> waited_for(
      std::string_view op, const std::vector<graph::NodeId>& nodes,
      const std::vector<const ops::Tensor*>& tensors);
  void add_effect(const graph::Effect& effect);
  [[nodiscard]] graph::GraphNode* single_kernel(const Scope& scope);
  [[nodiscard]] bool reads_all(const Scope& scope);
  void name_single_kernel(const Scope& scope);
  void name_kernels(const Scope& scope);
  void keep_launches(const Scope& scope);
  void add_result(Scope& scope, const ops::Tensor& tensor);
  bool clones(Scope& scope, const ops::Tensor& tensor);
  void finish(Scope scope);
  graph::NodeId add_node(graph::GraphNode node);
  graph::NodeId detached(const ops::Tensor& tensor);
  graph::NodeId conjugate_of(const ops::Tensor& tensor);
  void add_part(graph::NodeId whole, const ops::Tensor& tensor);
  void add_hidden_part(graph::NodeId whole, graph::StorageId storage);
  void write_functionally(const Scope& scope);
  void note_written(const ops::Tensor& tensor, graph::NodeId id);
  void note_statistics(Scope& scope, const std::vector<const ops::Tensor*>& reads) const;
  void ask_for_statistics(const Scope& scope, graph::GraphNode& node);
  void give_statistics(const Scope& scope, graph::NodeId whole);
  [[nodiscard]] static bool is_seen_whole(const ops::Tensor& tensor) {
    return tensor.bytes() == tensor->storage->bytes() && tensor->offset == 0;
  }
  [[nodiscard]] static bool is_part_of(const graph::GraphNode& whole, const ops::Tensor& part);
  [[nodiscard]] graph::NodeId whole_of(const ops::Tensor& part);
  graph::NodeId add_scattered(graph::GraphNode node, graph::NodeId like);
  graph::NodeId put_into(graph::NodeId whole, const ops::Tensor& part, graph::NodeId values);
  graph::NodeId add_computed(graph::GraphNode node, const ops::Tensor& like, ops::ScalarType dtype);
  bool leaves_graph(std::string_view settings, const std::vector<const ops::Tensor*>& tensors);
  std::string_view kept_text(const std::string& text);
  void note_call(const std::vector<const ops::Tensor*>& tensors, graph::NodeId first);
  [[nodiscard]] std::uint64_t settings_of(std::string_view op,
                                          const std::vector<const ops::Tensor*>& reads);
  [[nodiscard]] static graph::NodeKind kind_of(const Scope& scope);
  graph::NodeId add_input(const ops::Tensor& tensor);
  graph::NodeId view_of(graph::NodeId base, const ops::Tensor& tensor);
  [[nodiscard]] graph::StorageId memory_of(const ops::Tensor& tensor) const;
  void describe(graph::GraphNode& node, const ops::Tensor& tensor) const;
  [[nodiscard]] bool is_seen_as(graph::NodeId id, const ops::Tensor& tensor) const;
  void mark(const ops::Tensor& tensor, graph::NodeId id) const;

  Session& session_;
  ops::Context& c_;
  std::vector<const ops::TensorImpl*> arguments_;
  /// Inputs that have a history, which is none of the graph's: kept apart while it is captured.
  struct History {
    ops::Tensor tensor;
    Ref<ops::Node> grad_fn;
    Ref<ops::TensorImpl> view_base;
    std::uint32_t output_nr = 0;
    bool requires_grad = false;
  };
  std::vector<History> histories_;
  void keep_apart(const ops::Tensor& tensor);
  void keep_histories_apart(const ops::TensorList& arguments);
  int functions_under_way_ = 0;           ///< calls of them whose operator has not begun
  std::vector<std::size_t> transparent_;  ///< operators that are what runs within them, by depth
  std::vector<std::size_t> transparent_backwards_;         ///< the same of backward functions
  std::unordered_set<graph::VertexId> transparent_nodes_;  ///< whose backward functions are such
  std::vector<Scope> scopes_;
  std::vector<Call> calls_;
  std::vector<Storage> storages_;
  std::unordered_map<const ops::Storage*, graph::NodeId> input_storages_;
  /// Memory of the host whose numbers the captured code makes itself, from none.
  std::unordered_set<const ops::Storage*> made_on_host_;
  std::unordered_map<graph::StorageId, graph::NodeId> written_;  ///< the last that wrote there
  std::unordered_map<graph::VertexId, std::vector<graph::NodeId>> reads_of_;  ///< by operator
  std::unordered_map<graph::VertexId, std::string_view> calls_of_;  ///< the same: how it was called
  std::unordered_set<graph::StorageId> is_read_;  ///< of what no operator said that it gives
  std::unordered_map<graph::NodeId, std::vector<graph::NodeId>> views_;
  std::unordered_map<graph::NodeId, graph::NodeId> waits_;  ///< for inputs, by what was read
  std::vector<std::pair<graph::NodeId, graph::NodeId>> made_views_;  ///< base, view: in order
  std::function<void(graph::VertexId)> on_backward_;
  std::vector<ops::PackHook> pack_hooks_;
  bool cache_enabled_ = true;
  bool decomposes_ = false;
  bool under_autocast_ = false;
  bool in_backward_ = false;
  struct Region {
    std::uint32_t number = 0;
    Policy policy;  ///< none: all is computed again
    Fate fate = Fate::kComputedAgain;
  };
  std::vector<Region> regions_;
  std::uint32_t region_count_ = 0;
  std::size_t live_ = 0;
  int whole_calls_ = 0;
  bool is_in_whole_call_ = false;  ///< and it has been noted
  bool stopped_ = false;
};

}  // namespace tidemark::torch
