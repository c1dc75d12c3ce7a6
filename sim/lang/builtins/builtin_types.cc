#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/traceback.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/lang/runtime/wide_integer.h"

/// The built-in types as classes: what int(...), list(...), type(x), super() do.
namespace tidemark::lang {

namespace {

void no_keywords(Interp& in, CallArgs& args, std::string_view type) {
  if (args.keyword_count > 0) in.type_error(fmt::format("{}() takes no keyword arguments", type));
}

void at_most(Interp& in, CallArgs& args, std::string_view type, std::size_t most) {
  if (args.positional > most) {
    in.type_error(fmt::format("{} expected at most {} argument{}, got {}", type, most,
                              most == 1 ? "" : "s", args.positional));
  }
}

std::string_view trimmed(std::string_view text) {
  const std::string_view blank = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

Value parse_integer(Interp& in, const std::string& text, int base) {
  std::string digits(trimmed(text));
  std::erase(digits, '_');
  bool negative = false;
  std::size_t at = 0;
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) {
    negative = digits[0] == '-';
    at = 1;
  }
  if (digits.size() > at + 2 && digits[at] == '0') {
    const char marker = static_cast<char>(digits[at + 1] | 0x20);
    const int marked = marker == 'x' ? 16 : marker == 'o' ? 8 : marker == 'b' ? 2 : 0;
    if (marked != 0 && (base == marked || base == 0)) {
      base = marked;
      at += 2;
    }
  }
  if (base == 0) base = 10;
  std::uint64_t magnitude = 0;
  const char* last = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data() + at, last, magnitude, base);
  if ((read.ec == std::errc::result_out_of_range ||
       (read.ec == std::errc() && magnitude > INT64_MAX)) &&
      read.ptr == last) {
    Wide wide = wide_from(in, std::string_view(digits).substr(at), base);
    wide.negative = negative;
    return integer_of(in, std::move(wide));
  }
  if (read.ec != std::errc() || read.ptr != last) {
    in.value_error(
        fmt::format("invalid literal for int() with base {}: {}", base, in.repr(in.str(text))));
  }
  const auto value = static_cast<std::int64_t>(magnitude);
  return Value::integer(negative ? -value : value);
}

/// What a class makes of a value that is another on other ranks.
Value of_ranks(Interp& in, const Value& type, const CallArgs& args) {
  return by_rank(in, std::span(args.values, args.positional), [&](std::span<const Value> of) {
    return in.call(type, std::vector<Value>(of.begin(), of.end()));
  });
}

Value make_integer(Interp& in, ClassObject& /*type*/, CallArgs& args) {
  at_most(in, args, "int", 2);
  if (args.positional == 0) return Value::integer(0);
  if (is_of_rank(args.values[0])) return of_ranks(in, in.classes().integer, args);
  Value value = plain_of(args.values[0]);
  const Value* base = args.keyword(in.intern("base"));
  if (base == nullptr && args.positional == 2) base = &args.values[1];
  if (base != nullptr) {
    if (value.as<Str>() == nullptr)
      in.type_error("int() can't convert non-string with explicit base");
    const Value radix = base->is_integral() ? *base : in.call_special(*base, known(name::kIndex));
    if (!radix.is_integral()) {
      in.type_error(
          fmt::format("'{}' object cannot be interpreted as an integer", in.type_name(*base)));
    }
    if (radix.as_int() != 0 && (radix.as_int() < 2 || radix.as_int() > 36))
      in.value_error("int() base must be >= 2 and <= 36, or 0");
    return parse_integer(in, value.as<Str>()->text(), static_cast<int>(radix.as_int()));
  }
  if (value.is_integral()) return Value::integer(value.as_int());
  if (value.as<WideInteger>() != nullptr) return value;
  if (const auto* unknown = value.as<Unknown>()) return unknown->another(in, Unknown::Type::kInt);
  if (value.is_float()) {
    const double real = value.as_float();
    if (std::isnan(real)) in.value_error("cannot convert float NaN to integer");
    if (std::isinf(real)) {
      in.raise(*in.classes().overflow_error, "cannot convert float infinity to integer");
    }
    if (std::abs(real) >= 9.2233720368547758e18) {
      return integer_of(in, wide_from(real));
    }
    return Value::integer(static_cast<std::int64_t>(real));
  }
  if (const Str* text = value.as<Str>()) return parse_integer(in, text->text(), 10);
  for (const name::Known method : {name::kInt, name::kIndex}) {
    Value out = value.as<Instance>() == nullptr ? Value() : in.call_special(value, known(method));
    if (out.is_integral()) return Value::integer(out.as_int());
    if (out.as<Unknown>() != nullptr || out.as<WideInteger>() != nullptr) return out;
  }
  in.type_error(
      fmt::format("int() argument must be a string, a bytes-like object or a real number, not '{}'",
                  in.type_name(value)));
}

Value make_real(Interp& in, ClassObject& /*type*/, CallArgs& args) {
  no_keywords(in, args, "float");
  at_most(in, args, "float", 1);
  if (args.positional == 0) return Value::real(0);
  if (is_of_rank(args.values[0])) return of_ranks(in, in.classes().real, args);
  const Value value = plain_of(args.values[0]);
  if (value.is_number()) return Value::real(value.number());
  if (const auto* wide = value.as<WideInteger>()) return Value::real(real_of(in, wide->number));
  if (const auto* unknown = value.as<Unknown>()) return unknown->another(in, Unknown::Type::kReal);
  if (const Str* text = value.as<Str>()) {
    std::string digits(trimmed(text->text()));
    std::erase(digits, '_');
    std::string_view body = digits;
    if (body.starts_with('+')) body.remove_prefix(1);
    double real = 0;
    const auto read = std::from_chars(body.data(), body.data() + body.size(), real);
    if (body.empty() || read.ec == std::errc::invalid_argument ||
        read.ptr != body.data() + body.size()) {
      in.value_error(fmt::format("could not convert string to float: {}", in.repr(value)));
    }
    if (read.ec == std::errc::result_out_of_range) real = std::strtod(digits.c_str(), nullptr);
    return Value::real(real);
  }
  for (const name::Known method : {name::kFloat, name::kIndex}) {
    Value out = value.as<Instance>() == nullptr ? Value() : in.call_special(value, known(method));
    if (out.is_number()) return Value::real(out.number());
    if (out.as<Unknown>() != nullptr) return out;
  }
  in.type_error(fmt::format("float() argument must be a string or a real number, not '{}'",
                            in.type_name(value)));
}

Value make_range(Interp& in, ClassObject& /*type*/, CallArgs& args) {
  no_keywords(in, args, "range");
  at_most(in, args, "range", 3);
  if (args.positional == 0) in.type_error("range expected at least 1 argument, got 0");
  std::int64_t parts[3] = {0, 0, 1};
  for (std::size_t i = 0; i < args.positional; ++i) {
    Value value = args.values[i];
    if (value.as<Instance>() != nullptr) value = in.call_special(value, known(name::kIndex));
    if (!value.is_integral()) {
      in.type_error(fmt::format("'{}' object cannot be interpreted as an integer",
                                in.type_name(args.values[i])));
    }
    parts[args.positional == 1 ? 1 : i] = value.as_int();
  }
  if (parts[2] == 0) in.value_error("range() arg 3 must not be zero");
  return make_ref<Range>(parts[0], parts[1], parts[2]);
}

std::vector<Value> elements(Interp& in, CallArgs& args, std::string_view type) {
  no_keywords(in, args, type);
  at_most(in, args, type, 1);
  return args.positional == 0 ? std::vector<Value>() : in.unpack(args.values[0]);
}

Value make_set(Interp& in, CallArgs& args, bool frozen) {
  const std::string_view type = frozen ? "frozenset" : "set";
  no_keywords(in, args, type);
  at_most(in, args, type, 1);
  if (args.positional > 0 && frozen) {
    const Set* given = args.values[0].as<Set>();
    if (given != nullptr && given->frozen && given->type() == nullptr) return args.values[0];
  }
  Ref<Set> set = make_ref<Set>(in.heap(), frozen);
  if (args.positional > 0) set->update(in, args.values[0]);
  return set;
}

// super() finds its class in __class__ and its object in the first parameter of the function it
// stands in.
Value make_super(Interp& in, ClassObject& /*type*/, CallArgs& args) {
  no_keywords(in, args, "super");
  Ref<ClassObject> after;
  Value self;
  if (args.positional == 2) {
    after = args.values[0].ref<ClassObject>();
    self = args.values[1];
  } else if (args.positional == 0) {
    const Frame* frame = in.current_frame();
    if (frame == nullptr || frame->code == nullptr || frame->code->class_cell < 0 ||
        frame->closure == nullptr) {
      in.runtime_error("super(): __class__ cell not found");
    }
    after = (*frame->closure)[static_cast<std::size_t>(frame->code->class_cell)]
                ->value.ref<ClassObject>();
    if (!after) in.runtime_error("super(): empty __class__ cell");
    if (frame->code->slots.empty()) in.runtime_error("super(): no arguments");
    self = frame->slots[0];
    if (const Cell* cell = self.as<Cell>()) self = Value(cell->value);
    if (self.empty()) in.runtime_error("super(): arg[0] deleted");
  }
  if (!after) in.type_error("super() argument 1 must be a type");
  const auto* as_type = self.as<ClassObject>();
  const bool fits =
      in.is_instance(self, *after) || (as_type != nullptr && as_type->derives_from(*after));
  if (!fits) in.type_error("super(type, obj): obj must be an instance or subtype of type");
  return make_ref<Super>(in.heap(), std::move(after), std::move(self));
}

Value make_property(Interp& in, ClassObject& /*type*/, CallArgs& args) {
  Value parts[3] = {Value::none(), Value::none(), Value::none()};
  for (std::size_t i = 0; i < args.positional && i < 3; ++i) parts[i] = args.values[i];
  static constexpr std::string_view kNames[3] = {"fget", "fset", "fdel"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (const Value* given = args.keyword(in.intern(kNames[i]))) parts[i] = *given;
  }
  return make_ref<Property>(in.heap(), parts[0], parts[1], parts[2]);
}

Value make_dict(Interp& in, ClassObject& /*type*/, CallArgs& args) {
  at_most(in, args, "dict", 1);
  Ref<Dict> dict = in.dict();
  if (args.positional == 1) update_dict(in, *dict, args.values[0]);
  for (std::size_t i = 0; i < args.keyword_count; ++i) {
    dict->table.set(in, in.str(std::string(in.text(args.keywords[i]))),
                    args.values[args.positional + i]);
  }
  return dict;
}

/// A name that only the __getattr__ of the object's class could answer, which object's own look-up
/// does not ask.
bool misses(Instance& object, Name name) {
  ClassObject* owner = nullptr;
  const Value* fallback = object.type().lookup(known(name::kGetattr), &owner);
  if (fallback == nullptr || !owner->user_defined) return false;
  if (name == known(name::kClass) || name == known(name::kDict)) return false;
  if (name == known(name::kModule) || name == known(name::kDoc)) return false;
  return object.type().lookup(name) == nullptr && object.attrs().find(name) == nullptr &&
         object.attrs().find(known(name::kDict)) == nullptr;
}

}  // namespace

