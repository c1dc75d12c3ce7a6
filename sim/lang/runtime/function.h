#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/source.h"
#include "sim/lang/runtime/class.h"
#include "sim/lang/syntax/global_table.h"

namespace tidemark::lang {

struct Code;  // a compiled def, lambda, comprehension, class body or module (code.h)
class Module;

/// The arguments of one call, where they lie on the caller's value stack: positional ones first,
/// then the keywords' values. They are the caller's and live until the call has returned, unless
/// `movable`: then the callee may move them out, which is how CPython hands arguments to a Python
/// function called from Python code (and only there).
struct CallArgs {
  Value* values = nullptr;
  std::size_t positional = 0;
  const Name* keywords = nullptr;
  std::size_t keyword_count = 0;
  bool movable = false;

  [[nodiscard]] std::span<Value> positionals() const { return {values, positional}; }
  [[nodiscard]] std::size_t total() const { return positional + keyword_count; }
  /// nullptr: not given.
  [[nodiscard]] Value* keyword(Name name) const {
    for (std::size_t i = 0; i < keyword_count; ++i) {
      if (keywords[i] == name) return &values[positional + i];
    }
    return nullptr;
  }
};

/// A host function's parameters, read from text as Python writes them:
///     "softmax(input, dim=None, _stacklevel=3, dtype=None)"
///     "view(self, *shape)", "checkpoint(function, *args, use_reentrant=None, **kwargs)",
///     "item(self, /)"
/// Defaults are None, True, False, numbers, strings, (), [] or `...`; `...` means "given or Empty":
/// the function sees an Empty value.
struct Signature {
  struct Parameter {
    Name name{};
    Value fallback;  // Empty: required, unless optional
    bool optional = false;
    bool positional = true;  // may be given by position
    bool keyword = true;     // may be given by name
  };
  std::string function;
  std::vector<Parameter> parameters;       // in order, *args and **kwargs not among them
  std::optional<std::size_t> star;         // index of *args among the bound values
  std::optional<std::size_t> double_star;  // index of **kwargs among the bound values
  std::size_t positional_count = 0;

  /// Requires: well-formed text (InternalError otherwise: the text is ours).
  static Signature parse(Names& names, Heap& heap, std::string_view text);
};

/// A host function's arguments after binding: one value a parameter in order of the signature,
/// *args a tuple and **kwargs a dict in their places. The values die in order when the function has
/// returned; take() moves one out earlier (a Python implementation that rebinds its parameter).
class Arguments {
 public:
  Arguments(Interp& interp, const Signature& signature, std::span<Value> values)
      : interp_(interp), signature_(signature), values_(values) {}

  Value& operator[](std::size_t i) { return values_[i]; }
  const Value& operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] const Signature& signature() const { return signature_; }
  /// Neither Empty nor None.
  [[nodiscard]] bool has(std::size_t i) const {
    return !values_[i].empty() && !values_[i].is_none();
  }
  Value take(std::size_t i) { return std::move(values_[i]); }

  // Typed readers. Errors: Python's TypeError naming function, parameter and what was given.
  [[nodiscard]] std::int64_t integer(std::size_t i) const;  // int or bool
  [[nodiscard]] double real(std::size_t i) const;           // any number
  [[nodiscard]] bool boolean(std::size_t i) const;          // by truth
  [[nodiscard]] const std::string& text(std::size_t i) const;
  /// A tuple or list of integers, or one integer.
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t i) const;
  /// The argument as a T (Value::as), named `expected` in the message when it is something else.
  template <class T>
  [[nodiscard]] T& object(std::size_t i, std::string_view expected) const {
    T* found = values_[i].as<T>();
    if (found == nullptr) mismatch(i, expected);
    return *found;
  }
  /// "softmax(): argument 'dim' (position 2) must be int, not str".
  [[noreturn]] void mismatch(std::size_t i, std::string_view expected) const;

 private:
  Interp& interp_;
  const Signature& signature_;
  std::span<Value> values_;
};

using HostFunction = std::function<Value(Interp& interp, Arguments& args)>;
/// A host function that binds its arguments itself (nn.Module.__call__, print).
using RawFunction = std::function<Value(Interp& interp, CallArgs& args)>;

/// A host function. Like a Python function it becomes a bound method when it is found on an
/// instance's class, unless `binds_self` is false.
class Builtin final : public Tracked {
 public:
  /// `signature` must outlive the object (a literal); it is parsed at the first call.
  Builtin(Heap& heap, Name own_name, std::string_view signature, HostFunction body)
      : Tracked(heap, Kind::kBuiltin),
        name(own_name),
        signature_text(signature),
        function(std::move(body)) {}
  Builtin(Heap& heap, Name own_name, RawFunction body)
      : Tracked(heap, Kind::kBuiltin), name(own_name), raw(std::move(body)) {}
  static bool is(const Object& o) { return o.kind() == Kind::kBuiltin; }
  void traverse(Visitor& visitor) const override { visitor.visit(owner); }
  void clear() override { owner.reset(); }
  const Signature& signature(Interp& interp);

