#include "sim/torch/tensors/custom_op.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/ops/op.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

/// What the expressions of all custom ops see.
struct Scope {
  Session& session;
  Ref<lang::Module> module;
  Ref<lang::ClassObject> shape_class;

  /// A tensor's shape, type and device, and nothing that could ask for memory.
  Value shape_of(const Tensor& tensor) {
    Interp& in = session.interp;
    const Ref<lang::Instance> shape = make_ref<lang::Instance>(in.heap(), shape_class);
    const auto set = [&](std::string_view name, Value value) {
      shape->set_own(in.intern(name), std::move(value));
    };
    const auto whole = [](auto n) { return Value::integer(static_cast<std::int64_t>(n)); };
    set("shape", session.size_of(tensor.sizes()));
    set("strides", session.size_of(tensor.strides()));
    set("dtype", session.wrap(tensor.dtype()));
    set("device", session.wrap(tensor.device()));
    set("ndim", whole(tensor.dim()));
    set("itemsize", whole(ops::element_bytes(tensor.dtype())));
    set("nbytes", whole(tensor.bytes()));
    set("count", whole(tensor.numel()));
    set("contiguous", Value::boolean(tensor.is_contiguous()));
    set("is_cuda", Value::boolean(tensor.is_cuda()));
    set("requires_grad", Value::boolean(tensor.requires_grad()));
    return shape;
  }
};

Ref<lang::ClassObject> make_shape_class(Interp& interp) {
  Ref<lang::ClassObject> type = interp.make_class("Shape", "torch._C");
  const auto of = [](Interp& in, Arguments& a, std::string_view name) {
    return in.get_attr(a[0], in.intern(name));
  };
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    type->attrs.set(interp.intern(lang::function_name(signature)),
                    interp.function(signature, std::move(body)));
  };
  const auto item = [of](Interp& in, Arguments& a, std::string_view name) {
    Value all = of(in, a, name);
    return a.has(1) ? in.get_item(all, a[1]) : all;
  };
  add("size(self, dim=None)", [item](Interp& in, Arguments& a) { return item(in, a, "shape"); });
  add("stride(self, dim=None)",
      [item](Interp& in, Arguments& a) { return item(in, a, "strides"); });
  add("dim(self)", [of](Interp& in, Arguments& a) { return of(in, a, "ndim"); });
  add("numel(self)", [of](Interp& in, Arguments& a) { return of(in, a, "count"); });
  add("element_size(self)", [of](Interp& in, Arguments& a) { return of(in, a, "itemsize"); });
  add("is_contiguous(self)", [of](Interp& in, Arguments& a) { return of(in, a, "contiguous"); });
  return type;
}

