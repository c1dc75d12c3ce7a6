#include "sim/torch/compile/inductor_call.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/graph/inductor/decompose.h"
#include "sim/graph/node_text.h"
#include "sim/torch/compile/graphed_pass.h"
#include "sim/torch/compile/plan_run.h"

namespace tidemark::torch {

using graph::kNoNode;
using graph::NodeGraph;
using graph::NodeId;
using graph::NodeKind;
using ops::Tensor;

Tensor tangent_like(ops::Backward& b, const graph::GraphNode& node, const Tensor& incoming) {
  if (!incoming.defined()) {
    const ops::LabelScope label(b.c, "zeros");
    return b.c.empty_strided(node.sizes, node.strides, node.dtype, node.device);
  }
  // In dimensions of one element strides do not count.
  Ref<ops::TensorImpl> traced = make_ref<ops::TensorImpl>();
  traced->sizes = node.sizes;
  traced->strides = node.strides;
  if (incoming.is_contiguous(Tensor(std::move(traced)).suggest_memory_format())) return incoming;
  const ops::LabelScope label(b.c, "contiguous");
  return b.c.empty_strided(node.sizes, node.strides, node.dtype, node.device);
}

namespace {

/// Whether what is saved is the backward pass's alone: no input, no result, nor a view of one.
std::vector<bool> donated(const NodeGraph& joint, const std::vector<NodeId>& inputs) {
  std::vector<bool> is_shared(joint.roles.size());
  const auto share = [&](NodeId id) {
    if (id != kNoNode && joint.nodes[id].storage != graph::kNoStorage)
      is_shared[joint.nodes[id].storage] = true;
  };
  for (NodeId id = 0; id < joint.nodes.size(); ++id) {
    if (joint.nodes[id].kind == NodeKind::kInput) share(id);
  }
  for (const NodeId id : joint.outputs) share(id);
  for (const NodeId id : joint.gradients) share(id);
  std::vector<bool> out;
  for (const NodeId id : inputs) {
    const graph::GraphNode& node = joint.nodes[id];
    out.push_back(node.kind != NodeKind::kTangent && !is_shared[node.storage]);
  }
  return out;
}

}  // namespace

namespace {

/// Whether random numbers that are drawn in the forward pass are drawn again: their generator's
/// state is then handed over by an operator that PyTorch's cache refuses.
bool draws_again(const NodeGraph& joint, const graph::Partition& parts) {
  return std::any_of(parts.forward.begin(), parts.forward.end(), [&](NodeId id) {
    const graph::GraphNode& node = joint.nodes[id];
    const bool draws =
        node.name == "inductor_seeds" || node.name.starts_with("_scaled_dot_product");
    return node.region != 0 && draws &&
           std::find(parts.backward.begin(), parts.backward.end(), id) != parts.backward.end();
  });
}

}  // namespace

namespace {

void trace_patterns(Session& session) {
  if (std::exchange(session.has_traced_patterns, true)) return;
  ops::Context& c = session.c;
  const ops::LabelScope label(c, "_get_sfdp_patterns");
  for (const auto& [dtype, count] :
       {std::pair{ops::ScalarType::kFloat32, 11}, std::pair{ops::ScalarType::kFloat16, 13}}) {
    std::vector<Tensor> constants;
    for (int i = 0; i < count; ++i) {
      const Tensor number = c.empty({}, dtype, session.current_device);
      constants.push_back(c.empty({}, dtype, session.current_device));
    }
    for (Tensor& constant : constants) constant.reset();
  }
}

}  // namespace

void compile_anew(Session& session, const InductorCode& code) {
  trace_patterns(session);
  ops::Context& c = session.c;
  const ops::LabelScope label(c, "_deduce_value");
  ops::TensorList held;
  for (const InductorCode::Constant& constant : code.constants) {
    Tensor folded = c.empty({}, constant.dtype, session.current_device);
    if (constant.is_held) held.push_back(std::move(folded));
  }
}

namespace {

/// Which function the passes are for CUDA graphs; -1: none, they run as they are. Source: torch's
/// cudagraphify_impl; check_for_mutation.
std::int64_t graph_function_of(Session& session, const InductorCode& code, const NodeGraph& joint,
                               KeptCode& kept) {
  std::vector<std::vector<std::int64_t>> sizes;
  for (std::size_t i = 0; i < code.inputs.size(); ++i) {
    const graph::GraphNode& input = joint.nodes[code.inputs[i]];
    const bool is_written = std::find(joint.written.begin(), joint.written.end(), code.inputs[i]) !=
                            joint.written.end();
    if (!input.device.is_cuda() || (is_written && !input.is_parameter)) return -1;
    sizes.emplace_back(input.sizes.begin(), input.sizes.end());
  }
  const auto [known, is_new] = kept.graph_functions.emplace(std::move(sizes), 0);
  if (is_new) {
    known->second = session.graph_functions;
    session.graph_functions += 2;
  }
  return known->second;
}

}  // namespace

std::shared_ptr<const InductorCode> compile_with_inductor(
    Session& session, const TracedCode& traced, const graph::inductor::DeviceShape& device,
    KeptCode& kept, bool wants_text) {
  const bool has_backward = traced.has_backward;
  std::vector<NodeId> places;
  auto code = std::make_shared<InductorCode>();
  NodeGraph joint =
      graph::inductor::decompose(traced.graph, traced.under_autocast, places, code->unknown);
  std::map<NodeId, int> open_sizes;
  for (std::size_t i = 0; i < kept.open_sizes.size() && i < traced.inputs.size(); ++i)
    open_sizes[places[traced.inputs[i].second]] = kept.open_sizes[i];
  std::vector<std::string> labels = graph::inductor::labels_of(joint, open_sizes);
  if (wants_text) code->text.joint = graph::joint_text(joint);
  for (const graph::GraphNode& node : joint.nodes) {
    const bool is_uniform = node.kind == NodeKind::kFill && node.name != "iota";
    if (!is_uniform || !node.device.is_cuda()) continue;
    // The view of a whole that is written into stays without a reader.
    const auto id = static_cast<NodeId>(&node - joint.nodes.data());
    const bool is_held = std::any_of(
        joint.nodes.begin() + id, joint.nodes.end(), [id](const graph::GraphNode& reader) {
          return reader.name == "as_strided_scatter" && reader.inputs.front() == id;
        });
    code->constants.push_back({node.dtype, is_held});
  }
  graph::inductor::drop_batches_of_one(joint, labels, places);
  const std::vector<bool> are_converted = graph::inductor::simplify_joint(joint);
  if (has_backward) joint.merge_equal(are_converted);  // the partitioner's part
  for (const auto& [tensor, id] : traced.inputs) code->inputs.push_back(places[id]);
  for (const NodeId id : traced.tangents)
    code->tangents.push_back(id == kNoNode ? kNoNode : places[id]);
  code->outputs = joint.outputs.size() - joint.written.size();
  code->has_backward = has_backward;
  graph::Partition parts;
  if (has_backward) {
    parts = graph::partition(joint);
  } else {
    parts.forward = joint.needed_for(joint.outputs, code->inputs);
  }
  code->is_cached = !draws_again(joint, parts) && traced.is_cached;
  std::vector<NodeId> results = joint.outputs;
  results.resize(code->outputs);
  for (const NodeId id : code->inputs) code->is_fixed.push_back(joint.nodes[id].is_parameter);
  if (kept.runs_as_graphs) code->graph_function = graph_function_of(session, *code, joint, kept);
  results.insert(results.end(), parts.saved.begin(), parts.saved.end());
  code->saved = parts.saved;
  code->gradients = joint.gradients;
  if (wants_text) code->text.partitioned = graph::partitioned_text(joint, parts);
  graph::inductor::PassGraph forward =
      graph::inductor::pass_of(joint, labels, code->inputs, parts.forward, results);
  graph::inductor::write_inputs(forward, joint, code->inputs);
  forward.visible_outputs = code->outputs;
  forward.is_inference = !has_backward;
  forward.is_dynamic = kept.is_dynamic;
  forward.open_images = kept.open_images;
  code->forward =
      graph::inductor::compile_pass(std::move(forward), device, kept.forward, wants_text);
  if (has_backward) {
    std::vector<NodeId> inputs = parts.saved;
    for (const NodeId id : code->tangents) {
      if (id != kNoNode) inputs.push_back(id);
    }
    graph::inductor::PassGraph pass =
        graph::inductor::pass_of(joint, labels, inputs, parts.backward, joint.gradients);
    pass.is_donated = donated(joint, inputs);
    pass.visible_outputs = pass.outputs.size();
    pass.is_dynamic = kept.is_dynamic;
    pass.open_images = kept.open_images;
    for (const NodeId id : code->inputs)
      pass.is_as_parameter.push_back(joint.nodes[id].is_parameter);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::size_t result = code->outputs + i;
      pass.input_strides.push_back(i < parts.saved.size() ? code->forward.results[result].strides
                                                          : joint.nodes[inputs[i]].strides);
    }
    code->backward =
        graph::inductor::compile_pass(std::move(pass), device, kept.backward, wants_text);
  }
  if (code->forward.mixes_orders || code->backward.mixes_orders)
    code->unknown.push_back("reductions along rows and columns at once");
  if (wants_text) {
    for (const auto& [name, pass] :
         {std::pair{"forward", &code->forward}, std::pair{"backward", &code->backward}}) {
      code->text.fused += std::string(name) + "\n" + pass->kernels;
      code->text.buffers += std::string(name) + "\n" + pass->code;
      if (!has_backward) break;
    }
  }
  return code;
}

