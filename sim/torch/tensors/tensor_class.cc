#include <fmt/format.h>

#include "sim/lang/runtime/rank_value.h"
#include "sim/ops/device_check.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/tracer.h"
#include "sim/torch/autograd/autograd.h"
#include "sim/torch/tensors/grad_node.h"
#include "sim/torch/tensors/op_binding.h"
#include "sim/torch/tensors/reading.h"
#include "sim/torch/tensors/run_notes.h"
#include "sim/torch/tensors/subclasses.h"
#include "sim/torch/tensors/tensor_constructors.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

/// Model code can ask a property of Tensor about anything.
TensorObject& self_of(Interp& interp, const Value& value) {
  auto* object = value.as<TensorObject>();
  if (object == nullptr)
    interp.type_error("a property of Tensor doesn't apply to a '" + interp.type_name(value) +
                      "' object");
  if (ops::Tracer* tracer = object->session().c.tracer) tracer->looks_at(object->tensor);
  return *object;
}
Tensor& tensor_of(Interp& interp, const Value& value) { return self_of(interp, value).tensor; }
Tensor& self_of(const Arguments& a) {
  auto& object = a.object<TensorObject>(0, "Tensor");
  if (ops::Tracer* tracer = object.session().c.tracer) tracer->looks_at(object.tensor);
  return object.tensor;
}

/// What a program sees of a tensor that is spread over ranks is the whole.
const ops::Dims& seen_sizes(const Tensor& t) { return t->spread ? t->spread->sizes : t.sizes(); }
const ops::Dims& seen_strides(const Tensor& t) {
  return t->spread ? t->spread->strides : t.strides();
}
std::int64_t seen_numel(const Tensor& t) { return ops::numel_of(seen_sizes(t)); }

// ---- properties

/// The gradient of a leaf that is spread is spread as the leaf is, unless it says how itself.
Value get_grad(Interp& interp, const Value& self) {
  const Tensor& tensor = tensor_of(interp, self);
  if (tensor->grad && tensor->spread && !tensor->grad->spread)
    tensor->grad->spread = tensor->spread;
  return self_of(interp, self).session().wrap(Tensor(tensor->grad));
}
void set_grad(Interp& interp, const Value& self, Value value) {
  if (value.is_none()) {
    tensor_of(interp, self)->grad.reset();
  } else if (const auto* grad = value.as<TensorObject>()) {
    tensor_of(interp, self)->grad = grad->tensor.ref();
  } else {
    interp.type_error("assigned grad expected to be a Tensor or None but got grad of type " +
                      interp.type_name(value));
  }
}

Value get_data(Interp& interp, const Value& self) {
  return self_of(interp, self).session().wrap(ops::Context::shallow_copy(tensor_of(interp, self)));
}
/// The tensor takes over memory, shape and type of another. Source: VariableHooks::set_data.
void take_over(Interp& interp, const Value& self, Value value) {
  const auto* other = value.as<TensorObject>();
  if (other == nullptr)
    interp.type_error("data expected to be a Tensor, not " + interp.type_name(value));
  const Tensor& tensor = tensor_of(interp, self);
  const Tensor& from = other->tensor;
  const bool is_other = tensor.dtype() != from.dtype() || !(tensor.device() == from.device());
  if (is_other) tensor->grad_accumulator = nullptr;
  tensor->sizes = from->sizes;
  tensor->strides = from->strides;
  tensor->offset = from->offset;
  tensor->dtype = from->dtype;
  tensor->device = from->device;
  tensor->storage = from->storage;
  tensor->spread = from->spread;
  if (tensor->is_parameter) tensor->storage->set_role(ops::Role::kParameter);
  if (is_other && tensor.is_leaf()) hand_on_hooks(self_of(interp, self));
}
/// A DTensor's part is a tensor of its own, which assigning .data does not reach.
void set_data(Interp& interp, const Value& self, Value value) {
  const auto* other = value.as<TensorObject>();
  if (other != nullptr && other->tensor->spread && tensor_of(interp, self)->spread) return;
  take_over(interp, self, std::move(value));
}