/// Tensors by name while a custom op runs, in the order they were made; their shapes are names of
/// the scope. When it ends the names go, and with them what nobody else holds, first made first.
class Frame {
 public:
  explicit Frame(Scope& scope) : scope_(scope) {}
  ~Frame() {
    for (const lang::Name name : names_) scope_.module->set(name, {});
    for (auto& [name, tensor] : tensors_) tensor.reset();
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  void set(const std::string& name, Value value) {
    const lang::Name id = scope_.session.interp.intern(name);
    if (std::find(names_.begin(), names_.end(), id) == names_.end()) names_.push_back(id);
    scope_.module->set(id, std::move(value));
  }
  void bind(const std::string& name, Tensor tensor) {
    set(name, tensor.defined() ? scope_.shape_of(tensor) : Value::none());
    Tensor& place = slot(name);
    place = std::move(tensor);
  }
  Tensor& slot(const std::string& name) {
    for (auto& [known, tensor] : tensors_) {
      if (known == name) return tensor;
    }
    return tensors_.emplace_back(name, Tensor()).second;
  }

 private:
  Scope& scope_;
  std::vector<lang::Name> names_;
  std::vector<std::pair<std::string, Tensor>> tensors_;
};

/// What one call keeps for its backward, besides what autograd saves: shapes and plain values.
struct Kept {
  std::vector<std::pair<std::string, Value>> values;
  std::vector<std::pair<std::string, Tensor>> shapes;  ///< without storage
  std::vector<std::string> inputs;                     ///< tensor arguments, in order
  std::vector<std::string> outputs;                    ///< tensors given back, in order
};

bool is_plain(const Value& value) {
  if (value.is_number() || value.is_none()) return true;
  if (const auto* tuple = value.as<lang::Tuple>())
    return std::all_of(tuple->items.begin(), tuple->items.end(), is_plain);
  return value.as<lang::Str>() != nullptr || value.as<DTypeObject>() != nullptr ||
         value.as<DeviceObject>() != nullptr;
}

bool holds_tensors(const Value& value) {
  const auto any = [](const std::vector<Value>& items) {
    return std::any_of(items.begin(), items.end(),
                       [](const Value& item) { return item.as<TensorObject>() != nullptr; });
  };
  if (const auto* tuple = value.as<lang::Tuple>()) return any(tuple->items);
  if (const auto* list = value.as<lang::List>()) return any(list->items);
  return false;
}

/// The same shape, type and device without memory.
Tensor without_storage(const Tensor& tensor) {
  Ref<ops::TensorImpl> impl = make_ref<ops::TensorImpl>();
  impl->sizes = tensor.sizes();
  impl->strides = tensor.strides();
  impl->dtype = tensor.dtype();
  impl->device = tensor.device();
  return Tensor(std::move(impl));
}

/// "NameError: name 'lots' is not defined"
std::string message_of(Interp& interp, const lang::Raised& raised) {
  const Value exception = raised.exception;
  return fmt::format("{}: {}", interp.type_name(exception), interp.to_str(exception));
}

class CustomOp : public std::enable_shared_from_this<CustomOp> {
 public:
  CustomOp(std::shared_ptr<Scope> scope, CustomOpSpec spec)
      : scope_(std::move(scope)), spec_(std::move(spec)) {
    // Texts of operators live as long as the program's labels.
    Labels& labels = scope_->session.emitter.program().labels;
    const std::string last = spec_.name.substr(spec_.name.rfind('.') + 1);
    op_name_ = labels.text(labels.intern(last));
    node_name_ = labels.text(labels.intern(last + "Backward"));
    // Arguments are brought to the parameters by the language itself.
    Interp& in = interp();
    in.run_in(*scope_->module,
              std::make_shared<const SourceText>(
                  SourceText{"<" + spec_.path + ">",
                             fmt::format("def {}({}):\n    return ({}{})\n", last, spec_.parameters,
                                         fmt::join(spec_.parameter_names, ", "),
                                         spec_.parameter_names.empty() ? "" : ",")}));
    const lang::Name name = in.intern(last);
    binder_ = *scope_->module->find(name);
    scope_->module->set(name, {});
  }

  Value call(lang::CallArgs& args) {
    std::vector<Value> given = interp().unpack(interp().call(binder_, args));
    return scope_->session.guarded([&] { return run_forward(given); });
  }

 private:
  Interp& interp() { return scope_->session.interp; }
  ops::Context& context() { return scope_->session.c; }

  [[noreturn]] static void wrong(const SourceSpan& at, const std::string& path, std::string message,
                                 std::string hint = {}) {
    throw InputError(Problem{at, path, std::move(message), std::move(hint)});
  }

