#include "sim/torch/compile/compiled_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/graph/node_text.h"
#include "sim/lang/runtime/notes.h"
#include "sim/ops/dispatch_mode.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/torch/autograd/autograd.h"
#include "sim/torch/compile/capture.h"
#include "sim/torch/compile/graph_run.h"
#include "sim/torch/compile/inductor_call.h"
#include "sim/torch/compile/known_code.h"
#include "sim/torch/compile/unit.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using graph::kNoNode;
using graph::NodeId;
using lang::Value;
using ops::Tensor;

namespace {

/// A result is pretended no longer: its history and memory go, its object stays.
void take_apart(const Tensor& tensor) {
  tensor->grad_fn = {};
  tensor->output_nr = 0;
  tensor->view_base = {};
  tensor->view_kind = ops::ViewKind::kPlain;
  tensor->version = {};
  tensor->producer = graph::kNoVertex;
  tensor->storage = {};
}

void run_backward_pass(const std::shared_ptr<const Compiled>& compiled,
                       const GradientSpreads& spreads, ops::Backward& b) {
  GraphRun run(b.c, compiled->graph, compiled->parts.backward, compiled->graph.gradients);
  for (std::size_t i = 0; i < b.saved.size(); ++i) run.give(compiled->parts.saved[i], b.saved[i]);
  b.saved.clear();
  if (!b.c.thread().retains_graph) b.node.release_variables();
  // The engine holds what came in and zeros instead of it; a copy goes when it has been read.
  ops::TensorList zeros;
  for (std::size_t i = 0; i < compiled->tangents.size(); ++i) {
    const NodeId id = compiled->tangents[i];
    if (id == kNoNode) continue;
    const Tensor tangent = tangent_like(b, compiled->graph.nodes[id], b.incoming[i]);
    run.give(id, tangent);
    if (!b.incoming[i].defined()) zeros.push_back(tangent);
  }
  run.run();
  for (std::size_t i = 0; i < compiled->graph.gradients.size(); ++i) {
    const NodeId id = compiled->graph.gradients[i];
    if (id == kNoNode) continue;
    b.grads[i] = run.take(id);
    if (i < spreads.size()) b.grads[i]->spread = spreads[i];
    run.drop(id);
  }
}

/// The forward pass; what it makes becomes the memory of `results`.
void run_forward(Session& session, const std::shared_ptr<const Compiled>& compiled,
                 const InputTensors& tensors, const GradientSpreads& spreads,
                 ops::TensorList& results) {
  ops::Context& c = session.c;
  ops::TensorList inputs;
  for (const auto& [tensor, id] : tensors) inputs.push_back(tensor);
  ops::Op op(c, "CompiledFunction", "CompiledFunctionBackward", inputs);
  std::vector<NodeId> kept = compiled->graph.outputs;
  kept.insert(kept.end(), compiled->parts.saved.begin(), compiled->parts.saved.end());
  GraphRun run(c, compiled->graph, compiled->parts.forward, kept);
  for (const auto& [tensor, id] : tensors) run.give(id, tensor);
  {
    const ops::GradMode off(c, false);
    run.run();
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    results[i]->storage = run.memory_of(compiled->graph.outputs[i]);
  for (std::size_t slot = 0; slot < compiled->parts.saved.size(); ++slot) {
    const NodeId id = compiled->parts.saved[slot];
    const auto input = std::find_if(tensors.begin(), tensors.end(),
                                    [id](const auto& entry) { return entry.second == id; });
    op.save(slot, input != tensors.end() ? input->first : run.take(id));
  }
  op.results_of(results,
                [compiled, spreads](ops::Backward& b) { run_backward_pass(compiled, spreads, b); });
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool has_gradient = i < compiled->tangents.size() && compiled->tangents[i] != kNoNode;
    if (!has_gradient) results[i]->grad_fn = {};
  }
}

[[noreturn]] void refuse(Session& session, std::string_view what) {
  session.interp.refuse(std::string(what), kRunAsEager);
}

/// What is kept of a function: its graphs, in order.
struct KeptFunction {
  std::map<std::size_t, KnownCodes> graphs;
};
/// What is kept of code, whoever runs it.
struct KeptSizes {
  std::map<std::size_t, SeenSizes> graphs;
};

template <typename Kept>
auto& kept_of(Session& session, const void* whose, std::size_t graph) {
  std::shared_ptr<void>& kept = session.compiled_code[whose];
  if (kept == nullptr) kept = std::make_shared<Kept>();
  return static_cast<Kept*>(kept.get())->graphs[graph];
}

/// The code that a function runs, which says what sizes are open. Modules of PyTorch's own are run
/// by one. Source: torch's eval_frame.py, OptimizedModule._initialize.
const void* code_of(Session& session, const Value& function) {
  static const char kOfPyTorch = 0;
  Value called = function;
  if (const auto* method = called.as<lang::BoundMethod>()) {
    const bool is_users = method->function.as<lang::Function>() != nullptr;
    called = is_users ? method->function
                      : session.interp.find_attr(method->self, session.interp.intern("forward"));
  }
  if (const auto* method = called.as<lang::BoundMethod>()) called = Value(method->function);
  const auto* defined = called.as<lang::Function>();
  if (defined == nullptr) return &kOfPyTorch;
  const bool is_users = !lang::Interp::is_internal(view(defined->code->file->name));
  return is_users ? static_cast<const void*>(defined->code.get()) : &kOfPyTorch;
}

}  // namespace