Value get_requires_grad(Interp& interp, const Value& self) {
  return Value::boolean(tensor_of(interp, self).requires_grad());
}
void set_requires_grad_flag(Interp& interp, const Tensor& tensor, bool wanted) {
  if (tensor->grad_fn) {
    if (!wanted) {
      interp.runtime_error(
          "you can only change requires_grad flags of leaf variables. If you want to use a "
          "computed variable in a subgraph that doesn't require differentiation use var_no_grad = "
          "var.detach().");
    }
    return;
  }
  if (wanted && !ops::is_differentiable(tensor.dtype())) {
    interp.runtime_error("only Tensors of floating point and complex dtype can require gradients");
  }
  tensor->requires_grad = wanted;
}
void set_requires_grad(Interp& interp, const Value& self, Value value) {
  set_requires_grad_flag(interp, tensor_of(interp, self), interp.truth(value));
}

/// x.real and x.imag are torch.real(x) and torch.imag(x).
Value part_of(Interp& interp, const Value& v, std::string_view name) {
  Session& s = self_of(interp, v).session();
  return s.interp.call(s.op_table().find("torch", name), {v});
}

/// A kind of tensor that there is none of.
Value never(Interp& /*interp*/, const Value& /*tensor*/) { return Value::boolean(false); }

constexpr lang::PropertyRow kProperties[] = {
    {"shape",
     [](Interp& interp, const Value& v) {
       return self_of(interp, v).session().size_of(seen_sizes(tensor_of(interp, v)));
     },
     nullptr},
    {"dtype",
     [](Interp& interp, const Value& v) {
       return self_of(interp, v).session().wrap(tensor_of(interp, v).dtype());
     },
     nullptr},
    {"device",
     [](Interp& interp, const Value& v) {
       return self_of(interp, v).session().wrap(tensor_of(interp, v).device());
     },
     nullptr},
    {"ndim",
     [](Interp& interp, const Value& v) { return Value::integer(tensor_of(interp, v).dim()); },
     nullptr},
    {"is_cuda",
     [](Interp& interp, const Value& v) { return Value::boolean(tensor_of(interp, v).is_cuda()); },
     nullptr},
    {"is_leaf",
     [](Interp& interp, const Value& v) { return Value::boolean(tensor_of(interp, v).is_leaf()); },
     nullptr},
    {"_version",
     [](Interp& interp, const Value& v) {
       const Tensor& tensor = tensor_of(interp, v);
       return Value::integer(tensor->version ? std::int64_t{tensor->version->value} : 0);
     },
     nullptr},
    {"_base",  // of a view: what it looks at
     [](Interp& interp, const Value& v) {
       const Tensor& tensor = tensor_of(interp, v);
       return tensor->view_base ? self_of(interp, v).session().wrap(Tensor(tensor->view_base))
                                : Value::none();
     },
     nullptr},
    {"is_sparse",
     [](Interp& interp, const Value& v) {
       return Value::boolean(tensor_of(interp, v).is_sparse());
     },
     nullptr},
    {"layout",
     [](Interp& interp, const Value& v) {
       return interp.str(tensor_of(interp, v).is_sparse() ? "torch.sparse_coo" : "torch.strided");
     },
     nullptr},
    {"is_cpu",
     [](Interp& interp, const Value& v) {
       return Value::boolean(tensor_of(interp, v).device() == ops::kHost);
     },
     nullptr},
    {"is_meta",
     [](Interp& interp, const Value& v) {
       return Value::boolean(tensor_of(interp, v).device() == ops::kMeta);
     },
     nullptr},
    {"is_quantized", &never, nullptr},
    {"is_nested", &never, nullptr},
    {"is_mkldnn", &never, nullptr},
    {"is_mps", &never, nullptr},
    {"is_xpu", &never, nullptr},
    {"is_xla", &never, nullptr},
    {"is_ipu", &never, nullptr},
    {"is_maia", &never, nullptr},
    {"is_mtia", &never, nullptr},
    {"is_vulkan", &never, nullptr},
    {"is_sparse_csr", &never, nullptr},
    {"itemsize",
     [](Interp& interp, const Value& v) {
       return Value::integer(
           static_cast<std::int64_t>(ops::element_bytes(tensor_of(interp, v).dtype())));
     },
     nullptr},
    {"nbytes",
     [](Interp& interp, const Value& v) {
       const Tensor& t = tensor_of(interp, v);
       return Value::integer(seen_numel(t) *
                             static_cast<std::int64_t>(ops::element_bytes(t.dtype())));
     },
     nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad},
    {"grad", get_grad, set_grad},
    {"data", get_data, set_data},
    {"_memory", get_data, take_over},
    {"retains_grad",
     [](Interp& interp, const Value& v) {
       return Value::boolean(tensor_of(interp, v)->retains_grad);
     },
     nullptr},
    {"grad_fn",
     [](Interp& interp, const Value& v) {
       return wrap_node(self_of(interp, v).session(), tensor_of(interp, v)->grad_fn);
     },
     nullptr},
    {"T",
     [](Interp& interp, const Value& v) {
       Session& s = self_of(interp, v).session();
       const Tensor& t = tensor_of(interp, v);
       return s.guarded([&] {
         ops::Dims order;
         for (std::int64_t d = t.dim(); d-- > 0;) order.push_back(d);
         return s.wrap(t.dim() == 2 ? ops::t(s.c, t) : ops::permute(s.c, t, order));
       });
     },
     nullptr},
    {"H",
     [](Interp& interp, const Value& v) {
       Session& s = self_of(interp, v).session();
       const Tensor& t = tensor_of(interp, v);
       return s.guarded([&] {
         if (t.dim() != 0 && t.dim() != 2) {
           throw ops::OpError(fmt::format(
               "tensor.H is only supported on matrices (2-D tensors). Got {}-D tensor.", t.dim()));
         }
         return s.wrap(t.dim() == 0 ? t : ops::transpose(s.c, t, 0, 1));
       });
     },
     nullptr},
    {"mH",
     [](Interp& interp, const Value& v) {
       Session& s = self_of(interp, v).session();
       return s.guarded([&] { return s.wrap(ops::transpose(s.c, tensor_of(interp, v), -2, -1)); });
     },
     nullptr},
    {"real", [](Interp& interp, const Value& v) { return part_of(interp, v, "real"); }, nullptr},
    {"imag", [](Interp& interp, const Value& v) { return part_of(interp, v, "imag"); }, nullptr},
    {"mT",
     [](Interp& interp, const Value& v) {
       Session& s = self_of(interp, v).session();
       return s.guarded([&] { return s.wrap(ops::transpose(s.c, tensor_of(interp, v), -2, -1)); });
     },
     nullptr},
};

