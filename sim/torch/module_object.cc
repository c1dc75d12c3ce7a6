#include "sim/torch/module_object.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/library.h"
#include "sim/torch/tensor_object.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Name;
using lang::Value;

ModuleObject::~ModuleObject() {
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
  visitor.visit(pre_hooks);
  visitor.visit(post_hooks);
  visitor.visit(backward_hooks);
}

void ModuleObject::clear() {
  parameters.clear(heap());
  buffers.clear(heap());
  modules.clear(heap());
  pre_hooks.reset();
  post_hooks.reset();
  backward_hooks.reset();
  HostObject::clear();
}

Value ModuleObject::get_missing_attr(Interp& interp, Name name) {
  for (lang::AttrMap* table : {&parameters, &buffers, &modules}) {
    if (const Value* found = table->find(name)) return *found;
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
    lang::AttrMap& home = is_parameter ? parameters : modules;
    for (lang::AttrMap* table : {&parameters, &buffers, &modules}) {
      if (table != &home) table->remove(name);
    }
    attrs().remove(name);
    home.set(name, std::move(value));
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
    parameters.set(name, std::move(value));
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

Value ModuleObject::run_call(Interp& interp, lang::CallArgs& args) {
  if (label_ == 0) {
    // The first module called is the root; those it holds are named by their path from it.
    name_tree(std::string(interp.text(type().name())), true);
  }
  ops::Context& c = session_.c;
  if (c.module_label == 0 && !c.thread().is_engine)
    session_.emitter.begin(c.grad_enabled() ? "forward" : "inference");
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
  return pair == nullptr ? std::pair(entry, false) : std::pair(pair->items[0], true);
}

/// The arguments of a call that hooks may replace.
class HookedCall {
 public:
  HookedCall(Interp& interp, lang::CallArgs& args)
      : interp_(interp), args_(args), values_(args.values, args.values + args.total()) {
    args_.values = values_.data();
  }
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
  for (const Value& entry : hooks_in(pre_hooks)) {
    const auto [hook, with_keywords] = hook_of(entry);
    std::vector<Value> arguments{self, given.positional()};
    if (with_keywords) arguments.push_back(given.keywords());
    Value changed = interp.call(hook, std::move(arguments));
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
  Value result = run_forward(interp, args);
  for (const Value& entry : hooks_in(post_hooks)) {
    const auto [hook, with_keywords] = hook_of(entry);
    std::vector<Value> arguments{self, given.positional()};
    if (with_keywords) arguments.push_back(given.keywords());
    arguments.push_back(result);
    Value changed = interp.call(hook, std::move(arguments));
    if (!changed.is_none()) result = std::move(changed);
  }
  if (!hooks_backward) return result;
  return interp.call_method(through, interp.intern("setup_output_hook"), {std::move(result)});
}

Value ModuleObject::deep_copy(Interp& interp, std::vector<std::pair<Value, Value>>& copies) {
  const Value self = Ref<ModuleObject>(this);
  for (const auto& [from, to] : copies) {
    if (from.same_as(self)) return to;
  }
  const Ref<ModuleObject> copy = make_ref<ModuleObject>(session_, Ref<lang::ClassObject>(&type()));
  copy->initialised = initialised;
  copy->not_persistent = not_persistent;
  copies.emplace_back(self, Value(copy));
  // In the order of a module's __dict__.
  for (const auto& entry : parameters.entries())
    copy->parameters.set(entry.name, interp.deep_copy(entry.value, copies));
  for (const auto& entry : buffers.entries())
    copy->buffers.set(entry.name, interp.deep_copy(entry.value, copies));
  if (!post_hooks.empty()) copy->post_hooks = interp.deep_copy(post_hooks, copies);
  if (!pre_hooks.empty()) copy->pre_hooks = interp.deep_copy(pre_hooks, copies);
  copy->backward_hooks = backward_hooks;
  for (const auto& entry : modules.entries())
    copy->modules.set(entry.name, interp.deep_copy(entry.value, copies));
  for (const auto& entry : attrs().entries())
    copy->attrs().set(entry.name, interp.deep_copy(entry.value, copies));
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

namespace {

ModuleObject& module_of(const Value& value) { return *value.as<ModuleObject>(); }

/// [(name, value), ...] of one of a module's tables.
Value entries_of(Interp& interp, const lang::AttrMap& table) {
  std::vector<Value> items;
  for (const auto& entry : table.entries()) {
    items.push_back(interp.tuple({interp.str(std::string(interp.text(entry.name))), entry.value}));
  }
  return interp.list(std::move(items));
}

/// Every parameter (or buffer) of a module and those below it, each once, in the order of torch's
/// named_members.
void collect(Session& session, const Value& value, const std::string& prefix, bool want_parameters,
             std::vector<const ModuleObject*>& seen_modules, std::vector<const void*>& seen,
             std::vector<Value>& out, bool with_names) {
  const ModuleObject& module = module_of(value);
  if (std::find(seen_modules.begin(), seen_modules.end(), &module) != seen_modules.end()) return;
  seen_modules.push_back(&module);
  const lang::AttrMap& table = want_parameters ? module.parameters : module.buffers;
  for (const auto& entry : table.entries()) {
    const auto* tensor = entry.value.as<TensorObject>();
    if (tensor == nullptr) continue;
    if (std::find(seen.begin(), seen.end(), tensor->tensor.impl()) != seen.end()) continue;
    seen.push_back(tensor->tensor.impl());
    if (with_names) {
      const std::string name =
          prefix + (prefix.empty() ? "" : ".") + std::string(session.interp.text(entry.name));
      out.push_back(session.interp.tuple({session.interp.str(name), entry.value}));
    } else {
      out.push_back(entry.value);
    }
  }
  for (const auto& entry : module.modules.entries()) {
    if (entry.value.as<ModuleObject>() == nullptr) continue;
    collect(session, entry.value,
            prefix + (prefix.empty() ? "" : ".") + std::string(session.interp.text(entry.name)),
            want_parameters, seen_modules, seen, out, with_names);
  }
}

void add_collectors(Session& session, lang::ClassObject& base) {
  Session* s = &session;
  struct Row {
    std::string_view signature;
    bool parameters;
    bool names;
  };
  static constexpr Row kRows[] = {{"_parameter_list(self, prefix='')", true, false},
                                  {"_named_parameter_list(self, prefix='')", true, true},
                                  {"_buffer_list(self, prefix='')", false, false},
                                  {"_named_buffer_list(self, prefix='')", false, true}};
  for (const Row& row : kRows) {
    base.attrs.set(session.interp.intern(lang::function_name(row.signature)),
                   session.interp.function(row.signature, [s, row](Interp& interp, Arguments& a) {
                     std::vector<const ModuleObject*> modules;
                     std::vector<const void*> seen;
                     std::vector<Value> out;
                     collect(*s, a[0], a.text(1), row.parameters, modules, seen, out, row.names);
                     return interp.list(std::move(out));
                   }));
  }
}

lang::AttrMap& table_of(const Value& module, std::string_view name) {
  ModuleObject& owner = module_of(module);
  return name == "_parameters" ? owner.parameters
         : name == "_buffers"  ? owner.buffers
                               : owner.modules;
}

/// _parameters, _buffers and _modules as tables that can be written to; see the language's module
/// _attribute_tables.
void add_tables(Session& session, lang::ClassObject& base) {
  Interp& interp = session.interp;
  const auto access = [&](std::string_view signature, lang::HostFunction body) -> Value {
    return interp.function(signature, std::move(body));
  };
  base.attrs.set(
      interp.intern("_table_access"),
      interp.tuple({access("names(owner, table)",
                           [](Interp& in, Arguments& a) {
                             const lang::AttrMap& table = table_of(a[0], a.text(1));
                             std::vector<Value> names;
                             names.reserve(table.size());
                             for (const auto& entry : table.entries())
                               names.push_back(in.str(std::string(in.text(entry.name))));
                             return in.list(std::move(names));
                           }),
                    access("get(owner, table, name)",
                           [](Interp& in, Arguments& a) {
                             const Value* found =
                                 table_of(a[0], a.text(1)).find(in.intern(a.text(2)));
                             return found == nullptr ? Value::not_implemented() : *found;
                           }),
                    access("set(owner, table, name, value)",
                           [](Interp& in, Arguments& a) {
                             const auto* tensor = a[3].as<TensorObject>();
                             if (tensor != nullptr && a.text(1) == "_buffers")
                               tensor->tensor->storage->set_role(ops::Role::kParameter);
                             table_of(a[0], a.text(1)).set(in.intern(a.text(2)), a.take(3));
                             return Value::none();
                           }),
                    access("remove(owner, table, name)", [](Interp& in, Arguments& a) {
                      table_of(a[0], a.text(1)).remove(in.intern(a.text(2)));
                      return Value::none();
                    })}));
}

}  // namespace

void add_module_class(Session& session, lang::Module& torch_c) {
  Interp& interp = session.interp;
  Ref<lang::ClassObject> base = interp.make_class("ModuleBase", "torch._C");
  session.module_class = base;
  base->allocate = [](Interp& in, Ref<lang::ClassObject> type) -> Ref<lang::Instance> {
    return make_ref<ModuleObject>(session_of(in), std::move(type));
  };
  const auto method = [&](std::string_view signature, lang::HostFunction body) {
    base->attrs.set(interp.intern(lang::function_name(signature)),
                    interp.function(signature, std::move(body)));
  };
  method("__init__(self)", [](Interp&, Arguments& a) {
    module_of(a[0]).initialised = true;
    return Value::none();
  });
  method("register_parameter(self, name, param)", [](Interp& in, Arguments& a) {
    module_of(a[0]).parameters.set(in.intern(a.text(1)), a[2]);
    return Value::none();
  });
  method("_set_buffer(self, name, tensor, persistent)", [](Interp& in, Arguments& a) {
    ModuleObject& module = module_of(a[0]);
    const Name name = in.intern(a.text(1));
    module.buffers.set(name, a[2]);
    if (!a.boolean(3)) module.not_persistent.push_back(name);
    if (const auto* tensor = a[2].as<TensorObject>())
      tensor->tensor->storage->set_role(ops::Role::kParameter);
    return Value::none();
  });
  method("_set_parameter(self, name, value)", [](Interp& in, Arguments& a) {
    module_of(a[0]).parameters.set(in.intern(a.text(1)), a[2]);
    return Value::none();
  });
  method("add_module(self, name, module)", [](Interp& in, Arguments& a) {
    if (!a[2].is_none() && a[2].as<ModuleObject>() == nullptr) {
      in.type_error(in.type_name(a[2]) + " is not a Module subclass");
    }
    module_of(a[0]).modules.set(in.intern(a.text(1)), a[2]);
    return Value::none();
  });
  // What super().__call__(...) and its kin reach from classes that have their own.
  for (const std::string_view name : {"__call__", "_call_impl"}) {
    base->attrs.set(interp.intern(name),
                    interp.raw_function(name, [](Interp& in, lang::CallArgs& args) -> Value {
                      auto* self =
                          args.positional > 0 ? args.values[0].as<ModuleObject>() : nullptr;
                      if (self == nullptr) in.type_error("__call__() needs a torch.nn.Module");
                      lang::CallArgs given = args;
                      ++given.values;
                      --given.positional;
                      return self->call_module(in, given);
                    }));
  }
  method("__setattr__(self, name, value, /)", [](Interp& in, Arguments& a) {
    module_of(a[0]).store_attr(in, in.intern(a.text(1)), a.take(2));
    return Value::none();
  });
  // What classes with a __getattr__ of their own ask first: parameters, buffers and modules.
  method("__getattr__(self, name, /)", [](Interp& in, Arguments& a) {
    const Name name = in.intern(a.text(1));
    Value found = module_of(a[0]).get_missing_attr(in, name);
    if (found.empty()) {
      in.raise(*in.classes().attribute_error,
               fmt::format("'{}' object has no attribute '{}'", in.type_name(a[0]), in.text(name)));
    }
    return found;
  });
  method("__delattr__(self, name, /)", [](Interp& in, Arguments& a) {
    const Name name = in.intern(a.text(1));
    if (!module_of(a[0]).remove_member(in, name)) {
      in.raise(*in.classes().attribute_error,
               fmt::format("'{}' object has no attribute '{}'", in.type_name(a[0]), in.text(name)));
    }
    return Value::none();
  });
  method("_parameter_items(self)",
         [](Interp& in, Arguments& a) { return entries_of(in, module_of(a[0]).parameters); });
  method("_buffer_items(self)",
         [](Interp& in, Arguments& a) { return entries_of(in, module_of(a[0]).buffers); });
  method("_buffer_names(self)", [](Interp& in, Arguments& a) {
    std::vector<Value> names;
    for (const auto& entry : module_of(a[0]).buffers.entries())
      names.push_back(in.str(std::string(in.text(entry.name))));
    return in.list(std::move(names));
  });
  method("_module_items(self)",
         [](Interp& in, Arguments& a) { return entries_of(in, module_of(a[0]).modules); });
  add_tables(session, *base);
  method("_is_persistent(self, name)", [](Interp& in, Arguments& a) {
    const auto& names = module_of(a[0]).not_persistent;
    return Value::boolean(std::find(names.begin(), names.end(), in.intern(a.text(1))) ==
                          names.end());
  });
  method("_replicate_for_data_parallel(self)",
         [](Interp&, Arguments& a) { return module_of(a[0]).replica(); });
  method("_set_hooks(self, pre, post)", [](Interp&, Arguments& a) {
    ModuleObject& module = module_of(a[0]);
    module.pre_hooks = a[1].is_none() ? Value() : a[1];
    module.post_hooks = a[2].is_none() ? Value() : a[2];
    return Value::none();
  });
  method("_set_backward_hooks(self, begin)", [](Interp&, Arguments& a) {
    module_of(a[0]).backward_hooks = a[1];
    return Value::none();
  });
  add_collectors(session, *base);
  torch_c.set(interp.intern("ModuleBase"), base);
  torch_c.set(interp.intern("watch_model"),
              interp.function("watch_model(model)", [s = &session](Interp&, Arguments& a) {
                if (s->watch != nullptr)
                  s->watch->add(a.object<ModuleObject>(0, "torch.nn.Module"));
                return Value::none();
              }));
}

}  // namespace tidemark::torch
