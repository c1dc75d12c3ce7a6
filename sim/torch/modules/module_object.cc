#include "sim/torch/modules/module_object.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/copying.h"
#include "sim/lang/runtime/notes.h"
#include "sim/ops/tracer.h"
#include "sim/torch/modules/model_watch.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Interp;
using lang::Name;
using lang::Value;

/// Its class defines __del__, which runs before the program's next step, with another object that
/// has all that this one had.
void ModuleObject::finalize() {
  const auto stands_for = make_ref<ModuleObject>(session_, Ref<lang::ClassObject>(&type()));
  stands_for->is_finalized_ = true;
  for (const lang::AttrMap::Entry& entry : attrs().entries())
    stands_for->set_own(entry.name, entry.value);
  stands_for->parameters = std::move(parameters);
  stands_for->own_parameters_ = own_parameters_;
  stands_for->buffers = std::move(buffers);
  stands_for->modules = std::move(modules);
  stands_for->not_persistent = not_persistent;
  stands_for->pre_hooks = pre_hooks;
  stands_for->post_hooks = post_hooks;
  stands_for->backward_hooks = backward_hooks;
  stands_for->initialised = initialised;
  session_.interp.finalize_soon(lang::Value(stands_for));
}

ModuleObject::~ModuleObject() {
  if (!is_finalized_ && type().user_defined && !session_.interp.is_ending() &&
      type().lookup(lang::known(lang::name::kDel)) != nullptr)
    finalize();
  // An instance's own attributes go with its dict, in the order of its creation: the tables of a
  // module come first.
  parameters.clear(heap());
  buffers.clear(heap());
  modules.clear(heap());
}

void ModuleObject::traverse(lang::Visitor& visitor) const {
  HostObject::traverse(visitor);
  parameters.traverse(visitor);
  buffers.traverse(visitor);
  modules.traverse(visitor);
  visitor.visit(own_parameters_);
  visitor.visit(pre_hooks);
  visitor.visit(post_hooks);
  visitor.visit(backward_hooks);
}

void ModuleObject::clear() {
  parameters.clear(heap());
  buffers.clear(heap());
  modules.clear(heap());
  own_parameters_.reset();
  pre_hooks.reset();
  post_hooks.reset();
  backward_hooks.reset();
  HostObject::clear();
}

void ModuleObject::replace_parameters(Interp& interp, Value mapping) {
  own_parameters_ = mapping.is_none() ? Value() : std::move(mapping);
  parameter_table(interp);
}

const lang::AttrMap& ModuleObject::parameter_table(Interp& interp) {
  if (own_parameters_.empty()) return parameters;
  const Value items = interp.call_method(own_parameters_, interp.intern("items"));
  lang::AttrMap table;
  for (const Value& item : interp.unpack(items)) {
    const std::vector<Value> pair = interp.unpack(item);
    const auto* key = pair.size() == 2 ? pair[0].as<lang::Str>() : nullptr;
    if (key == nullptr) interp.type_error("a module's parameters have texts for names");
    table.set(interp.intern(key->text()), pair[1]);
  }
  parameters = std::move(table);
  return parameters;
}

void ModuleObject::set_parameter(Interp& interp, Name name, Value value) {
  if (!own_parameters_.empty())
    interp.set_item(own_parameters_, interp.str(std::string(interp.text(name))), value);
  parameters.set(name, std::move(value));
}

Value ModuleObject::get_missing_attr(Interp& interp, Name name) {
  if (!own_parameters_.empty()) {
    const Value key = interp.str(std::string(interp.text(name)));
    if (interp.contains(own_parameters_, key)) return interp.get_item(own_parameters_, key);
  }
  for (lang::AttrMap* table : {&parameters, &buffers, &modules}) {
    const Value* found = table->find(name);
    if (found == nullptr) continue;
    // Compiled code: a module's tensor is an input from where it is loaded on.
    const auto* tensor = found->as<TensorObject>();
    ops::Tracer* tracer = tensor == nullptr ? nullptr : tensor->session().c.tracer;
    if (tracer != nullptr) tracer->looks_at(tensor->tensor);
    return *found;
  }
  // A parametrized tensor is computed at each use. Source: torch.nn.utils.parametrize.
  const Value* all = modules.find(interp.intern("parametrizations"));
  const auto* by_name = all == nullptr ? nullptr : all->as<ModuleObject>();
  const Value* one = by_name == nullptr ? nullptr : by_name->modules.find(name);
  if (one == nullptr || one->as<ModuleObject>() == nullptr) return {};
  const Value parametrization = *one;
  return interp.call(parametrization);
}

