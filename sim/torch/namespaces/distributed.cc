#include <utility>
#include <vector>

#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

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

void add_dtensors(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  // The classes DTensor and that of parameters, whose methods `members` has. `dispatch`: see
  // DTensorClasses.
  add("make_dtensor_classes(members, dispatch)", [s](Interp& in, Arguments& a) {
    const auto& members = a.object<lang::ClassObject>(0, "class");
    DTensorClasses& made = s->dtensors;
    made.tensor = class_with(in, "DTensor", {s->tensor_class}, members);
    made.parameter =
        in.make_class("DTensor", "torch.distributed.tensor", {made.tensor, s->parameter_class});
    made.dispatch = a[1];
    return made.tensor;
  });
  // A DTensor of which `local` is this rank's part: the same memory, no history of its own.
  add("make_dtensor(local, spec, sizes, strides)", [s](Interp&, Arguments& a) {
    Tensor made = ops::Context::shallow_copy(a.object<TensorObject>(0, "Tensor").tensor);
    made->spread = make_ref<SpreadBySpec>(a[1], dims_at(a, 2), dims_at(a, 3));
    return s->wrap(std::move(made));
  });
  // What an operator gave becomes a DTensor itself.
  add("spread_out(tensor, spec, sizes, strides)", [s](Interp&, Arguments& a) {
    auto& object = a.object<TensorObject>(0, "Tensor");
    object.tensor->spread = make_ref<SpreadBySpec>(a[1], dims_at(a, 2), dims_at(a, 3));
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
               lang::CallArgs rest{args.values + 1, args.positional - 1, args.keywords,
                                   args.keyword_count, false};
               return in.call(args.values[0], rest);
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
    return in.tuple({Value::integer(s->rank->index), Value::integer(s->rank->world),
                     Value::integer(s->rank->local()), Value::integer(s->rank->per_node)});
  });
  add("in_backward()", [s](Interp&, Arguments&) {
    return Value::boolean(s->c.thread().final_callbacks != nullptr);
  });
  // Grows with each backward pass that begins or ends, and each step of an optimizer: what a script
  // may take long over.
  add("moment()", [s](Interp&, Arguments&) {
    const bool is_inside = s->c.thread().final_callbacks != nullptr;
    const std::uint64_t passed = 2 * s->backwards + (is_inside ? 0 : 1);
    return Value::integer(
        static_cast<std::int64_t>(passed + 2 * std::uint64_t{s->emitter.amounts().steps}));
  });
  // Bytes that a collective reads and writes on the tensor's device and current stream.
  add("communicate(tensor, bytes)", [s](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
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
  add_dtensors(session, module);
}

}  // namespace tidemark::torch
