#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/problem.h"
#include "sim/lang/runtime/host.h"
#include "sim/lang/runtime/importer.h"
#include "sim/lang/runtime/loop.h"
#include "sim/lang/syntax/lexer.h"

namespace tidemark::lang {

class DeepCopies;
class ExceptionObject;
class Evaluator;
class ValueStack;
struct BuiltinClasses;
struct Frame;

/// How far a program may go before it is stopped with a message.
struct Limits {
  std::uint64_t steps = 200'000'000;    ///< statements, calls and loop turns
  std::uint32_t recursion = 1000;       ///< nested calls, as Python's sys.getrecursionlimit()
  std::size_t stack_bytes = 6U << 20U;  ///< of the host's stack
  std::size_t sequence = 100'000'000;   ///< elements of one list, tuple or string
};

/// A Python exception on its way through host code. Host code lets it pass, or catches it to act as
/// a Python `except` does; it is not a std::exception, so that no general handler swallows it.
struct Raised {
  Ref<ExceptionObject> exception;
};

/// Where a program is, in a form that costs nothing to keep; Interp::span makes a SourceSpan of it.
struct Location {
  const Code* code = nullptr;
  std::uint32_t begin = 0;  ///< byte offsets in the code's source
  std::uint32_t end = 0;
};

/// One level of the Python stack, innermost first.
struct StackEntry {
  std::string function;  ///< "<module>", "Net.forward"
  SourceSpan at;
};

/// What an uncaught exception becomes. problems().front() has the innermost place, the message as
/// Python writes it ("NameError: name 'y' is not defined") and where it was called from.
class UncaughtException : public InputError {
 public:
  UncaughtException(Problem problem, std::vector<std::string> types, std::string text,
                    std::vector<StackEntry> entries)
      : InputError(std::move(problem)),
        type_name(types.front()),
        causes(std::move(types)),
        message(std::move(text)),
        stack(std::move(entries)) {}
  const std::string type_name;  ///< "torch.OutOfMemoryError", "NameError"
  /// The same, the type of what it was raised from (`raise ... from error`), and so on.
  const std::vector<std::string> causes;
  const std::string message;
  const std::vector<StackEntry> stack;
};

/// Takes what print() writes, newline included.
using PrintSink = std::function<void(std::string_view text)>;

class Notes;

/// One program being run: names, classes, modules, the stack. Single-threaded. It knows no name
/// yet: Python (imports/python.h) is one that has the built-ins and the library.
///
/// Operations on values are Python's, errors included: they raise (throw Raised) where Python
/// raises.
class Interp {
 public:
  struct Options {
    Limits limits;
    PrintSink print;         ///< null: output is dropped
    Notes* notes = nullptr;  ///< what the run rests on (notes.h); null: not kept
    Importer::Sources imports;
    /// sys.argv; none: a program has no name.
    std::vector<std::string> arguments;
    /// os.environ.
    std::vector<std::pair<std::string, std::string>> environment;
    /// What to do about a name that an object (a module among them) does not have, after what the
    /// message says; empty: nothing to say. May be null.
    std::function<std::string(const Value& object)> missing_hint;
    /// Called when nothing has handled an exception, before the frames that it holds are dropped.
    /// May be null.
    std::function<void()> ends_uncaught;
  };
  ~Interp();  // drops every module, then frees unreachable cycles
  Interp(const Interp&) = delete;
  Interp& operator=(const Interp&) = delete;