namespace {

void require_attributes(Arguments& args) {
  const bool has = args[0].as<Instance>() != nullptr ||
                   (args[0].as<Container>() != nullptr && has_code(args[0]));
  if (!has) args.mismatch(0, "an object with attributes");
}

void add_object_methods(Interp& in) {
  const BuiltinClasses& c = in.classes();
  define(in, *c.object, "__init__(self, *args, **kwargs)",
         [](Interp&, Arguments&) { return Value::none(); });
  const Value make = in.raw_function("__new__", [](Interp& interp, CallArgs& args) -> Value {
    auto* type = args.positional > 0 ? args.values[0].as<ClassObject>() : nullptr;
    if (type == nullptr) interp.type_error("object.__new__(X): X is not a type object");
    if (type->construct && !type->user_defined) {
      interp.type_error(fmt::format("object.__new__({0}) is not safe, use {0}.__new__()",
                                    interp.text(type->name())));
    }
    return allocate_instance(interp, *type);
  });
  make.as<Builtin>()->binds_self = false;
  c.object->attrs.set(known(name::kNew), make);
  define(in, *c.object, "__setattr__(self, name, value, /)", [](Interp& interp, Arguments& args) {
    require_attributes(args);
    interp.store_attr(args[0], interp.intern(args.text(1)), args.take(2));
    return Value::none();
  });
  define(in, *c.object, "__delattr__(self, name, /)", [](Interp& interp, Arguments& args) {
    // type.__delattr__, which a metaclass's own ends with.
    if (auto* type = args[0].as<ClassObject>(); type != nullptr && type->user_defined) {
      if (type->attrs.remove(interp.intern(args.text(1))).empty()) {
        interp.raise(*interp.classes().attribute_error,
                     fmt::format("type object '{}' has no attribute '{}'",
                                 interp.text(type->name()), args.text(1)));
      }
      return Value::none();
    }
    require_attributes(args);
    const Name name = interp.intern(args.text(1));
    if (!remove_attribute(interp, args[0], name)) {
      interp.raise(*interp.classes().attribute_error,
                   fmt::format("'{}' object has no attribute '{}'", interp.type_name(args[0]),
                               interp.text(name)));
    }
    return Value::none();
  });
  define(in, *c.object, "__getattribute__(self, name, /)", [](Interp& interp, Arguments& args) {
    auto& object = args.object<Instance>(0, "an object with attributes");
    const Name name = interp.intern(args.text(1));
    if (!misses(object, name)) {
      Value found = interp.generic_get_attr(object, name);
      if (!found.empty()) return found;
    } else if (Value found = object.get_missing_attr(interp, name); !found.empty()) {
      return found;
    }
    interp.raise(
        *interp.classes().attribute_error,
        fmt::format("'{}' object has no attribute '{}'", interp.type_name(args[0]), args.text(1)));
  });
  define(in, *c.base_exception, "__init__(self, *args)", [](Interp&, Arguments& args) {
    auto& exception = args.object<ExceptionObject>(0, "an exception");
    exception.args = args[1].as<Tuple>()->items;
    return Value::none();
  });
  // The keywords of some, which are attributes too.
  const auto with_keywords = [&](const Ref<ClassObject>& type, std::string_view signature,
                                 std::string_view first, std::string_view second) {
    define(in, *type, signature, [first, second](Interp& interp, Arguments& args) {
      auto& exception = args.object<ExceptionObject>(0, "an exception");
      exception.args = args[1].as<Tuple>()->items;
      if (!args[2].is_none()) exception.set_own(interp.intern(first), args[2]);
      if (!second.empty() && !args[3].is_none()) exception.set_own(interp.intern(second), args[3]);
      return Value::none();
    });
  };
  with_keywords(c.import_error, "__init__(self, *args, name=None, path=None)", "name", "path");
  with_keywords(c.attribute_error, "__init__(self, *args, name=None, obj=None)", "name", "obj");
  with_keywords(c.name_error, "__init__(self, *args, name=None)", "name", {});
  define(in, *c.base_exception, "with_traceback(self, tb, /)", [](Interp&, Arguments& args) {
    if (args[1].is_none()) drop_traceback(args.object<ExceptionObject>(0, "an exception"));
    return args.take(0);
  });
  add_descriptors(in);
}

}  // namespace