void ModuleObject::store_attr(Interp& interp, Name name, Value value) {
  const auto* tensor = value.as<TensorObject>();
  const bool is_parameter = tensor != nullptr && tensor->tensor->is_parameter;
  const bool is_module = value.as<ModuleObject>() != nullptr;
  if (is_parameter || is_module) {
    if (!initialised) {
      interp.raise(*interp.classes().attribute_error,
                   fmt::format("cannot assign {} before Module.__init__() call",
                               is_module ? "module" : "parameters"));
    }
    const lang::AttrMap* home = is_parameter ? &parameters : &modules;
    for (lang::AttrMap* table : {&parameters, &buffers, &modules}) {
      if (table != home) table->remove(name);
    }
    attrs().remove(name);
    if (is_parameter) {
      set_parameter(interp, name, std::move(value));
    } else {
      modules.set(name, std::move(value));
    }
    return;
  }
  // torch.nn.Buffer marks a tensor: its assignment registers it.
  if (tensor != nullptr && initialised &&
      !interp.find_attr(value, interp.intern("_is_buffer")).empty()) {
    if (!interp.truth(interp.find_attr(value, interp.intern("persistent"))))
      not_persistent.push_back(name);
    tensor->tensor->storage->set_role(ops::Role::kParameter);
    for (lang::AttrMap* table : {&parameters, &modules}) table->remove(name);
    attrs().remove(name);
    buffers.set(name, std::move(value));
    return;
  }
  if (const Value* found = parameters.find(name)) {
    if (!value.is_none()) {
      interp.type_error(
          fmt::format("cannot assign '{}' as parameter '{}' (torch.nn.Parameter or None expected)",
                      interp.type_name(value), interp.text(name)));
    }
    (void)found;
    set_parameter(interp, name, std::move(value));
    return;
  }
  if (modules.find(name) != nullptr) {
    if (!value.is_none()) {
      interp.type_error(
          fmt::format("cannot assign '{}' as child module '{}' (torch.nn.Module or None expected)",
                      interp.type_name(value), interp.text(name)));
    }
    modules.set(name, std::move(value));
    return;
  }
  if (buffers.find(name) != nullptr) {
    if (!value.is_none() && tensor == nullptr) {
      interp.type_error(
          fmt::format("cannot assign '{}' as buffer '{}' (torch.Tensor or None expected)",
                      interp.type_name(value), interp.text(name)));
    }
    buffers.set(name, std::move(value));
    return;
  }
  HostObject::store_attr(interp, name, std::move(value));
}

bool ModuleObject::del_attr(Interp& interp, Name name) {
  static constexpr Name kDelattr = lang::known(lang::name::kDelattr);
  if (type().lookup(kDelattr) != session_.module_class->attrs.find(kDelattr))
    return HostObject::del_attr(interp, name);
  return remove_member(interp, name);
}

bool ModuleObject::remove_member(Interp& interp, Name name) {
  for (lang::AttrMap* table : {&parameters, &buffers, &modules}) {
    if (table->find(name) != nullptr) {
      if (table == &parameters && !own_parameters_.empty())
        interp.del_item(own_parameters_, interp.str(std::string(interp.text(name))));
      table->remove(name);
      return true;
    }
  }
  return lang::remove_attribute(interp, Ref<ModuleObject>(this), name);
}

