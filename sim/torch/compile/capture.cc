#include "sim/torch/compile/capture.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sim/ops/kernels.h"

namespace tidemark::torch {

using graph::Effect;
using graph::GraphNode;
using graph::kNoNode;
using graph::NodeId;
using graph::NodeKind;
using graph::StorageId;
using ops::Tensor;

namespace {

std::string_view name_of(ops::KernelKind kind) {
  switch (kind) {
    case ops::KernelKind::kPointwise:
      return "pointwise";
    case ops::KernelKind::kReduction:
      return "sum";
    case ops::KernelKind::kCopy:
      return "clone";
    case ops::KernelKind::kCast:
      return "_to_copy";
    case ops::KernelKind::kFill:
      return "zeros";
    case ops::KernelKind::kProduct:
      return "mm";
    case ops::KernelKind::kCat:
      return "cat";
  }
  return "";
}

NodeKind node_kind(ops::KernelKind kind) {
  switch (kind) {
    case ops::KernelKind::kPointwise:
      return NodeKind::kPointwise;
    case ops::KernelKind::kReduction:
      return NodeKind::kReduction;
    case ops::KernelKind::kCopy:
      return NodeKind::kCopy;
    case ops::KernelKind::kCast:
      return NodeKind::kCast;
    case ops::KernelKind::kFill:
      return NodeKind::kFill;
    case ops::KernelKind::kProduct:
      return NodeKind::kProduct;
    case ops::KernelKind::kCat:
      return NodeKind::kCat;
  }
  return NodeKind::kOpaque;
}

/// Operators that PyTorch decomposes while it traces, and those whose results' sizes hang on
/// numbers.
bool is_unknown(std::string_view op) {
  static constexpr std::string_view kParts[] = {"rnn",           "margin_loss",   "pack_padded",
                                                "nonzero",       "masked_select", "unique",
                                                "count_nonzero", "ctc_loss",      "_sync"};
  return op != "soft_margin_loss" &&
         std::any_of(std::begin(kParts), std::end(kParts), [op](std::string_view part) {
           return op.find(part) != std::string_view::npos;
         });
}

}  // namespace

Capture::Capture(Session& session, const ops::TensorList& arguments, bool decomposes)
    : session_(session), c_(session.c), decomposes_(decomposes) {
  for (const Tensor& argument : arguments) arguments_.push_back(argument.impl());
  keep_histories_apart(arguments);
  ops::Thread& thread = c_.thread();
  on_backward_ = std::exchange(session.emitter.graph().on_backward, nullptr);
  pack_hooks_ = std::exchange(thread.pack_hooks, {});
  under_autocast_ = thread.autocast.enabled;
  cache_enabled_ = std::exchange(thread.autocast.cache_enabled, false);
  session.emitter.pretend(this);
  c_.tracer = this;
}

void Capture::stop() {
  if (std::exchange(stopped_, true)) return;
  c_.tracer = nullptr;
  for (History& history : histories_) {
    history.tensor->grad_fn = std::move(history.grad_fn);
    history.tensor->view_base = std::move(history.view_base);
    history.tensor->output_nr = history.output_nr;
    history.tensor->requires_grad = history.requires_grad;
  }
  histories_.clear();
  session_.emitter.pretend(nullptr);
  session_.emitter.graph().on_backward = std::move(on_backward_);
  c_.thread().pack_hooks = std::move(pack_hooks_);
  c_.thread().autocast.cache_enabled = cache_enabled_;
}

// ---- scopes

void Capture::push(Scope::Kind kind, std::string_view name, std::vector<NodeId> reads) {
  Scope& scope = scopes_.emplace_back();
  scope.kind = kind;
  scope.name = name;
  scope.reads = std::move(reads);
  scope.first_storage = static_cast<StorageId>(storages_.size());
  scope.first_node = static_cast<NodeId>(graph.nodes.size());
}

namespace {

/// The type in which an element-wise operator computes.
ops::ScalarType promoted(const ops::Context& c, const std::vector<const Tensor*>& reads) {
  std::vector<const Tensor*> defined;
  for (const Tensor* tensor : reads) {
    if (tensor->defined()) defined.push_back(tensor);
  }
  return defined.empty() ? ops::ScalarType::kFloat32 : ops::result_type(c, defined);
}

std::uint8_t numbers_among(const std::vector<const Tensor*>& reads) {
  return static_cast<std::uint8_t>(std::count_if(
      reads.begin(), reads.end(),
      [](const Tensor* tensor) { return tensor->defined() && (*tensor)->wrapped_number; }));
}

}  // namespace

namespace {

/// Whether a call is an operator's own, with no arguments but tensors.
bool is_of_tensors(std::string_view call, std::string_view op) {
  static constexpr std::string_view kTensor = ", tensor";
  if (op.empty() || !call.starts_with(op)) return false;
  for (call.remove_prefix(op.size()); call.starts_with(kTensor);)
    call.remove_prefix(kTensor.size());
  return call.empty();
}

}  // namespace

std::string_view Capture::kept_text(const std::string& text) {
  return session_.interp.text(session_.interp.intern(text));
}

void Capture::begin_op(std::string_view name, const std::vector<const Tensor*>& reads) {
  if (!c_.thread().pack_hooks.empty())
    refuse("a hook on saved tensors, as checkpointing sets them,");
  if (functions_under_way_ > 0) {
    --functions_under_way_;
    transparent_.push_back(scopes_.size());
    transparent_nodes_.insert(session_.emitter.graph().size() - 1);
    // Its own code sees this rank's parts of DTensors, which have no gradients.
    for (const Tensor* tensor : reads) {
      const bool is_spread = tensor->defined() && tensor->is_cuda() && (*tensor)->spread;
      if (is_spread && !is_made_here(*tensor)) node_of(*tensor);
    }
    return;
  }
  if (Scope* scope = top(); scope != nullptr && scope->kind != Scope::Kind::kBackward) {
    ++scope->inner;
    return;
  }
  if (is_unknown(name)) refuse(name);
  if (calls_.empty()) note_call(reads, static_cast<NodeId>(graph.nodes.size()));
  if (!in_backward_ && !regions_.empty() && regions_.back().policy) {
    const bool is_sent = graph::is_collective(name) || name == "wait_tensor";
    const std::string asked = std::string(is_sent ? "_c10d_functional." : "") + std::string(name);
    regions_.back().fate = regions_.back().policy(asked, reads);
  }
  const std::uint64_t settings = settings_of(name, reads);
  const std::vector<NodeId> taken = nodes_of(reads);
  push(Scope::Kind::kOp, name, {});
  scopes_.back().reads = waited_for(name, taken, reads);
  scopes_.back().first_node = static_cast<NodeId>(graph.nodes.size());
  scopes_.back().reads_of_host = reads_of_host(reads);
  scopes_.back().numbers = numbers_among(reads);
  if (!calls_.empty()) scopes_.back().call = kept_text(calls_.back().settings);
  reads_of_[session_.emitter.graph().size() - 1] = taken;
  calls_of_[session_.emitter.graph().size() - 1] = scopes_.back().call;
  scopes_.back().settings = settings;
  scopes_.back().promoted = promoted(c_, reads);
  note_statistics(scopes_.back(), reads);
}

std::uint64_t Capture::settings_of(std::string_view op, const std::vector<const Tensor*>& reads) {
  static constexpr std::string_view kNeverSame[] = {
      "empty",       "empty_like", "new_empty", "native_dropout",    "bernoulli",
      "multinomial", "normal",     "poisson",   "rrelu_with_noise_", "rand",
      "randn",       "randint",    "randperm",  "rand_like",         "randn_like"};
  if (std::find(std::begin(kNeverSame), std::end(kNeverSame), op) != std::end(kNeverSame)) return 0;
  const bool on_device = std::all_of(reads.begin(), reads.end(), [](const Tensor* tensor) {
    return !tensor->defined() || tensor->is_cuda() || (*tensor)->wrapped_number;
  });
  if (!on_device) return 0;
  // A number that is no argument of a call is not known here.
  const bool has_number = std::any_of(reads.begin(), reads.end(), [](const Tensor* tensor) {
    return tensor->defined() && (*tensor)->wrapped_number;
  });
  if (calls_.empty()) return has_number ? 0 : 1;
  Call& call = calls_.back();
  // Given tensors alone it is the same operator wherever it stands, in a gradient too.
  if (!has_number && is_of_tensors(call.settings, op)) return 1;
  const std::string text = fmt::format("{} {}", call.settings, call.operators++);
  return std::hash<std::string>{}(text) | 1U;
}

void Capture::end_op() {
  const bool is_nested = top() != nullptr && top()->inner > 0;
  if (!transparent_.empty() && transparent_.back() == scopes_.size() && !is_nested) {
    transparent_.pop_back();
    return;
  }
  if (Scope* scope = top(); scope->inner > 0) {
    --scope->inner;
    return;
  }
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  finish(std::move(scope));
}

void Capture::begin_kernel(ops::KernelKind kind, const std::vector<const Tensor*>& reads) {
  if (Scope* scope = top(); scope != nullptr && scope->kind != Scope::Kind::kBackward) {
    if (scope->inner_kernels++ == 0) scope->kernels.push_back(kind);
    return;
  }
  // Between backward functions gradients are added up.
  const bool adds_up = in_backward_ && scopes_.empty() && kind == ops::KernelKind::kPointwise;
  const bool chooses = c_.op_label == "where" && kind == ops::KernelKind::kPointwise;
  const bool marks = c_.op_label == "one_hot" && kind == ops::KernelKind::kPointwise;
  // A gradient of complex numbers is one times the conjugate of what was read.
  const bool multiplies = in_backward_ && kind == ops::KernelKind::kPointwise &&
                          reads.size() == 2 && ops::is_complex((*reads.front())->dtype);
  push(Scope::Kind::kKernel,
       adds_up      ? "add"
       : chooses    ? "where"
       : marks      ? "one_hot"
       : multiplies ? "mul"
                    : name_of(kind),
       nodes_of(reads));
  scopes_.back().reads_of_host = reads_of_host(reads);
  scopes_.back().numbers = numbers_among(reads);
  scopes_.back().kernels.push_back(kind);
  // Kernels of a call are the same where the calls are.
  if (!in_backward_ && !calls_.empty()) scopes_.back().settings = settings_of("", reads);
  if (kind == ops::KernelKind::kCopy && (*reads.front())->is_conj) {
    scopes_.back().reads = {conjugate_of(*reads.front())};
    scopes_.back().settings = 1;
    scopes_.back().first_node = static_cast<NodeId>(graph.nodes.size());
  }
}

void Capture::end_kernel() {
  if (Scope* scope = top(); scope->inner_kernels > 0) {
    --scope->inner_kernels;
    return;
  }
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  finish(std::move(scope));
}

void Capture::add_result(Scope& scope, const Tensor& tensor) {
  const bool is_there =
      std::any_of(scope.results.begin(), scope.results.end(), [&](const Tensor& other) {
        return other->storage == tensor->storage && other.sizes() == tensor.sizes() &&
               other.strides() == tensor.strides() && other->offset == tensor->offset;
      });
  if (!is_there) scope.results.push_back(tensor);
}

void Capture::gives(const Tensor& tensor) {
  Scope* scope = top();
  if (scope == nullptr || !tensor.defined() || !tensor.is_cuda()) return;
  if (scope->kind == Scope::Kind::kBackward || scope->inner > 0 || scope->inner_kernels > 0) return;
  scope->results_from = scope->effects.size();
  if (scope->kind == Scope::Kind::kOp && is_made_here(tensor) &&
      storage_of(tensor) >= scope->first_storage) {
    // The result itself, not what was kept of it before.
    const auto kept = scope->results.end() - static_cast<std::ptrdiff_t>(scope->kept);
    const auto same = std::remove_if(kept, scope->results.end(), [&](const Tensor& other) {
      return other->storage == tensor->storage;
    });
    scope->kept -= static_cast<std::size_t>(scope->results.end() - same);
    scope->results.erase(same, scope->results.end());
    scope->results.insert(scope->results.end() - static_cast<std::ptrdiff_t>(scope->kept), tensor);
    return;
  }
  add_result(*scope, tensor);
}

void Capture::keeps(const Tensor& tensor) {
  Scope* scope = top();
  if (scope == nullptr || scope->kind != Scope::Kind::kOp || scope->inner > 0) return;
  if (!is_made_here(tensor) || storage_of(tensor) < scope->first_storage) return;
  if (storages_[storage_of(tensor)].maker != kNoNode) return;
  const std::size_t before = scope->results.size();
  add_result(*scope, tensor);
  scope->kept += scope->results.size() - before;
}

/// Whether all that an operator in place asks for is a copy of what was there, which backward
/// needs: it becomes a node of its own.
bool Capture::clones(Scope& scope, const Tensor& tensor) {
  const Effect asked = scope.effects.front();
  const auto is_other = [&](const Effect& effect) {
    return effect.kind != Effect::Kind::kLaunch && effect.storage != asked.storage;
  };
  if (asked.kind != Effect::Kind::kAllocate || asked.bytes != tensor.bytes() ||
      scope.effects.size() > 2 || std::any_of(scope.effects.begin(), scope.effects.end(), is_other))
    return false;
  GraphNode copy;
  copy.name = "clone";
  copy.kind = NodeKind::kCopy;
  copy.inputs = {node_of(tensor)};
  describe(copy, tensor);
  copy.storage = asked.storage;
  copy.effects = {asked};
  storages_[asked.storage].maker = add_node(std::move(copy));
  scope.effects.clear();
  scope.kernels.clear();
  const auto is_copy = [&](const Tensor& result) {
    return is_made_here(result) && storage_of(result) == asked.storage;
  };
  scope.kept -= static_cast<std::size_t>(std::erase_if(scope.results, is_copy));
  return true;
}

void Capture::writes(const Tensor& tensor) {
  Scope* scope = top();
  if (scope == nullptr || scope->inner > 0 || !tensor.is_cuda()) return;
  const bool is_whole = is_seen_whole(tensor);
  if (!is_whole && !is_part_of(graph.nodes[whole_of(tensor)], tensor))
    refuse(fmt::format("{} in place into a part of a tensor", scope->name));
  if (!scope->effects.empty() && !clones(*scope, tensor))
    refuse(fmt::format("{} in place", scope->name));
  if (is_whole && tensor->view_base && c_.grad_enabled() && is_made_here(tensor))
    refuse(fmt::format("{} in place into a view", scope->name));
  if (c_.grad_enabled() && !is_made_here(tensor) && tensor.requires_grad())
    refuse("writing into an input that requires grad");
  scope->written.push_back(tensor);
}

NodeKind Capture::kind_of(const Scope& scope) {
  if (scope.kind == Scope::Kind::kBackward) return NodeKind::kOpaque;
  const bool asks = std::any_of(scope.effects.begin(), scope.effects.end(),
                                [](const Effect& e) { return e.kind == Effect::Kind::kAllocate; });
  if (!asks && scope.kernels.empty()) return NodeKind::kView;
  if (scope.asks_itself || scope.kernels.size() != 1) return NodeKind::kOpaque;
  return node_kind(scope.kernels.front());
}

void Capture::finish(Scope scope) {
  if (!scope.written.empty() && scope.results.empty()) {
    write_functionally(scope);
    return;
  }
  std::vector<StorageId> hidden;
  for (StorageId id = scope.first_storage; id < storages_.size(); ++id) {
    const bool is_result = std::any_of(
        scope.results.begin(), scope.results.end(),
        [&](const Tensor& result) { return is_made_here(result) && storage_of(result) == id; });
    const bool is_own = std::any_of(
        scope.effects.begin(), scope.effects.end(),
        [id](const Effect& e) { return e.kind == Effect::Kind::kAllocate && e.storage == id; });
    if (is_own && storages_[id].is_live && !is_result) hidden.push_back(id);
  }
  if (scope.results.empty() && hidden.empty()) return;
  GraphNode node;
  node.name = scope.name;
  node.settings = scope.settings;
  node.call = scope.call;
  node.numbers = scope.numbers;
  if (scope.kind == Scope::Kind::kKernel && scope.kernels.front() == ops::KernelKind::kFill)
    node.settings = 1;  // zeros
  node.kind = kind_of(scope);
  node.inputs = scope.reads;
  node.effects = std::move(scope.effects);
  ask_for_statistics(scope, node);
  node.results_from = static_cast<std::uint32_t>(scope.results_from);
  const bool is_one = scope.results.size() == 1 && hidden.empty() && scope.given_anew.empty();
  node.has_parts = !is_one;
  if (is_one) {
    const Tensor& result = scope.results.front();
    describe(node, result);
    if (is_made_here(result) && storage_of(result) >= scope.first_storage) {
      node.storage = storage_of(result);
    } else {
      // A view: of what it reads, whatever else it takes.
      const NodeId base = node.inputs.empty() ? node_of(result) : node.inputs.front();
      node.inputs = {base};
      node.storage = graph.nodes[base].storage;
    }
  }
  const NodeId id = add_node(std::move(node));
  if (is_one) {
    const StorageId storage = graph.nodes[id].storage;
    // What was sent is read as it is when the wait for it is over.
    if (storage >= scope.first_storage || scope.name == "wait_tensor")
      storages_[storage].maker = id;
    mark(scope.results.front(), id);
    return;
  }
  for (const Tensor& result : scope.results) add_part(id, result);
  for (const StorageId storage : hidden) add_hidden_part(id, storage);
  give_statistics(scope, id);
}

// ---- what is asked for

void Capture::add_effect(const Effect& effect) {
  Scope* scope = top();
  if (scope == nullptr) return;
  scope->effects.push_back(effect);
  // A kernel's is the backward function's around it, too.
  if (scopes_.size() > 1) scopes_[scopes_.size() - 2].effects.push_back(effect);
}

ops::RequestNumber Capture::allocate(Bytes bytes, ops::Device device) {
  const auto storage = static_cast<StorageId>(storages_.size());
  storages_.push_back({bytes});
  graph.roles.push_back(ops::Role::kTemporary);
  ++live_;
  Effect effect;
  effect.device = device;
  effect.storage = storage;
  effect.bytes = bytes;
  if (Scope* scope = top()) {
    if (scope->inner_kernels == 0 && scope->kind != Scope::Kind::kKernel) scope->asks_itself = true;
    add_effect(effect);
    // Kernels of a backward function may read it before the function has ended.
    if (scope->kind != Scope::Kind::kBackward) return kPretended | storage;
  }
  GraphNode node;
  node.name = c_.op_label;
  node.settings = calls_.empty() ? 0 : settings_of(node.name, {});
  node.kind = NodeKind::kFill;
  node.effects.push_back(effect);
  node.storage = storage;
  node.dtype = ops::ScalarType::kUInt8;  // until somebody reads it
  node.device = device;
  storages_.back().maker = add_node(std::move(node));
  return kPretended | storage;
}

void Capture::release(ops::RequestNumber request) {
  const StorageId storage = number(request);
  if (storage >= storages_.size() || !storages_[storage].is_live) return;
  storages_[storage].is_live = false;
  --live_;
  Effect effect;
  effect.kind = Effect::Kind::kFree;
  effect.storage = storage;
  Scope* scope = top();
  if (scope == nullptr) {
    // Asked for and given back behind an operator: its scratch.
    const bool is_last =
        graph.nodes.size() > 1 && storages_[storage].maker + 1 == graph.nodes.size();
    if (!is_last || graph.nodes.back().kind != NodeKind::kFill || is_read_.count(storage) > 0)
      return;
    const Effect ask = graph.nodes.back().effects.front();
    GraphNode& before = graph.nodes[graph.nodes.size() - 2];
    if (before.effects.empty()) return;
    graph.nodes.pop_back();
    graph.nodes.back().effects.push_back(ask);
    graph.nodes.back().effects.push_back(effect);
    return;
  }
  if (storage >= scope->first_storage) scope->effects.push_back(effect);
  if (scopes_.size() > 1 && storage >= scopes_[scopes_.size() - 2].first_storage)
    scopes_[scopes_.size() - 2].effects.push_back(effect);
}

void Capture::set_role(ops::RequestNumber request, ops::Role role) {
  ops::Role& held = graph.roles[number(request)];
  held = std::max(held, role);
}

void Capture::launch(ops::Device device, std::uint64_t flops, std::uint64_t bytes_moved,
                     ops::KernelClass kind, ops::ScalarType precision) {
  Effect effect;
  effect.kind = Effect::Kind::kLaunch;
  effect.device = device;
  effect.flops = flops;
  effect.bytes_moved = bytes_moved;
  effect.kernel = kind;
  effect.precision = precision;
  add_effect(effect);
}

void Capture::workspace(ops::Device device, bool lt, std::int64_t calls) {
  Effect effect;
  effect.kind = lt ? Effect::Kind::kLtWorkspace : Effect::Kind::kWorkspace;
  effect.device = device;
  effect.calls = calls;
  add_effect(effect);
}

void Capture::refuse(std::string_view what) {
  const bool is_read = what == "a copy to the host" && scopes_.empty() && !in_backward_;
  if (is_read && breaks != nullptr && breaks->break_graph(what)) return;
  session_.interp.refuse(fmt::format("{} in compiled code is not modelled", what), kRunAsEager);
}

}  // namespace tidemark::torch
