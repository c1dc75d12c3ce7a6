// Capture's nodes: what tensors are in the graph, and what is added to it.

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "sim/lang/runtime/frame.h"
#include "sim/torch/compile/capture.h"

namespace tidemark::torch {

using graph::Effect;
using graph::GraphNode;
using graph::kNoNode;
using graph::NodeId;
using graph::NodeKind;
using graph::StorageId;
using ops::Tensor;

namespace {

/// In TensorImpl::producer: the rest is a node's number, not a vertex's.
constexpr std::uint32_t kOfNode = 0x80000000U;

constexpr std::string_view kBackwardCall = "Tensor.backward";
constexpr std::string_view kPrintCall = "print";
constexpr std::string_view kFunctionCall = "torch.autograd.Function";

}  // namespace

/// Gradients end at what the code is called with, though one of them may be made of another.
void Capture::keep_histories_apart(const ops::TensorList& arguments) {
  for (const Tensor& tensor : arguments) {
    if (tensor->grad_fn) keep_apart(tensor);
  }
}

void Capture::keep_apart(const Tensor& tensor) {
  History& history = histories_.emplace_back();
  history.tensor = tensor;
  history.grad_fn = std::exchange(tensor->grad_fn, {});
  history.view_base = std::exchange(tensor->view_base, {});
  history.output_nr = tensor->output_nr;
  history.requires_grad = std::exchange(tensor->requires_grad, true);
}

void Capture::end_call() {
  const bool leaves = calls_.back().leaves_graph;
  if (calls_.back().settings == kFunctionCall && functions_under_way_ > 0) --functions_under_way_;
  calls_.pop_back();
  if (leaves && breaks != nullptr) breaks->resume();
}

/// Operators whose results are as long as numbers on the device say: the graph ends there, they run
/// by themselves. Source: Dynamo's DynamicOutputShapeException.
bool Capture::leaves_graph(std::string_view settings, const std::vector<const Tensor*>& tensors) {
  static constexpr std::string_view kNames[] = {
      "nonzero", "argwhere", "masked_select",      "unique",         "_unique2",
      "unique2", "bincount", "unique_consecutive", "index by a mask"};
  const std::string_view name = settings.substr(0, settings.find(','));
  const bool is_known = std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  const bool is_where = settings == "where, tensor";
  const bool is_here = scopes_.empty() && !in_backward_ && breaks != nullptr && !tensors.empty() &&
                       tensors.front()->is_cuda() && breaks->is_capturing();
  if (!is_here || (!is_known && !is_where)) return false;
  calls_.push_back({std::string(settings), 0, true});
  ops::TensorList read;
  for (const Tensor* tensor : tensors) {
    if (tensor->defined()) read.push_back(*tensor);
  }
  breaks->leave_graph(name, read);
  return true;
}

void Capture::begin_call(std::string settings, const std::vector<const Tensor*>& tensors) {
  if (settings == kFunctionCall) {
    ++functions_under_way_;
    has_functions = true;
    calls_.push_back({std::move(settings)});
    return;
  }
  if (settings == kPrintCall) {
    calls_.push_back({std::move(settings)});
    if (breaks != nullptr) breaks->break_graph("printing");
    return;
  }
  if (settings == kBackwardCall) {
    calls_.push_back({std::move(settings), 0, true});
    if (breaks != nullptr) breaks->leave_graph("a backward pass", {});
    return;
  }
  if (leaves_graph(settings, tensors)) return;
  // What is traced of these is what their kernels are on a device.
  for (const std::string_view name :
       {"_transformer_encoder_layer_fwd", "_native_multi_head_attention"}) {
    if (settings.starts_with(name)) refuse(name);
  }
  calls_.push_back({std::move(settings)});
  if (!scopes_.empty()) return;
  const auto first = static_cast<NodeId>(graph.nodes.size());
  // A module's own tensors are looked at before what the code is called with. Source: Dynamo's
  // LazyVariableTracker.
  for (const bool wants_own : {true, false}) {
    for (const Tensor* tensor : tensors) {
      if (!tensor->defined() || !tensor->is_cuda() || is_made_here(*tensor)) continue;
      const bool is_own =
          std::find(arguments_.begin(), arguments_.end(), tensor->impl()) == arguments_.end();
      const bool is_new = input_storages_.count((*tensor)->storage.get()) == 0;
      if (is_later_graph && is_new && (*tensor)->grad_fn) keep_apart(*tensor);
      if (is_own == wants_own && tensor->numel() > 0 && !tensor->is_sparse()) node_of(*tensor);
    }
  }
  if (calls_.size() == 1) note_call(tensors, first);
}

/// A checkpointed region is one call, and so is what one function of PyTorch's makes of several.
void Capture::note_call(const std::vector<const Tensor*>& tensors, NodeId first) {
  if (!notes_calls || in_backward_) return;
  const bool is_within = whole_calls_ > 0;
  const bool is_first = !std::exchange(is_in_whole_call_, is_within);
  if (!is_within || is_first) program_calls.push_back({first, 0, {}});
  ProgramCall& call = program_calls.back();
  for (const Tensor* tensor : tensors) {
    if (!tensor->defined() || !tensor->is_cuda()) continue;
    const NodeId id = node_of(*tensor);
    read_tensors.emplace(id, *tensor);
    const bool is_known = std::find(call.reads.begin(), call.reads.end(), id) != call.reads.end();
    const bool is_parameter = graph.nodes[id].kind == NodeKind::kInput && tensor->is_leaf() &&
                              graph.nodes[id].is_parameter && tensor->requires_grad();
    if (is_parameter && !(is_within && is_known)) call.parameters += (*tensor)->storage->bytes();
    if (!is_known) call.reads.push_back(id);
  }
}

void Capture::begin_whole_call() { ++whole_calls_; }

void Capture::end_whole_call() {
  if (--whole_calls_ == 0) is_in_whole_call_ = false;
}

bool Capture::begin_region() {
  regions_.push_back({++region_count_, nullptr});
  begin_whole_call();
  return true;
}

void Capture::end_region() {
  regions_.pop_back();
  end_whole_call();
}

std::vector<bool> Capture::are_looks() const {
  std::vector<bool> are(graph.nodes.size());
  for (const auto& [base, view] : made_views_) are[view] = true;
  return are;
}

/// What the program's own code looks at is an input from there on. Source: Dynamo's
/// LazyVariableTracker.
void Capture::looks_at(const Tensor& tensor) {
  if (!scopes_.empty() || in_backward_ || stopped_) return;
  if (!tensor.defined() || !tensor.is_cuda() || is_made_here(tensor)) return;
  if (tensor.numel() == 0 || tensor.is_sparse()) return;
  const lang::Frame* frame = session_.interp.current_frame();
  if (frame == nullptr || frame->code == nullptr) return;
  if (lang::Interp::is_internal(view(frame->code->file->name))) return;
  const bool is_new = input_storages_.count(tensor->storage.get()) == 0;
  if (is_later_graph && is_new && tensor->grad_fn) keep_apart(tensor);
  node_of(tensor);
}

NodeId Capture::add_node(GraphNode node) {
  node.module = c_.module_label;
  if (!in_backward_ && !regions_.empty() && regions_.back().fate != Fate::kFree) {
    node.region = regions_.back().number;
    node.is_kept = regions_.back().fate == Fate::kKept;
  }
  graph.nodes.push_back(std::move(node));
  return static_cast<NodeId>(graph.nodes.size() - 1);
}

void Capture::describe(GraphNode& node, const Tensor& tensor) const {
  node.sizes = tensor.sizes();
  node.strides = tensor.strides();
  node.offset = tensor->offset;
  node.dtype = tensor.dtype();
  node.device = tensor.device();
}

bool Capture::is_seen_as(NodeId id, const Tensor& tensor) const {
  const GraphNode& node = graph.nodes[id];
  return node.sizes == tensor.sizes() && node.strides == tensor.strides() &&
         node.offset == tensor->offset && node.dtype == tensor.dtype();
}

void Capture::mark(const Tensor& tensor, NodeId id) const { tensor->producer = kOfNode | id; }

void Capture::forget_node(const Tensor& tensor) {
  if ((tensor->producer & kOfNode) != 0) tensor->producer = graph::kNoVertex;
}

NodeId Capture::add_input(const Tensor& tensor) {
  GraphNode node;
  node.name = "input";
  node.kind = NodeKind::kInput;
  node.is_parameter =
      std::find(arguments_.begin(), arguments_.end(), tensor.impl()) == arguments_.end();
  node.storage = static_cast<StorageId>(storages_.size());
  describe(node, tensor);
  storages_.push_back({tensor->storage->bytes(), kNoNode, false});
  graph.roles.push_back(ops::Role::kInput);
  const NodeId id = add_node(std::move(node));
  storages_.back().maker = id;
  inputs.emplace_back(tensor, id);
  input_storages_.emplace(tensor->storage.get(), id);
  return id;
}

NodeId Capture::view_of(NodeId base, const Tensor& tensor) {
  if (is_seen_as(base, tensor)) return base;
  for (const NodeId id : views_[base]) {
    if (is_seen_as(id, tensor)) return id;
  }
  GraphNode node;
  node.name = "view";
  node.kind = NodeKind::kView;
  node.inputs = {base};
  node.storage = graph.nodes[base].storage;
  describe(node, tensor);
  const NodeId id = add_node(std::move(node));
  views_[base].push_back(id);
  made_views_.emplace_back(base, id);
  return id;
}

/// The memory that a tensor looks into, as the graph names it; none of an input that nobody read.
StorageId Capture::memory_of(const Tensor& tensor) const {
  if (is_made_here(tensor)) return storage_of(tensor);
  const auto input = input_storages_.find(tensor->storage.get());
  return input != input_storages_.end() ? graph.nodes[input->second].storage : graph::kNoStorage;
}

NodeId Capture::node_of(const Tensor& tensor) {
  if (tensor.is_sparse()) refuse("a sparse tensor");
  const bool is_marked = (tensor->producer & kOfNode) != 0 && tensor->producer != graph::kNoVertex;
  const NodeId marked = is_marked ? tensor->producer & ~kOfNode : kNoNode;
  const auto written = written_.find(memory_of(tensor));
  if (written != written_.end() && (!is_marked || marked < written->second))
    return view_of(written->second, tensor);
  if (is_marked) return view_of(marked, tensor);
  if (is_made_here(tensor)) {
    // Of an operator that did not say what it gives: a factory.
    const NodeId maker = storages_[storage_of(tensor)].maker;
    is_read_.insert(storage_of(tensor));
    GraphNode& node = graph.nodes[maker];
    if (node.sizes.empty() && node.strides.empty() && node.dtype == ops::ScalarType::kUInt8)
      describe(node, tensor);
    const NodeId id = view_of(maker, tensor);
    mark(tensor, id);
    return id;
  }
  if (tensor.numel() == 0) refuse("a tensor without elements");
  const auto known = input_storages_.find(tensor->storage.get());
  return known != input_storages_.end() ? view_of(known->second, tensor) : add_input(tensor);
}

std::vector<NodeId> Capture::nodes_of(const std::vector<const Tensor*>& tensors) {
  std::vector<NodeId> ids;
  for (const Tensor* tensor : tensors) {
    if (!tensor->defined() || !tensor->is_cuda()) continue;
    // What is joined may have nothing in it. Source: torch._inductor's decomposition of cat.
    if (tensor->numel() == 0 && tensor->dim() == 1 && c_.op_label == "cat") continue;
    ids.push_back(node_of(*tensor));
    if (notes_calls && !in_backward_) read_tensors.emplace(ids.back(), *tensor);
  }
  return ids;
}

// ---- what is made on the host

bool Capture::reads_of_host(const std::vector<const Tensor*>& tensors) const {
  return std::any_of(tensors.begin(), tensors.end(), [this](const Tensor* tensor) {
    return tensor->defined() && !tensor->is_cuda() && !(*tensor)->wrapped_number &&
           made_on_host_.count((*tensor)->storage.get()) == 0;
  });
}

void Capture::makes_on_host(const ops::Storage& memory) {
  static constexpr std::string_view kFromNothing[] = {"arange",   "full",      "ones",
                                                      "linspace", "ones_like", "zeros"};
  const bool is_of_others =
      top() != nullptr && !top()->reads_of_host && settings_of(top()->name, {}) != 0;
  const bool is_from_nothing = std::find(std::begin(kFromNothing), std::end(kFromNothing),
                                         c_.op_label) != std::end(kFromNothing);
  if (is_of_others || is_from_nothing) made_on_host_.insert(&memory);
}

/// What is made from nothing on the host for a device is made there: a loop that reads nothing.
/// Source: torch's fx_passes/post_grad.py, ConstructorMoverPass.
bool Capture::moves(const Tensor& from) {
  Scope* scope = top();
  if (scope == nullptr || scope->inner > 0 || in_backward_ ||
      made_on_host_.count(from->storage.get()) == 0)
    return false;
  scope->name = "arange";
  scope->kernels = {ops::KernelKind::kFill};
  scope->asks_itself = false;
  return true;
}

/// Without gaps, in the order that the result suggests. Source: torch's
/// coerce_tangent_and_suggest_memory_format.
Tensor Capture::tangent_of(const Tensor& result) {
  Tensor made =
      c_.empty_in(result.sizes(), result.suggest_memory_format(), result.dtype(), result.device());
  GraphNode& node = graph.nodes.back();
  node.name = "tangent";
  node.kind = NodeKind::kTangent;
  node.effects.clear();
  describe(node, made);
  mark(made, static_cast<NodeId>(graph.nodes.size() - 1));
  return made;
}

void Capture::add_part(NodeId whole, const Tensor& tensor) {
  GraphNode part;
  part.name = "getitem";
  part.kind = NodeKind::kPart;
  part.inputs = {whole};
  describe(part, tensor);
  const auto& inputs_of_whole = graph.nodes[whole].inputs;
  const auto& effects = graph.nodes[whole].effects;
  const bool is_own =
      is_made_here(tensor) && std::any_of(effects.begin(), effects.end(), [&](const Effect& e) {
        return e.kind == Effect::Kind::kAllocate && e.storage == storage_of(tensor);
      });
  part.storage = is_own ? storage_of(tensor) : graph.nodes[inputs_of_whole.front()].storage;
  const NodeId id = add_node(std::move(part));
  if (is_own) storages_[storage_of(tensor)].maker = id;
  mark(tensor, id);
}

void Capture::add_hidden_part(NodeId whole, StorageId storage) {
  GraphNode part;
  part.name = "getitem";
  part.kind = NodeKind::kPart;
  part.inputs = {whole};
  part.storage = storage;
  part.dtype = ops::ScalarType::kUInt8;  // until somebody reads it
  storages_[storage].maker = add_node(std::move(part));
}

NodeId Capture::add_computed(GraphNode node, const Tensor& like, ops::ScalarType dtype) {
  describe(node, like);
  node.dtype = dtype;
  Effect ask;
  ask.device = like.device();
  ask.storage = node.storage = static_cast<StorageId>(storages_.size());
  ask.bytes = graph::bytes_of(node);
  storages_.push_back({ask.bytes, kNoNode, false});
  graph.roles.push_back(ops::Role::kTemporary);
  node.effects.push_back(ask);
  const NodeId id = add_node(std::move(node));
  storages_.back().maker = id;
  return id;
}

/// What an operator writes is a new tensor, computed in the type that the operands ask for and then
/// brought to the old one's. Source: torch's functionalization.
void Capture::write_functionally(const Scope& scope) {
  const Tensor& tensor = scope.written.front();
  static constexpr std::string_view kKeepType[] = {"copy_", "fill_", "zero_", "normal_",
                                                   "uniform_"};
  const bool keeps_type =
      std::find(std::begin(kKeepType), std::end(kKeepType), scope.name) != std::end(kKeepType);
  GraphNode node;
  node.name = scope.name;
  node.call = scope.call;
  node.numbers = scope.numbers;
  node.kind = NodeKind::kPointwise;
  node.inputs = scope.reads;
  if (!is_made_here(tensor)) node_of(tensor);  // an input, though nobody read it
  NodeId id = add_computed(std::move(node), tensor, keeps_type ? tensor.dtype() : scope.promoted);
  if (graph.nodes[id].dtype != tensor.dtype()) {
    GraphNode cast;
    cast.name = "_to_copy";
    cast.kind = NodeKind::kCast;
    cast.inputs = {id};
    id = add_computed(std::move(cast), tensor, tensor.dtype());
  }
  const bool is_whole = is_seen_whole(tensor);
  if (!is_whole) id = put_into(whole_of(tensor), tensor, id);
  if (is_made_here(tensor) && is_whole) mark(tensor, id);
  note_written(tensor, id);
}

/// What a tensor looks into is the node's from here on.
void Capture::note_written(const Tensor& tensor, NodeId id) {
  written_[memory_of(tensor)] = id;
  if (is_made_here(tensor)) return;
  const auto before =
      std::find_if(written_inputs.begin(), written_inputs.end(),
                   [&](const auto& entry) { return entry.first->storage == tensor->storage; });
  if (before == written_inputs.end()) {
    written_inputs.emplace_back(tensor, id);
  } else {
    before->second = id;
  }
}

}  // namespace tidemark::torch
