#include "sim/torch/compile/compiled_call.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sim/graph/node_text.h"
#include "sim/graph/partition.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/torch/autograd/autograd.h"
#include "sim/torch/compile/capture.h"
#include "sim/torch/compile/graph_run.h"
#include "sim/torch/compile/inductor_call.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using graph::kNoNode;
using graph::NodeId;
using lang::Value;
using ops::Tensor;

namespace {

/// The tensors in nested lists, tuples and dicts, each once.
void collect(const Value& value, ops::TensorList& into) {
  if (const auto* object = value.as<TensorObject>()) {
    if (std::find(into.begin(), into.end(), object->tensor) == into.end())
      into.push_back(object->tensor);
    return;
  }
  if (const auto* list = value.as<lang::List>()) {
    for (const Value& item : list->items) collect(item, into);
  } else if (const auto* tuple = value.as<lang::Tuple>()) {
    for (const Value& item : tuple->items) collect(item, into);
  } else if (const auto* dict = value.as<lang::Dict>()) {
    for (const auto& entry : dict->table.entries()) {
      if (!entry.key.empty()) collect(entry.value, into);
    }
  }
}

/// What a call of compiled code is made into. A pass runs it as often as it is asked to.
struct Compiled {
  graph::NodeGraph graph;
  graph::Partition parts;
  std::vector<NodeId> tangents;
};

/// The joint graph: gradients of the results that have any, with respect to the inputs that want
/// one. Returns the nodes of the tangents, by result; kNoNode: it wants none.
std::vector<NodeId> trace_backward(Session& session, Capture& capture,
                                   const ops::TensorList& results) {
  ops::Context& c = session.c;
  capture.begin_gradients();
  std::vector<NodeId> tangents;
  std::vector<ops::Edge> roots;
  ops::TensorList starts;
  for (const Tensor& result : results) {
    tangents.push_back(kNoNode);
    if (!result.requires_grad()) continue;
    starts.push_back(capture.tangent_of(result));
    tangents.back() = capture.node_of(starts.back());
    roots.push_back(ops::gradient_edge(c, result));
  }
  BackwardOptions options;
  options.accumulate = false;
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < capture.inputs.size(); ++i) {
    const Tensor& input = capture.inputs[i].first;
    if (!input.requires_grad()) continue;
    wanted.push_back(i);
    options.inputs.push_back(ops::gradient_edge(c, input));
  }
  const ops::TensorList gradients =
      run_backward(c, session.emitter.graph(), roots, std::move(starts), options);
  capture.graph.gradients.assign(capture.inputs.size(), kNoNode);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (gradients[i].defined()) capture.graph.gradients[wanted[i]] = capture.node_of(gradients[i]);
  }
  return tangents;
}

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

void run_backward_pass(const std::shared_ptr<const Compiled>& compiled, ops::Backward& b) {
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
    run.drop(id);
  }
}

/// The forward pass; what it makes becomes the memory of `results`.
void run_forward(Session& session, const std::shared_ptr<const Compiled>& compiled,
                 const Capture& capture, ops::TensorList& results) {
  ops::Context& c = session.c;
  ops::TensorList inputs;
  for (const auto& [tensor, id] : capture.inputs) inputs.push_back(tensor);
  ops::Op op(c, "CompiledFunction", "CompiledFunctionBackward", inputs);
  std::vector<NodeId> kept = compiled->graph.outputs;
  kept.insert(kept.end(), compiled->parts.saved.begin(), compiled->parts.saved.end());
  GraphRun run(c, compiled->graph, compiled->parts.forward, kept);
  for (const auto& [tensor, id] : capture.inputs) run.give(id, tensor);
  {
    const ops::GradMode off(c, false);
    run.run();
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    results[i]->storage = run.memory_of(compiled->graph.outputs[i]);
  for (std::size_t slot = 0; slot < compiled->parts.saved.size(); ++slot) {
    const NodeId id = compiled->parts.saved[slot];
    const auto input = std::find_if(capture.inputs.begin(), capture.inputs.end(),
                                    [id](const auto& entry) { return entry.second == id; });
    op.save(slot, input != capture.inputs.end() ? input->first : run.take(id));
  }
  op.results_of(results, [compiled](ops::Backward& b) { run_backward_pass(compiled, b); });
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool has_gradient = i < compiled->tangents.size() && compiled->tangents[i] != kNoNode;
    if (!has_gradient) results[i]->grad_fn = {};
  }
}