  Names& names() { return names_; }
  [[nodiscard]] std::string_view text(Name name) const { return names_.text(name); }
  Name intern(std::string_view text) { return names_.intern(text); }
  Heap& heap() { return *heap_; }
  ValueStack& value_stack() { return *values_; }
  [[nodiscard]] const Limits& limits() const { return options_.limits; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const BuiltinClasses& classes() const { return *classes_; }

  // --- Running. Errors: InputError with every syntax problem; UncaughtException; Refusal as
  // InputError.

  /// Parses and runs a file as the module `name` ("__main__") and registers it for import.
  Ref<Module> run(std::shared_ptr<const SourceText> source, std::string_view name);
  /// Runs statements in the globals of a module that exists (the `loop:` of a scenario beside its
  /// model).
  void run_in(Module& module, std::shared_ptr<const SourceText> source);
  /// Runs a file as the module that it is; its docstring becomes the module's.
  void run_file(Module& module, std::shared_ptr<const SourceText> source);
  /// Runs some of the statements at the top of a file that has been resolved for the module.
  void run_part(Module& module, const Code& code, const Seq<Stmt*>& statements);
  /// The value of one expression ("Adam(lr=1e-3)") in a module's globals.
  Value evaluate(Module& module, std::shared_ptr<const SourceText> source);
  /// Calls host code as if from the top level: a Raised that escapes becomes an UncaughtException.
  void guard(const std::function<void()>& body);

  // --- What host floors define.

  /// What programs import, and what they find there.
  [[nodiscard]] Importer& importer() { return *importer_; }
  /// A host module, made when it is first imported or reached as an attribute ("torch.nn" from
  /// "torch"). Where the library has a file of that name, the file's names come first.
  void add_module(std::string name, std::function<void(Interp& interp, Module& module)> fill) {
    importer_->add_host_module(std::move(name), std::move(fill));
  }
  /// A module of C++ or of the library. Errors: ModuleNotFoundError.
  Ref<Module> import(std::string_view name);
  void set_builtin(Name name, Value value);
  [[nodiscard]] const Value* find_builtin(Name name) const;
  /// A host class. Bases: none means object. Errors: TypeError where no mro exists.
  Ref<ClassObject> make_class(std::string_view name, std::string module,
                              std::vector<Ref<ClassObject>> bases = {},
                              Allocate allocate = nullptr);
  Ref<ClassObject> make_exception_class(std::string_view name, std::string module,
                                        Ref<ClassObject> base);

  // --- Making values.

  /// What a literal means, and the str of an interned text, which is made once.
  Value constant(const Literal& literal);
  const Value& text_value(Name text);
  Value str(std::string text) {
    charge_copy(text.size());
    return make_ref<Str>(std::move(text));
  }
  Value tuple(std::vector<Value> items) {
    charge_copy(items.size() * sizeof(Value));
    return make_ref<Tuple>(heap(), std::move(items));
  }
  Value list(std::vector<Value> items) {
    charge_copy(items.size() * sizeof(Value));
    return make_ref<List>(heap(), std::move(items));
  }
  Ref<Dict> dict() { return make_ref<Dict>(heap()); }
  Value function(std::string_view signature, HostFunction body);
  Value raw_function(std::string_view name, RawFunction body);
  /// A named tuple's class ("torch.return_types.max": "values", "indices"). `defaults` are those of
  /// its last fields. Requires: no more defaults than fields.
  Ref<ClassObject> make_named_tuple_class(std::string_view name, std::string module,
                                          const std::vector<std::string>& fields,
                                          std::vector<Value> defaults = {});
  /// Its fields, which code may have set anew. Errors: TypeError for other than texts.
  std::vector<std::string> named_tuple_fields(const ClassObject& type);

  // --- Operations.

  /// Errors: AttributeError, with a suggestion.
  Value get_attr(const Value& object, Name name);
  /// Empty: no such attribute (nothing is thrown for it, unless user code in the way raises).
  Value find_attr(const Value& object, Name name);
  void set_attr(const Value& object, Name name, Value value);
  void del_attr(const Value& object, Name name);
  Value generic_get_attr(Instance& object, Name name);
  void generic_set_attr(Instance& object, Name name, Value value);
  /// What object.__setattr__ does with an object or a container of a user's class.
  void store_attr(const Value& object, Name name, Value value);

  /// Calls anything callable. The arguments stay the caller's.
  Value call(const Value& callee, CallArgs& args);
  Value call(const Value& callee, std::vector<Value> positional = {});
  Value call(const Value& callee, std::vector<Value> positional,
             std::vector<std::pair<Name, Value>> keywords);
  /// f(*positional, **keywords); null: none. Both live until the call has returned.
  Value call_with(const Value& callee, const Ref<Tuple>& positional, const Ref<Dict>& keywords);
  /// What a call of object.name calls: a function of object's class with `*self` = object (nothing
  /// is bound), or any other attribute with `*self` left Empty. Errors: AttributeError.
  Value find_method(Value object, Name name, Value& self);
  /// A method that Python looks up on the class alone (__enter__, __len__); Empty: there is none.
  /// `*self` as in find_method.
  Value find_special(const Value& object, Name name, Value& self);
  /// Calls such a method; Empty: there is none.
  Value call_special(const Value& object, Name name, std::vector<Value> positional = {});
  /// What a method that a user's class defines in code gives, of what has_code() is true of; Empty:
  /// there is none, or it gave NotImplemented.
  Value ask_code(const Value& object, Name name, std::vector<Value> positional = {});
  /// How messages name what is called: "Net.forward", "softmax".
  std::string callable_name(const Value& callee);
  /// object.name(args...), looked up on the class as Python's method calls are; nothing is bound.
  Value call_method(const Value& object, Name name, CallArgs& args);
  Value call_method(const Value& object, Name name, std::vector<Value> positional = {});

  Value unary(UnaryOp op, const Value& operand);
  Value binary(BinaryOp op, const Value& left, const Value& right);
  Value inplace(BinaryOp op, const Value& left, const Value& right);
  Value compare(CompareOp op, const Value& left, const Value& right);
  bool equal(const Value& left, const Value& right);
  bool truth(const Value& value);
  bool contains(const Value& container, const Value& item);
  /// Errors: TypeError for what has no length.
  std::int64_t length(const Value& value);
  Value get_item(const Value& container, const Value& key);
  void set_item(const Value& container, const Value& key, const Value& value);
  void del_item(const Value& container, const Value& key);
  Ref<Iterator> iterate(const Value& iterable);
  [[nodiscard]] bool iterable(const Value& value);
  /// All of an iterable's values.
  std::vector<Value> unpack(const Value& iterable);
  /// The range of positions an index means. Errors: IndexError "KIND index out of range".
  std::size_t checked_index(std::int64_t index, std::size_t length, std::string_view kind);
  std::uint64_t hash(const Value& value);
  std::string repr(const Value& value);
  std::string to_str(const Value& value);
  std::string format(const Value& value, std::string_view spec);
  // What the built-in containers do by themselves, whatever a user's subclass defines in code.
  Value builtin_compare(CompareOp op, const Value& left, const Value& right);
  std::int64_t builtin_length(const Value& value);
  bool builtin_contains(const Value& container, const Value& item);
  Value builtin_get_item(const Value& container, const Value& key);
  void builtin_set_item(const Value& container, const Value& key, const Value& value);
  void builtin_del_item(const Value& container, const Value& key);
  Ref<Iterator> builtin_iterate(const Value& iterable);
  std::string builtin_repr(const Value& value);
  Value deep_copy(const Value& value);
  /// copy.deepcopy(value, memo): `memo` has by id() what stands for an object.
  Value deep_copy(const Value& value, const Dict& memo);
  Value deep_copy(const Value& value, DeepCopies& copies);
  void print(std::string_view text);

  [[nodiscard]] Ref<ClassObject> type_of(const Value& value) const;
  /// "int", "Tensor", "Net": as messages name the type.
  [[nodiscard]] std::string type_name(const Value& value) const;
  [[nodiscard]] bool is_instance(const Value& value, const ClassObject& type) const;
  [[nodiscard]] bool callable(const Value& value) const;
  /// id(x): a number that no other object has while this one lives; small and the same in every
  /// run.
  std::uint64_t identity(const Value& value);

  // --- Errors.

  /// Raises a Python exception that the program can catch.
  /// `hint` ("did you mean 'x'?") is shown when nobody catches it.
  [[noreturn]] void raise(ClassObject& type, std::string message, std::string hint = {});
  [[noreturn]] void raise(Ref<ExceptionObject> exception);
  /// For destructors: the program goes on to its next step and is refused there.
  void refuse_soon(std::string message) {
    pending_refusal_ = std::move(message);
    last_step_ = 0;
  }
  /// Whether the program's objects are being torn down.
  [[nodiscard]] bool is_ending() const { return is_ending_; }
  /// For destructors: runs `__del__` of an object that is gone, given as another one with its class
  /// and attributes, before the program's next step. What it raises is lost, as in Python.
  void finalize_soon(Value object) {
    to_finalize_.push_back(std::move(object));
    last_step_ = 0;
  }
  /// An exception as a value, with its args; nothing is raised.
  Ref<ExceptionObject> make_exception(ClassObject& type, std::vector<Value> args);
  /// MemoryError for a sequence over the limit.
  [[noreturn]] void too_long();
  [[noreturn]] void type_error(std::string message, std::string hint = {});
  [[noreturn]] void value_error(std::string message);
  [[noreturn]] void runtime_error(std::string message);
  /// Runs `body` as a function that the real library has as Python code: `locals` are its frame's
  /// variables. They die in order when it returns; a traceback through it keeps them instead.
  Value run_as_python(std::vector<Value> locals, const std::function<Value()>& body);
  /// Ends the program with an InputError here, past every `except`: for what Tidemark does not
  /// model.
  [[noreturn]] void refuse(std::string message, std::string hint = {});

  // --- Where the program is.

  [[nodiscard]] const Frame* current_frame() const { return frame_; }
  [[nodiscard]] Location here() const;
  [[nodiscard]] SourceSpan span(const Location& location) const;
  /// Innermost first.
  [[nodiscard]] std::vector<StackEntry> stack() const;
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// For host code that calls itself over nested values, where CPython's depth does not say when.
  /// Errors: RecursionError near the end of the host's stack.
  void check_stack() {
    if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < stack_end_) [[unlikely]]
      too_deep();
  }
  /// Counts a step. Errors: InputError when the program has taken too many, too long or too much
  /// memory.
  void step() { charge(1); }
  /// Counts the work of that many.
  void charge(std::uint64_t steps) {
    steps_ += steps;
    if (steps_ > last_step_) [[unlikely]]
      check_budget();
  }