namespace {

void run_backward(Session& session, const std::shared_ptr<const InductorCode>& code,
                  const GradientSpreads& spreads, ops::Backward& b) {
  PlanRun run(b.c, code->backward);
  const bool is_graph = code->graph_function >= 0;
  ops::TensorList inputs;  // of a graph
  std::vector<bool> is_fixed;
  std::size_t input = 0;
  for (const Tensor& saved : b.saved) {
    if (!is_graph) run.give(input, saved);
    ++input;
  }
  if (is_graph) inputs = std::move(b.saved);
  is_fixed.assign(inputs.size(), true);
  b.saved.clear();
  if (!b.c.thread().retains_graph) b.node.release_variables();
  const auto& nodes = code->backward.pass.graph.nodes;
  ops::TensorList zeros;  // autograd holds them until the function has returned
  for (std::size_t i = 0; i < code->tangents.size(); ++i) {
    if (code->tangents[i] == kNoNode) continue;
    const NodeId node = code->backward.pass.inputs[input];
    const Tensor tangent = tangent_like(b, nodes[node], b.incoming[i]);
    if (is_graph) {
      inputs.push_back(tangent);
      is_fixed.push_back(false);
      ++input;
    } else {
      run.give(input++, tangent);
    }
    if (!b.incoming[i].defined()) zeros.push_back(tangent);
  }
  if (is_graph) {
    run_as_graph(session, run, {code->graph_function + 1, GraphPass::kBackward}, std::move(inputs),
                 is_fixed);
  } else {
    run.run();
  }
  for (std::size_t i = 0; i < code->gradients.size(); ++i) {
    if (code->gradients[i] == kNoNode) continue;
    b.grads[i] = run.take(i);
    if (i < spreads.size()) b.grads[i]->spread = spreads[i];
  }
  while (!zeros.empty()) zeros.pop_back();  // as CPython takes a list apart
}

}  // namespace

