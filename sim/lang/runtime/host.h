#pragma once

#include <initializer_list>
#include <string_view>

#include "sim/lang/runtime/function.h"

/// What another floor needs to put objects of its own into the language: host types (torch.Tensor,
/// nn.Module), host functions in tables, host modules.
namespace tidemark::lang {

/// An object defined outside the language. `host_kind` (not 0) tells host types apart:
///     class Tensor : public HostObject {
///       static bool is(const Object& o) { return o.host_kind() == kTensorKind; }
/// so that `value.as<Tensor>()` is two comparisons. Its class, given at construction, supplies
/// methods, isinstance() and what users may inherit from; the virtual functions of Instance
/// override the rest. Destructors run at the moment CPython would run them and must neither throw
/// nor call the interpreter.
class HostObject : public Instance {
 public:
  static bool is(const Object& o) { return o.kind() == Kind::kHost; }

 protected:
  HostObject(Heap& heap, Ref<ClassObject> type, std::uint16_t host_kind)
      : Instance(heap, std::move(type), Kind::kHost, host_kind) {}
};

/// A row of a table of host functions or methods.
struct FunctionRow {
  /// A literal: "relu(input, inplace=False)"; a method's first parameter is self.
  std::string_view signature;
  Value (*function)(Interp& interp, Arguments& args);
  /// Python code in the real library: an exception's traceback through it keeps its arguments
  /// alive.
  bool python = false;
};

/// A row of a table of properties.
struct PropertyRow {
  std::string_view name;
  Value (*get)(Interp& interp, const Value& self);
  void (*set)(Interp& interp, const Value& self, Value value) = nullptr;  ///< null: read only
};

/// The part of a signature before "(".
std::string_view function_name(std::string_view signature);

/// Adds every row to a module, or to a class as methods.
void add_functions(Interp& interp, Module& module, std::span<const FunctionRow> rows);
void add_methods(Interp& interp, ClassObject& type, std::span<const FunctionRow> rows);
void add_static_methods(Interp& interp, ClassObject& type, std::span<const FunctionRow> rows);
void add_properties(Interp& interp, ClassObject& type, std::span<const PropertyRow> rows);

/// What object.__delattr__ does: a property's deleter, then own attributes. False: no such
/// attribute.
bool remove_attribute(Interp& interp, const Value& object, Name name);

/// Adds one built-in, one function of a module, or one method, from its signature.
void define(Interp& interp, std::string_view signature, HostFunction function);
void define(Interp& interp, Module& module, std::string_view signature, HostFunction function);
void define(Interp& interp, ClassObject& type, std::string_view signature, HostFunction function);

}  // namespace tidemark::lang
