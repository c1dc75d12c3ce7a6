#include "sim/torch/namespaces/torch_c.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/runtime/notes.h"
#include "sim/ops/autocast.h"
#include "sim/ops/cublas.h"
#include "sim/ops/releases.h"
#include "sim/ops/values/rule.h"
#include "sim/ops/values/view.h"
#include "sim/torch/autograd/autograd.h"
#include "sim/torch/compile/compiled_call.h"
#include "sim/torch/modules/module_object.h"
#include "sim/torch/tensors/grad_node.h"
#include "sim/torch/tensors/op_binding.h"
#include "sim/torch/tensors/reading.h"
#include "sim/torch/tensors/run_notes.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;

namespace {

/// Every switch of torch.backends by its name here.
bool* backend_switch(Session& session, std::string_view name) {
  ops::Backends& b = session.c.backends;
  if (name == "cudnn") return &b.cudnn;
  if (name == "cudnn_benchmark") return &b.cudnn_benchmark;
  if (name == "deterministic") return &b.deterministic;
  if (name == "tf32") return &b.tf32;
  if (name == "cudnn_tf32") return &b.cudnn_tf32;
  if (name == "fp16_accumulation") return &b.fp16_accumulation;
  if (name == "cudnn_sdp") return &b.cudnn_sdp;
  if (name == "flash") return &b.flash_sdp;
  if (name == "efficient") return &b.mem_efficient_sdp;
  if (name == "math") return &b.math_sdp;
  return nullptr;
}

const ops::Tensor& tensor_of(Interp& interp, const Value& value) {
  const auto* object = value.as<TensorObject>();
  if (object == nullptr)
    interp.type_error("expected a Tensor, got " + std::string(interp.type_name(value)));
  return object->tensor;
}

/// The tensors of an optimizer's state, whatever collections they lie in, `depth` of them deep.
void keep_as_optimizer_state(const Value& value, unsigned depth) {
  if (const auto* object = value.as<TensorObject>()) {
    if (!object->tensor->is_parameter)
      object->tensor->storage->set_role(ops::Role::kOptimizerState);
  } else if (depth == 0) {
    return;
  } else if (const auto* list = value.as<lang::List>()) {
    for (const Value& item : list->items) keep_as_optimizer_state(item, depth - 1);
  } else if (const auto* tuple = value.as<lang::Tuple>()) {
    for (const Value& item : tuple->items) keep_as_optimizer_state(item, depth - 1);
  } else if (const auto* dict = value.as<lang::Dict>()) {
    for (const auto& entry : dict->table.entries()) {
      if (!entry.key.empty()) keep_as_optimizer_state(entry.value, depth - 1);
    }
  }
}

void add_modes(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  add("grad_enabled()", [s](Interp&, Arguments&) { return Value::boolean(s->c.grad_enabled()); });
  add("set_grad_enabled(mode)", [s](Interp&, Arguments& a) {
    s->c.thread().grad_enabled = a.boolean(0);
    return Value::none();
  });
  // Moving or casting a parameter: no graph is made.
  module.set(
      session.interp.intern("without_grad"),
      session.interp.raw_function("without_grad", [s](Interp& in, lang::CallArgs& args) -> Value {
        const ops::GradMode mode(s->c, false);
        return call_first(in, args);
      }));
  add("compile_mode()", [s](Interp& in, Arguments&) {
    return in.str(std::string(kCompileModeNames[static_cast<std::size_t>(s->compile)]));
  });
  add("cuda_version()", [s](Interp& in, Arguments&) { return in.str(to_string(s->wheel.cuda)); });
  // What the PyTorch that runs does: the number of the variant of a rule where releases differ.
  add("release_rule(name)", [s](Interp& in, Arguments& a) {
    const std::span<const ops::ReleaseRule> rules = ops::release_rules();
    if (std::ranges::find(rules, a.text(0), &ops::ReleaseRule::name) == rules.end())
      in.value_error("no such rule: " + a.text(0));
    return Value::integer(ops::variant_of_rule(a.text(0), s->wheel));
  });
  add("inference_mode()",
      [s](Interp&, Arguments&) { return Value::boolean(s->c.thread().inference_mode); });
  add("set_inference_mode(mode)", [s](Interp&, Arguments& a) {
    s->c.thread().inference_mode = a.boolean(0);
    return Value::none();
  });
  // autocast: (enabled, dtype, cache_enabled) of the thread, and the nesting that decides when the
  // cache is dropped.
  add("autocast_state()", [s](Interp& in, Arguments&) {
    const ops::Autocast& a = s->c.thread().autocast;
    return in.tuple({Value::boolean(a.enabled), s->wrap(a.dtype), Value::boolean(a.cache_enabled)});
  });
  add("set_autocast(enabled, dtype, cache_enabled)", [s](Interp&, Arguments& a) {
    ops::Autocast& autocast = s->c.thread().autocast;
    autocast.enabled = a.boolean(0);
    autocast.dtype = a.object<DTypeObject>(1, "torch.dtype").dtype;
    autocast.cache_enabled = a.boolean(2);
    return Value::none();
  });
  add("autocast_enter()", [s](Interp&, Arguments&) {
    ++s->c.thread().autocast.nesting;
    return Value::none();
  });
  add("autocast_exit()", [s](Interp&, Arguments&) {
    if (--s->c.thread().autocast.nesting == 0) ops::clear_autocast_cache(s->c);
    return Value::none();
  });
  add("clear_autocast_cache()", [s](Interp&, Arguments&) {
    ops::clear_autocast_cache(s->c);
    return Value::none();
  });
  // A DTensor's casts are operators on DTensors; they are kept where others' are.
  add("cast_kept(source)", [s](Interp&, Arguments& a) {
    const ops::Tensor& source = a.object<TensorObject>(0, "a DTensor").tensor;
    for (const ops::CastCacheEntry& entry : s->c.cast_cache) {
      if (entry.source == source) return s->wrap(entry.cast);
    }
    return Value::none();
  });
  add("keep_cast(source, cast)", [s](Interp&, Arguments& a) {
    s->c.cast_cache.push_back({a.object<TensorObject>(0, "a DTensor").tensor,
                               a.object<TensorObject>(1, "its cast").tensor});
    return Value::none();
  });
  add("default_dtype()", [s](Interp&, Arguments&) { return s->wrap(s->c.default_dtype); });
  add("default_device()", [s](Interp&, Arguments&) { return s->wrap(s->c.default_device); });
  add("set_default_device(device)", [s](Interp&, Arguments& a) {
    s->c.default_device = s->device_from(a[0]);
    return Value::none();
  });
  add("set_default_dtype(dtype)", [s](Interp&, Arguments& a) {
    s->c.default_dtype = a.object<DTypeObject>(0, "torch.dtype").dtype;
    return Value::none();
  });
  add("backend(name)", [s](Interp& in, Arguments& a) {
    const bool* flag = backend_switch(*s, a.text(0));
    if (flag == nullptr) in.value_error("no such backend switch: " + a.text(0));
    return Value::boolean(*flag);
  });
  add("set_allocator_conf(conf)", [s](Interp&, Arguments& a) {
    // PyTorch reads the variable when it first asks a device for memory.
    const bool is_read_already = s->emitter.amounts().requests > 0;
    if (!is_read_already) s->allocator_conf = a.text(0);
    return Value::boolean(!is_read_already);
  });
  add("set_cublas_variable(name, value)", [s](Interp& in, Arguments& a) {
    if (!ops::is_cublas_variable(a.text(0))) in.value_error("no such variable: " + a.text(0));
    return Value::boolean(s->c.set_cublas_environment(a.text(0), a.text(1)));
  });
  add("set_backend(name, value)", [s](Interp& in, Arguments& a) {
    bool* flag = backend_switch(*s, a.text(0));
    if (flag == nullptr) in.value_error("no such backend switch: " + a.text(0));
    *flag = a.boolean(1);
    return Value::none();
  });
}

ops::Device device_at(const Session& session, const Arguments& a, std::size_t i) {
  const std::int64_t index = a.integer(i);
  if (index < 0 || index >= session.device_count)
    session.interp.value_error("no such device: " + std::to_string(index));
  return ops::Device{static_cast<std::int8_t>(index)};
}
std::uint16_t stream_at(const Arguments& a, std::size_t i) {
  return static_cast<std::uint16_t>(a.integer(i));
}

/// Streams and events by number; the classes are in torch/cuda/streams.py. Source:
/// c10/cuda/CUDAStream.cpp.
void add_streams(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  const auto act = [&](std::string_view signature, void (*body)(Session&, Arguments&)) {
    add(signature, [s, body](Interp&, Arguments& a) {
      body(*s, a);
      return Value::none();
    });
  };
  add("stream_from_pool(device, pool)", [s](Interp&, Arguments& a) {
    constexpr std::int64_t kPerPool = 32;
    constexpr std::int64_t kPools = 4;  // one a priority
    if (a.integer(1) < 0 || a.integer(1) >= kPools) s->interp.value_error("no such pool");
    const auto pool = static_cast<std::size_t>(device_at(*s, a, 0).index * kPools + a.integer(1));
    if (pool >= s->next_stream.size()) s->next_stream.resize(pool + 1);
    return Value::integer(1 + a.integer(1) * kPerPool + s->next_stream[pool]++ % kPerPool);
  });
  // Private pools and captures; the classes are in torch/cuda/graphs.py and memory.py.
  act("use_pool(action, capture, user, device, stream)", [](Session& t, Arguments& a) {
    if (a.integer(0) < 0 || a.integer(0) > static_cast<std::int64_t>(PoolAction::kEmptyCache))
      t.interp.value_error("no such action");
    t.emitter.use_pool(
        static_cast<PoolAction>(a.integer(0)), static_cast<std::uint32_t>(a.integer(1)),
        static_cast<std::uint32_t>(a.integer(2)), device_at(t, a, 3), stream_at(a, 4));
  });
  act("begin_graph()", [](Session& t, Arguments&) { t.emitter.begin_graph(); });
  add("end_graph()", [s](Interp&, Arguments&) { return Value::integer(s->emitter.end_graph()); });
  act("replay_graph(graph, device)", [](Session& t, Arguments& a) {
    t.emitter.replay_graph(static_cast<std::uint32_t>(a.integer(0)), device_at(t, a, 1));
  });
  act("_cuda_clearCublasWorkspaces()",
      [](Session& session_now, Arguments&) { session_now.c.clear_cublas_workspaces(); });
  add("query_event(event)", [s](Interp&, Arguments& a) {
    const auto event = static_cast<std::uint32_t>(a.integer(0));
    return Value::boolean(s->guarded([&] { return s->emitter.query_event(event); }));
  });
  add("query_stream(device, stream)", [s](Interp&, Arguments& a) {
    const std::optional<bool> ended =
        s->guarded([&] { return s->emitter.query_stream(device_at(*s, a, 0), stream_at(a, 1)); });
    return ended ? Value::boolean(*ended) : Value::none();
  });
  add("current_stream(device)",
      [s](Interp&, Arguments& a) { return Value::integer(s->c.stream(device_at(*s, a, 0))); });
  add("make_event()", [s](Interp&, Arguments&) { return Value::integer(s->emitter.make_event()); });
  act("set_stream(device, stream)",
      [](Session& t, Arguments& a) { t.c.set_stream(device_at(t, a, 0), stream_at(a, 1)); });
  act("synchronize_stream(device, stream)",
      [](Session& t, Arguments& a) { t.emitter.synchronize(device_at(t, a, 0), stream_at(a, 1)); });
  act("record_event(event, device, stream)", [](Session& t, Arguments& a) {
    t.emitter.record_event(static_cast<std::uint32_t>(a.integer(0)), device_at(t, a, 1),
                           stream_at(a, 2));
  });
  act("wait_event(event, device, stream)", [](Session& t, Arguments& a) {
    t.emitter.wait_event(static_cast<std::uint32_t>(a.integer(0)), device_at(t, a, 1),
                         stream_at(a, 2));
  });
  act("synchronize_event(event)", [](Session& t, Arguments& a) {
    t.emitter.synchronize_event(static_cast<std::uint32_t>(a.integer(0)));
  });
  act("note_upload(tensor)", [](Session& t, Arguments& a) {
    const ops::Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    if (tensor.is_cuda()) t.c.recorder().copy(ops::kHost, tensor.device(), tensor.bytes(), true);
  });
  add("known_integers(tensor)", [s](Interp& in, Arguments& a) -> Value {
    const auto* object = a[0].as<TensorObject>();
    if (object == nullptr || !ops::known_numbers(object->tensor)) return Value::none();
    std::vector<Value> items;
    for (const Value& each : in.unpack(read_numbers(*s, object->tensor)))
      items.push_back(Value::integer(static_cast<std::int64_t>(each.number())));
    return in.list(std::move(items));
  });
  // Rows of a tensor of the host side by side, in memory of their own.
  add("picked_rows(tensor, rows)", [s](Interp& in, Arguments& a) -> Value {
    const ops::Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    std::vector<std::int64_t> rows;
    const std::vector<Value> items = in.unpack(a[1]);
    for (const Value& item : items) {
      if (item.is_integral()) rows.push_back(item.as_int());
    }
    ops::Dims sizes = tensor.sizes();
    sizes[0] = static_cast<std::int64_t>(items.size());
    return s->guarded([&] {
      const ops::Tensor out = s->c.empty(sizes, tensor.dtype(), tensor.device());
      if (rows.size() == items.size()) ops::note_rows(tensor, std::move(rows), out);
      return s->wrap(out);
    });
  });
  // How many bins the numbers of a tensor fall into; `least` where nobody knows and some are asked.
  add("count_of_bins(tensor, least)", [s](Interp& in, Arguments& a) -> Value {
    const ops::Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    const std::int64_t least = a.integer(1);
    if (const auto numbers = s->c.look_at(tensor)) {
      std::int64_t most = least;
      for (const std::int64_t each : numbers->whole) most = std::max(most, each + 1);
      return Value::integer(most);
    }
    if (least > 0 || !s->c.count_unknown) {
      if (s->c.count_unknown)
        lang::guess(in, fmt::format("bincount of numbers that are not known: none is taken to be "
                                    "above {}",
                                    least - 1));
      return Value::integer(std::max<std::int64_t>(least, 1));
    }
    const std::optional<double> given = s->decisions->given_number(in);
    if (!given) s->decisions->refuse_number(in, "a size", {});
    return Value::integer(static_cast<std::int64_t>(*given));
  });
  act("enter_function_mode(mode)", [](Session& t, Arguments& a) { t.op_table().enter_mode(a[0]); });
  act("take_as_plain(change)",
      [](Session& t, Arguments& a) { t.op_table().take_as_plain(t.interp.truth(a[0]) ? 1 : -1); });
  act("leave_function_mode()", [](Session& t, Arguments&) { t.op_table().leave_mode(); });
  add("has_function_mode()",
      [s](Interp&, Arguments&) { return Value::boolean(s->op_table().has_mode()); });
  add("call_function_mode(function, positional, keywords)",
      [s](Interp&, Arguments& a) { return s->op_table().call_mode(a[0], a[1], a[2]); });
  act("note_values(tensor, values)", [](Session& t, Arguments& a) {
    const ops::Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    ops::Numbers numbers;
    numbers.dtype = tensor.dtype();
    const std::vector<Value> items = t.interp.unpack(a[1]);
    const bool are_known =
        std::all_of(items.begin(), items.end(), [](const Value& item) { return item.is_number(); });
    if (!are_known || static_cast<std::int64_t>(items.size()) != tensor.numel()) return;
    numbers.resize(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].is_integral()) {
        numbers.set_whole(i, items[i].as_int());
      } else {
        numbers.set(i, items[i].number());
      }
    }
    ops::note_numbers(tensor, std::move(numbers));
  });
  act("_host_emptyCache()", [](Session& t, Arguments&) { t.emitter.empty_host_cache(); });
}