  Value evaluate(const CustomExpression& expression) {
    try {
      return interp().evaluate(*scope_->module, expression.source);
    } catch (const InputError& error) {
      const Problem& first = error.problems().front();
      wrong(first.at, expression.path, first.message, first.hint);
    } catch (const lang::Raised& raised) {
      wrong(expression.at, expression.path, message_of(interp(), raised));
    }
  }
  [[noreturn]] void mismatch(const CustomExpression& expression, std::string_view wanted,
                             const Value& found) {
    wrong(expression.at, expression.path,
          fmt::format("expected {}, found {}", wanted, interp().repr(found)));
  }
  std::int64_t size_in(const CustomExpression& expression, const Value& value,
                       std::string_view wanted) {
    if (!value.is_int() || value.as_int() < 0) mismatch(expression, wanted, value);
    return value.as_int();
  }
  ops::Dims shape_in(const CustomExpression& expression) {
    constexpr std::string_view kWanted = "a shape: whole numbers of 0 or more";
    const Value value = evaluate(expression);
    ops::Dims dims;
    const auto* tuple = value.as<lang::Tuple>();
    const auto* list = value.as<lang::List>();
    if (tuple == nullptr && list == nullptr) {
      dims.push_back(size_in(expression, value, kWanted));
      return dims;
    }
    const std::vector<Value>& items = tuple != nullptr ? tuple->items : list->items.all();
    if (items.size() > ops::Dims::kMaxDims) mismatch(expression, "at most 8 dimensions", value);
    for (const Value& item : items) {
      if (!item.is_int() || item.as_int() < 0) mismatch(expression, kWanted, value);
      dims.push_back(item.as_int());
    }
    return dims;
  }
  ops::ScalarType dtype_in(const CustomExpression& expression, ops::ScalarType fallback) {
    if (!expression.given()) return fallback;
    const Value value = evaluate(expression);
    const auto* dtype = value.as<DTypeObject>();
    if (dtype == nullptr) mismatch(expression, "a dtype (float32, q.dtype)", value);
    return dtype->dtype;
  }
  ops::Device device_in(const CustomExpression& expression, ops::Device fallback) {
    return expression.given() ? scope_->session.device_from(evaluate(expression)) : fallback;
  }

  /// One tensor of a step; undefined where the step makes none.
  Tensor make(const CustomStep& step, Frame& frame, ops::Device device) {
    ops::Context& c = context();
    const auto source = [&]() -> const Tensor& {
      const Tensor& of = frame.slot(step.of);
      if (!of.defined()) {
        wrong(step.at, step.path, fmt::format("'{}' is no tensor in this call", step.of),
              fmt::format("when: {} is not None", step.of));
      }
      return of;
    };
    switch (step.kind) {
      case CustomStep::Kind::kFree:
        return {};
      case CustomStep::Kind::kShape: {
        const ops::Dims shape = shape_in(step.shape);
        return c.empty(shape, dtype_in(step.dtype, ops::ScalarType::kFloat32),
                       device_in(step.device, device));
      }
      case CustomStep::Kind::kLike:
        return c.empty_like(source(), dtype_in(step.dtype, source().dtype()));
      case CustomStep::Kind::kContiguous:
        if (source().is_contiguous()) return source();
        return c.empty(source().sizes(), source().dtype(), source().device());
      case CustomStep::Kind::kBytes:
        break;
    }
    const auto bytes = static_cast<Bytes>(
        size_in(step.bytes, evaluate(step.bytes), "a whole number of bytes, 0 or more"));
    const ops::Device where = device_in(step.device, device);
    if (!step.keep) return c.scratch(bytes, where);
    Tensor& workspace = workspaces_[{&step, where.index, c.stream(where)}];
    if (!workspace.defined() || workspace.bytes() < bytes) {
      workspace = c.scratch(bytes, where);
      if (where.is_cuda()) workspace->storage->set_role(ops::Role::kWorkspace);
    }
    return workspace;
  }

  void run_steps(const std::vector<CustomStep>& steps, Frame& frame, ops::Device device) {
    for (const CustomStep& step : steps) {
      if (step.when.given() && !interp().truth(evaluate(step.when))) {
        // What an argument's name stands for stays.
        if (step.kind != CustomStep::Kind::kFree && !frame.slot(step.name).defined())
          frame.bind(step.name, {});
      } else if (step.kind == CustomStep::Kind::kFree) {
        frame.slot(step.name).reset();
      } else {
        frame.bind(step.name, make(step, frame, device));
      }
    }
  }