  const Name name;
  const std::string_view signature_text;
  const HostFunction function;
  const RawFunction raw;
  bool binds_self = true;  ///< false: found on an instance it stays as it is
  /// Python code in the real library: a traceback through it keeps its arguments.
  bool python = false;
  Value owner;  ///< what the function refers to; a captured Value would hide it from collection

 private:
  std::unique_ptr<const Signature> signature_;
};

/// A function written in the language.
class Function final : public Tracked {
 public:
  Function(Heap& heap, std::shared_ptr<const Code> compiled, Ref<Module> module);
  ~Function() override;
  static bool is(const Object& o) { return o.kind() == Kind::kFunction; }
  void traverse(Visitor& visitor) const override;
  void clear() override;

  const std::shared_ptr<const Code> code;
  Ref<Module> globals;
  std::vector<Value> defaults;          // of the last positional parameters
  std::vector<Value> keyword_defaults;  // one a keyword-only parameter; Empty: required
  std::vector<Ref<Cell>> closure;
  AttrMap attrs;  // __wrapped__ and what the user sets
  Name name{};
  Name qualname{};
};

class BoundMethod final : public Tracked {
 public:
  BoundMethod(Heap& heap, Value what, Value bound_to)
      : Tracked(heap, Kind::kBoundMethod), function(std::move(what)), self(std::move(bound_to)) {}
  ~BoundMethod() override;
  static bool is(const Object& o) { return o.kind() == Kind::kBoundMethod; }
  void traverse(Visitor& visitor) const override;
  void clear() override;
  Value function, self;
};

class Property final : public Tracked {
 public:
  Property(Heap& heap, Value getter, Value setter, Value deleter)
      : Tracked(heap, Kind::kProperty),
        get(std::move(getter)),
        set(std::move(setter)),
        del(std::move(deleter)) {}
  static bool is(const Object& o) { return o.kind() == Kind::kProperty; }
  void traverse(Visitor& visitor) const override;
  void clear() override;
  Value get, set, del;  // None where there is none
};

/// staticmethod or classmethod around a callable.
class MethodWrapper final : public Tracked {
 public:
  MethodWrapper(Heap& heap, Kind which, Value wrapped)
      : Tracked(heap, which), function(std::move(wrapped)) {}
  static bool is(const Object& o) {
    return o.kind() == Kind::kStaticMethod || o.kind() == Kind::kClassMethod;
  }
  void traverse(Visitor& visitor) const override { visitor.visit(function); }
  void clear() override { function.reset(); }
  Value function;
};

class Super final : public Tracked {
 public:
  Super(Heap& heap, Ref<ClassObject> type, Value object)
      : Tracked(heap, Kind::kSuper), after(std::move(type)), self(std::move(object)) {}
  static bool is(const Object& o) { return o.kind() == Kind::kSuper; }
  void traverse(Visitor& visitor) const override;
  void clear() override { self.reset(); }
  Ref<ClassObject> after;
  Value self;
};

/// A module: globals by name. Functions refer to them by index, so that entries stay where they
/// are; a deleted one is Empty.
class Module final : public Tracked {
 public:
  Module(Heap& heap, std::string own_name)
      : Tracked(heap, Kind::kModule), name(std::move(own_name)) {}
  /// With the globals of a text that has been resolved already.
  Module(Heap& heap, std::string own_name, const GlobalTable& globals);
  ~Module() override;
  static bool is(const Object& o) { return o.kind() == Kind::kModule; }
  void traverse(Visitor& visitor) const override;
  void clear() override;

  /// The index of a global, made Empty where it is new.
  std::size_t slot(Name id);
  [[nodiscard]] Value& at(std::size_t slot) { return slots_[slot].value; }
  /// nullptr: absent or deleted.
  [[nodiscard]] const Value* find(Name id) const;
  void set(Name id, Value value) { slots_[slot(id)].value = std::move(value); }
  [[nodiscard]] const std::vector<AttrMap::Entry>& entries() const { return slots_; }

  /// Where its names come from.
  enum class Origin : std::uint8_t {
    kText,       ///< a file or a text of the user's
    kInstalled,  ///< a file of a folder of packages
    kOwn,        ///< C++, or the library
  };

  const std::string name;
  Origin origin = Origin::kText;
  /// What the library has of it (imports/library_index.h); null: it is no file of the library.
  const struct LibraryModule* file = nullptr;
  /// Asked for a name that is not there (a host module that makes its members when they are first
  /// used); Empty: no such name. May be null.
  std::function<Value(Interp& interp, Module& module, Name name)> make_missing;
  /// All names that make_missing knows, for suggestions. May be null.
  std::function<std::vector<std::string_view>()> list_missing;

 private:
  std::vector<AttrMap::Entry> slots_;
  GlobalIndex index_;
};

}  // namespace tidemark::lang