// ---- methods

/// A copy in another type or place, and what is known of its numbers.
Value carried(Session& session, const Tensor& from, Tensor to) {
  ops::note_copy(ops::view_of(from), to, nullptr);
  return session.wrap(std::move(to));
}

/// The tensor whose method is called.
const Tensor& receiver(Interp& interp, const lang::CallArgs& args) {
  if (args.positional == 0) interp.type_error("a method of Tensor needs an argument");
  return tensor_of(interp, args.values[0]);
}

/// ops::to(), which reads what it converts: a collective's result is waited for then.
Tensor converted(Session& session, const Tensor& self, const ops::ToOptions& options) {
  if (options.copy || options.dtype.value_or(self.dtype()) != self.dtype() ||
      options.device.value_or(self.device()) != self.device())
    session.wait_for(self);
  return ops::to(session.c, self, options);
}

/// x.to(...) and its short forms. Source: torch's parse_to_conversion.
Value to_method(Session& session, lang::CallArgs& args) {
  Interp& interp = session.interp;
  ops::ToOptions options;
  const Tensor& self = receiver(session.interp, args);
  const auto take = [&](const Value& given) {
    const Value& value = lang::plain_of(given);
    if (const auto* dtype = value.as<DTypeObject>()) {
      options.dtype = dtype->dtype;
    } else if (const auto* other = value.as<TensorObject>()) {
      options.dtype = other->tensor.dtype();
      options.device = other->tensor.device();
    } else if (value.as<lang::Str>() != nullptr || value.as<DeviceObject>() != nullptr ||
               value.is_int() || lang::is_of_rank(value)) {
      options.device = session.device_from(value);
    } else if (!value.is_none()) {
      interp.type_error("to() received an invalid combination of arguments - got " +
                        interp.type_name(value));
    }
  };
  std::size_t flags = 0;
  for (std::size_t i = 1; i < args.positional; ++i) {
    if (args.values[i].is_bool()) {
      (++flags == 2 ? options.copy : options.non_blocking) = args.values[i].as_bool();
    } else {
      take(args.values[i]);
    }
  }
  for (std::size_t k = 0; k < args.keyword_count; ++k) {
    const std::string_view name = interp.text(args.keywords[k]);
    const Value& value = args.values[args.positional + k];
    if (name == "device" || name == "dtype" || name == "other") {
      take(value);
    } else if (name == "copy") {
      options.copy = interp.truth(value);
    } else if (name == "memory_format") {
      if (const auto* format = value.as<MemoryFormatObject>()) options.format = format->format;
    } else if (name == "non_blocking") {
      options.non_blocking = interp.truth(value);
    } else {
      interp.type_error(fmt::format("to() got an unexpected keyword argument '{}'", name));
    }
  }
  const bool is_input = !self.is_cuda() && options.device && options.device->is_cuda() &&
                        !self->is_parameter && session.c.module_label == 0;
  if (is_input && !session.moves_module) session.emitter.begin("inputs");
  return session.guarded([&] {
    Tensor out = converted(session, self, options);
    if (!self.is_cuda() && out.is_cuda() && !self->is_parameter && !out.is_sparse())
      out->storage->set_role(ops::Role::kInput);
    return carried(session, self, std::move(out));
  });
}