  Value run_forward(std::vector<Value>& given) {
    ops::Context& c = context();
    const auto kept = std::make_shared<Kept>();
    ops::TensorList inputs;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string& name = spec_.parameter_names[i];
      if (const auto* tensor = given[i].as<TensorObject>()) {
        inputs.push_back(tensor->tensor);
        kept->inputs.push_back(name);
        kept->shapes.emplace_back(name, without_storage(tensor->tensor));
      } else if (holds_tensors(given[i])) {
        interp().refuse(fmt::format("custom op {}: a list of tensors as argument '{}' is not "
                                    "modelled",
                                    spec_.name, name),
                        "give each tensor a parameter of its own");
      } else if (is_plain(given[i])) {
        kept->values.emplace_back(name, given[i]);
      }
    }
    ops::Op op(c, op_name_, node_name_, inputs);
    const ops::Device device =
        inputs.empty() ? scope_->session.current_device : inputs.front().device();
    Frame frame(*scope_);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto* tensor = given[i].as<TensorObject>();
      const std::string& name = spec_.parameter_names[i];
      if (tensor != nullptr) {
        frame.bind(name, tensor->tensor);
        const Value needs = Value::boolean(op.records() && tensor->tensor.requires_grad());
        frame.set("needs_" + name, needs);
        kept->values.emplace_back("needs_" + name, needs);
      } else {
        frame.set(name, given[i]);
      }
    }
    for (const auto& [name, expression] : spec_.let) {
      Value value = evaluate(expression);
      if (is_plain(value)) kept->values.emplace_back(name, value);
      frame.set(name, std::move(value));
    }
    run_steps(spec_.forward, frame, device);

    ops::TensorList outputs;
    for (const std::string& name : spec_.returns) {
      outputs.push_back(name.empty() ? Tensor() : frame.slot(name));
      kept->outputs.push_back(name);
    }
    for (std::size_t i = 0; i < spec_.saves.size(); ++i) op.save(i, frame.slot(spec_.saves[i]));
    launch(inputs, outputs);
    op.results_of(outputs, [self = shared_from_this(), kept, device](ops::Backward& b) {
      self->run_backward(*kept, device, b);
    });
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto& none = spec_.without_gradient;
      if (outputs[i].defined() &&
          std::find(none.begin(), none.end(), spec_.returns[i]) != none.end())
        outputs[i]->grad_fn.reset();
    }
    if (!spec_.returns_tuple) return scope_->session.wrap(outputs.front());
    return scope_->session.tuple_of(outputs);
  }

  /// For the clock: what goes in and what comes out is moved once.
  void launch(const ops::TensorList& inputs, const ops::TensorList& outputs) {
    Bytes moved = 0;
    for (const Tensor& tensor : inputs) moved += tensor.bytes();
    for (const Tensor& tensor : outputs) moved += tensor.defined() ? tensor.bytes() : 0;
    const ops::Device device = outputs.empty() ? inputs.front().device() : outputs.front().device();
    context().launch(device, 0, moved, ops::KernelClass::kElementwise, ops::ScalarType::kFloat32);
  }

  void run_backward(const Kept& kept, ops::Device device, ops::Backward& b) {
    if (!spec_.has_backward) {
      wrong(spec_.at, spec_.path, "a gradient goes through this op, which has no backward",
            "add backward and gradients");
    }
    Frame frame(*scope_);
    for (const auto& [name, value] : kept.values) frame.set(name, value);
    for (const auto& [name, shape] : kept.shapes) frame.bind(name, shape);
    for (std::size_t i = 0; i < spec_.saves.size() && i < b.saved.size(); ++i)
      frame.bind(spec_.saves[i], b.saved[i]);
    std::size_t next = 0;
    for (const std::string& name : kept.outputs) {
      if (name.empty()) continue;
      const auto& none = spec_.without_gradient;
      if (next >= b.incoming.size()) break;
      Tensor& incoming = b.incoming[next];
      const ops::GradMetadata& m = b.node.metadata[next++];
      if (std::find(none.begin(), none.end(), name) != none.end()) continue;
      // Gradients that nothing reached come as zeros, as they do in torch.autograd.Function.
      if (!incoming.defined() && ops::is_differentiable(m.dtype))
        incoming = b.c.empty(m.sizes, m.dtype, m.device);
      frame.bind("grad_" + name, incoming);
    }
    run_steps(spec_.backward, frame, device);
    for (const auto& [parameter, holder] : spec_.gradients) {
      const auto input = std::find(kept.inputs.begin(), kept.inputs.end(), parameter);
      if (input == kept.inputs.end()) continue;
      const auto index = static_cast<std::size_t>(input - kept.inputs.begin());
      const Tensor& gradient = frame.slot(holder);
      if (!b.needs(index) || !gradient.defined()) continue;
      const Tensor& wanted = kept.shapes[index].second;
      if (!(gradient.sizes() == wanted.sizes())) {
        wrong(spec_.at, spec_.path,
              fmt::format("the gradient of '{}' has the shape {}, but '{}' has {}", parameter,
                          to_string(gradient.sizes()), parameter, to_string(wanted.sizes())));
      }
      b.grads[index] = gradient;
    }
  }

  std::shared_ptr<Scope> scope_;
  const CustomOpSpec spec_;
  std::string_view op_name_;
  std::string_view node_name_;
  Value binder_;
  std::map<std::tuple<const CustomStep*, std::int8_t, std::uint16_t>, Tensor> workspaces_;
};

