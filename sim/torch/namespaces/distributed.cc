#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/lang/runtime/rank_value.h"
#include "sim/ops/attention_ops.h"
#include "sim/ops/embedding_ops.h"
#include "sim/ops/op.h"
#include "sim/torch/autograd/autograd.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/part_of_rank.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

void add_dtensor_ops(Session& session, lang::Module& module);  // dtensor_ops.cc

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

ops::Dims dims_at(const Arguments& a, std::size_t i) {
  ops::Dims dims;
  for (const std::int64_t size : a.integers(i)) dims.push_back(size);
  return dims;
}

/// Of the arguments tensor, spec, sizes, strides.
Ref<SpreadBySpec> spread_at(Session& session, const Arguments& a) {
  if (!session.dtensors.tensor) session.interp.runtime_error("there are no classes of DTensors");
  const ops::Dims sizes = dims_at(a, 2);
  const ops::Dims strides = dims_at(a, 3);
  if (sizes.size() != strides.size())
    session.interp.value_error("there are not as many strides as sizes");
  return make_ref<SpreadBySpec>(a[1], sizes, strides);
}

/// Counts a call that takes DTensors for this rank's parts.
class Inside {
 public:
  explicit Inside(DTensorClasses& dtensors) : dtensors_(dtensors) { ++dtensors_.inside; }
  ~Inside() { --dtensors_.inside; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  DTensorClasses& dtensors_;
};

/// A host class with the functions and properties of a class written in the language.
Ref<lang::ClassObject> class_with(Interp& interp, std::string_view name,
                                  std::vector<Ref<lang::ClassObject>> bases,
                                  const lang::ClassObject& members) {
  Ref<lang::ClassObject> made =
      interp.make_class(name, "torch.distributed.tensor", std::move(bases));
  for (const lang::AttrMap::Entry& entry : members.attrs.entries())
    made->attrs.set(entry.name, entry.value);
  return made;
}

/// What the language's side of torch.distributed says of gradients.
class DistributedGradients final : public GradientRules {
 public:
  explicit DistributedGradients(Session& session) : session_(session) {}
  void read(const Tensor& gradient) override { session_.wait_for(gradient); }
  Tensor sum(const Tensor& stored, const Tensor& incoming) override {
    return sum_of(session_.wrap(stored), incoming, false);
  }
  void add(const Tensor& stored, const Tensor& incoming) override {
    sum_of(session_.wrap(stored), incoming, true);
  }
  Tensor copy(const Tensor& gradient) override { return sum_of(Value::none(), gradient, false); }

 private:
  Tensor sum_of(const Value& stored, const Tensor& incoming, bool in_place) {
    const Value out = session_.interp.call(
        session_.dtensors.sum, {stored, session_.wrap(incoming), Value::boolean(in_place)});
    const auto* tensor = out.as<TensorObject>();
    if (tensor == nullptr) session_.interp.type_error("the sum of two gradients is no Tensor");
    return tensor->tensor;
  }