void add_casts(Session& session) {
  struct Cast {
    std::string_view name;
    ops::ScalarType type;
  };
  static constexpr Cast kCasts[] = {
      {"float", ops::ScalarType::kFloat32},    {"double", ops::ScalarType::kFloat64},
      {"half", ops::ScalarType::kFloat16},     {"bfloat16", ops::ScalarType::kBFloat16},
      {"long", ops::ScalarType::kInt64},       {"int", ops::ScalarType::kInt32},
      {"short", ops::ScalarType::kInt16},      {"bool", ops::ScalarType::kBool},
      {"char", ops::ScalarType::kInt8},        {"byte", ops::ScalarType::kUInt8},
      {"cfloat", ops::ScalarType::kComplex64}, {"cdouble", ops::ScalarType::kComplex128}};
  for (const Cast& cast : kCasts) {
    session.tensor_class->attrs.set(
        session.interp.intern(cast.name),
        session.interp.raw_function(
            cast.name, [&session, type = cast.type](Interp&, lang::CallArgs& args) {
              return session.guarded([&] {
                const Tensor& self = receiver(session.interp, args);
                return carried(session, self, converted(session, self, {{}, type, {}}));
              });
            }));
  }
}

namespace {

/// Tells code that is being compiled of a backward pass while it lives.
class BackwardCall {
 public:
  explicit BackwardCall(ops::Tracer* tracer) : tracer_(tracer) {
    if (tracer_ != nullptr) tracer_->begin_call("Tensor.backward", {});
  }
  ~BackwardCall() {
    if (tracer_ != nullptr) tracer_->end_call();
  }
  BackwardCall(const BackwardCall&) = delete;
  BackwardCall& operator=(const BackwardCall&) = delete;

 private:
  ops::Tracer* tracer_;
};

}  // namespace

Value backward_method(Session& session, Arguments& a) {
  ops::TensorList gradients;
  if (a.has(1)) gradients.push_back(a.object<TensorObject>(1, "Tensor").tensor);
  BackwardOptions options;
  options.create_graph = a.has(3) && a.boolean(3);
  options.retain_graph = a.has(2) ? a.boolean(2) : options.create_graph;
  options.rules = session.gradient_rules.get();
  ops::TensorList inputs;
  if (a.has(4) && a[4].as<TensorObject>() != nullptr) {
    inputs.push_back(tensor_of(session.interp, a[4]));
  } else if (a.has(4)) {
    for (const Value& v : session.interp.unpack(a[4]))
      inputs.push_back(tensor_of(session.interp, v));
  }
  const BackwardCall call(session.c.tracer);
  const Emitter::Backward pass(session.emitter);
  ++session.backwards;
  // A frame each of PyTorch's has the tensor and its gradient, and an error's traceback holds them.
  return session.interp.run_as_python({a[0]}, [&]() -> Value {
    try {
      session.guarded([&] {
        const Tensor& root = self_of(a);
        if (gradients.empty() && root.requires_grad() && root.numel() == 1) {
          const ops::LabelScope label(session.c, "ones_like");
          gradients.push_back(session.c.empty_like(root));
        }
        if (RunNotes* notes = run_notes(session)) notes->late_gradients.end(session);
        backward(session.c, session.emitter.graph(), backward_start(session.c, {root}, gradients),
                 options, inputs);
        return 0;
      });
    } catch (const lang::Raised&) {
      std::vector<Value> locals;
      for (ops::Tensor& gradient : gradients) locals.push_back(session.wrap(std::move(gradient)));
      gradients.clear();
      session.interp.run_as_python(std::move(locals), []() -> Value { throw; });
    }
    return Value::none();
  });
}