/// The module `name`, made with its parents where nothing of that name is there.
Ref<lang::Module> module_for(Interp& interp, const std::string& name) {
  for (std::size_t dot = name.find('.');; dot = name.find('.', dot + 1)) {
    const std::string part = name.substr(0, dot);
    if (interp.importer().find(part).name.empty())
      interp.add_module(part, [](Interp&, lang::Module&) {});
    if (dot == std::string::npos) return interp.import(name);
  }
}

void declare(Session& session, const CustomOpSpec& spec, const Value& callable) {
  Interp& in = session.interp;
  const std::size_t dot = spec.name.rfind('.');
  if (dot == std::string::npos) {
    in.set_builtin(in.intern(spec.name), callable);
    return;
  }
  const std::string home = spec.name.substr(0, dot);
  const lang::Name last = in.intern(spec.name.substr(dot + 1));
  const bool is_method = home == "torch.Tensor";
  const Ref<lang::Module> module = is_method ? Ref<lang::Module>() : module_for(in, home);
  const Value owner = is_method ? Value(session.tensor_class) : Value(module);
  if (!in.find_attr(owner, last).empty()) {
    throw InputError(
        Problem{spec.at, spec.path, fmt::format("'{}' is there already", spec.name),
                "give the op a name of its own: torch.ops.mine." + spec.name.substr(dot + 1)});
  }
  if (is_method) {
    session.tensor_class->attrs.set(last, callable);
  } else {
    module->set(last, callable);
  }
}

/// The function of a file that stands for the op. Errors: InputError at the declaration.
Value function_of(Interp& interp, const CustomOpSpec& spec) {
  const std::string& text = spec.function.source->text;
  const std::size_t dot = text.rfind('.');
  try {
    const lang::Importer::Asking asking(interp.importer());
    return interp.get_attr(interp.import(text.substr(0, dot)), interp.intern(text.substr(dot + 1)));
  } catch (const lang::Raised& raised) {
    throw InputError(Problem{spec.function.at, spec.function.path, message_of(interp, raised), {}});
  }
}

}  // namespace

void add_custom_ops(Session& session, const std::vector<CustomOpSpec>& specs,
                    const std::vector<std::pair<std::string, Value>>& constants) {
  if (specs.empty()) return;
  Interp& in = session.interp;
  const auto scope = std::make_shared<Scope>(
      Scope{session, make_ref<lang::Module>(in.heap(), "ops"), make_shape_class(in)});
  scope->module->set(in.intern("torch"), in.import("torch"));
  scope->module->set(in.intern("math"), in.import("math"));
  for (const ops::ScalarTypeInfo& type : ops::kScalarTypes) {
    if (type.name == "bool") continue;  // Python's own
    scope->module->set(in.intern(type.name), in.get_attr(in.import("torch"), in.intern(type.name)));
  }
  for (const auto& [name, value] : constants) scope->module->set(in.intern(name), value);
  in.guard([&] {
    for (const CustomOpSpec& spec : specs) {
      if (spec.function.given()) {
        declare(session, spec, function_of(in, spec));
        continue;
      }
      const auto op = std::make_shared<CustomOp>(scope, spec);
      declare(session, spec,
              in.raw_function(spec.name.substr(spec.name.rfind('.') + 1),
                              [op](Interp&, lang::CallArgs& args) { return op->call(args); }));
    }
  });
}

}  // namespace tidemark::torch
