#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/wide_integer.h"
#include "sim/lang/syntax/literal_calls.h"
#include "sim/lang/values/utf8.h"

/// bytes: a text of which each character is one byte (its code point is below 256), so that most of
/// its methods are str's. bytearray has another text put in place of the first. Integers beyond 64
/// bits are refused here too.
namespace tidemark::lang {

namespace {

constexpr std::string_view kText = "_text";

/// The text of a bytes object; nullptr: it is none.
const Str* text_of(Interp& in, const Value& value) {
  const auto* object = value.as<Instance>();
  const Value* text = object == nullptr ? nullptr : object->attrs().find(in.intern(kText));
  return text == nullptr ? nullptr : text->as<Str>();
}

const std::string& own_text(Interp& in, Arguments& args, std::size_t i = 0) {
  const Str* text = text_of(in, args[i]);
  if (text == nullptr) {
    in.type_error(fmt::format("a bytes-like object is required, not '{}'", in.type_name(args[i])));
  }
  return text->text();
}

Value make(Interp& in, const Ref<ClassObject>& type, Value text) {
  const Ref<Instance> made = make_ref<Instance>(in.heap(), type);
  made->set_own(in.intern(kText), std::move(text));
  return made;
}

const Ref<ClassObject> bytes_class(Interp& in) {
  return in.find_builtin(in.intern("bytes"))->ref<ClassObject>();
}

/// Of the class that the first argument is of.
Value make_like(Interp& in, Arguments& args, std::string text) {
  return make(in, in.type_of(args[0]), in.str(std::move(text)));
}

void append_byte(Interp& in, std::string& out, const Value& value) {
  const Value byte = value.is_integral() ? value : in.call_special(value, known(name::kIndex));
  if (!byte.is_integral()) {
    in.type_error(
        fmt::format("'{}' object cannot be interpreted as an integer", in.type_name(value)));
  }
  if (byte.as_int() < 0 || byte.as_int() > 255) in.value_error("bytes must be in range(0, 256)");
  append_utf8(out, static_cast<std::uint32_t>(byte.as_int()));
}

bool is_utf8_name(std::string name) {
  std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
  return name == "utf8" || name == "UTF8";
}

/// str.encode: a text's bytes, one character each.
std::string encoded(Interp& in, const std::string& text, const std::string& encoding,
                    const std::string& errors) {
  std::string out;
  if (is_utf8_name(encoding)) {
    for (const char c : text) append_utf8(out, static_cast<unsigned char>(c));
    return out;
  }
  const bool is_ascii = encoding == "ascii" || encoding == "us-ascii";
  if (!is_ascii && encoding != "latin-1" && encoding != "latin1" && encoding != "iso-8859-1")
    in.refuse(fmt::format("the encoding '{}' is not supported", encoding));
  const std::uint32_t most = is_ascii ? 0x7F : 0xFF;
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t code = next_code_point(text, at);
    if (code <= most) {
      append_utf8(out, code);
    } else if (errors == "replace") {
      out += '?';
    } else if (errors != "ignore") {
      in.raise(*in.find_builtin(in.intern("UnicodeEncodeError"))->as<ClassObject>(),
               fmt::format("'{}' codec can't encode a character: ordinal not in range({})",
                           encoding, most + 1));
    }
  }
  return out;
}

/// The text that bytes mean. Errors: UnicodeDecodeError.
std::string decoded(Interp& in, const std::string& bytes, const std::string& encoding,
                    const std::string& errors) {
  const bool is_utf8 = is_utf8_name(encoding);
  if (!is_utf8 && encoding != "ascii" && encoding != "us-ascii") {
    if (encoding == "latin-1" || encoding == "latin1" || encoding == "iso-8859-1") return bytes;
    in.refuse(fmt::format("the encoding '{}' is not supported", encoding));
  }
  std::string raw;
  for (std::size_t at = 0; at < bytes.size();) raw += static_cast<char>(next_code_point(bytes, at));
  std::string out;
  for (std::size_t i = 0; i < raw.size();) {
    const auto first = static_cast<unsigned char>(raw[i]);
    std::size_t size = first < 0x80                               ? 1
                       : !is_utf8 || first < 0xC2 || first > 0xF4 ? 0
                       : first < 0xE0                             ? 2
                       : first < 0xF0                             ? 3
                                                                  : 4;
    if (i + size > raw.size()) size = 0;
    for (std::size_t k = 1; k < size; ++k) {
      if ((static_cast<unsigned char>(raw[i + k]) & 0xC0U) != 0x80U) size = 0;
    }
    if (size > 0) {
      out.append(raw, i, size);
    } else if (errors == "replace") {
      out += "\uFFFD";
    } else if (errors != "ignore") {
      in.raise(
          *in.find_builtin(in.intern("UnicodeDecodeError"))->as<ClassObject>(),
          fmt::format("'{}' codec can't decode byte 0x{:02x} in position {}", encoding, first, i));
    }
    i += std::max<std::size_t>(size, 1);
  }
  return out;
}

/// What bytes(source, encoding, errors) has.
std::string construct_text(Interp& in, CallArgs& args) {
  const auto given = [&](std::size_t i, std::string_view name) {
    if (i < args.positional) return args.values[i];
    const Value* found = args.keyword(in.intern(name));
    return found == nullptr ? Value() : *found;
  };
  const Value source = plain_of(given(0, "source"));
  if (source.empty()) return {};
  if (const Str* text = source.as<Str>()) {
    const Value encoding = given(1, "encoding");
    if (encoding.as<Str>() == nullptr) in.type_error("string argument without an encoding");
    const Value errors = given(2, "errors");
    return encoded(in, text->text(), encoding.as<Str>()->text(),
                   errors.as<Str>() == nullptr ? "strict" : errors.as<Str>()->text());
  }
  if (const Str* text = text_of(in, source)) return text->text();
  if (source.is_integral()) {
    if (source.as_int() < 0) in.value_error("negative count");
    if (static_cast<std::uint64_t>(source.as_int()) > in.limits().sequence) in.too_long();
    return std::string(static_cast<std::size_t>(source.as_int()), '\0');
  }
  std::string out;
  for (const Value& value : in.unpack(source)) append_byte(in, out, value);
  return out;
}

std::string repr_of(const std::string& text, std::string_view begin, std::string_view end) {
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out = fmt::format("{}b{}", begin, quote);
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t code = next_code_point(text, at);
    const auto c = static_cast<char>(code);
    if (code == '\\' || code == static_cast<unsigned char>(quote)) {
      out += fmt::format("\\{}", c);
    } else if (code == '\n' || code == '\r' || code == '\t') {
      out += code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t";
    } else if (code < 0x20 || code >= 0x7F) {
      out += fmt::format("\\x{:02x}", code);
    } else {
      out += c;
    }
  }
  return fmt::format("{}{}{}", out, quote, end);
}