void ModuleObject::name_tree(const std::string& path, bool is_root) {
  if (label_ != 0) return;
  label_ = session_.emitter.module_label(path);
  for (const lang::AttrMap::Entry& entry : modules.entries()) {
    if (auto* child = entry.value.as<ModuleObject>()) {
      const std::string name(session_.interp.text(entry.name));
      child->name_tree(is_root ? name : path + "." + name, false);
    }
  }
}

Value ModuleObject::run_forward(Interp& interp, lang::CallArgs& args) {
  const Value self = Ref<ModuleObject>(this);
  static constexpr Name kForward = lang::known(lang::name::kForward);
  try {
    if (const Value* own = attrs().find(kForward)) return interp.call(Value(*own), args);
    return interp.call_method(self, kForward, args);
  } catch (const lang::Raised&) {
    // Python code calls forward (Module._call_impl): its frame, with the arguments, is in the
    // traceback.
    std::vector<Value> locals(args.values, args.values + args.total());
    interp.run_as_python(std::move(locals), []() -> Value { throw; });
    throw;
  }
}

Value ModuleObject::call(Interp& interp, lang::CallArgs& args) {
  static constexpr Name kCall = lang::known(lang::name::kCall);
  if (type().lookup(kCall) != session_.module_class->attrs.find(kCall))
    return HostObject::call(interp, args);  // a class of the user's has a __call__ of its own
  return call_module(interp, args);
}

Value ModuleObject::call_module(Interp& interp, lang::CallArgs& args) {
  ModelWatch* watch = session_.watch;
  if (watch == nullptr) return run_call(interp, args);
  const bool is_model = session_.c.module_label == 0 && !session_.c.thread().is_engine;
  watch->enter(*this, is_model);
  Value result = run_call(interp, args);
  watch->leave(*this, result, is_model);
  return result;
}

namespace {

/// What a model is called with is its input, made on the device or copied there. A tensor that
/// another shares its memory with is part of something else; one with a gradient is computed.
void note_inputs(const lang::CallArgs& args) {
  for (std::size_t i = 0; i < args.total(); ++i) {
    const auto* given = args.values[i].as<TensorObject>();
    if (given == nullptr || !given->tensor.is_cuda()) continue;
    const ops::Tensor& tensor = given->tensor;
    const bool is_data = !tensor->grad_fn && !tensor->requires_grad && !tensor->is_parameter;
    if (is_data && tensor->storage->use_count() == 1) tensor->storage->set_role(ops::Role::kInput);
  }
}

}  // namespace