/// Parallel lists, the first of tensors, split by its tensors' device and dtype, in order of first
/// appearance: {0: [list, ..., list of the indices], 1: ...}; an empty list stays empty. Source:
/// torch.utils._foreach_utils._group_tensors_by_device_and_dtype, which is C++ in PyTorch too.
Value group_tensors(Interp& in, Arguments& a) {
  struct Group {
    ops::Device device;
    ops::ScalarType dtype;
    std::vector<std::size_t> members;
  };
  const std::vector<Value> lists = in.unpack(a[0]);
  const std::vector<Value> first = lists.empty() ? lists : in.unpack(lists.front());
  for (const Value& list : lists) {
    const auto* own = list.as<lang::List>();
    if (own == nullptr || (!own->items.empty() && own->items.size() < first.size()))
      in.type_error("lists to be grouped must be as long as the first of them, or empty");
  }
  std::vector<Group> groups;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto* object = first[i].as<TensorObject>();
    if (object == nullptr) in.type_error("the first of the lists to be grouped must hold tensors");
    const ops::Tensor& tensor = object->tensor;
    std::size_t at = 0;
    while (at < groups.size() &&
           !(groups[at].device == tensor.device() && groups[at].dtype == tensor.dtype()))
      ++at;
    if (at == groups.size()) groups.push_back({tensor.device(), tensor.dtype(), {}});
    groups[at].members.push_back(i);
  }
  Ref<lang::Dict> out = in.dict();
  // The last group first: a hash table of the C++ library puts what is new at its head.
  std::reverse(groups.begin(), groups.end());
  for (const Group& group : groups) {
    std::vector<Value> parts;
    parts.reserve(lists.size() + 1);
    for (const Value& list : lists) {
      const std::vector<Value>& items = list.as<lang::List>()->items;
      std::vector<Value> part;
      part.reserve(group.members.size());
      if (!items.empty()) {
        for (const std::size_t i : group.members) part.push_back(items[i]);
      }
      parts.push_back(in.list(std::move(part)));
    }
    std::vector<Value> indices;
    indices.reserve(group.members.size());
    for (const std::size_t i : group.members)
      indices.push_back(Value::integer(static_cast<std::int64_t>(i)));
    parts.push_back(in.list(std::move(indices)));
    out->table.set(in, Value::integer(static_cast<std::int64_t>(out->table.size())),
                   in.list(std::move(parts)));
  }
  return out;
}