Value from_hex(Interp& in, Arguments& args) {
  std::string digits = args.text(1);
  std::erase_if(digits, [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
  const auto digit = [](char c) {
    const std::size_t at = std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
    return c >= '0' && at != std::string_view::npos ? static_cast<std::uint32_t>(at) : 16U;
  };
  std::string out;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const std::uint32_t high = digit(digits[i]);
    const std::uint32_t low = i + 1 < digits.size() ? digit(digits[i + 1]) : 16U;
    if (high > 15 || low > 15)
      in.value_error("non-hexadecimal number found in fromhex() arg at position " +
                     std::to_string(i));
    append_utf8(out, high * 16 + low);
  }
  return make(in, args[0].ref<ClassObject>(), in.str(std::move(out)));
}

/// How the bytes of a number stand: "big" or "little".
bool is_big(Interp& in, const std::string& order) {
  if (order != "big" && order != "little")
    in.value_error("byteorder must be either 'little' or 'big'");
  return order == "big";
}

/// A literal beyond 64 bits.
Value large_integer(Interp& in, std::string_view digits) {
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char marker = static_cast<char>(digits[1] | 0x20);
    base = marker == 'x' ? 16 : marker == 'o' ? 8 : 2;
    digits.remove_prefix(2);
  }
  return integer_of(in, wide_from(in, digits, base));
}

