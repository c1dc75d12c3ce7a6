#include "sim/torch/compile/graphed_pass.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/lang/runtime/interp.h"
#include "sim/ops/device_check.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Value;
using ops::Tensor;

namespace {

/// Outputs of graphs, by number. Kept with the session.
struct GraphOutputs {
  std::vector<Ref<ops::StorageWatch>> watches;
};

GraphOutputs& outputs_of(Session& session) {
  static const char kKey = 0;
  std::shared_ptr<void>& kept = session.compiled_code[&kKey];
  if (kept == nullptr) kept = std::make_shared<GraphOutputs>();
  return *static_cast<GraphOutputs*>(kept.get());
}

ops::Storage* storage_at(Session& session, std::int64_t number) {
  return outputs_of(session).watches[static_cast<std::size_t>(number)]->storage;
}

/// The numbers of a pass's outputs, but those that were there before.
Value note_outputs(Session& session, const PlanRun& run,
                   const std::vector<Ref<ops::Storage>>& before) {
  std::vector<Ref<ops::StorageWatch>>& watches = outputs_of(session).watches;
  std::vector<Value> numbers;
  std::vector<const ops::Storage*> seen;
  for (const Ref<ops::Storage>& memory : run.results()) {
    // Numbers on the host have no memory here.
    const bool is_known = std::find(before.begin(), before.end(), memory) != before.end() ||
                          std::find(seen.begin(), seen.end(), memory.get()) != seen.end();
    if (memory == nullptr || is_known || !memory->device().is_cuda()) continue;
    seen.push_back(memory.get());
    numbers.push_back(Value::integer(static_cast<std::int64_t>(watches.size())));
    watches.push_back(memory->watch());
  }
  return session.interp.list(std::move(numbers));
}

}  // namespace

void run_as_graph(Session& session, PlanRun& run, GraphFunction function, ops::TensorList inputs,
                  const std::vector<bool>& is_fixed) {
  lang::Interp& in = session.interp;
  session.guarded([&] {
    for (const Tensor& input : inputs) {
      if (input.defined()) ops::check_is_there("a compiled call", input);
    }
  });
  std::vector<Value> tensors;
  std::vector<Value> fixed;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    tensors.push_back(session.wrap(inputs[i]));
    if (is_fixed[i]) fixed.push_back(Value::integer(static_cast<std::int64_t>(i)));
  }
  inputs.clear();
  const Value given = in.list(std::move(tensors));
  tensors.clear();
  // run(inputs, before, how): what is computed of the inputs; `before`: of which inputs nothing is
  // made that the graphs own; `how`: as cudagraph_trees.py numbers it.
  const Value pass = in.raw_function(
      "run", [s = &session, plan = &run](lang::Interp& interp, lang::CallArgs& args) -> Value {
        auto* list = args.values[0].as<lang::List>();
        std::vector<Ref<ops::Storage>> before;
        for (const Value& index : interp.unpack(args.values[1])) {
          const Value& item = list->items[static_cast<std::size_t>(index.as_int())];
          before.push_back(item.as<TensorObject>()->tensor->storage);
        }
        constexpr std::int64_t kRecords = 2;
        constexpr std::int64_t kReplays = 3;
        const std::int64_t how = args.values[2].as_int();
        if (how == kRecords) plan->record();
        for (std::size_t i = 0; i < list->items.size(); ++i) {
          const auto* tensor = list->items[i].as<TensorObject>();
          if (tensor != nullptr) plan->give(i, tensor->tensor);
        }
        list->items.all().clear();
        if (how == kReplays) {
          plan->look_back();
          return note_outputs(*s, *plan, before);
        }
        // What the plan lets go of last must not be held here; what is made may lie where it lay.
        std::vector<Ref<ops::StorageWatch>> watches;
        watches.reserve(before.size());
        for (const Ref<ops::Storage>& storage : before) {
          if (storage != nullptr) watches.push_back(storage->watch());
        }
        before.clear();
        plan->run();
        for (const Ref<ops::Storage>& memory : plan->results()) {
          const bool was_there =
              memory != nullptr &&
              std::any_of(watches.begin(), watches.end(),
                          [&](const auto& watch) { return watch->storage == memory.get(); });
          if (was_there) before.push_back(memory);
        }
        return note_outputs(*s, *plan, before);
      });
  const Value trees = Value(in.import("torch._inductor.cudagraph_trees"));
  in.call(in.get_attr(trees, in.intern("run")),
          {Value::integer(function.number), Value::integer(static_cast<int>(function.pass)),
           in.list(std::move(fixed)), given, pass, Value::integer(session.compiled_calls)});
}

void add_graphed_passes(Session& session, lang::Module& module) {
  const auto add = [&](std::string_view signature, auto body) {
    const std::string_view name = signature.substr(0, signature.find('('));
    module.set(session.interp.intern(name), session.interp.function(signature, std::move(body)));
  };
  add("is_output_live(number)", [s = &session](lang::Interp&, lang::Arguments& a) {
    return Value::boolean(storage_at(*s, a.integer(0)) != nullptr);
  });
  add("is_output(number, tensor)", [s = &session](lang::Interp&, lang::Arguments& a) {
    const auto* tensor = a[1].as<TensorObject>();
    return Value::boolean(storage_at(*s, a.integer(0)) == tensor->tensor->storage.get());
  });
  // Memory goes though somebody looks at it still, who must not read it.
  add("drop_output(number)", [s = &session](lang::Interp&, lang::Arguments& a) {
    const Ref<ops::StorageWatch>& watch =
        outputs_of(*s).watches[static_cast<std::size_t>(a.integer(0))];
    if (ops::Storage* storage = watch->storage) {
      watch->storage = nullptr;
      s->guarded([&] { storage->overwrite(); });
    }
    return Value::none();
  });
  // What a replayed graph gave has memory of the allocator's own again.
  add("own_output(number)", [s = &session](lang::Interp&, lang::Arguments& a) {
    ops::Storage* storage = storage_at(*s, a.integer(0));
    if (storage == nullptr || storage->request() != ops::kNoMemory) return Value::none();
    s->guarded([&] {
      const Tensor memory = s->c.scratch(storage->bytes(), storage->device());
      storage->take(memory->storage->give_up(), storage->bytes());
    });
    return Value::none();
  });
}

}  // namespace tidemark::torch
