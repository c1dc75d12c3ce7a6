#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "sim/lang/builtins/library.h"
#include "sim/torch/modules/model_watch.h"
#include "sim/torch/modules/module_object.h"
#include "sim/torch/tensors/tensor_object.h"

/// What torch.nn.Module is built on: `torch._C.ModuleBase`.
namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Name;
using lang::Value;

namespace {

/// Model code can call a method of Module with anything as its module.
ModuleObject& module_of(Interp& interp, const Value& value) {
  auto* module = value.as<ModuleObject>();
  if (module == nullptr)
    interp.type_error("expected a torch.nn.Module, got " + interp.type_name(value));
  return *module;
}
ModuleObject& module_of(const Arguments& a) { return a.object<ModuleObject>(0, "torch.nn.Module"); }

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
             std::unordered_set<const void*>& seen, std::vector<Value>& out, bool with_names) {
  ModuleObject& module = module_of(session.interp, value);
  if (!seen.insert(&module).second) return;
  const lang::AttrMap& table =
      want_parameters ? module.parameter_table(session.interp) : module.buffers;
  for (const auto& entry : table.entries()) {
    const auto* tensor = entry.value.as<TensorObject>();
    if (tensor == nullptr || !seen.insert(tensor->tensor.impl()).second) continue;
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
    std::string below;
    if (with_names)
      below = prefix + (prefix.empty() ? "" : ".") + std::string(session.interp.text(entry.name));
    collect(session, entry.value, below, want_parameters, seen, out, with_names);
  }
}

/// The modules right below, each once; with their names, as pairs.
Value children_of(Interp& interp, const ModuleObject& module, bool with_names) {
  std::vector<Value> children;
  std::unordered_set<const void*> seen;
  for (const auto& entry : module.modules.entries()) {
    if (entry.value.as<ModuleObject>() == nullptr || !seen.insert(entry.value.object()).second)
      continue;
    children.push_back(
        with_names
            ? Value(interp.tuple({interp.str(std::string(interp.text(entry.name))), entry.value}))
            : entry.value);
  }
  return interp.list(std::move(children));
}

void add_collectors(Session& session, lang::ClassObject& base) {
  Session* s = &session;
  struct Row {
    std::string_view signature;
    bool parameters;
    bool names;
  };
  static constexpr Row kRows[] = {
      {"_parameter_list(self, prefix='')", true, false},
      {"_named_parameter_list(self, prefix='')", true, true},
      {"_buffer_list(self, prefix='')", false, false},
      {"_named_buffer_list(self, prefix='')", false, true},
  };
  for (const Row& row : kRows) {
    base.attrs.set(session.interp.intern(lang::function_name(row.signature)),
                   session.interp.function(row.signature, [s, row](Interp& interp, Arguments& a) {
                     std::unordered_set<const void*> seen;  // modules and tensors
                     std::vector<Value> out;
                     collect(*s, a[0], a.text(1), row.parameters, seen, out, row.names);
                     return interp.list(std::move(out));
                   }));
  }
}