  Session& session_;
};

void add_gradients(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  // What register_post_accumulate_grad_hook() gave a parameter whose gradient is given to it.
  add("run_accumulate_hooks(tensor)", [s](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    if (!tensor.requires_grad()) return Value::none();
    const Ref<ops::Node> node = ops::gradient_edge(s->c, tensor).node;
    for (std::size_t i = 0; node && i < node->accumulate_hooks.size(); ++i)
      node->accumulate_hooks[i]();
    return Value::none();
  });
  // Whoever first reads the tensor's memory waits for the work.
  add("forget_accumulator(tensor)", [](Interp&, Arguments& a) {
    a.object<TensorObject>(0, "Tensor").tensor->grad_accumulator = nullptr;
    return Value::none();
  });
  add("wait_when_read(tensor, work)", [s](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    s->wait_for(tensor);
    tensor->is_async = true;
    s->unwaited.push_back({tensor->storage->request(), a[1]});
    if (!s->gradient_rules) s->gradient_rules = std::make_unique<DistributedGradients>(*s);
    return Value::none();
  });
  // The gradient of a whole table, of which a rank looked up a part.
  add("embedding_backward(grad, indices, rows, padding_idx, scale_grad_by_freq)",
      [s](Interp&, Arguments& a) {
        ops::EmbeddingOptions options;
        options.padding_idx = a.integer(3);
        options.scale_grad_by_freq = a.boolean(4);
        return s->guarded([&] {
          const ops::LabelScope label(s->c, "embedding_dense_backward");
          return s->wrap(ops::embedding_dense_backward(
              s->c, a.object<TensorObject>(0, "Tensor").tensor,
              a.object<TensorObject>(1, "Tensor").tensor, a.integer(2), options));
        });
      });
  // (result, sums of its softmax, and two numbers) of one step of ring attention; no history.
  add("ring_attention(is_flash, query, key, value, dropout)", [s](Interp& in, Arguments& a) {
    const auto tensor = [&](std::size_t i) {
      s->wait_for(a.object<TensorObject>(i, "Tensor").tensor);
      return a.object<TensorObject>(i, "Tensor").tensor;
    };
    const auto given = [&](Tensor made) {
      return made.defined() ? s->wrap(std::move(made)) : Value::none();
    };
    return s->guarded([&]() -> Value {
      const bool is_flash = a.boolean(0);
      const ops::LabelScope label(
          s->c, is_flash ? "_flash_attention_forward" : "_efficient_attention_forward");
      ops::FlashResult made =
          is_flash ? ops::flash_forward(s->c, tensor(1), tensor(2), tensor(3), a.real(4))
                   : ops::efficient_forward(s->c, tensor(1), tensor(2), tensor(3), a.real(4), true);
      return in.tuple({s->wrap(std::move(made.out)), s->wrap(std::move(made.lse)),
                       given(std::move(made.seed)), given(std::move(made.offset))});
    });
  });
  add("ring_attention_backward(is_flash, grad, query, key, value, out)",
      [s](Interp&, Arguments& a) {
        const auto tensor = [&](std::size_t i) {
          s->wait_for(a.object<TensorObject>(i, "Tensor").tensor);
          return a.object<TensorObject>(i, "Tensor").tensor;
        };
        return s->guarded([&] {
          const bool is_flash = a.boolean(0);
          const ops::LabelScope label(
              s->c, is_flash ? "_flash_attention_backward" : "_efficient_attention_backward");
          ops::AttentionGradients made =
              is_flash
                  ? ops::flash_backward(s->c, tensor(1), tensor(2), tensor(3), tensor(4), tensor(5))
                  : ops::efficient_backward(s->c, tensor(1), tensor(2), tensor(3), tensor(4),
                                            tensor(5));
          return s->tuple_of({made[0], made[1], made[2]});
        });
      });
  add("wait_for(tensor)", [s](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    s->wait_for(tensor);
    tensor->is_async = false;
    return a[0];
  });
}

void add_dtensors(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  // The classes DTensor and that of parameters, whose methods `members` has. `dispatch`: see
  // DTensorClasses; so `sum`.
  add("make_dtensor_classes(members, dispatch, sum)", [s](Interp& in, Arguments& a) {
    const auto& members = a.object<lang::ClassObject>(0, "class");
    DTensorClasses& made = s->dtensors;
    made.tensor = class_with(in, "DTensor", {s->tensor_class}, members);
    made.parameter =
        in.make_class("DTensor", "torch.distributed.tensor", {made.tensor, s->parameter_class});
    made.dispatch = a[1];
    made.sum = a[2];
    if (!s->gradient_rules) s->gradient_rules = std::make_unique<DistributedGradients>(*s);
    return made.tensor;
  });
  // A DTensor of which `local` is this rank's part: the same memory, no history of its own.
  add("make_dtensor(local, spec, sizes, strides)", [s](Interp&, Arguments& a) {
    Tensor made = ops::Context::shallow_copy(a.object<TensorObject>(0, "Tensor").tensor);
    made->spread = spread_at(*s, a);
    return s->wrap(std::move(made));
  });
  // What an operator gave becomes a DTensor itself.
  add("spread_out(tensor, spec, sizes, strides)", [s](Interp&, Arguments& a) {
    auto& object = a.object<TensorObject>(0, "Tensor");
    object.tensor->spread = spread_at(*s, a);
    object.set_type(object.tensor->is_parameter ? s->dtensors.parameter : s->dtensors.tensor);
    return a[0];
  });
  add("spec_of(tensor)", [](Interp&, Arguments& a) {
    const auto* object = a[0].as<TensorObject>();
    if (object == nullptr || !object->tensor->spread) return Value::none();
    return static_cast<const SpreadBySpec&>(*object->tensor->spread).spec;
  });
  // This rank's part, without history.
  add("local_of(tensor)", [s](Interp&, Arguments& a) {
    Tensor local = ops::Context::shallow_copy(a.object<TensorObject>(0, "Tensor").tensor);
    local->spread.reset();
    return s->wrap(std::move(local));
  });
  // Another part takes its place.
  add("set_local(tensor, local)", [](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    const Tensor& local = a.object<TensorObject>(1, "Tensor").tensor;
    tensor->sizes = local->sizes;
    tensor->strides = local->strides;
    tensor->offset = local->offset;
    tensor->device = local->device;
    tensor->dtype = local->dtype;
    tensor->storage = local->storage;
    if (tensor->is_parameter) tensor->storage->set_role(ops::Role::kParameter);
    return Value::none();
  });
  // function(*args, **kwargs), in which DTensors stand for this rank's parts.
  module.set(session.interp.intern("call_local"),
             session.interp.raw_function("call_local", [s](Interp& in, lang::CallArgs& args) {
               const Inside inside(s->dtensors);
               return call_first(in, args);
             }));
}

}  // namespace