/// int.to_bytes
Value to_bytes(Interp& in, Arguments& args) {
  const std::optional<Wide> number = wide_of(args[0]);
  if (!number) (void)args.integer(0);  // says what is wrong
  const bool is_negative = number->negative;
  if (args.integer(1) < 0) in.value_error("length argument must be non-negative");
  const auto length = static_cast<std::size_t>(args.integer(1));
  const bool is_signed = args.boolean(3);
  if (is_negative && !is_signed)
    in.raise(*in.classes().overflow_error, "can't convert negative int to unsigned");
  const std::vector<std::uint32_t> pieces = complement_of(*number, number->pieces.size() + 1);
  const auto byte_at = [&](std::size_t i) {
    if (i / 4 >= pieces.size()) return is_negative ? 0xFFU : 0U;
    return pieces[i / 4] >> (8 * (i % 4)) & 0xFFU;
  };
  bool fits = true;
  for (std::size_t i = length; i < pieces.size() * 4; ++i)
    fits = fits && byte_at(i) == (is_negative ? 0xFFU : 0U);
  if (is_signed && length > 0 && length <= pieces.size() * 4)
    fits = fits && (byte_at(length - 1) > 0x7FU) == is_negative;
  if (!fits) in.raise(*in.classes().overflow_error, "int too big to convert");
  const bool big = is_big(in, args.text(2));
  std::string out;
  for (std::size_t i = 0; i < length; ++i) append_utf8(out, byte_at(big ? length - 1 - i : i));
  return make(in, bytes_class(in), in.str(std::move(out)));
}

/// int.from_bytes
Value from_bytes(Interp& in, Arguments& args) {
  std::vector<std::uint32_t> bytes;  // the least first
  for (const Value& byte : in.unpack(args[1]))
    bytes.push_back(static_cast<std::uint32_t>(byte.as_int()) & 0xFFU);
  if (is_big(in, args.text(2))) std::reverse(bytes.begin(), bytes.end());
  const bool is_negative = args.boolean(3) && !bytes.empty() && bytes.back() > 0x7FU;
  bytes.resize(bytes.size() / 4 * 4 + 4, is_negative ? 0xFFU : 0U);
  std::vector<std::uint32_t> pieces(bytes.size() / 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) pieces[i / 4] |= bytes[i] << (8 * (i % 4));
  return integer_of(in, from_complement(std::move(pieces)));
}

Value get_item(Interp& in, Arguments& args) {
  const std::string& text = own_text(in, args);
  const Value part = in.get_item(in.str(text), args[1]);
  if (args[1].as<Slice>() != nullptr) return make(in, in.type_of(args[0]), part);
  std::size_t at = 0;
  return Value::integer(next_code_point(part.as<Str>()->text(), at));
}

Value values_of(Interp& in, const std::string& text) {
  std::vector<Value> out;
  for (std::size_t at = 0; at < text.size();)
    out.push_back(Value::integer(next_code_point(text, at)));
  return in.list(std::move(out));
}

template <CompareOp kOp>
Value compared(Interp& in, Arguments& args) {
  const Str* other = text_of(in, args[1]);
  if (other == nullptr) return Value::not_implemented();
  return Value::boolean(
      in.truth(in.compare(kOp, in.str(own_text(in, args)), in.str(other->text()))));
}