lang::AttrMap& table_of(const Arguments& a) {
  const std::string& name = a.text(1);
  ModuleObject& owner = module_of(a);
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
                             const lang::AttrMap& table = table_of(a);
                             std::vector<Value> names;
                             names.reserve(table.size());
                             for (const auto& entry : table.entries())
                               names.push_back(in.str(std::string(in.text(entry.name))));
                             return in.list(std::move(names));
                           }),
                    access("get(owner, table, name)",
                           [](Interp& in, Arguments& a) {
                             const Value* found = table_of(a).find(in.intern(a.text(2)));
                             return found == nullptr ? Value::not_implemented() : *found;
                           }),
                    access("set(owner, table, name, value)",
                           [](Interp& in, Arguments& a) {
                             const auto* tensor = a[3].as<TensorObject>();
                             if (tensor != nullptr && a.text(1) == "_buffers")
                               tensor->tensor->storage->set_role(ops::Role::kParameter);
                             table_of(a).set(in.intern(a.text(2)), a.take(3));
                             return Value::none();
                           }),
                    access("remove(owner, table, name)",
                           [](Interp& in, Arguments& a) {
                             table_of(a).remove(in.intern(a.text(2)));
                             return Value::none();
                           }),
                    access("size(owner, table)", [](Interp&, Arguments& a) {
                      return Value::integer(static_cast<std::int64_t>(table_of(a).size()));
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
  base->attrs.set(interp.intern("(finalizes)"), Value::boolean(true));
  const auto method = [&](std::string_view signature, lang::HostFunction body) {
    base->attrs.set(interp.intern(lang::function_name(signature)),
                    interp.function(signature, std::move(body)));
  };
  method("__init__(self)", [](Interp&, Arguments& a) {
    module_of(a).initialised = true;
    return Value::none();
  });
  method("register_parameter(self, name, param)", [](Interp& in, Arguments& a) {
    module_of(a).set_parameter(in, in.intern(a.text(1)), a[2]);
    return Value::none();
  });
  method("_set_buffer(self, name, tensor, persistent)", [](Interp& in, Arguments& a) {
    ModuleObject& module = module_of(a);
    const Name name = in.intern(a.text(1));
    module.buffers.set(name, a[2]);
    if (!a.boolean(3)) module.not_persistent.push_back(name);
    if (const auto* tensor = a[2].as<TensorObject>())
      tensor->tensor->storage->set_role(ops::Role::kParameter);
    return Value::none();
  });
  method("_set_parameter(self, name, value)", [](Interp& in, Arguments& a) {
    module_of(a).set_parameter(in, in.intern(a.text(1)), a[2]);
    return Value::none();
  });
  method("add_module(self, name, module)", [](Interp& in, Arguments& a) {
    if (!a[2].is_none() && a[2].as<ModuleObject>() == nullptr) {
      in.type_error(in.type_name(a[2]) + " is not a Module subclass");
    }
    module_of(a).modules.set(in.intern(a.text(1)), a[2]);
    return Value::none();
  });
  method("__setstate__(self, state)", [](Interp& in, Arguments& a) {
    const Value table = in.get_attr(a[0], in.intern("__dict__"));
    return in.call_method(table, in.intern("update"), {a[1]});
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
    module_of(a).store_attr(in, in.intern(a.text(1)), a.take(2));
    return Value::none();
  });
  // What classes with a __getattr__ of their own ask first: parameters, buffers and modules.
  method("__getattr__(self, name, /)", [](Interp& in, Arguments& a) {
    const Name name = in.intern(a.text(1));
    Value found = module_of(a).get_missing_attr(in, name);
    if (found.empty()) {
      in.raise(*in.classes().attribute_error,
               fmt::format("'{}' object has no attribute '{}'", in.type_name(a[0]), in.text(name)));
    }
    return found;
  });
  method("__delattr__(self, name, /)", [](Interp& in, Arguments& a) {
    const Name name = in.intern(a.text(1));
    if (!module_of(a).remove_member(in, name)) {
      in.raise(*in.classes().attribute_error,
               fmt::format("'{}' object has no attribute '{}'", in.type_name(a[0]), in.text(name)));
    }
    return Value::none();
  });
  method("_parameter_items(self)",
         [](Interp& in, Arguments& a) { return entries_of(in, module_of(a).parameter_table(in)); });
  method("_own_parameters(self)", [](Interp&, Arguments& a) {
    const Value& own = module_of(a).own_parameters();
    return own.empty() ? Value::none() : own;
  });
  method("_replace_parameters(self, mapping)", [](Interp& in, Arguments& a) {
    module_of(a).replace_parameters(in, a.take(1));
    return Value::none();
  });
  method("_buffer_items(self)",
         [](Interp& in, Arguments& a) { return entries_of(in, module_of(a).buffers); });
  method("_buffer_names(self)", [](Interp& in, Arguments& a) {
    std::vector<Value> names;
    for (const auto& entry : module_of(a).buffers.entries())
      names.push_back(in.str(std::string(in.text(entry.name))));
    return in.list(std::move(names));
  });
  method("_module_items(self)",
         [](Interp& in, Arguments& a) { return entries_of(in, module_of(a).modules); });
  method("_child_list(self)",
         [](Interp& in, Arguments& a) { return children_of(in, module_of(a), false); });
  method("_named_child_list(self)",
         [](Interp& in, Arguments& a) { return children_of(in, module_of(a), true); });
  add_tables(session, *base);
  method("_is_persistent(self, name)", [](Interp& in, Arguments& a) {
    const auto& names = module_of(a).not_persistent;
    return Value::boolean(std::find(names.begin(), names.end(), in.intern(a.text(1))) ==
                          names.end());
  });
  method("_replicate_for_data_parallel(self)",
         [](Interp&, Arguments& a) { return module_of(a).replica(); });
  method("_set_hooks(self, pre, post)", [](Interp&, Arguments& a) {
    ModuleObject& module = module_of(a);
    module.pre_hooks = a[1].is_none() ? Value() : a[1];
    module.post_hooks = a[2].is_none() ? Value() : a[2];
    return Value::none();
  });
  method("_set_backward_hooks(self, begin)", [](Interp&, Arguments& a) {
    module_of(a).backward_hooks = a[1];
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