/// What is asked for meanwhile is no pretended memory.
template <typename F>
void CompiledRun::on_device(F&& work) {
  ops::Context& c = session_.c;
  Pretender* const pretender = session_.emitter.pretended_by();
  session_.emitter.pretend(nullptr);
  ops::Tracer* const tracer = std::exchange(c.tracer, nullptr);
  work();
  c.tracer = tracer;
  session_.emitter.pretend(pretender);
}

/// Dynamo runs what it traces on fake tensors: a list of positions becomes a tensor nevertheless,
/// and a constant of the graph. Source: torch's applySlicing; FakeTensorMode, lift_fresh.
void CompiledRun::lift_indices() {
  ops::Context& c = session_.c;
  on_device([&] {
    for (const auto& [bytes, device] : session_.lifted) {
      const ops::LabelScope label(c, "lift_fresh");
      Tensor made = c.scratch(bytes, device);
      const Tensor constant = c.scratch(bytes, device);
      made.reset();
    }
  });
  session_.lifted.clear();
}

std::shared_ptr<const InductorCode> CompiledRun::by_inductor(const Unit& unit, std::size_t number) {
  const Compiled& compiled = *unit.compiled;
  const TracedCode traced{compiled.graph,
                          unit.inputs,
                          compiled.tangents,
                          unit.has_backward,
                          capture().under_autocast(),
                          !capture().has_functions && !capture().has_policies && !is_split_};
  auto& known = kept_of<KeptFunction>(session_, function_.object(), number);
  CapturedCall call{compiled.graph,
                    {},
                    compiled.tangents,
                    unit.has_backward,
                    traced.under_autocast,
                    sizes_of(unit.arguments),
                    offsets_of(unit.inputs, unit.arguments)};
  for (const auto& [tensor, id] : unit.inputs) call.inputs.push_back(id);
  KnownCode* code = known.find(call);
  const bool is_new = code == nullptr;
  if (is_new) {
    auto& seen = kept_of<KeptSizes>(session_, code_of(session_, function_), number);
    lift_indices();
    code = &known.add(std::move(call), seen.open(session_, sizes_, traced, unit.arguments));
  } else if (code->is_made_for(call)) {
    return code->code;
  } else {
    code->call = std::move(call);
  }
  code->kept.open_sizes = code->open_inputs(unit.inputs, unit.arguments);
  code->kept.open_images = code->open_images();
  code->kept.forward.open_lengths = code->kept.backward.open_lengths = code->open_lengths();
  code->kept.runs_as_graphs = backend_ == Backend::kInductorGraphs;
  const auto& device = session_.c.spec();
  try {
    code->code =
        compile_with_inductor(session_, traced, {device.sm_count, device.max_threads_per_sm},
                              code->kept, session_.emitter.recorded() != nullptr);
  } catch (const ops::NotModelled& problem) {
    known.forget(code);
    refuse(session_, problem.what());
  }
  if (is_new && !code->code->is_cached) on_device([&] { compile_anew(session_, *code->code); });
  return code->code;
}