constexpr FunctionRow kMethods[] = {
    {"__len__(self, /)",
     [](Interp& in, Arguments& args) { return Value::integer(utf8_length(own_text(in, args))); }},
    {"__eq__(self, value, /)", compared<CompareOp::kEq>},
    {"__ne__(self, value, /)", compared<CompareOp::kNe>},
    {"__lt__(self, value, /)", compared<CompareOp::kLt>},
    {"__le__(self, value, /)", compared<CompareOp::kLe>},
    {"__gt__(self, value, /)", compared<CompareOp::kGt>},
    {"__ge__(self, value, /)", compared<CompareOp::kGe>},
    {"__hash__(self, /)",
     [](Interp& in, Arguments& args) {
       return Value::integer(static_cast<std::int64_t>(in.hash(in.str(own_text(in, args))) >> 2U));
     }},
    {"__getitem__(self, key, /)", get_item},
    {"__iter__(self, /)",
     [](Interp& in, Arguments& args) -> Value {
       return in.iterate(values_of(in, own_text(in, args)));
     }},
    {"__contains__(self, key, /)",
     [](Interp& in, Arguments& args) {
       std::string part;
       if (args[1].is_integral()) {
         append_byte(in, part, args[1]);
       } else {
         part = own_text(in, args, 1);
       }
       return Value::boolean(own_text(in, args).find(part) != std::string::npos);
     }},
    {"__add__(self, value, /)",
     [](Interp& in, Arguments& args) {
       return make_like(in, args, own_text(in, args) + own_text(in, args, 1));
     }},
    {"__mul__(self, value, /)",
     [](Interp& in, Arguments& args) {
       return make(in, in.type_of(args[0]),
                   in.binary(BinaryOp::kMul, in.str(own_text(in, args)), args[1]));
     }},
    {"hex(self, sep='', /)",
     [](Interp& in, Arguments& args) {
       const std::string& text = own_text(in, args);
       std::string out;
       for (std::size_t at = 0; at < text.size();)
         out += fmt::format("{}{:02x}", at > 0 ? args.text(1) : "", next_code_point(text, at));
       return in.str(std::move(out));
     }},
    {"decode(self, encoding='utf-8', errors='strict')",
     [](Interp& in, Arguments& args) {
       return in.str(decoded(in, own_text(in, args), args.text(1), args.text(2)));
     }},
    {"join(self, iterable, /)",
     [](Interp& in, Arguments& args) {
       std::vector<Value> parts;
       for (const Value& part : in.unpack(args[1])) {
         const Str* text = text_of(in, part);
         if (text == nullptr) {
           in.type_error(fmt::format("sequence item {}: expected a bytes-like object, {} found",
                                     parts.size(), in.type_name(part)));
         }
         parts.push_back(in.str(text->text()));
       }
       return make(in, in.type_of(args[0]),
                   in.call_method(in.str(own_text(in, args)), in.intern("join"),
                                  {in.list(std::move(parts))}));
     }},
};

/// What a bytearray can do besides.
constexpr FunctionRow kChanges[] = {
    {"append(self, item, /)",
     [](Interp& in, Arguments& args) {
       std::string text = own_text(in, args);
       append_byte(in, text, args[1]);
       args[0].as<Instance>()->set_own(in.intern(kText), in.str(std::move(text)));
       return Value::none();
     }},
    {"extend(self, iterable, /)",
     [](Interp& in, Arguments& args) {
       std::string text = own_text(in, args);
       for (const Value& value : in.unpack(args[1])) append_byte(in, text, value);
       args[0].as<Instance>()->set_own(in.intern(kText), in.str(std::move(text)));
       return Value::none();
     }},
    {"__setitem__(self, key, value, /)",
     [](Interp& in, Arguments& args) {
       const Value values = values_of(in, own_text(in, args));
       in.set_item(values, args[1], args[2]);
       std::string text;
       for (const Value& value : values.as<List>()->items) append_byte(in, text, value);
       args[0].as<Instance>()->set_own(in.intern(kText), in.str(std::move(text)));
       return Value::none();
     }},
};

/// Those of str's that do the same with bytes.
constexpr std::string_view kOfText[] = {
    "strip",      "lstrip",  "rstrip",  "split",        "rsplit",       "startswith", "endswith",
    "replace",    "find",    "rfind",   "index",        "rindex",       "count",      "partition",
    "rpartition", "lower",   "upper",   "removeprefix", "removesuffix", "splitlines", "zfill",
    "isdigit",    "isalpha", "isalnum", "isspace",      "ljust",        "rjust",      "center",
};

/// Texts where bytes stand, in tuples too.
Value as_text(Interp& in, const Value& value) {
  if (const Str* text = text_of(in, value)) return in.str(text->text());
  const Tuple* tuple = value.as<Tuple>();
  if (tuple == nullptr) {
    if (plain_of(value).as<Str>() != nullptr)
      in.type_error("a bytes-like object is required, not 'str'");
    return value;
  }
  std::vector<Value> out;
  for (const Value& item : tuple->items) out.push_back(as_text(in, item));
  return in.tuple(std::move(out));
}