void add_method(Session& session, std::string_view signature, lang::HostFunction body) {
  session.tensor_class->attrs.set(session.interp.intern(lang::function_name(signature)),
                                  session.interp.function(signature, std::move(body)));
}

void add_queries(Session& session) {
  Session* s = &session;
  add_method(session, "size(self, dim=None)", [s](Interp&, Arguments& a) {
    const Tensor& t = self_of(a);
    const ops::Dims& sizes = seen_sizes(t);
    if (!a.has(1)) return s->size_of(sizes);
    return s->guarded([&] {
      const std::int64_t dim = ops::wrap_dim(a.integer(1), t.dim());
      return Value::integer(sizes[static_cast<std::size_t>(dim)]);
    });
  });
  add_method(session, "stride(self, dim=None)", [s](Interp& interp, Arguments& a) {
    const Tensor& t = self_of(a);
    const ops::Dims& strides = seen_strides(t);
    if (a.has(1)) {
      return s->guarded([&] {
        const std::int64_t dim = ops::wrap_dim(a.integer(1), t.dim());
        return Value::integer(strides[static_cast<std::size_t>(dim)]);
      });
    }
    std::vector<Value> items;
    for (const std::int64_t stride : strides) items.push_back(Value::integer(stride));
    return interp.tuple(std::move(items));
  });
  const auto integer = [&](std::string_view signature, std::int64_t (*read)(const Tensor&)) {
    add_method(session, signature,
               [read](Interp&, Arguments& a) { return Value::integer(read(self_of(a))); });
  };
  integer("dim(self)", [](const Tensor& t) { return t.dim(); });
  integer("ndimension(self)", [](const Tensor& t) { return t.dim(); });
  integer("numel(self)", seen_numel);
  integer("nelement(self)", seen_numel);
  integer("element_size(self)",
          [](const Tensor& t) { return static_cast<std::int64_t>(ops::element_bytes(t.dtype())); });
  integer("storage_offset(self)", [](const Tensor& t) { return t->offset; });
  integer("get_device(self)",
          [](const Tensor& t) { return static_cast<std::int64_t>(t.device().index); });
  // A number for each memory of a GPU, and room for what lies in it; 0 on the host.
  add_method(session, "_device_address(self)", [s](Interp&, Arguments& a) {
    const Tensor& t = self_of(a);
    const auto request = s->guarded([&] { return ops::storage_of(t, "data_ptr").request(); });
    return Value::integer(request == ops::kNoMemory
                              ? std::int64_t{0}
                              : (std::int64_t{request} + 1) * (std::int64_t{1} << 30));
  });
  const auto flag = [&](std::string_view signature, bool (*read)(const Tensor&)) {
    add_method(session, signature,
               [read](Interp&, Arguments& a) { return Value::boolean(read(self_of(a))); });
  };
  flag("is_floating_point(self)", [](const Tensor& t) { return ops::is_floating(t.dtype()); });
  flag("_is_view(self)", [](const Tensor& t) { return static_cast<bool>(t->view_base); });
  flag("is_conj(self)", [](const Tensor& t) { return t->is_conj; });
  flag("is_complex(self)", [](const Tensor& t) { return ops::is_complex(t.dtype()); });
  flag("is_pinned(self, device=None)",
       [](const Tensor& t) { return !t.is_sparse() && ops::is_pinned(t->storage->request()); });
  add_method(session, "is_contiguous(self, memory_format=None)", [](Interp&, Arguments& a) {
    const auto* format = a[1].as<MemoryFormatObject>();
    return Value::boolean(self_of(a).is_contiguous(
        format == nullptr ? ops::MemoryFormat::kContiguous : format->format));
  });
  add_method(session, "item(self)", [s](Interp& interp, Arguments& a) {
    const Tensor& t = self_of(a);
    if (t.numel() != 1) {
      interp.runtime_error(
          fmt::format("a Tensor with {} elements cannot be converted to Scalar", t.numel()));
    }
    s->c.read_value(t);
    return read_number(*s, t);
  });
  add_method(session, "tolist(self)", [s](Interp&, Arguments& a) {
    const Tensor& t = self_of(a);
    if (t.is_cuda()) s->c.recorder().copy(t.device(), ops::kHost, t.bytes(), true);
    return read_numbers(*s, t);
  });
  add_method(session, "__float__(self)", [s](Interp&, Arguments& a) {
    s->c.read_value(self_of(a));
    return s->interp.call(s->interp.classes().real, {read_number(*s, self_of(a))});
  });
  add_method(session, "__int__(self)", [s](Interp&, Arguments& a) {
    s->c.read_value(self_of(a));
    return s->interp.call(s->interp.classes().integer, {read_number(*s, self_of(a))});
  });
  add_method(session, "__index__(self)", [s](Interp&, Arguments& a) {
    s->c.read_value(self_of(a));
    const Value read = read_number(*s, self_of(a));
    if (const auto* unknown = read.as<lang::Unknown>())
      unknown->refuse(s->interp, "a size or an index");
    return s->interp.call(s->interp.classes().integer, {read});
  });
}