/// The first compilation of a process makes a tensor, so that the device is there. Source: torch's
/// fake_tensor.init_gpu_context.
void initialise_device(Session& session, const ops::TensorList& arguments) {
  if (session.has_compiled) return;
  const bool is_on_device =
      std::any_of(arguments.begin(), arguments.end(), [](const Tensor& t) { return t.is_cuda(); });
  if (!is_on_device) return;
  session.has_compiled = true;
  const ops::LabelScope label(session.c, "init_gpu_context");
  const Tensor made = session.c.empty({1}, ops::ScalarType::kFloat32, session.current_device);
}

[[noreturn]] void refuse(Session& session, std::string_view what) {
  session.interp.refuse(std::string(what), kRunAsEager);
}

/// What is kept of a function from call to call.
struct KeptFunction {
  KeptCode code;
  KeptCode without_backward;
  std::vector<ops::Dims> sizes;  ///< of its arguments when it was called first
  bool has_changed = false;      ///< they were others since
};

KeptFunction& kept_of(Session& session, const Value& function) {
  std::shared_ptr<void>& kept = session.compiled_code[function.object()];
  if (kept == nullptr) kept = std::make_shared<KeptFunction>();
  return *static_cast<KeptFunction*>(kept.get());
}

/// Whether code is compiled for other sizes too. A size of 1 is always by itself. Source: torch's
/// automatic_dynamic_shapes.
bool is_for_others(KeptFunction& kept, ForSizes sizes, const ops::TensorList& arguments) {
  if (sizes != ForSizes::kAutomatic) return sizes == ForSizes::kOthersToo;
  std::vector<ops::Dims> now;
  for (const Tensor& tensor : arguments) now.push_back(tensor.sizes());
  if (kept.sizes.empty()) kept.sizes = now;
  bool is_alone = false;
  for (std::size_t i = 0; i < now.size() && now.size() == kept.sizes.size(); ++i) {
    if (now[i].size() != kept.sizes[i].size()) continue;
    for (std::size_t dim = 0; dim < now[i].size(); ++dim) {
      if (now[i][dim] == kept.sizes[i][dim]) continue;
      const bool is_single = now[i][dim] < 2 || kept.sizes[i][dim] < 2;
      is_alone = is_alone || is_single;
      kept.has_changed = kept.has_changed || !is_single;
    }
  }
  return kept.has_changed && !is_alone;
}

}  // namespace