void fill_distributed(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  // (rank, world size, local rank, local world size) of the process; None: it is no job's.
  add("rank_in_job()", [s](Interp& in, Arguments&) -> Value {
    if (!s->rank) return Value::none();
    const lang::Alike* alike = lang::alike_of(in);
    const auto number = [&](const std::function<std::int64_t(int)>& of) {
      return alike == nullptr ? Value::integer(of(s->rank->index))
                              : lang::alike_of(in)->numbers(in, of);
    };
    return in.tuple({number([](int rank) { return rank; }), Value::integer(s->rank->world),
                     number([s](int rank) { return rank % s->rank->per_node; }),
                     Value::integer(s->rank->per_node)});
  });
  // What a function of numbers gives on each rank. It changes nothing.
  add("by_rank(function, *arguments)", [](Interp& in, Arguments& a) {
    const Value function = a[0];
    const std::vector<Value> given = a[1].as<lang::Tuple>()->items;
    return lang::by_rank(in, given, [&](std::span<const Value> of) {
      return in.call(function, std::vector<Value>(of.begin(), of.end()));
    });
  });
  // How much of `size` is this rank's, of parts of `each` one after another. Ranks that have
  // another length are parted.
  add("own_length(size, each, rank)", [](Interp& in, Arguments& a) {
    const std::int64_t size = a.integer(0);
    const std::int64_t each = a.integer(1);
    constexpr std::int64_t kMost = std::int64_t{1} << 40U;
    if (size < 0 || each < 0 || size > kMost || each > kMost)
      in.value_error("parts of such lengths are not modelled");
    const auto length = [&](std::int64_t rank) -> std::int64_t {
      if (rank < 0 || (each > 0 && rank > size / each)) return 0;
      return std::min(each, size - each * rank);
    };
    auto* varying = a[2].as<lang::RankValue>();
    if (varying == nullptr) return Value::integer(length(a.integer(2)));
    const std::int64_t own = length(varying->own().as_int());
    std::vector<bool> fits;
    fits.reserve(varying->values().size());
    for (const Value& rank : varying->values()) fits.push_back(length(rank.as_int()) == own);
    const std::vector<std::uint32_t>& cells = *varying->cells();
    varying->alike().keep_only(
        in, [&](int rank) { return fits[cells[static_cast<std::size_t>(rank)]]; });
    return Value::integer(own);
  });
  // tensor.narrow(dim, start, length) of a start that may be another on other ranks, to be copied.
  add("part_of(tensor, dim, start, length)", [s](Interp& in, Arguments& a) {
    Value start = a[2];
    if (auto* varying = start.as<lang::RankValue>()) {
      const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
      start = Value::integer(place_of_rank(*s, tensor, a.integer(1), *varying, true));
    }
    return in.call_method(a[0], in.intern("narrow"), {a[1], start, a[3]});
  });
  // The same of part `number` of parts that are `size` long.
  add("numbered_part(tensor, dim, number, size)", [s](Interp& in, Arguments& a) {
    Value number = a[2];
    if (auto* varying = number.as<lang::RankValue>()) {
      const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
      number = Value::integer(part_of_rank(*s, tensor, *varying));
    }
    return in.call_method(a[0], in.intern("narrow"),
                          {a[1], in.binary(lang::BinaryOp::kMul, number, a[3]), a[3]});
  });
  // The number of this rank, for a kernel that does not ask which it is. Where it is known what
  // lies in the tensor, it decides.
  add("own_number(value, tensor)", [](Interp& in, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(1, "Tensor").tensor;
    const bool is_known = tensor->storage && tensor->storage->known();
    return is_known ? lang::pinned(in, a[0]) : lang::shown(a[0]);
  });
  add("knows_numbers(tensor)", [](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    return Value::boolean(tensor->storage && tensor->storage->known());
  });
  add("in_backward()", [s](Interp&, Arguments&) {
    return Value::boolean(s->c.thread().final_callbacks != nullptr);
  });
  // Grows with each backward pass that ends and each step of an optimizer: what a script may take
  // long over.
  add("moment()", [s](Interp&, Arguments&) {
    const bool is_inside = s->c.thread().final_callbacks != nullptr;
    const std::uint64_t passed = s->backwards - (is_inside ? 1 : 0);
    return Value::integer(
        static_cast<std::int64_t>(passed + std::uint64_t{s->emitter.amounts().steps}));
  });
  // Bytes that a collective reads and writes on the tensor's device and current stream.
  add("communicate(tensor, bytes)", [s](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    s->wait_for(tensor);
    s->c.launch(tensor.device(), 0, static_cast<std::uint64_t>(a.integer(1)),
                ops::KernelClass::kElementwise, tensor.dtype());
    return Value::none();
  });
  // Source: c10's resize_bytes_cuda: the new memory is there before the old goes.
  add("resize_storage(tensor, bytes)", [s](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    const auto bytes = static_cast<Bytes>(a.integer(1));
    s->guarded([&] {
      const ops::LabelScope label(s->c, "resize_");
      const ops::Device device = tensor.device();
      ops::Storage& storage = *tensor->storage;
      ops::RequestNumber request = ops::kNoMemory;
      if (bytes > 0 && device.is_cuda())
        request = s->c.memory().allocate(bytes, device, s->c.stream(device));
      storage.drop();
      storage.take(request, bytes);
      if (tensor->is_parameter) storage.set_role(ops::Role::kParameter);
      return 0;
    });
    return Value::none();
  });
  add_gradients(session, module);
  add_dtensors(session, module);
  add_dtensor_ops(session, module);
}

}  // namespace tidemark::torch