  /// Whether a source is Tidemark's own rather than the user's: its name is in angle brackets
  /// ("<torch/nn>"). An uncaught exception and a refusal are reported at the innermost place of the
  /// user's.
  [[nodiscard]] static bool is_internal(std::string_view source_name);

  /// Is told of loops from now on; null: nobody. Requires: it lives as long as code runs.
  void set_loop_watcher(LoopWatcher* watcher) { loop_watcher_ = watcher; }

  /// gc.collect(): frees unreachable cycles; the number of unreachable objects.
  std::size_t collect_garbage() { return heap().collect(); }

 protected:
  explicit Interp(Options options);

 private:
  friend class Evaluator;
  friend class CallDepth;
  friend class NestedCall;
  friend class FunctionGenerator;
  friend class ObjectWriter;

  void check_budget();
  static void out_of_memory(void* interp, bool is_urgent);
  [[noreturn]] void too_deep();
  /// Copying so much is work of so many steps.
  void charge_copy(std::size_t bytes) {
    if (bytes > 4096) [[unlikely]]
      charge(bytes / 1024);
  }
  std::string pending_refusal_;
  void finalize();
  std::vector<Value> to_finalize_;
  bool is_ending_ = false;  // nothing is finalized any more
  [[noreturn]] void name_error(ClassObject& type, Name name, std::string message);
  Value find_class_member(ClassObject& type, Name name);
  Value find_module_member(Module& module, Name name);
  Value find_function_member(Function& function, Name name);
  Value find_container_member(const Value& object, ClassObject& type, Name name);
  [[nodiscard]] ClassObject& class_of(const Value& value) const;