void CompiledRun::compile(Unit& unit, std::size_t number) {
  if (backend_ != Backend::kAotEager) {
    unit.inductor = by_inductor(unit, number);
    return;
  }
  Compiled& compiled = *unit.compiled;
  if (unit.has_backward) {
    compiled.graph.merge_equal();
    compiled.parts = graph::partition(compiled.graph);
    return;
  }
  std::vector<NodeId> inputs;
  for (const auto& [tensor, id] : unit.inputs) inputs.push_back(id);
  compiled.parts.forward = compiled.graph.needed_for(compiled.graph.outputs, inputs);
}

/// What was captured is compiled and run; it gives those of the tensors that it made.
/// `dead`: tensors that it lets go.
void CompiledRun::compile(const ops::TensorList& all, const ops::TensorList& dead) {
  ops::Context& c = session_.c;
  Capture& captured = capture();
  if (c.looks().all != looks_)
    refuse(session_, "compiled code that acts by the numbers in a tensor is not modelled");
  if (session_.backwards != backwards_)
    refuse(session_, "a backward pass in compiled code is not modelled");
  std::vector<Unit> units;
  session_.guarded([&] {
    ops::TensorList results;
    for (const Tensor& tensor : all) {
      if (Capture::is_made_here(tensor)) results.push_back(tensor);
    }
    units = traced_units(session_, captured, arguments_, std::move(results));
    is_split_ = units.size() > 1;
    for (Unit& unit : units) {
      const auto piece = static_cast<std::size_t>(&unit - units.data());
      if (!unit.compiled->graph.outputs.empty()) compile(unit, captures_.size() + (piece << 16U));
    }
  });
  for (const Unit& unit : units) {
    for (const Tensor& tensor : unit.results) take_apart(tensor);
  }
  for (const auto& [id, tensor] : captured.read_tensors) {
    if (!Capture::is_made_here(tensor)) Capture::forget_node(tensor);
  }
  captured.read_tensors.clear();
  for (const auto* tensors : {&all, &dead}) {
    for (const Tensor& tensor : *tensors) {
      if (!Capture::is_made_here(tensor)) Capture::forget_node(tensor);
    }
  }
  for (const Tensor& tensor : dead) {
    if (Capture::is_made_here(tensor)) take_apart(tensor);
  }
  if (captured.is_something_held())
    refuse(session_,
           "a tensor that compiled code makes and keeps, other than its result, is not modelled");
  captured.stop();
  is_capturing_ = false;
  for (Unit& unit : units) {
    if (!unit.compiled->graph.outputs.empty()) run(unit);
    unit.results.clear();  // what later pieces read stays with them
    unit.inputs.clear();
    unit.arguments.clear();
  }
}

void CompiledRun::run(Unit& unit) {
  const auto& compiled = unit.compiled;
  const auto& inductor = unit.inductor;
  if (graph::Details* details = session_.emitter.recorded()) {
    graph::CompiledCode text =
        inductor != nullptr
            ? inductor->text
            : graph::CompiledCode{graph::joint_text(compiled->graph),
                                  graph::partitioned_text(compiled->graph, compiled->parts),
                                  {},
                                  {}};
    auto& seen = details->compiled;
    if (std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(std::move(text));
  }
  if (inductor != nullptr && !inductor->unknown.empty()) {
    const bool is_one = inductor->unknown.size() == 1;
    lang::note(session_.interp,
               fmt::format("how inductor compiles {} is not known: taken for {} own",
                           fmt::join(inductor->unknown, ", "),
                           is_one ? "a loop or a kernel of its" : "loops or kernels of their"));
  }
  if (ops::is_dispatching(session_.c)) {
    lang::note(
        session_.interp,
        "a policy of checkpoints around compiled code, which keeps what kernels of libraries "
        "give it in PyTorch, keeps nothing of it here");
  }
  session_.guarded([&] {
    for (const auto& [tensor, id] : unit.inputs) session_.wait_for(tensor);
    if (inductor != nullptr) {
      run_inductor_forward(session_, inductor, unit.inputs, unit.spreads, unit.results);
    } else {
      run_forward(session_, compiled, unit.inputs, unit.spreads, unit.results);
    }
  });
}

}  // namespace tidemark::torch
