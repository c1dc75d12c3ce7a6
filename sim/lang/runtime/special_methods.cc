#include "sim/lang/runtime/special_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/lang/runtime/class.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/function.h"
#include "sim/lang/runtime/host.h"
#include "sim/lang/runtime/unknown.h"

namespace tidemark::lang {

namespace {

// The built-in types that have methods here; a type's bit.
enum Of : unsigned {
  kObject = 1U << 0U,
  kInteger = 1U << 1U,  // bool is one
  kReal = 1U << 2U,
  kText = 1U << 3U,
  kList = 1U << 4U,
  kTuple = 1U << 5U,
  kDict = 1U << 6U,
  kSet = 1U << 7U,
  kFrozenSet = 1U << 8U,
  kRange = 1U << 9U,
  kException = 1U << 10U,
  kSlice = 1U << 11U,
  kNumber = kInteger | kReal,
  kSequence = kText | kList | kTuple,
  kSets = kSet | kFrozenSet,
  kSized = kSequence | kDict | kSets | kRange,
  kHashed = kNumber | kText | kTuple | kFrozenSet | kRange,
  kOrdered = kNumber | kSequence | kSets,
};

/// The one of them that a class is or derives from.
Of built_in(Interp& in, const ClassObject& type) {
  const BuiltinClasses& c = in.classes();
  const std::array<std::pair<const ClassObject*, Of>, 11> kinds{
      {{c.integer.get(), kInteger},
       {c.real.get(), kReal},
       {c.str.get(), kText},
       {c.list.get(), kList},
       {c.tuple.get(), kTuple},
       {c.dict.get(), kDict},
       {c.set.get(), kSet},
       {c.frozenset.get(), kFrozenSet},
       {c.range.get(), kRange},
       {c.slice.get(), kSlice},
       {c.base_exception.get(), kException}}};
  for (const auto& [known_type, bit] : kinds) {
    if (type.derives_from(*known_type)) return bit;
  }
  return kObject;
}

/// Whether the value is of the language alone: no tensor or other object of the host.
bool is_plain_instance(const Value& value) {
  const auto* instance = value.as<Instance>();
  return instance != nullptr && instance->kind() == Kind::kInstance;
}

Value of_object_repr(Interp& in, Arguments& args) {
  if (!is_plain_instance(args[0])) return in.str(in.builtin_repr(args[0]));
  return in.str(fmt::format("<{} object>", in.type_of(args[0])->qualname));
}

/// An exception of the built-in class that this one derives from, with its arguments: nothing that
/// a program's class defines is asked.
Ref<ExceptionObject> as_built_in(Interp& in, Arguments& args) {
  const auto& exception = args.object<ExceptionObject>(0, "an exception");
  ClassObject* type = in.classes().base_exception.get();
  for (ClassObject* base : exception.type().mro()) {
    if (base->user_defined) continue;
    type = base;
    break;
  }
  auto plain = make_ref<ExceptionObject>(in.heap(), Ref<ClassObject>(type));
  plain->args = exception.args;
  return plain;
}

Value of_object_hash(Interp& in, Arguments& args) {
  if (!is_plain_instance(args[0])) return Value::integer(python_hash(in.hash(plain_of(args[0]))));
  return Value::integer(static_cast<std::int64_t>(in.identity(args[0]) >> 4U));
}

Value of_object_format(Interp& in, Arguments& args) {
  if (!args.text(1).empty()) {
    in.type_error(
        fmt::format("unsupported format string passed to {}.__format__", in.type_name(args[0])));
  }
  return in.str(in.to_str(args[0]));
}

/// Whether the type's method takes both. Where it does not it says NotImplemented: int's takes no
/// float, float's takes an int.
bool takes(Of type, const Value& left, const Value& right) {
  const auto taken = [&](const Value& value) {
    const Value& plain = plain_of(value);
    if (type == kText) return plain.as<Str>() != nullptr;
    return type == kInteger ? plain.is_integral() : plain.is_number();
  };
  return taken(left) && taken(right);
}

Value compared(Interp& in, Of type, CompareOp op, const Value& left, const Value& right) {
  if ((type & (kNumber | kText)) != 0) {
    return takes(type, left, right) ? in.compare(op, plain_of(left), plain_of(right))
                                    : Value::not_implemented();
  }
  Value out = in.builtin_compare(op, left, right);
  return out.empty() ? Value::not_implemented() : out;
}

/// Of object itself: equal is what is the same, and nothing is ordered.
Value compared_as_object(Interp& in, CompareOp op, const Value& left, const Value& right) {
  if (op == CompareOp::kEq && left.same_as(right)) return Value::boolean(true);
  if (op == CompareOp::kNe) {
    const Value equal = in.call_special(left, dunder(CompareOp::kEq), {right});
    if (equal.empty()) {
      if (left.same_as(right)) return Value::boolean(false);
    } else if (equal.tag() != Tag::kNotImplemented) {
      return Value::boolean(!in.truth(equal));
    }
  }
  return Value::not_implemented();
}

std::vector<Value> items_of(const Value& sequence) {
  if (const auto* list = sequence.as<List>()) return list->items;
  return sequence.as<Tuple>()->items;
}

Value like(Interp& in, const Value& sequence, std::vector<Value> items) {
  return sequence.as<List>() != nullptr ? in.list(std::move(items)) : in.tuple(std::move(items));
}

/// Lists and tuples, of subclasses too, whose own operators are not asked.
Value joined(Interp& in, const Value& left, const Value& right) {
  const bool alike = (left.as<List>() != nullptr && right.as<List>() != nullptr) ||
                     (left.as<Tuple>() != nullptr && right.as<Tuple>() != nullptr);
  if (!alike) {
    const char* name = left.as<List>() != nullptr ? "list" : "tuple";
    in.type_error(
        fmt::format("can only concatenate {} (not \"{}\") to {}", name, in.type_name(right), name));
  }
  return in.binary(BinaryOp::kAdd, like(in, left, items_of(left)), like(in, left, items_of(right)));
}

Value operated(Interp& in, Of type, BinaryOp op, const Value& left, const Value& right) {
  const bool repeats = op == BinaryOp::kMul && plain_of(right).is_integral();
  if ((type & (kList | kTuple)) != 0) {
    if (op == BinaryOp::kAdd) return joined(in, left, right);
    return repeats ? in.binary(op, like(in, left, items_of(left)), plain_of(right))
                   : Value::not_implemented();
  }
  const bool taken = (type & kText) != 0 && (repeats || op == BinaryOp::kMod);
  if (!taken && !takes(type, left, right)) return Value::not_implemented();
  return in.binary(op, plain_of(left), plain_of(right));
}

/// What `a OP b` is for sets and dicts, by the method of the same meaning.
Value by_method(Interp& in, std::string_view method, const Value& left, const Value& right) {
  const bool sets = left.as<Set>() != nullptr && right.as<Set>() != nullptr;
  const bool dicts = left.as<Dict>() != nullptr && right.as<Dict>() != nullptr;
  if (!sets && !dicts) return Value::not_implemented();
  if (sets) return in.call_method(left, in.intern(method), {right});
  Value out = in.dict();
  update_dict(in, *out.as<Dict>(), left);
  update_dict(in, *out.as<Dict>(), right);
  return out;
}

bool has_operator(Of type, BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kMul:
      return (type & (kNumber | kSequence)) != 0;
    case BinaryOp::kMod:
      return (type & (kNumber | kText)) != 0;
    case BinaryOp::kSub:
      return (type & (kNumber | kSets)) != 0;
    case BinaryOp::kAnd:
    case BinaryOp::kXor:
      return (type & (kInteger | kSets)) != 0;
    case BinaryOp::kOr:
      return (type & (kInteger | kSets | kDict)) != 0;
    case BinaryOp::kLShift:
    case BinaryOp::kRShift:
      return (type & kInteger) != 0;
    case BinaryOp::kMatMul:
      return false;
    default:
      return (type & kNumber) != 0;
  }
}

std::string_view set_method(BinaryOp op) {
  switch (op) {
    case BinaryOp::kSub:
      return "difference";
    case BinaryOp::kAnd:
      return "intersection";
    case BinaryOp::kXor:
      return "symmetric_difference";
    default:
      return "union";
  }
}

constexpr std::array kBinary{BinaryOp::kAdd,     BinaryOp::kSub,      BinaryOp::kMul,
                             BinaryOp::kTrueDiv, BinaryOp::kFloorDiv, BinaryOp::kMod,
                             BinaryOp::kPow,     BinaryOp::kLShift,   BinaryOp::kRShift,
                             BinaryOp::kAnd,     BinaryOp::kOr,       BinaryOp::kXor};
constexpr std::array kCompare{CompareOp::kEq, CompareOp::kNe, CompareOp::kLt,
                              CompareOp::kLe, CompareOp::kGt, CompareOp::kGe};
constexpr std::array kUnary{UnaryOp::kNeg, UnaryOp::kPos, UnaryOp::kInvert};

/// A text that lasts as long as the interpreter does.
std::string_view method_signature(Interp& in, Name name, std::string_view rest) {
  return in.text(in.intern(fmt::format("{}({}, /)", in.text(name), rest)));
}

/// The operators, whose methods are named by dunder(op) and reflected_dunder(op).
Value operator_method(Interp& in, Of type, Name name) {
  for (const BinaryOp op : kBinary) {
    const bool reflected = name == reflected_dunder(op);
    if ((!reflected && name != dunder(op)) || !has_operator(type, op)) continue;
    const bool only_repeats = (type & kSequence) != 0 && op != BinaryOp::kMul;
    if (reflected && (only_repeats || (type & (kSets | kDict)) != 0)) continue;
    return in.function(method_signature(in, name, "self, value"),
                       [=](Interp& interp, Arguments& args) {
                         const bool swap = reflected && (type & kSequence) == 0;
                         const Value& left = args[swap ? 1 : 0];
                         const Value& right = args[swap ? 0 : 1];
                         if ((type & (kSets | kDict)) != 0)
                           return by_method(interp, set_method(op), left, right);
                         return operated(interp, type, op, left, right);
                       });
  }
  for (const CompareOp op : kCompare) {
    if (name != dunder(op)) continue;
    const bool equality = op == CompareOp::kEq || op == CompareOp::kNe;
    const bool own = (type & (equality ? kOrdered | kDict | kRange : kOrdered)) != 0;
    return in.function(method_signature(in, name, "self, value"),
                       [=](Interp& interp, Arguments& args) {
                         return own ? compared(interp, type, op, args[0], args[1])
                                    : compared_as_object(interp, op, args[0], args[1]);
                       });
  }
  for (const UnaryOp op : kUnary) {
    if (name != dunder(op) || (type & (op == UnaryOp::kInvert ? kInteger : kNumber)) == 0) continue;
    return in.function(method_signature(in, name, "self"), [=](Interp& interp, Arguments& args) {
      return interp.unary(op, plain_of(args[0]));
    });
  }
  return {};
}

Value of_copyreg(Interp& in, std::string_view function, std::vector<Value> given) {
  return in.call(in.get_attr(in.import("copyreg"), in.intern(function)), std::move(given));
}

struct Row {
  unsigned of;
  FunctionRow function;
};

/// The other methods. The first row that has the name and the type counts.
constexpr Row kRows[] = {
    {kSized | kNumber,
     {"__repr__(self, /)",
      [](Interp& in, Arguments& args) { return in.str(in.builtin_repr(plain_of(args[0]))); }}},
    {kException,
     {"__repr__(self, /)",
      [](Interp& in, Arguments& args) {
        const std::string plain = as_built_in(in, args)->repr(in);
        return in.str(in.type_of(args[0])->qualname + plain.substr(plain.find('(')));
      }}},
    {kException,
     {"__str__(self, /)",
      [](Interp& in, Arguments& args) { return in.str(as_built_in(in, args)->str(in)); }}},
    {kObject, {"__repr__(self, /)", of_object_repr}},
    {kText, {"__str__(self, /)", [](Interp&, Arguments& args) { return plain_of(args[0]); }}},
    {~0U,
     {"__str__(self, /)", [](Interp& in, Arguments& args) { return in.str(in.repr(args[0])); }}},
    {kHashed,
     {"__hash__(self, /)",
      [](Interp& in, Arguments& args) {
        const Value& value = plain_of(args[0]);
        const auto* tuple = value.as<Tuple>();  // not what its class says in code
        const bool own = tuple != nullptr && has_code(value);
        return Value::integer(python_hash(in.hash(own ? in.tuple(tuple->items) : value)));
      }}},
    {kObject | kException, {"__hash__(self, /)", of_object_hash}},
    {kNumber | kText,
     {"__format__(self, format_spec, /)",
      [](Interp& in, Arguments& args) {
        return in.str(in.format(plain_of(args[0]), args.text(1)));
      }}},
    {~0U, {"__format__(self, format_spec, /)", of_object_format}},
    {~0U,
     {"__reduce_ex__(self, protocol, /)",
      [](Interp& in, Arguments& args) {
        return of_copyreg(in, "_reduced", {args[0], args[1]});
      }}},
    {~0U,
     {"__reduce__(self, /)",
      [](Interp& in, Arguments& args) { return of_copyreg(in, "_reduced_plainly", {args[0]}); }}},
    {~0U,
     {"__getstate__(self, /)",
      [](Interp& in, Arguments& args) { return of_copyreg(in, "_state", {args[0]}); }}},
    {kSized,
     {"__len__(self, /)",
      [](Interp& in, Arguments& args) {
        return Value::integer(in.builtin_length(plain_of(args[0])));
      }}},
    {kSized,
     {"__iter__(self, /)",
      [](Interp& in, Arguments& args) -> Value { return in.builtin_iterate(plain_of(args[0])); }}},
    {kSized,
     {"__contains__(self, key, /)",
      [](Interp& in, Arguments& args) {
        return Value::boolean(in.builtin_contains(plain_of(args[0]), args[1]));
      }}},
    {kSequence | kDict | kRange,
     {"__getitem__(self, key, /)",
      [](Interp& in, Arguments& args) { return in.builtin_get_item(plain_of(args[0]), args[1]); }}},
    {kNumber,
     {"__bool__(self, /)",
      [](Interp& in, Arguments& args) { return Value::boolean(in.truth(plain_of(args[0]))); }}},
    {kReal,
     {"__int__(self, /)",
      [](Interp& in, Arguments& args) {
        return in.call(in.classes().integer, {plain_of(args[0])});
      }}},
    {kNumber,
     {"__trunc__(self, /)",
      [](Interp& in, Arguments& args) {
        return in.call(in.classes().integer, {plain_of(args[0])});
      }}},
    {kNumber,
     {"__abs__(self, /)",
      [](Interp& in, Arguments& args) {
        const Value& x = plain_of(args[0]);
        const bool negative = x.is_float() ? std::signbit(x.as_float()) : x.as_int() < 0;
        return negative ? in.unary(UnaryOp::kNeg, x) : in.unary(UnaryOp::kPos, x);
      }}},
    {kList | kDict,
     {"__reversed__(self, /)",
      [](Interp& in, Arguments& args) {
        std::vector<Value> items = in.unpack(args[0]);
        std::reverse(items.begin(), items.end());
        return Value(in.iterate(in.list(std::move(items))));
      }}},
};

std::string_view name_of(const Row& row) {
  return row.function.signature.substr(0, row.function.signature.find('('));
}

Value make_method(Interp& in, Of built, Name name) {
  const std::string_view word = in.text(name);
  if ((built & (kList | kDict | kSet)) != 0 && word == "__hash__") return Value::none();
  Value made = operator_method(in, built, name);
  if (!made.empty()) return made;
  for (const Row& row : kRows) {
    if ((row.of & built) != 0 && name_of(row) == word)
      return in.function(row.function.signature, row.function.function);
  }
  return {};
}

/// What objects of the host have too.
bool is_of_any_object(std::string_view word) {
  constexpr std::string_view kWords[] = {"__repr__", "__str__", "__reduce_ex__", "__reduce__",
                                         "__getstate__"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

/// From the file of the library that has what few programs ask for. The first class of the mro that
/// has it counts; `object` has nothing there.
Value rare_method(Interp& in, const ClassObject& type, std::string_view word) {
  const BuiltinClasses& c = in.classes();
  const ClassObject* built = &type.builtin_base();
  const bool is_view =
      built == c.dict_keys.get() || built == c.dict_values.get() || built == c.dict_items.get();
  if (!is_view && built_in(in, type) == kObject) return {};
  const Value methods = in.import("_methods");
  for (const ClassObject* base : type.mro()) {
    if (base->user_defined || base == c.object.get()) continue;
    Value found =
        in.find_attr(methods, in.intern(fmt::format("{}_{}", in.text(base->name()), word)));
    if (!found.empty()) return found;
  }
  return {};
}

/// f.__call__ and f.__get__ of a function.
Value function_method(Interp& in, const Value& function, std::string_view word) {
  if (word == "__call__") return function;
  if (word != "__get__" || function.as<BoundMethod>() != nullptr) return {};
  return in.function("__get__(instance, owner=None, /)",
                     [function](Interp& interp, Arguments& args) -> Value {
                       const auto* builtin = function.as<Builtin>();
                       const bool is_plain = builtin != nullptr && !builtin->binds_self;
                       if (args[0].is_none() || is_plain) return function;
                       return make_ref<BoundMethod>(interp.heap(), function, args[0]);
                     });
}

/// What a property and a cell hold. Empty: no such attribute.
Value held_part(Interp& in, const Value& holder, Name name) {
  const std::string_view word = in.text(name);
  if (const auto* cell = holder.as<Cell>(); cell != nullptr && word == "cell_contents") {
    if (cell->value.empty()) in.value_error("Cell is empty");
    return cell->value;
  }
  const auto* property = holder.as<Property>();
  if (property == nullptr) return {};
  if (word == "fget") return property->get;
  if (word == "fset") return property->set;
  if (word == "fdel") return property->del;
  if (word == "__doc__" && !property->get.is_none()) return in.find_attr(property->get, name);
  return {};
}

bool is_function(const Value& value) {
  return value.as<Function>() != nullptr || value.as<Builtin>() != nullptr ||
         value.as<BoundMethod>() != nullptr;
}

}  // namespace

Value special_method(Interp& in, ClassObject& type, Name name) {
  const std::string_view word = in.text(name);
  const Of built = built_in(in, type);
  if (word.size() < 5 || !word.starts_with("__") || !word.ends_with("__"))
    return rare_method(in, type, word);
  // Kept among the built-in names, under one that no program can write.
  const Name place = in.intern(fmt::format("{} of {}", word, static_cast<unsigned>(built)));
  if (const Value* known_one = in.find_builtin(place)) return *known_one;
  Value made = make_method(in, built, name);
  if (!made.empty()) in.set_builtin(place, made);
  return made.empty() ? rare_method(in, type, word) : made;
}

Value special_attribute(Interp& in, const Value& object, Name name) {
  if (auto* type = object.as<ClassObject>()) {
    Value found = special_method(in, *type, name);
    const auto* wrapper = found.as<MethodWrapper>();
    return wrapper != nullptr ? wrapper->function : found;
  }
  const auto* parent = object.as<Super>();
  const Value self = parent != nullptr ? parent->self : object;
  if (self.as<ClassObject>() != nullptr || self.as<Unknown>() != nullptr) return {};
  // Of a tensor or another object of the host the operators are its own.
  const bool of_host = self.is_object() && self.object()->kind() == Kind::kHost &&
                       self.as<BuiltinValue>() == nullptr;
  if (of_host && !is_of_any_object(in.text(name))) return {};
  if (is_function(self)) {
    Value found = function_method(in, self, in.text(name));
    if (!found.empty()) return found;
  }
  if (Value held = held_part(in, self, name); !held.empty()) return held;
  Value method = special_method(in, *in.type_of(self), name);
  if (method.empty() || method.is_none()) return method;
  if (const auto* wrapper = method.as<MethodWrapper>()) return wrapper->function;
  if (const auto* property = method.as<Property>()) return in.call(property->get, {self});
  return make_ref<BoundMethod>(in.heap(), method, self);
}

}  // namespace tidemark::lang