  Value bind(const Value& found, const Value& self, ClassObject& type);
  [[noreturn]] void no_attribute(const Value& object, Name name);
  void make_builtin_classes();
  UncaughtException uncaught(ExceptionObject& exception);
  /// The tree of a file that is about to run in a module. Errors: InputError.
  std::shared_ptr<struct SyntaxTree> prepared_file(Module& module,
                                                   std::shared_ptr<const SourceText> source);

  Options options_;
  Names names_;
  Ref<Heap> heap_;
  std::unique_ptr<BuiltinClasses> classes_;
  std::vector<Value> builtins_;  // by Name
  // By Name, in pages; null, Empty: not asked for yet.
  static constexpr std::size_t kTextsOfPage = 64;
  std::vector<std::unique_ptr<std::array<Value, kTextsOfPage>>> texts_;
  std::unique_ptr<Importer> importer_;
  std::unique_ptr<ValueStack> values_;
  LoopWatcher* loop_watcher_ = nullptr;
  Frame* frame_ = nullptr;
  std::unordered_map<const Object*, std::uint64_t> identities_;
  Ref<ExceptionObject> handled_;  // what the innermost running `except` handles
  std::uint64_t steps_ = 0;
  std::uint64_t last_step_ = 0;  // up to where the budget was checked; 0: at the next step
  bool is_short_of_memory_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::uint32_t depth_ = 0;
  std::uintptr_t stack_base_ = 0;       // of the host's stack where the program was entered
  std::uintptr_t stack_end_ = 0;        // how far down it may reach; 0: no program runs
  std::vector<const Object*> in_repr_;  // the containers being written, the outermost first
};

}  // namespace tidemark::lang