Value as_bytes(Interp& in, const Ref<ClassObject>& type, const Value& value) {
  if (value.as<Str>() != nullptr) return make(in, type, value);
  if (const List* list = value.as<List>()) {
    std::vector<Value> out;
    for (const Value& item : list->items) out.push_back(as_bytes(in, type, item));
    return in.list(std::move(out));
  }
  if (const Tuple* tuple = value.as<Tuple>()) {
    std::vector<Value> out;
    for (const Value& item : tuple->items) out.push_back(as_bytes(in, type, item));
    return in.tuple(std::move(out));
  }
  return value;
}

Ref<ClassObject> add_class(Interp& in, std::string_view name) {
  Ref<ClassObject> type = in.make_class(name, "builtins");
  type->final = true;
  type->construct = [](Interp& interp, ClassObject& own, CallArgs& args) {
    return make(interp, Ref<ClassObject>(&own), interp.str(construct_text(interp, args)));
  };
  add_methods(in, *type, kMethods);
  for (const std::string_view method : kOfText) {
    type->attrs.set(
        in.intern(method), in.raw_function(method, [method](Interp& interp, CallArgs& args) {
          if (args.positional == 0 || text_of(interp, args.values[0]) == nullptr)
            interp.type_error(fmt::format("bytes.{}() needs a bytes-like object", method));
          std::vector<Value> values;
          for (std::size_t i = 0; i < args.total(); ++i)
            values.push_back(as_text(interp, args.values[i]));
          CallArgs given{values.data() + 1, args.positional - 1, args.keywords, args.keyword_count,
                         false};
          const Ref<ClassObject> own = interp.type_of(args.values[0]);
          return as_bytes(interp, own, interp.call_method(values[0], interp.intern(method), given));
        }));
  }
  const Value make_from_hex = in.function("fromhex(cls, string, /)", from_hex);
  type->attrs.set(in.intern("fromhex"),
                  make_ref<MethodWrapper>(in.heap(), Kind::kClassMethod, make_from_hex));
  in.set_builtin(type->name(), type);
  return type;
}

/// What literals are made by has a name, which code can find.
void demand_text(Interp& interp, const CallArgs& args) {
  if (args.positional != 1 || args.values[0].as<Str>() == nullptr)
    interp.type_error("expected one text");
}

}  // namespace

void add_bytes(Interp& in) {
  const Ref<ClassObject> bytes = add_class(in, "bytes");
  define(in, *bytes, "__repr__(self, /)", [](Interp& interp, Arguments& args) {
    return interp.str(repr_of(own_text(interp, args), "", ""));
  });
  const Ref<ClassObject> array = add_class(in, "bytearray");
  array->attrs.set(known(name::kHash), Value::none());
  add_methods(in, *array, kChanges);
  define(in, *array, "__repr__(self, /)", [](Interp& interp, Arguments& args) {
    return interp.str(repr_of(own_text(interp, args), "bytearray(", ")"));
  });
  const Ref<ClassObject>& integer = in.classes().integer;
  define(in, *integer, "to_bytes(self, length=1, byteorder='big', *, signed=False)", to_bytes);
  const Value make_number =
      in.function("from_bytes(cls, bytes, byteorder='big', *, signed=False)", from_bytes);
  integer->attrs.set(in.intern("from_bytes"),
                     make_ref<MethodWrapper>(in.heap(), Kind::kClassMethod, make_number));
  const Ref<ClassObject> view = in.make_class("memoryview", "builtins");
  view->final = true;
  view->construct = [](Interp& interp, ClassObject&, CallArgs&) -> Value {
    interp.refuse("memoryview() is not supported in model code");
  };
  in.set_builtin(view->name(), view);
  define(in, *in.classes().str, "encode(self, encoding='utf-8', errors='strict')",
         [](Interp& interp, Arguments& args) {
           return make(interp, bytes_class(interp),
                       interp.str(encoded(interp, args.text(0), args.text(1), args.text(2))));
         });
  in.set_builtin(in.intern(kBytes),
                 in.raw_function(kBytes, [](Interp& interp, CallArgs& args) -> Value {
                   demand_text(interp, args);
                   return make(interp, bytes_class(interp), args.values[0]);
                 }));
  in.set_builtin(in.intern(kLargeInteger),
                 in.raw_function(kLargeInteger, [](Interp& interp, CallArgs& args) -> Value {
                   demand_text(interp, args);
                   return large_integer(interp, args.values[0].as<Str>()->text());
                 }));
}

}  // namespace tidemark::lang