Value call_compiled(Session& session, Backend backend, ForSizes sizes, const Value& function,
                    lang::CallArgs& args) {
  ops::Context& c = session.c;
  if (c.tracer != nullptr) return session.interp.call(function, args);
  ops::TensorList arguments;
  for (std::size_t i = 0; i < args.positional + args.keyword_count; ++i)
    collect(args.values[i], arguments);
  initialise_device(session, arguments);
  const std::uint64_t looks = c.looks().all;
  const std::uint64_t backwards = session.backwards;
  Capture capture(session, arguments, backend == Backend::kInductor);
  Value value = session.interp.call(function, args);
  if (c.looks().all != looks)
    refuse(session, "compiled code that acts by the numbers in a tensor is not modelled");
  if (session.backwards != backwards)
    refuse(session, "a backward pass in compiled code is not modelled");
  const auto compiled = std::make_shared<Compiled>();
  ops::TensorList all;
  collect(value, all);
  ops::TensorList results;
  std::shared_ptr<const InductorCode> inductor;
  session.guarded([&] {
    for (const Tensor& tensor : all) {
      if (!Capture::is_made_here(tensor)) continue;
      results.push_back(tensor);
      capture.graph.outputs.push_back(capture.node_of(tensor));
    }
    const bool has_backward =
        c.grad_enabled() && std::any_of(results.begin(), results.end(),
                                        [](const Tensor& t) { return t.requires_grad(); });
    if (has_backward) compiled->tangents = trace_backward(session, capture, results);
    std::vector<NodeId> written;
    for (const auto& [input, id] : capture.written_inputs) {
      written.push_back(id);
      capture.graph.written.push_back(capture.input_of(input));
    }
    capture.graph.outputs.insert(capture.graph.outputs.end(), written.begin(), written.end());
    if (backend == Backend::kInductor) {
      const auto& device = c.spec();
      KeptCode fresh;
      KeptFunction& of_function = kept_of(session, function);
      const bool is_dynamic = is_for_others(of_function, sizes, arguments);
      KeptCode& known = has_backward ? of_function.code : of_function.without_backward;
      KeptCode& kept = is_dynamic ? known : fresh;
      kept.is_dynamic = is_dynamic;
      try {
        inductor = compile_with_inductor(capture, compiled->tangents, has_backward,
                                         {device.sm_count, device.max_threads_per_sm}, kept,
                                         session.emitter.recorded() != nullptr);
      } catch (const ops::NotModelled& problem) {
        refuse(session, problem.what());
      }
      return;
    }
    capture.graph.merge_equal();
    if (has_backward) {
      compiled->parts = graph::partition(capture.graph);
    } else {
      std::vector<NodeId> inputs;
      for (const auto& [tensor, id] : capture.inputs) inputs.push_back(id);
      compiled->parts.forward = capture.graph.needed_for(capture.graph.outputs, inputs);
    }
  });
  for (const Tensor& tensor : results) take_apart(tensor);
  all.clear();
  if (capture.is_something_held())
    refuse(session,
           "a tensor that compiled code makes and keeps, other than its result, is not modelled");
  capture.stop();
  compiled->graph = std::move(capture.graph);
  if (graph::Details* details = session.emitter.recorded()) {
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
  session.guarded([&] {
    if (inductor != nullptr) {
      if (!inductor->is_cached) trace_patterns(session, *inductor);
      run_inductor_forward(session, inductor, capture, results);
    } else {
      run_forward(session, compiled, capture, results);
    }
  });
  return value;
}

void add_compiling(Session& session, lang::Module& module) {
  module.set(session.interp.intern("call_compiled"),
             session.interp.raw_function(
                 "call_compiled", [s = &session](lang::Interp& in, lang::CallArgs& args) -> Value {
                   if (args.positional < 3) in.type_error("expected a function to call");
                   const auto* name = args.values[0].as<lang::Str>();
                   const bool is_inductor = name != nullptr && name->text() == "inductor";
                   const ForSizes sizes = args.values[1].is_none()   ? ForSizes::kAutomatic
                                          : in.truth(args.values[1]) ? ForSizes::kOthersToo
                                                                     : ForSizes::kOwn;
                   const Value function = args.values[2];
                   lang::CallArgs rest{args.values + 3, args.positional - 3, args.keywords,
                                       args.keyword_count, false};
                   return call_compiled(*s, is_inductor ? Backend::kInductor : Backend::kAotEager,
                                        sizes, function, rest);
                 }));
  const auto region = [&](std::string_view name, std::string_view signature, bool begins) {
    module.set(
        session.interp.intern(name),
        session.interp.function(signature, [s = &session, begins](lang::Interp&, lang::Arguments&) {
          auto* capture = dynamic_cast<Capture*>(s->c.tracer);
          if (capture == nullptr) return Value::boolean(false);
          if (begins) return Value::boolean(capture->begin_region());
          capture->end_region();
          return Value::boolean(true);
        }));
  };
  region("begin_checkpointed", "begin_checkpointed()", true);
  region("end_checkpointed", "end_checkpointed()", false);
  module.set(
      session.interp.intern("is_compiling"),
      session.interp.function("is_compiling()", [s = &session](lang::Interp&, lang::Arguments&) {
        return Value::boolean(s->c.tracer != nullptr);
      }));
}

}  // namespace tidemark::torch