void run_inductor_forward(Session& session, const std::shared_ptr<const InductorCode>& code,
                          const InputTensors& tensors, const GradientSpreads& spreads,
                          ops::TensorList& results) {
  ops::Context& c = session.c;
  ops::TensorList inputs;
  for (const auto& [tensor, id] : tensors) inputs.push_back(tensor);
  ops::Op op(c, "CompiledFunction", "CompiledFunctionBackward", inputs);
  PlanRun run(c, code->forward);
  {
    const ops::GradMode off(c, false);
    if (code->graph_function >= 0) {
      const auto pass = code->has_backward ? GraphPass::kForward : GraphPass::kInference;
      run_as_graph(session, run, {code->graph_function, pass}, inputs, code->is_fixed);
    } else {
      for (std::size_t i = 0; i < inputs.size(); ++i) run.give(i, inputs[i]);
      run.run();
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) results[i]->storage = run.memory_of(i);
  ops::TensorList kept;
  for (std::size_t slot = 0; slot < code->saved.size(); ++slot) {
    // An input as it is, unless the forward pass has laid out a copy of it.
    const graph::inductor::BufferId held = code->forward.results[code->outputs + slot].buffer;
    const bool is_input =
        held < inputs.size() && run.memory_of(code->outputs + slot) == inputs[held]->storage;
    kept.push_back(is_input ? inputs[held] : run.take(code->outputs + slot));
    op.save(slot, kept.back());
  }
  op.results_of(results, [code, spreads, s = &session](ops::Backward& b) {
    run_backward(*s, code, spreads, b);
  });
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool has_gradient = i < code->tangents.size() && code->tangents[i] != kNoNode;
    if (!has_gradient) results[i]->grad_fn = {};
  }
  // What hooks packed goes by the list of what was kept, in its order.
  run.let_go();
  for (Tensor& tensor : kept) tensor.reset();
}

}  // namespace tidemark::torch