void add_types(Interp& in) {
  const BuiltinClasses& c = in.classes();
  const auto name_it = [&](const Ref<ClassObject>& type) { in.set_builtin(type->name(), type); };
  for (const Ref<ClassObject>& type :
       {c.object, c.type, c.boolean, c.integer, c.real, c.str, c.list, c.tuple, c.dict, c.set,
        c.frozenset, c.range, c.slice, c.property, c.static_method, c.class_method, c.super}) {
    name_it(type);
  }
  c.object->allocate = nullptr;
  define(in, *c.module, "__init__(self, name, doc=None)", [](Interp& interp, Arguments& args) {
    if (args[0].as<Module>() == nullptr && args[0].as<Instance>() == nullptr)
      interp.type_error("module.__init__() needs a module");
    interp.store_attr(args[0], known(name::kName), args[1]);
    interp.store_attr(args[0], known(name::kDoc), args[2]);
    return Value::none();
  });
  c.integer->construct = make_integer;
  c.real->construct = make_real;
  c.boolean->construct = [](Interp& interp, ClassObject&, CallArgs& args) {
    no_keywords(interp, args, "bool");
    at_most(interp, args, "bool", 1);
    return Value::boolean(args.positional > 0 && interp.truth(args.values[0]));
  };
  c.str->construct = [](Interp& interp, ClassObject&, CallArgs& args) {
    if (args.positional > 0 && args.total() > 1) {  // str(bytes, encoding, errors)
      const Value decode = interp.find_attr(args.values[0], interp.intern("decode"));
      if (decode.empty()) {
        interp.type_error(fmt::format("decoding to str: need a bytes-like object, {} found",
                                      interp.type_name(args.values[0])));
      }
      CallArgs rest{args.values + 1, args.positional - 1, args.keywords, args.keyword_count, false};
      return interp.call(decode, rest);
    }
    at_most(interp, args, "str", 1);
    if (args.positional > 0) {
      if (is_of_rank(args.values[0])) return of_ranks(interp, interp.classes().str, args);
      if (Value text = text_of_ranks(interp, args.values[0]); !text.empty()) return text;
    }
    return interp.str(args.positional == 0 ? std::string() : interp.to_str(args.values[0]));
  };
  c.list->construct = [](Interp& interp, ClassObject&, CallArgs& args) {
    return interp.list(elements(interp, args, "list"));
  };
  c.tuple->construct = [](Interp& interp, ClassObject&, CallArgs& args) {
    if (args.positional == 1 && args.keyword_count == 0) {
      const Tuple* same = args.values[0].as<Tuple>();
      if (same != nullptr && same->type() == nullptr) return args.values[0];
    }
    return interp.tuple(elements(interp, args, "tuple"));
  };
  c.set->construct = [](Interp& interp, ClassObject&, CallArgs& args) {
    return make_set(interp, args, false);
  };
  c.frozenset->construct = [](Interp& interp, ClassObject&, CallArgs& args) {
    return make_set(interp, args, true);
  };
  c.dict->construct = make_dict;
  c.range->construct = make_range;
  c.super->construct = make_super;
  c.property->construct = make_property;
  c.slice->construct = [](Interp& interp, ClassObject&, CallArgs& args) -> Value {
    at_most(interp, args, "slice", 3);
    if (args.positional == 0) interp.type_error("slice expected at least 1 argument, got 0");
    const auto part = [&](std::size_t i) {
      return i < args.positional ? args.values[i] : Value::none();
    };
    Heap& heap = interp.heap();
    if (args.positional == 1) return make_ref<Slice>(heap, Value::none(), part(0), Value::none());
    return make_ref<Slice>(heap, part(0), part(1), part(2));
  };
  c.type->construct = [](Interp& interp, ClassObject&, CallArgs& args) -> Value {
    if (args.positional == 1) {
      // A class of the library may stand for one of Python's.
      const Ref<ClassObject> own = interp.type_of(args.values[0]);
      const Value* stands_for = own->lookup(interp.intern("_tidemark_stands_for"));
      return stands_for == nullptr ? Value(own) : *stands_for;
    }
    return make_type(interp, *interp.classes().type, args);
  };
  const auto wrapper = [](Kind kind) {
    return [kind](Interp& interp, ClassObject& type, CallArgs& args) -> Value {
      if (args.positional != 1) {
        interp.type_error(fmt::format("{} expected 1 argument, got {}", interp.text(type.name()),
                                      args.positional));
      }
      return make_ref<MethodWrapper>(interp.heap(), kind, args.values[0]);
    };
  };
  c.static_method->construct = wrapper(Kind::kStaticMethod);
  c.class_method->construct = wrapper(Kind::kClassMethod);
  add_object_methods(in);
  add_subclassing(in);
}

}  // namespace tidemark::lang