/// p.grad
Value gradient_of(Interp& in, const Value& parameter, lang::Name grad) {
  const auto* tensor = parameter.as<TensorObject>();
  // A DTensor's is spread as it is.
  if (tensor == nullptr || tensor->tensor->spread) return in.get_attr(parameter, grad);
  return tensor->session().wrap(ops::Tensor(tensor->tensor->grad));
}

bool is_sparse(const Value& gradient) {
  const auto* tensor = gradient.as<TensorObject>();
  return tensor != nullptr && tensor->tensor.is_sparse();
}

/// The parameters that have a gradient and whose state is empty, in order, up to the first gradient
/// that is sparse.
Value without_state(Interp& in, Arguments& a) {
  const lang::Name name = in.intern("grad");
  std::vector<Value> out;
  for (const Value& parameter : in.unpack(a[0])) {
    const Value gradient = gradient_of(in, parameter, name);
    if (gradient.is_none()) continue;
    if (is_sparse(gradient)) break;
    if (in.length(in.get_item(a[1], parameter)) == 0) out.push_back(parameter);
  }
  return in.list(std::move(out));
}

/// What an optimizer's lists are made of: the parameters that have a gradient, their gradients, and
/// what their states have under each of the names; no state is asked for without names. Errors:
/// RuntimeError with `no_sparse` for a sparse gradient, unless it is None; KeyError.
Value gathered(Interp& in, Arguments& a) {
  const lang::Name name = in.intern("grad");
  const std::vector<Value> names = in.unpack(a[2]);
  std::vector<std::vector<Value>> lists(2 + names.size());
  for (const Value& parameter : in.unpack(a[0])) {
    Value gradient = gradient_of(in, parameter, name);
    if (gradient.is_none()) continue;
    if (a.has(3) && is_sparse(gradient)) in.runtime_error(a.text(3));
    lists[0].push_back(parameter);
    lists[1].push_back(std::move(gradient));
    if (names.empty()) continue;
    const Value state = in.get_item(a[1], parameter);
    for (std::size_t i = 0; i < names.size(); ++i)
      lists[2 + i].push_back(in.get_item(state, names[i]));
  }
  std::vector<Value> out;
  out.reserve(lists.size());
  for (std::vector<Value>& list : lists) out.push_back(in.list(std::move(list)));
  return in.tuple(std::move(out));
}