Value ModuleObject::run_call(Interp& interp, lang::CallArgs& args) {
  if (label_ == 0) {
    // The first module called is the root; those it holds are named by their path from it.
    name_tree(std::string(interp.text(type().name())), true);
  }
  ops::Context& c = session_.c;
  struct Call {
    Emitter* emitter = nullptr;
    Call() = default;
    ~Call() {
      if (emitter != nullptr) emitter->end_call();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
  };
  Call call;
  if (c.module_label == 0 && !c.thread().is_engine) {
    session_.emitter.begin_call(label_, c.grad_enabled());
    call.emitter = &session_.emitter;
    note_inputs(args);
  }
  struct Label {
    ops::Context& context;
    std::uint32_t before;
    Label(ops::Context& target, std::uint32_t label)
        : context(target), before(target.module_label) {
      context.module_label = label;
      context.recorder().set_label(label, context.op_label);
    }
    ~Label() {
      context.module_label = before;
      context.recorder().set_label(before, context.op_label);
    }
    Label(const Label&) = delete;
    Label& operator=(const Label&) = delete;
  };
  const Label label(c, label_);
  lang::CallArgs kept = args;
  kept.movable = false;
  if (pre_hooks.empty() && post_hooks.empty()) return run_forward(interp, kept);
  return call_with_hooks(interp, kept);
}

namespace {

/// A hook, and whether it wants keyword arguments: (hook, True) then.
std::pair<Value, bool> hook_of(const Value& entry) {
  const auto* pair = entry.as<lang::Tuple>();
  const bool is_pair = pair != nullptr && !pair->items.empty();
  if (!is_pair) return {entry, false};
  const bool is_always_called = pair->items.size() > 2;
  return {pair->items[0], !is_always_called || pair->items[1].as_bool()};
}

/// A hook that runs when the module has failed, too.
bool is_always_called(const Value& entry) {
  const auto* parts = entry.as<lang::Tuple>();
  return parts != nullptr && parts->items.size() > 2;
}

/// The arguments of a call that hooks may replace.
class HookedCall {
 public:
  HookedCall(Interp& interp, lang::CallArgs& args)
      : interp_(interp), args_(args), values_(args.values, args.values + args.total()) {
    args_.values = values_.data();
  }
  ~HookedCall() { drop(); }
  HookedCall(const HookedCall&) = delete;
  HookedCall& operator=(const HookedCall&) = delete;
  [[nodiscard]] Value positional() const {
    return interp_.tuple(std::vector<Value>(
        values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(args_.positional)));
  }
  [[nodiscard]] Value keywords() const {
    Ref<lang::Dict> dict = interp_.dict();
    for (std::size_t k = 0; k < args_.keyword_count; ++k) {
      interp_.set_item(Value(dict), interp_.str(std::string(interp_.text(args_.keywords[k]))),
                       values_[args_.positional + k]);
    }
    return dict;
  }
  /// A tuple of new positional arguments, or the only one.
  void replace_positional(Value given) {
    std::vector<Value> replaced;
    if (const auto* tuple = given.as<lang::Tuple>()) {
      replaced = tuple->items;
    } else {
      replaced.push_back(std::move(given));
    }
    const std::size_t count = replaced.size();
    for (std::size_t k = 0; k < args_.keyword_count; ++k)
      replaced.push_back(values_[args_.positional + k]);
    drop();
    values_ = std::move(replaced);
    args_.positional = count;
    args_.values = values_.data();
  }
  /// A dict of new keyword arguments, fewer or more than before.
  void replace_keywords(const Value& given) {
    values_.resize(args_.positional);
    names_.clear();
    for (const Value& name : interp_.unpack(given)) {
      names_.push_back(interp_.intern(interp_.to_str(name)));
      values_.push_back(interp_.get_item(given, name));
    }
    args_.keywords = names_.data();
    args_.keyword_count = names_.size();
    args_.values = values_.data();
  }

 private:
  /// What a call holds goes as CPython lets go of a tuple, from its end, and of a dict behind it.
  void drop() {
    for (std::size_t k = args_.positional; k-- > 0;) values_[k].reset();
    values_.clear();
  }

  Interp& interp_;
  lang::CallArgs& args_;
  std::vector<Value> values_;
  std::vector<lang::Name> names_;  ///< of new keyword arguments
};

std::vector<Value> hooks_in(const Value& table) {
  std::vector<Value> hooks;
  if (const auto* dict = table.as<lang::Dict>()) {
    for (const auto& entry : dict->table.entries()) {
      if (!entry.key.empty()) hooks.push_back(entry.value);
    }
  }
  return hooks;
}

}  // namespace

/// Source: torch.nn.Module._call_impl.
Value ModuleObject::call_with_hooks(Interp& interp, lang::CallArgs& args) {
  const Value self = Ref<ModuleObject>(this);
  HookedCall given(interp, args);
  // Two locals of PyTorch's function: what the last hook of either kind gave stays until the end,
  // though another hook gave other arguments.
  Value by_position;
  Value by_keywords;
  for (const Value& entry : hooks_in(pre_hooks)) {
    const auto [hook, with_keywords] = hook_of(entry);
    std::vector<Value> arguments{self, given.positional()};
    if (with_keywords) arguments.push_back(given.keywords());
    Value changed = interp.call(hook, std::move(arguments));
    (with_keywords ? by_keywords : by_position) = changed;
    if (changed.is_none()) continue;
    if (with_keywords) {
      const std::vector<Value> both = interp.unpack(changed);
      if (both.size() != 2) {
        interp.runtime_error(
            "forward pre-hook must return None or a tuple of (new_args, new_kwargs)");
      }
      changed = both[0];
      given.replace_keywords(both[1]);
    }
    given.replace_positional(std::move(changed));
  }
  Value through;  // what stands at the module's border in backward
  if (!backward_hooks.empty()) through = interp.call(backward_hooks, {self});
  const bool hooks_backward = !through.empty() && !through.is_none();
  if (hooks_backward) {
    given.replace_positional(
        interp.call_method(through, interp.intern("setup_input_hook"), {given.positional()}));
  }
  Value result = Value::none();
  std::vector<Value> after;
  const auto call_after = [&](const Value& entry) {
    const auto [hook, with_keywords] = hook_of(entry);
    std::vector<Value> arguments{self, given.positional()};
    if (with_keywords) arguments.push_back(given.keywords());
    arguments.push_back(result);
    Value changed = interp.call(hook, std::move(arguments));
    if (!changed.is_none()) result = std::move(changed);
  };
  std::size_t called = 0;
  try {
    result = run_forward(interp, args);
    after = hooks_in(post_hooks);
    while (called < after.size()) call_after(after[called++]);
  } catch (lang::Raised&) {
    if (after.empty()) after = hooks_in(post_hooks);
    // What those raise in their turn is a warning in PyTorch.
    for (; called < after.size(); ++called) {
      if (!is_always_called(after[called])) continue;
      try {
        call_after(after[called]);
      } catch (lang::Raised&) {
        lang::note(interp,
                   "a module hook with always_call=True raised an exception that was silenced");
      }
    }
    throw;
  }
  if (!hooks_backward) return result;
  return interp.call_method(through, interp.intern("setup_output_hook"), {std::move(result)});
}

Value ModuleObject::deep_copy(Interp& interp, lang::DeepCopies& copies) {
  const Value self = Ref<ModuleObject>(this);
  if (const Value* done = copies.find(self)) return *done;
  Value state = lang::own_state(interp, self);
  const Ref<ModuleObject> copy = make_ref<ModuleObject>(session_, Ref<lang::ClassObject>(&type()));
  copy->initialised = initialised;
  copy->not_persistent = not_persistent;
  copies.add(self, Value(copy));
  // In the order of a module's __dict__. What a copy runs may change the module.
  const auto copy_all = [&](const lang::AttrMap& from, lang::AttrMap& to) {
    const std::vector<lang::AttrMap::Entry> entries = from.listed();
    for (const auto& entry : entries) to.set(entry.name, interp.deep_copy(entry.value, copies));
  };
  copy_all(parameters, copy->parameters);
  if (!own_parameters_.empty()) copy->own_parameters_ = interp.deep_copy(own_parameters_, copies);
  copy_all(buffers, copy->buffers);
  if (!post_hooks.empty()) copy->post_hooks = interp.deep_copy(post_hooks, copies);
  if (!pre_hooks.empty()) copy->pre_hooks = interp.deep_copy(pre_hooks, copies);
  copy->backward_hooks = backward_hooks;
  copy_all(modules, copy->modules);
  if (state.empty() && lang::takes_state(interp, self))
    state = interp.get_attr(self, interp.intern("__dict__"));
  if (state.empty()) {
    copy_all(attrs(), copy->attrs());
  } else if (!state.is_none()) {
    lang::give_state(interp, Value(copy), interp.deep_copy(state, copies));
  }
  return copy;
}

Value ModuleObject::replica() {
  const Ref<ModuleObject> copy = make_ref<ModuleObject>(session_, Ref<lang::ClassObject>(&type()));
  copy->initialised = initialised;
  copy->not_persistent = not_persistent;
  copy->label_ = label_;
  copy->pre_hooks = pre_hooks;
  copy->post_hooks = post_hooks;
  copy->backward_hooks = backward_hooks;
  for (const auto& entry : attrs().entries()) copy->attrs().set(entry.name, entry.value);
  return copy;
}

}  // namespace tidemark::torch
