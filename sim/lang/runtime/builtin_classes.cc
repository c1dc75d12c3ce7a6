#include "sim/lang/runtime/exceptions.h"

/// The classes that the language itself knows, and the tree of its exceptions.
namespace tidemark::lang {

namespace {

Ref<Instance> allocate_exception(Interp& in, Ref<ClassObject> type) {
  return make_ref<ExceptionObject>(in.heap(), std::move(type));
}

}  // namespace

void Interp::make_builtin_classes() {
  BuiltinClasses& c = *classes_;
  const auto plain = [&](std::string_view name, bool is_final = false) {
    Ref<ClassObject> type = make_class(name, "builtins");
    type->final = is_final;
    return type;
  };
  c.object = plain("object");
  c.type = plain("type");
  c.none = plain("NoneType", true);
  c.not_implemented = plain("NotImplementedType", true);
  c.ellipsis = plain("ellipsis", true);
  c.integer = plain("int");
  c.boolean = make_class("bool", "builtins", {c.integer});
  c.boolean->final = true;
  c.real = plain("float");
  c.str = plain("str");
  c.list = plain("list");
  c.tuple = plain("tuple");
  c.dict = plain("dict");
  c.set = plain("set");
  c.frozenset = plain("frozenset");
  c.range = plain("range", true);
  c.slice = plain("slice", true);
  c.function = plain("function", true);
  // types.FunctionType(f.__code__, f.__globals__, name, argdefs, closure): another of the same
  // text.
  c.function->construct = [](Interp& in, ClassObject&, CallArgs& args) -> Value {
    const auto given = [&](std::size_t i, std::string_view name) {
      if (i < args.positional) return args.values[i];
      const Value* found = args.keyword(in.intern(name));
      return found == nullptr ? Value() : *found;
    };
    const Value code = given(0, "code");
    const Value original =
        code.as<Instance>() == nullptr ? Value() : in.find_attr(code, in.intern("_function"));
    const auto* from = original.as<Function>();
    if (from == nullptr) in.type_error("function() argument 'code' must be a function's code");
    const Ref<Function> copy = make_ref<Function>(in.heap(), from->code, from->globals);
    copy->closure = from->closure;
    copy->name = from->name;
    copy->qualname = from->qualname;
    copy->keyword_defaults = from->keyword_defaults;
    if (const Value name = given(2, "name"); name.as<Str>() != nullptr)
      copy->name = in.intern(name.as<Str>()->text());
    if (const Value defaults = given(3, "argdefs"); defaults.as<Tuple>() != nullptr)
      copy->defaults = defaults.as<Tuple>()->items;
    return copy;
  };
  c.builtin = plain("builtin_function_or_method", true);
  c.method = plain("method", true);
  c.method->construct = [](Interp& in, ClassObject&, CallArgs& args) -> Value {
    if (args.positional != 2 || args.keyword_count > 0)
      in.type_error("method expected 2 arguments: a function and what it is bound to");
    if (!in.callable(args.values[0])) in.type_error("first argument must be callable");
    return make_ref<BoundMethod>(in.heap(), args.values[0], args.values[1]);
  };
  c.module = plain("module");
  c.module->construct = [](Interp& in, ClassObject&, CallArgs& args) -> Value {
    const Str* name = args.positional == 0 ? nullptr : args.values[0].as<Str>();
    if (name == nullptr) in.type_error("module() takes a name");
    const Ref<Module> module = make_ref<Module>(in.heap(), name->text());
    module->set(known(name::kName), args.values[0]);
    module->set(known(name::kDoc), args.positional > 1 ? args.values[1] : Value::none());
    return module;
  };
  // An object of a user's module class is an object with the module's names as attributes.
  c.module->allocate = [](Interp& in, Ref<ClassObject> type) {
    return make_ref<Instance>(in.heap(), std::move(type));
  };
  c.iterator = plain("iterator", true);
  c.generator = plain("generator", true);
  c.property = plain("property");
  c.static_method = plain("staticmethod");
  c.class_method = plain("classmethod");
  c.super = plain("super");
  c.cell = plain("cell", true);
  c.frame = plain("frame", true);
  c.traceback = plain("traceback", true);
  c.dict_keys = plain("dict_keys", true);
  c.dict_values = plain("dict_values", true);
  c.dict_items = plain("dict_items", true);

  // What a metaclass and a class of modules call by super().
  const auto attribute_of = [this](const Ref<ClassObject>& type, auto find) {
    type->attrs.set(intern("__getattribute__"),
                    raw_function("__getattribute__", [this, find](Interp& in, CallArgs& args) {
                      if (args.positional != 2 || args.values[1].as<Str>() == nullptr)
                        in.type_error("__getattribute__() takes a name");
                      const Value object = args.values[0];
                      const Name name = intern(args.values[1].as<Str>()->text());
                      Value found = find(object, name);
                      if (found.empty()) no_attribute(object, name);
                      return found;
                    }));
  };
  attribute_of(c.type, [this](const Value& object, Name name) {
    auto* type = object.as<ClassObject>();
    return type == nullptr ? Value() : find_class_member(*type, name);
  });
  attribute_of(c.module, [this](const Value& object, Name name) {
    if (auto* module = object.as<Module>()) return find_module_member(*module, name);
    auto* instance = object.as<Instance>();
    return instance == nullptr ? Value() : generic_get_attr(*instance, name);
  });

  const auto error = [&](Ref<ClassObject>& slot, std::string_view name,
                         const Ref<ClassObject>& base) {
    slot = base ? make_class(name, "builtins", {base})
                : make_class(name, "builtins", {}, allocate_exception);
    set_builtin(intern(name), slot);
  };
  error(c.base_exception, "BaseException", nullptr);
  error(c.exception, "Exception", c.base_exception);
  error(c.system_exit, "SystemExit", c.base_exception);
  error(c.keyboard_interrupt, "KeyboardInterrupt", c.base_exception);
  error(c.generator_exit, "GeneratorExit", c.base_exception);
  error(c.arithmetic_error, "ArithmeticError", c.exception);
  error(c.overflow_error, "OverflowError", c.arithmetic_error);
  error(c.zero_division_error, "ZeroDivisionError", c.arithmetic_error);
  error(c.floating_point_error, "FloatingPointError", c.arithmetic_error);
  error(c.assertion_error, "AssertionError", c.exception);
  error(c.attribute_error, "AttributeError", c.exception);
  error(c.buffer_error, "BufferError", c.exception);
  error(c.eof_error, "EOFError", c.exception);
  error(c.import_error, "ImportError", c.exception);
  error(c.module_not_found_error, "ModuleNotFoundError", c.import_error);
  error(c.lookup_error, "LookupError", c.exception);
  error(c.index_error, "IndexError", c.lookup_error);
  error(c.key_error, "KeyError", c.lookup_error);
  error(c.memory_error, "MemoryError", c.exception);
  error(c.name_error, "NameError", c.exception);
  error(c.unbound_local_error, "UnboundLocalError", c.name_error);
  error(c.os_error, "OSError", c.exception);
  error(c.file_not_found_error, "FileNotFoundError", c.os_error);
  error(c.timeout_error, "TimeoutError", c.os_error);
  error(c.runtime_error, "RuntimeError", c.exception);
  error(c.not_implemented_error, "NotImplementedError", c.runtime_error);
  error(c.recursion_error, "RecursionError", c.runtime_error);
  error(c.stop_iteration, "StopIteration", c.exception);
  error(c.syntax_error, "SyntaxError", c.exception);
  error(c.type_error, "TypeError", c.exception);
  error(c.value_error, "ValueError", c.exception);
  error(c.warning, "Warning", c.exception);
  error(c.user_warning, "UserWarning", c.warning);
  error(c.deprecation_warning, "DeprecationWarning", c.warning);
  error(c.runtime_warning, "RuntimeWarning", c.warning);
  error(c.future_warning, "FutureWarning", c.warning);
  // What programs name in `except` and warnings.warn(), and nothing here raises.
  const auto named = [&](const Ref<ClassObject>& base, std::initializer_list<const char*> names) {
    for (const std::string_view name : names)
      set_builtin(intern(name), make_class(name, "builtins", {base}));
  };
  named(c.os_error, {"BlockingIOError", "ChildProcessError", "ConnectionError", "FileExistsError",
                     "InterruptedError", "IsADirectoryError", "NotADirectoryError",
                     "PermissionError", "ProcessLookupError"});
  named(find_builtin(intern("ConnectionError"))->ref<ClassObject>(),
        {"BrokenPipeError", "ConnectionAbortedError", "ConnectionRefusedError",
         "ConnectionResetError"});
  named(c.value_error, {"UnicodeError"});
  named(find_builtin(intern("UnicodeError"))->ref<ClassObject>(),
        {"UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError"});
  named(c.syntax_error, {"IndentationError"});
  named(find_builtin(intern("IndentationError"))->ref<ClassObject>(), {"TabError"});
  named(c.exception, {"ReferenceError", "StopAsyncIteration", "SystemError"});
  named(c.warning, {"BytesWarning", "ImportWarning", "PendingDeprecationWarning", "ResourceWarning",
                    "SyntaxWarning", "UnicodeWarning", "EncodingWarning"});
  for (const std::string_view name : {"IOError", "EnvironmentError"})
    set_builtin(intern(name), c.os_error);
}

}  // namespace tidemark::lang