void add_lists(Session& session, lang::Module& module) {
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  add("group_tensors(lists)", group_tensors);
  add("without_state(params, state)", without_state);
  add("gathered(params, state, names, no_sparse=None)", gathered);
  add("all_on_cuda(tensors)", [](Interp& in, Arguments& a) {
    const ops::TensorList tensors = tensors_in(in, a[0]);
    return Value::boolean(
        std::ranges::all_of(tensors, [](const ops::Tensor& each) { return each.is_cuda(); }));
  });
}

void add_events(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  add("begin_phase(name)", [s](Interp&, Arguments& a) {
    s->emitter.begin_phase(a.text(0));
    return Value::none();
  });
  add("mark(name, device=None)", [s](Interp&, Arguments& a) {
    if (a.has(1)) {
      s->emitter.measure(a.text(0), s->device_from(a[1]));
      return Value::none();
    }
    for (int i = 0; i < s->device_count; ++i)
      s->emitter.measure(a.text(0), ops::Device{static_cast<std::int8_t>(i)});
    return Value::none();
  });
  add("begin(kind)", [s](Interp&, Arguments& a) {
    s->emitter.begin(a.text(0));
    return Value::none();
  });
  add("end_step()", [s](Interp&, Arguments&) {
    s->emitter.end_step();
    return Value::none();
  });
  add("set_trains()", [s](Interp&, Arguments&) {
    s->emitter.set_trains();
    return Value::none();
  });
  add("set_moves_module(value)", [s](Interp&, Arguments& a) {
    const bool before = s->moves_module;
    s->moves_module = a.boolean(0);
    return Value::boolean(before);
  });
  add("set_op_label(name)", [s](Interp& in, Arguments& a) {
    // Names are interned for the whole run, so that the text stays where it is.
    s->c.op_label = in.text(in.intern(a.text(0)));
    s->c.recorder().set_label(s->c.module_label, s->c.op_label);
    return Value::none();
  });
  add("as_optimizer_state(tensor)", [](Interp&, Arguments& a) {
    a.object<TensorObject>(0, "Tensor").tensor->storage->set_role(ops::Role::kOptimizerState);
    return a[0];
  });
  add("keep_optimizer_state(state)", [](Interp&, Arguments& a) {
    (void)a.object<lang::Dict>(0, "dict");
    keep_as_optimizer_state(a[0], 8);
    return Value::none();
  });
  add("set_role(tensor, role)", [](Interp& in, Arguments& a) {
    const ops::Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    const std::string& role = a.text(1);
    if (role != "optimizer_state" && role != "input" && role != "parameter" && role != "gradient")
      in.value_error("no such role: " + role);
    tensor->storage->set_role(role == "input"       ? ops::Role::kInput
                              : role == "parameter" ? ops::Role::kParameter
                              : role == "gradient"  ? ops::Role::kGradient
                                                    : ops::Role::kOptimizerState);
    return Value::none();
  });
  add("flatten_weights(weights)", [s](Interp& in, Arguments& a) {
    // cuDNN's recurrent layers want their weights in one buffer: each becomes a part of it. Source:
    // docs/rules/recurrent.md.
    const ops::TensorList weights = tensors_in(in, a[0]);
    if (weights.empty()) in.value_error("no weights to put into one buffer");
    std::int64_t total = 0;
    for (const ops::Tensor& weight : weights) total += weight.numel();
    s->guarded([&] {
      const ops::Tensor buffer =
          s->c.empty({total}, weights.front().dtype(), weights.front().device());
      buffer->storage->set_role(ops::Role::kParameter);
      std::int64_t offset = 0;
      for (const ops::Tensor& weight : weights) {
        weight->strides = ops::contiguous_strides(weight.sizes());
        weight->offset = offset;
        weight->storage = buffer->storage;
        offset += weight.numel();
      }
      return 0;
    });
    return Value::none();
  });
  add("refuse(message, hint='')",
      [](Interp& in, Arguments& a) -> Value { in.refuse(a.text(0), a.text(1)); });
  add("same_storage(a, b)", [](Interp&, Arguments& a) {
    return Value::boolean(a.object<TensorObject>(0, "Tensor").tensor->storage ==
                          a.object<TensorObject>(1, "Tensor").tensor->storage);
  });
  add("storage_bytes(tensor)", [](Interp& in, Arguments& a) {
    const ops::Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    if (tensor.is_sparse()) in.runtime_error("a sparse tensor has no storage of its own");
    return Value::integer(static_cast<std::int64_t>(tensor->storage->bytes()));
  });
  add("backward(tensors, gradients, retain_graph=False, inputs=(), create_graph=False)",
      [s](Interp& in, Arguments& a) {
        const std::vector<Value> roots = in.unpack(a[0]);
        ops::TensorList gradients;
        for (const Value& v : in.unpack(a[1]))
          gradients.push_back(v.is_none() ? ops::Tensor() : tensor_of(in, v));
        if (gradients.size() != roots.size())
          in.runtime_error("there are not as many gradients as tensors");
        const ops::TensorList inputs = tensors_in(in, a[3]);
        const Emitter::Backward pass(s->emitter);
        ++s->backwards;
        if (RunNotes* notes = run_notes(*s)) notes->late_gradients.end(*s);
        BackwardOptions options;
        options.retain_graph = a.boolean(2);
        options.create_graph = a.boolean(4);
        options.rules = s->gradient_rules.get();
        s->guarded([&] {
          backward(s->c, s->emitter.graph(), start_at(*s, roots, gradients), options, inputs);
          return 0;
        });
        return Value::none();
      });
}

}  // namespace

ops::TensorList tensors_in(Interp& interp, const Value& sequence) {
  ops::TensorList tensors;
  for (const Value& value : interp.unpack(sequence)) tensors.push_back(tensor_of(interp, value));
  return tensors;
}

Value call_first(Interp& interp, const lang::CallArgs& args) {
  if (args.positional == 0) interp.type_error("expected a function to call");
  lang::CallArgs rest{args.values + 1, args.positional - 1, args.keywords, args.keyword_count,
                      false};
  return interp.call(args.values[0], rest);
}

void fill_torch_c(Session& session, lang::Module& module) {
  add_modes(session, module);
  add_events(session, module);
  add_streams(session, module);
  add_lists(session, module);
  add_module_class(session, module);
  fill_autograd(session, module);
  fill_reducer(session, module);
  fill_distributed(session, module);
  fill_transfers(session, module);
  fill_purposes(session, module);
  add_compiling(session, module);
  add_random_functions(session, module);
  add_routing(session, module);
}

}  // namespace tidemark::torch
