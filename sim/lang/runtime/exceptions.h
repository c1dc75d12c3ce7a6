#pragma once

#include <string>
#include <vector>

#include "sim/lang/runtime/interp.h"

namespace tidemark::lang {

/// A function's frame that outlives the function because a traceback holds it, with the variables
/// it had.
class FrameObject final : public Tracked {
 public:
  FrameObject(Heap& heap, std::shared_ptr<const Code> compiled)
      : Tracked(heap, Kind::kFrame), code(std::move(compiled)) {}
  ~FrameObject() override { clear(); }
  static bool is(const Object& o) { return o.kind() == Kind::kFrame; }
  void traverse(Visitor& visitor) const override;
  /// Drops the variables in order, then the function, then the frame that called it.
  void clear() override;

  const std::shared_ptr<const Code> code;  // null: a host function
  std::vector<Value> locals;               // empty while the frame still runs
  Value function;
  Ref<FrameObject> back;
};

/// An exception as a value. Its traceback holds the frames it went through, and they their
/// variables.
class ExceptionObject : public Instance {
 public:
  ExceptionObject(Heap& heap, Ref<ClassObject> type)
      : Instance(heap, std::move(type), Kind::kException, 0) {}
  ~ExceptionObject() override { clear(); }
  static bool is(const Object& o) { return o.kind() == Kind::kException; }
  void traverse(Visitor& visitor) const override;
  void clear() override;

  /// str(e).
  std::string str(Interp& interp) override;
  std::string repr(Interp& interp) override;
  Value get_missing_attr(Interp& interp, Name name) override;

  struct TracebackEntry {
    Ref<FrameObject> frame;  // null for host frames
    Location at;
  };
  std::vector<Value> args;
  std::vector<TracebackEntry> traceback;  // innermost first
  Value cause;                            // raise ... from cause; Empty without
  Value context;  // what was being handled when this was raised; Empty without
  bool suppress_context = false;
  std::string hint;  // what to do about it; not part of str(e)
};

/// ExceptionGroup and BaseExceptionGroup, which the library has: made when a program names them.
/// Empty: it is another name.
Value late_builtin(Interp& interp, Name name);

/// The classes of the language's own objects.
struct BuiltinClasses {
  Ref<ClassObject> object, type, none, not_implemented, ellipsis, boolean, integer, real, str, list,
      tuple, dict, set, frozenset, range, slice, function, builtin, method, module, iterator,
      generator, property, static_method, class_method, super, cell, frame, traceback, dict_keys,
      dict_values, dict_items;
  Ref<ClassObject> base_exception, exception, system_exit, keyboard_interrupt, generator_exit,
      arithmetic_error, overflow_error, zero_division_error, floating_point_error, assertion_error,
      attribute_error, buffer_error, eof_error, import_error, module_not_found_error, lookup_error,
      index_error, key_error, memory_error, name_error, unbound_local_error, os_error,
      file_not_found_error, timeout_error, runtime_error, not_implemented_error, recursion_error,
      stop_iteration, syntax_error, type_error, value_error, warning, user_warning,
      deprecation_warning, runtime_warning, future_warning;
};

}  // namespace tidemark::lang
