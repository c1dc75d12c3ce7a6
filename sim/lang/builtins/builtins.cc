#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/complex.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/special_methods.h"
#include "sim/lang/runtime/text.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/lang/runtime/wide_integer.h"
#include "sim/lang/values/utf8.h"

/// The built-in functions.
namespace tidemark::lang {

namespace {

Name attribute_name(Interp& in, Arguments& args, std::size_t i) {
  if (plain_of(args[i]).as<Str>() == nullptr) {
    in.type_error(fmt::format("attribute name must be string, not '{}'", in.type_name(args[i])));
  }
  return in.intern(args.text(i));
}

void add_type_tests(Interp& in) {
  define(in, "isinstance(obj, class_or_tuple, /)", [](Interp& interp, Arguments& args) {
    return Value::boolean(
        is_instance_of(interp, *interp.type_of(args[0]), args[0], args[1], "isinstance"));
  });
  define(in, "issubclass(cls, class_or_tuple, /)", [](Interp& interp, Arguments& args) {
    const auto* type = args[0].as<ClassObject>();
    if (type == nullptr) interp.type_error("issubclass() arg 1 must be a class");
    return Value::boolean(is_instance_of(interp, *type, {}, args[1], "issubclass"));
  });
  define(in, "callable(obj, /)",
         [](Interp& interp, Arguments& args) { return Value::boolean(interp.callable(args[0])); });
  define(in, "hash(obj, /)", [](Interp& interp, Arguments& args) {
    return Value::integer(python_hash(interp.hash(args[0])));
  });
  define(in, "id(obj, /)", [](Interp& interp, Arguments& args) {
    // Stands for the address: differs between objects that live at the same time.
    return Value::integer(static_cast<std::int64_t>(interp.identity(args[0])));
  });
}

/// What getattr() finds. Empty: there is none.
Value find_attribute(Interp& in, const Value& object, Name name) {
  Value found = in.find_attr(object, name);
  return found.empty() ? special_attribute(in, object, name) : found;
}

void add_attribute_functions(Interp& in) {
  define(in, "getattr(object, name, default=..., /)", [](Interp& interp, Arguments& args) {
    const Name name = attribute_name(interp, args, 1);
    if (args[2].empty()) return interp.get_attr(args[0], name);
    Value found;
    try {
      found = find_attribute(interp, args[0], name);
    } catch (const Raised& raised) {
      if (!raised.exception->type().derives_from(*interp.classes().attribute_error)) throw;
    }
    return found.empty() ? args.take(2) : found;
  });
  define(in, "hasattr(obj, name, /)", [](Interp& interp, Arguments& args) {
    const Name name = attribute_name(interp, args, 1);
    try {
      return Value::boolean(!find_attribute(interp, args[0], name).empty());
    } catch (const Raised& raised) {
      if (!raised.exception->type().derives_from(*interp.classes().attribute_error)) throw;
    }
    return Value::boolean(false);
  });
  define(in, "setattr(obj, name, value, /)", [](Interp& interp, Arguments& args) {
    const Name name = attribute_name(interp, args, 1);
    interp.set_attr(args[0], name, args.take(2));
    return Value::none();
  });
  define(in, "delattr(obj, name, /)", [](Interp& interp, Arguments& args) {
    interp.del_attr(args[0], attribute_name(interp, args, 1));
    return Value::none();
  });
}

/// The argument as a plain number where its class says nothing of the function itself.
void as_plain(Interp& in, Arguments& args, name::Known method) {
  if (args[0].as<BuiltinValue>() == nullptr) return;
  if (in.type_of(args[0])->lookup(known(method)) == nullptr) args[0] = Value(plain_of(args[0]));
}

Value rounded(Interp& in, Arguments& args) {
  as_plain(in, args, name::kRound);
  const bool digits_given = args.has(1);
  if (const auto* unknown = args[0].as<Unknown>())
    return unknown->another(in, digits_given ? unknown->kind() : Unknown::Type::kInt);
  if (args[0].is_integral()) {
    const std::int64_t digits = digits_given ? args.integer(1) : 0;
    const std::int64_t value = args[0].as_int();
    if (digits >= 0) return Value::integer(value);
    if (digits < -19) return Value::integer(0);
    __extension__ using Wide = __int128;
    Wide unit = 1;
    for (std::int64_t i = digits; i < 0; ++i) unit *= 10;
    Wide down = value / unit * unit - (value % unit < 0 ? unit : 0);
    const Wide rest = value - down;
    if (rest * 2 > unit || (rest * 2 == unit && (down / unit) % 2 != 0)) down += unit;
    return in.binary(BinaryOp::kMul, Value::integer(static_cast<std::int64_t>(down / unit)),
                     in.binary(BinaryOp::kPow, Value::integer(10), Value::integer(-digits)));
  }
  if (args[0].is_float()) {
    const double value = args[0].as_float();
    if (digits_given) {
      const std::int64_t digits = args.integer(1);
      if (digits > 300 || !std::isfinite(value)) return args[0];
      if (digits < -308) return Value::real(0);
      if (digits >= 0) return Value::real(std::stod(fmt::format("{:.{}f}", value, digits)));
      const double unit = std::pow(10.0, static_cast<double>(-digits));
      return Value::real(std::nearbyint(value / unit) * unit);
    }
    if (std::isnan(value)) in.value_error("cannot convert float NaN to integer");
    if (std::isinf(value)) {
      in.raise(*in.classes().overflow_error, "cannot convert float infinity to integer");
    }
    if (std::abs(value) >= 9.2e18) return integer_of(in, wide_from(value));
    return Value::integer(static_cast<std::int64_t>(std::nearbyint(value)));
  }
  if (args[0].as<WideInteger>() != nullptr && (!digits_given || args.integer(1) >= 0))
    return args[0];
  Value out = digits_given ? in.call_special(args[0], known(name::kRound), {args[1]})
                           : in.call_special(args[0], known(name::kRound));
  if (out.empty()) {
    in.type_error(fmt::format("type {} doesn't define __round__ method", in.type_name(args[0])));
  }
  return out;
}

void add_numbers(Interp& in) {
  define(in, "abs(x, /)", [](Interp& interp, Arguments& args) {
    as_plain(interp, args, name::kAbs);
    const Value& x = args[0];
    if (x.is_integral()) {
      return x.as_int() < 0 ? interp.unary(UnaryOp::kNeg, x) : Value::integer(x.as_int());
    }
    if (x.is_float()) return Value::real(std::abs(x.as_float()));
    if (const auto* wide = x.as<WideInteger>())
      return wide->number.negative ? interp.unary(UnaryOp::kNeg, x) : x;
    if (const auto* unknown = x.as<Unknown>()) return unknown->another(interp, unknown->kind());
    Value out = interp.call_special(x, known(name::kAbs));
    if (out.empty()) {
      interp.type_error(fmt::format("bad operand type for abs(): '{}'", interp.type_name(x)));
    }
    return out;
  });
  define(in, "round(number, ndigits=None)", rounded);
  define(in, "divmod(x, y, /)", [](Interp& interp, Arguments& args) {
    for (const std::size_t i : {0U, 1U}) {
      if (args[i].as<Instance>() == nullptr) continue;
      const Name method = i == 0 ? known(name::kDivmod) : interp.intern("__rdivmod__");
      Value out = interp.ask_code(args[i], method, {args[1 - i]});
      if (!out.empty()) return out;
    }
    Value quotient = interp.binary(BinaryOp::kFloorDiv, args[0], args[1]);
    Value remainder = interp.binary(BinaryOp::kMod, args[0], args[1]);
    return interp.tuple({std::move(quotient), std::move(remainder)});
  });
  define(in, "pow(base, exp, mod=None)", [](Interp& interp, Arguments& args) {
    if (!args.has(2)) return interp.binary(BinaryOp::kPow, args[0], args[1]);
    for (std::size_t i = 0; i < 3; ++i) {
      if (!wide_of(args[i])) (void)args.integer(i);  // says what is wrong
    }
    const Value zero = Value::integer(0);
    if (interp.truth(interp.compare(CompareOp::kEq, args[2], zero)))
      interp.value_error("pow() 3rd argument cannot be 0");
    Wide exponent = *wide_of(args[1]);
    if (exponent.negative)
      interp.refuse("pow() with a negative exponent and a modulus is not supported");
    const auto times = [&](const Value& x, const Value& y) {
      return interp.binary(BinaryOp::kMod, interp.binary(BinaryOp::kMul, x, y), args[2]);
    };
    const Value one = Value::integer(1);
    Value result = times(one, one);
    Value base = times(args[0], one);
    for (std::size_t bit = 0; bit < bits_of(exponent); ++bit) {
      if ((exponent.pieces[bit / 32] >> (bit % 32) & 1U) != 0) result = times(result, base);
      base = times(base, base);
    }
    return result;
  });
}

Value in_base(Interp& in, Arguments& args, std::string_view spec) {
  if (args[0].as<WideInteger>() != nullptr) return in.str(in.format(args[0], spec));
  return in.str(format_integer(in, args.integer(0), spec));
}

/// What the program has put into sys.stdout; Empty: nothing has been asked of it.
Value standard_output(Interp& interp) {
  for (const Ref<Module>& module : interp.importer().modules()) {
    if (module->name != "sys") continue;
    const Value* found = module->find(interp.intern("stdout"));
    return found == nullptr ? Value() : *found;
  }
  return {};
}

void add_text_functions(Interp& in) {
  define(in, "repr(obj, /)",
         [](Interp& interp, Arguments& args) { return interp.str(interp.repr(args[0])); });
  define(in, "ascii(obj, /)", [](Interp& interp, Arguments& args) {
    const std::string text = interp.repr(args[0]);
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::uint32_t code = next_code_point(text, at);
      if (code < 0x80)
        out += static_cast<char>(code);
      else if (code < 0x100)
        out += fmt::format("\\x{:02x}", code);
      else
        out += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
    }
    return interp.str(out);
  });
  define(in, "format(value, format_spec='', /)", [](Interp& interp, Arguments& args) {
    return interp.str(interp.format(args[0], args.text(1)));
  });
  define(in, "chr(i, /)", [](Interp& interp, Arguments& args) {
    const std::int64_t code = args.integer(0);
    if (code < 0 || code > 0x10FFFF) interp.value_error("chr() arg not in range(0x110000)");
    std::string out;
    append_utf8(out, static_cast<std::uint32_t>(code));
    return interp.str(std::move(out));
  });
  define(in, "ord(c, /)", [](Interp& interp, Arguments& args) {
    const std::string& text = args.text(0);
    if (const std::int64_t length = utf8_length(text); length != 1) {
      interp.type_error(
          fmt::format("ord() expected a character, but string of length {} found", length));
    }
    std::size_t at = 0;
    return Value::integer(next_code_point(text, at));
  });
  define(in, "hex(number, /)",
         [](Interp& interp, Arguments& args) { return in_base(interp, args, "#x"); });
  define(in, "bin(number, /)",
         [](Interp& interp, Arguments& args) { return in_base(interp, args, "#b"); });
  define(in, "oct(number, /)",
         [](Interp& interp, Arguments& args) { return in_base(interp, args, "#o"); });
  define(in, "print(*values, sep=' ', end='\n', file=None, flush=False)",
         [](Interp& interp, Arguments& args) {
           const auto option = [&](std::size_t i, std::string_view fallback) {
             return args.has(i) ? args.text(i) : std::string(fallback);
           };
           const std::string separator = option(1, " ");
           std::string out;
           const std::vector<Value> values = args[0].as<Tuple>()->items;
           for (std::size_t i = 0; i < values.size(); ++i) {
             if (i > 0) out += separator;
             const Value text = text_of_ranks(interp, values[i]);
             out += interp.to_str(text.empty() ? values[i] : shown(text));
           }
           out += option(2, "\n");
           const bool is_given = args.has(3) && !args[3].is_none();
           const Value target = is_given ? args[3] : standard_output(interp);
           const Name write = interp.intern("write");
           if (target.empty() || interp.type_name(target) == "_Stream" ||
               interp.find_attr(target, write).empty()) {
             interp.print(out);
           } else {
             interp.call_method(target, write, {interp.str(std::move(out))});
           }
           return Value::none();
         });
}

/// object.__dir__: the object's own names and those of its classes; of a module only its own, or
/// what the __dir__ in it says.
Value names_of(Interp& in, Arguments& args) {
  std::set<std::string, std::less<>> names;
  const auto* type = args[0].as<ClassObject>();
  if (type == nullptr) {
    if (auto* module = args[0].as<Module>()) {
      const Value* says = module->find(in.intern("__dir__"));
      if (says != nullptr) return in.call(Value(*says));
    }
    const Value own = in.find_attr(args[0], known(name::kDict));
    if (!own.empty()) {
      for (const Value& name : in.unpack(own)) names.emplace(in.to_str(name));
    }
    if (const auto* module = args[0].as<Module>()) {
      // What the package has that a module of the library stands for.
      if (module->origin == Module::Origin::kOwn && in.importer().is_own("_known_names")) {
        const Value list = in.get_attr(in.import("_known_names"), in.intern("names"));
        for (const Value& name : in.unpack(in.call(list, {in.str(module->name)})))
          names.emplace(in.to_str(name));
      }
    } else {
      type = in.type_of(args[0]).get();
    }
  }
  if (type != nullptr) {
    for (const ClassObject* base : type->mro()) {
      for (const AttrMap::Entry& entry : base->attrs.entries()) names.emplace(in.text(entry.name));
      // What lies in slots is a part of the class.
      const Value* slots = base->attrs.find(known(name::kSlots));
      if (slots == nullptr) continue;
      if (slots->as<Tuple>() == nullptr && slots->as<List>() == nullptr) continue;
      for (const Value& slot : in.unpack(*slots)) names.emplace(in.to_str(slot));
    }
  }
  std::vector<Value> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(in.str(name));
  return in.list(std::move(out));
}

/// The names of an object; without one those that stand where it is called.
void add_listings(Interp& in) {
  define(in, *in.classes().object, "__dir__(self, /)", names_of);
  define(in, "dir(object=..., /)", [](Interp& interp, Arguments& args) -> Value {
    const Value names = args[0].empty() ? interp.call(*interp.find_builtin(interp.intern("locals")))
                                        : interp.call_special(args[0], interp.intern("__dir__"));
    return interp.call(*interp.find_builtin(interp.intern("sorted")), {names});
  });
}

/// What a program that is run has beside: sys.exit() under the names that the prompt tells.
void add_exits(Interp& in) {
  for (const std::string_view name : {"exit", "quit"}) {
    in.set_builtin(in.intern(name), in.raw_function(name, [](Interp& interp, CallArgs& args) {
      return interp.call(interp.get_attr(interp.import("sys"), interp.intern("exit")), args);
    }));
  }
}

void add_files(Interp& in) {
  in.set_builtin(in.intern("open"), in.raw_function("open", [](Interp& interp, CallArgs& args) {
    const Value files = interp.import("_files");
    return interp.call(interp.get_attr(files, interp.intern("open")), args);
  }));
}

void add_refusals(Interp& in) {
  for (const std::string_view name : {"input", "breakpoint"}) {
    in.set_builtin(in.intern(name),
                   in.raw_function(name, [name](Interp& interp, CallArgs&) -> Value {
                     interp.refuse(fmt::format("{}() is not supported in model code", name));
                   }));
  }
}

}  // namespace

void add_builtins(Interp& in) {
  add_types(in);
  add_complex(in);
  add_text_methods(in);
  add_container_methods(in);
  add_iteration(in);
  define(in, "len(obj, /)",
         [](Interp& interp, Arguments& args) { return Value::integer(interp.length(args[0])); });
  add_type_tests(in);
  add_attribute_functions(in);
  add_numbers(in);
  add_text_functions(in);
  add_exits(in);
  add_files(in);
  add_listings(in);
  add_code_functions(in);
  add_bytes(in);
  add_refusals(in);
  in.set_builtin(in.intern("NotImplemented"), Value::not_implemented());
  in.set_builtin(in.intern("Ellipsis"), Value::ellipsis());
  in.set_builtin(in.intern("__debug__"), Value::boolean(true));
}

}  // namespace tidemark::lang