void add_autograd_methods(Session& session) {
  Session* s = &session;
  add_method(session,
             "backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None)",
             [s](Interp&, Arguments& a) { return backward_method(*s, a); });
  add_method(session, "requires_grad_(self, requires_grad=True)", [](Interp& interp, Arguments& a) {
    set_requires_grad_flag(interp, self_of(a), a.boolean(1));
    return a[0];
  });
  add_method(session, "detach_(self)", [](Interp&, Arguments& a) {
    Tensor& t = self_of(a);
    t->requires_grad = false;
    t->output_nr = 0;
    t->grad_fn.reset();
    return a[0];
  });
  add_method(session, "record_stream(self, stream)", [s](Interp& interp, Arguments& a) {
    const Tensor& t = self_of(a);
    const Value id = interp.find_attr(a[1], interp.intern("_index"));
    if (!id.is_int()) interp.type_error("record_stream(): argument 's' must be Stream");
    if (t.is_cuda()) {
      const auto request = s->guarded([&] { return ops::storage_of(t).request(); });
      s->emitter.use(request, t.device(), static_cast<std::uint16_t>(id.as_int()));
    }
    return Value::none();
  });
}

void add_copies(Session& session) {
  Session* s = &session;
  session.tensor_class->attrs.set(
      session.interp.intern("to"),
      session.interp.raw_function(
          "to", [s](Interp&, lang::CallArgs& args) { return to_method(*s, args); }));
  add_method(session, "cuda(self, device=None, non_blocking=False, memory_format=None)",
             [s](Interp& interp, Arguments& a) {
               std::vector<Value> values{a[0], a.has(1) ? a[1] : interp.str("cuda"),
                                         Value::boolean(a.has(2) && a.boolean(2))};
               lang::CallArgs args;
               args.values = values.data();
               args.positional = values.size();
               return to_method(*s, args);
             });
  add_method(session, "cpu(self, memory_format=None)", [s](Interp&, Arguments& a) {
    ops::ToOptions options;
    options.device = ops::kHost;
    return s->guarded([&] { return carried(*s, self_of(a), converted(*s, self_of(a), options)); });
  });
  for (const std::string_view same : {"share_memory_(self)", "resolve_neg(self)"}) {
    add_method(session, same, [](Interp&, Arguments& a) { return a[0]; });
  }
  add_method(session, "pin_memory(self, device=None)", [s](Interp&, Arguments& a) {
    const Tensor& t = self_of(a);
    if (!t.is_sparse() && ops::is_pinned(t->storage->request())) return a[0];
    return s->guarded([&] { return carried(*s, t, ops::pin_memory(s->c, t)); });
  });
  add_casts(session);
}

}  // namespace

void add_tensor_class(Session& session) {
  Interp& interp = session.interp;
  session.tensor_class = interp.make_class("Tensor", "torch");
  lang::add_properties(interp, *session.tensor_class, kProperties);
  // Operators that are methods, from the op table.
  session.op_table().fill(*session.tensor_class);
  add_queries(session);
  add_autograd_methods(session);
  add_grad_nodes(session);
  add_tensor_hooks(session);
  add_copies(session);
  add_constructors(session);
  add_subclasses(session);
}

}  // namespace tidemark::torch
