#include "sim/lang/runtime/text.h"
#include "sim/lang/runtime/unknown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/wide_integer.h"

namespace tidemark::lang {

std::string real_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  if (exponent >= -4 && exponent < 16) {
    const auto plain = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     std::chars_format::fixed);
    std::string out(buffer.data(), plain.ptr);
    if (out.find('.') == std::string::npos) out += ".0";
    return out;
  }
  return fmt::format("{}e{}{:02}", text.substr(0, e), exponent < 0 ? '-' : '+', std::abs(exponent));
}

std::string text_repr(std::string_view text) {
  const bool use_double =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = use_double ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += quote;
  return out;
}

namespace {

/// [[fill]align][sign][#][0][width][,_][.precision][type]
struct FormatSpec {
  std::string fill = " ";
  char align = 0;
  char sign = '-';
  bool alternate = false;
  bool zero = false;
  std::int64_t width = 0;
  char grouping = 0;
  std::optional<int> precision;
  char type = 0;
};

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

FormatSpec parse_spec(Interp& in, std::string_view text) {
  FormatSpec spec;
  std::size_t at = 0;
  const std::size_t first = text.empty() ? 0 : utf8_offset(text, 1);
  if (first > 0 && first < text.size() && is_align(text[first])) {
    spec.fill = std::string(text.substr(0, first));
    spec.align = text[first];
    at = first + 1;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[at++];
  }
  const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
  const auto number = [&]() -> std::int64_t {
    std::int64_t value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + (text[at++] - '0');
      if (value > 1'000'000) in.value_error("Too many decimal digits in format string");
    }
    return value;
  };
  if (peek() == '+' || peek() == '-' || peek() == ' ') spec.sign = text[at++];
  if (peek() == '#') {
    spec.alternate = true;
    ++at;
  }
  if (peek() == '0') {
    spec.zero = true;
    ++at;
  }
  spec.width = number();
  if (peek() == ',' || peek() == '_') spec.grouping = text[at++];
  if (peek() == '.') {
    ++at;
    if (peek() < '0' || peek() > '9') in.value_error("Format specifier missing precision");
    spec.precision = static_cast<int>(number());
  }
  if (at < text.size()) spec.type = text[at++];
  if (at < text.size()) in.value_error("Invalid format specifier");
  if (spec.zero && spec.align == 0) {
    spec.align = '=';
    spec.fill = "0";
  }
  return spec;
}

std::string padded(const FormatSpec& spec, std::string_view sign, std::string_view body,
                   char fallback) {
  const std::int64_t size = utf8_length(sign) + utf8_length(body);
  const std::int64_t missing = std::max<std::int64_t>(0, spec.width - size);
  const char align = spec.align == 0 ? fallback : spec.align;
  const auto fill = [&](std::int64_t count) {
    std::string out;
    for (std::int64_t i = 0; i < count; ++i) out += spec.fill;
    return out;
  };
  switch (align) {
    case '<':
      return fmt::format("{}{}{}", sign, body, fill(missing));
    case '^':
      return fmt::format("{}{}{}{}", fill(missing / 2), sign, body, fill(missing - missing / 2));
    case '=':
      return fmt::format("{}{}{}", sign, fill(missing), body);
    default:
      return fmt::format("{}{}{}", fill(missing), sign, body);
  }
}

std::string grouped(std::string digits, char separator, std::size_t every = 3) {
  if (separator == 0) return digits;
  const std::size_t whole =
      std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  for (std::size_t at = whole; at > every; at -= every) digits.insert(at - every, 1, separator);
  return digits;
}

std::string_view sign_text(const FormatSpec& spec, bool negative) {
  if (negative) return "-";
  if (spec.sign == '+') return "+";
  return spec.sign == ' ' ? " " : "";
}

[[noreturn]] void unknown_code(Interp& in, char code, std::string_view type) {
  in.value_error(fmt::format("Unknown format code '{}' for object of type '{}'", code, type));
}

std::string real_digits(double magnitude, char type, int precision, bool alternate) {
  // Longest: %f of 1.8e308 with the precision asked for.
  std::string buffer(static_cast<std::size_t>(precision) + 330, '\0');
  const auto style = type == 'e'   ? std::chars_format::scientific
                     : type == 'f' ? std::chars_format::fixed
                                   : std::chars_format::general;
  if (type == 'g' && precision == 0) precision = 1;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, style, precision);
  buffer.resize(static_cast<std::size_t>(end.ptr - buffer.data()));
  if (alternate && buffer.find('.') == std::string::npos) buffer += '.';
  return buffer;
}

}  // namespace

std::string format_integer(Interp& in, std::int64_t value, std::string_view text) {
  if (text.empty()) return fmt::format("{}", value);
  const FormatSpec spec = parse_spec(in, text);
  if (spec.type != 0 && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos) {
    return format_real(in, static_cast<double>(value), text);
  }
  if (spec.precision) in.value_error("Precision not allowed in integer format specifier");
  const bool negative = value < 0;
  const std::uint64_t magnitude =
      negative ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  std::string sign(sign_text(spec, negative));
  std::string body;
  std::size_t every = 3;
  switch (spec.type) {
    case 0:
    case 'd':
    case 'n':
      body = fmt::format("{}", magnitude);
      break;
    case 'x':
      body = fmt::format("{:x}", magnitude);
      break;
    case 'X':
      body = fmt::format("{:X}", magnitude);
      break;
    case 'o':
      body = fmt::format("{:o}", magnitude);
      break;
    case 'b':
      body = fmt::format("{:b}", magnitude);
      break;
    case 'c':
      if (value < 0x80 && value >= 0)
        return padded(spec, "", std::string(1, static_cast<char>(value)), '<');
      in.raise(*in.classes().overflow_error, "%c arg not in range(0x80)");
    default:
      unknown_code(in, spec.type, "int");
  }
  if (spec.type == 'x' || spec.type == 'X' || spec.type == 'o' || spec.type == 'b') {
    every = 4;
    if (spec.alternate) sign += fmt::format("0{}", spec.type);
  }
  return padded(spec, sign, grouped(std::move(body), spec.grouping, every), '>');
}

std::string format_real(Interp& in, double value, std::string_view text) {
  if (text.empty()) return real_repr(value);
  const FormatSpec spec = parse_spec(in, text);
  const bool negative = std::signbit(value) && !std::isnan(value);
  const std::string_view sign = sign_text(spec, negative);
  const bool upper = spec.type == 'E' || spec.type == 'F' || spec.type == 'G';
  const char type = static_cast<char>(upper ? spec.type + ('a' - 'A') : spec.type);
  if (std::string_view("\0efgn%", 6).find(type) == std::string_view::npos) {
    unknown_code(in, spec.type, "float");
  }
  std::string body;
  const double magnitude = std::abs(value);
  if (!std::isfinite(value)) {
    body = std::isnan(value) ? "nan" : "inf";
    if (type == '%') body += '%';
  } else if (type == '%') {
    body = real_digits(magnitude * 100, 'f', spec.precision.value_or(6), spec.alternate) + "%";
  } else if (type == 0) {
    if (spec.precision) {
      body = real_digits(magnitude, 'g', *spec.precision, spec.alternate);
      if (body.find_first_of(".e") == std::string::npos) {
        // Without a type a float keeps one digit after the point, or goes to an exponent.
        body = static_cast<int>(body.size()) >= *spec.precision && *spec.precision > 0
                   ? real_digits(magnitude, 'e', *spec.precision - 1, spec.alternate)
                   : body + ".0";
      }
    } else {
      body = real_repr(magnitude);
    }
  } else {
    body = real_digits(magnitude, type == 'n' ? 'g' : type, spec.precision.value_or(6),
                       spec.alternate);
  }
  if (upper)
    std::transform(body.begin(), body.end(), body.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
  return padded(spec, sign, grouped(std::move(body), spec.grouping), '>');
}

std::string format_text(Interp& in, std::string_view value, std::string_view text) {
  if (text.empty()) return std::string(value);
  const FormatSpec spec = parse_spec(in, text);
  if (spec.type != 0 && spec.type != 's') unknown_code(in, spec.type, "str");
  if (spec.align == '=' && !spec.zero) {
    in.value_error("'=' alignment not allowed in string format specifier");
  }
  std::string body(value);
  if (spec.precision) body.resize(utf8_offset(value, *spec.precision));
  FormatSpec plain = spec;
  if (plain.align == '=') plain.align = '<';
  return padded(plain, "", body, '<');
}

namespace {

/// The number that an object is to a format's `code`, by its own methods; else the object.
Value number_for(Interp& in, char code, const Value& value) {
  const std::string_view known = "diueEfFgG";
  if (known.find(code) == std::string_view::npos) {
    Value index = in.call_special(value, lang::known(name::kIndex));
    return index.empty() ? value : index;
  }
  const bool is_integer = known.find(code) < 3;
  const std::string_view method = is_integer ? "__int__" : "__float__";
  const auto* instance = value.as<Instance>();
  if (instance->type().lookup(in.intern(method)) == nullptr) return value;
  return in.call(is_integer ? in.classes().integer : in.classes().real, {value});
}

}  // namespace

std::string percent_format(Interp& in, std::string_view format, const Value& values) {
  std::vector<Value> arguments;
  if (const Tuple* tuple = values.as<Tuple>()) {
    arguments = tuple->items;
  } else {
    arguments.push_back(values);
  }
  const bool named = values.as<Dict>() != nullptr ||
                     (values.as<Tuple>() == nullptr && values.as<Str>() == nullptr &&
                      !in.find_attr(values, lang::known(name::kGetitem)).empty());
  std::size_t used = 0;
  const auto next = [&]() -> const Value& {
    if (used >= arguments.size()) in.type_error("not enough arguments for format string");
    return arguments[used++];
  };
  std::string out;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      out += format[at];
      continue;
    }
    if (++at >= format.size()) in.value_error("incomplete format");
    if (format[at] == '%') {
      out += '%';
      continue;
    }
    Value value;
    if (format[at] == '(') {
      const std::size_t close = format.find(')', at);
      if (close == std::string_view::npos) in.value_error("incomplete format key");
      if (!named) in.type_error("format requires a mapping");
      value = in.get_item(values, in.str(std::string(format.substr(at + 1, close - at - 1))));
      at = close + 1;
      used = arguments.size();
    }
    std::string flags;
    while (at < format.size() &&
           std::string_view("-+ #0").find(format[at]) != std::string_view::npos) {
      flags += format[at++];
    }
    std::string width;
    if (at < format.size() && format[at] == '*') {
      width = in.to_str(next());
      ++at;
    }
    while (at < format.size() && format[at] >= '0' && format[at] <= '9') width += format[at++];
    std::string precision;
    if (at < format.size() && format[at] == '.') {
      precision = ".";
      ++at;
      if (at < format.size() && format[at] == '*') {
        precision += in.to_str(next());
        ++at;
      }
      while (at < format.size() && format[at] >= '0' && format[at] <= '9')
        precision += format[at++];
      if (precision == ".") precision = ".0";
    }
    if (at >= format.size()) in.value_error("incomplete format");
    const char code = format[at];
    if (value.empty()) value = next();
    const bool as_text = code == 's' || code == 'r' || code == 'a';
    if (!as_text) value = Value(plain_of(value));
    if (!as_text && value.as<Instance>() != nullptr && value.as<Unknown>() == nullptr &&
        value.as<WideInteger>() == nullptr) {
      value = number_for(in, code, value);
    }
    if (!as_text && value.as<Unknown>() != nullptr) {
      out += in.format(value, width);
      continue;
    }
    const bool left = flags.find('-') != std::string::npos;
    const bool zero = flags.find('0') != std::string::npos && !left;
    std::string spec = left ? "<" : ">";
    if (zero) spec = "";
    for (const char sign : {'+', ' '}) {
      if (flags.find(sign) != std::string::npos) {
        spec += sign;
        break;
      }
    }
    if (flags.find('#') != std::string::npos) spec += '#';
    switch (code) {
      case 's':
      case 'r':
      case 'a': {
        const std::string text = code == 's' ? in.to_str(value) : in.repr(value);
        out += format_text(in, text, std::string(left ? "<" : ">") + width + precision);
        break;
      }
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': {
        std::int64_t number = 0;
        if (value.as<WideInteger>() != nullptr) {
          const char in_base = code == 'i' || code == 'u' ? 'd' : code;
          out += in.format(value, spec + (zero ? "0" : "") + width + in_base);
          break;
        }
        if (value.is_integral()) {
          number = value.as_int();
        } else if (value.is_float() && (code == 'd' || code == 'i' || code == 'u')) {
          number = in.call(in.classes().integer, {value}).as_int();
        } else {
          in.type_error(fmt::format(
              "%{} format: {} is required, not {}", code,
              code == 'd' || code == 'i' || code == 'u' ? "a real number" : "an integer",
              in.type_name(value)));
        }
        const char type = code == 'i' || code == 'u' ? 'd' : code;
        out += format_integer(in, number, spec + (zero ? "0" : "") + width + type);
        break;
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': {
        if (!value.is_number()) value = in.call(in.classes().real, {value});
        out += format_real(in, value.number(), spec + (zero ? "0" : "") + width + precision + code);
        break;
      }
      case 'c':
        out += value.is_int() ? format_integer(in, value.as_int(), "c") : in.to_str(value);
        break;
      default:
        in.value_error(fmt::format("unsupported format character '{}' (0x{:x}) at index {}", code,
                                   static_cast<unsigned char>(code), at));
    }
  }
  if (used < arguments.size() && !named) {
    in.type_error("not all arguments converted during string formatting");
  }
  return out;
}

std::string brace_format(Interp& in, std::string_view format, const std::vector<Value>& positional,
                         const Value& named) {
  std::string out;
  std::int64_t automatic = 0;
  const auto find = [&](std::string_view field) -> Value {
    // first(.name|[key])*
    std::size_t at = std::min(field.find_first_of(".["), field.size());
    const std::string_view first = field.substr(0, at);
    Value value;
    if (first.empty() || (first[0] >= '0' && first[0] <= '9')) {
      std::int64_t index = automatic;
      if (first.empty()) {
        ++automatic;
      } else {
        std::from_chars(first.data(), first.data() + first.size(), index);
      }
      if (index >= static_cast<std::int64_t>(positional.size())) {
        in.raise(*in.classes().index_error,
                 fmt::format("Replacement index {} out of range for positional args tuple", index));
      }
      value = positional[static_cast<std::size_t>(index)];
    } else {
      const Value key = in.str(std::string(first));
      Dict* dict = named.as<Dict>();
      const Value* found = dict == nullptr ? nullptr : dict->table.find(in, key);
      if (found == nullptr) in.raise(in.make_exception(*in.classes().key_error, {key}));
      value = *found;
    }
    while (at < field.size()) {
      if (field[at] == '.') {
        const std::size_t end = std::min(field.find_first_of(".[", at + 1), field.size());
        value = in.get_attr(value, in.intern(field.substr(at + 1, end - at - 1)));
        at = end;
      } else {
        const std::size_t end = field.find(']', at);
        if (end == std::string_view::npos) in.value_error("Missing ']' in format string");
        const std::string_view key = field.substr(at + 1, end - at - 1);
        std::int64_t index = 0;
        const auto [last, error] = std::from_chars(key.data(), key.data() + key.size(), index);
        const bool is_index = error == std::errc() && last == key.data() + key.size();
        value = in.get_item(value, is_index ? Value::integer(index) : in.str(std::string(key)));
        at = end + 1;
      }
    }
    return value;
  };
  for (std::size_t at = 0; at < format.size(); ++at) {
    const char c = format[at];
    if (c != '{' && c != '}') {
      out += c;
      continue;
    }
    if (at + 1 < format.size() && format[at + 1] == c) {
      out += c;
      ++at;
      continue;
    }
    if (c == '}') in.value_error("Single '}' encountered in format string");
    std::size_t end = at + 1;
    for (int depth = 1; end < format.size(); ++end) {
      if (format[end] == '{') ++depth;
      if (format[end] == '}' && --depth == 0) break;
    }
    if (end >= format.size()) in.value_error("expected '}' before end of string");
    std::string_view field = format.substr(at + 1, end - at - 1);
    at = end;
    std::string_view spec;
    const std::size_t colon = field.find(':');
    if (colon != std::string_view::npos) {
      spec = field.substr(colon + 1);
      field = field.substr(0, colon);
    }
    char conversion = 0;
    if (field.size() >= 2 && field[field.size() - 2] == '!') {
      conversion = field.back();
      field.remove_suffix(2);
    }
    Value value = find(field);
    if (conversion == 'r') value = in.str(in.repr(value));
    if (conversion == 's') value = in.str(in.to_str(value));
    std::string resolved(spec);
    for (std::size_t open = resolved.find('{'); open != std::string::npos;) {
      const std::size_t close = resolved.find('}', open);
      if (close == std::string::npos) in.value_error("expected '}' before end of string");
      const Value inner = find(std::string_view(resolved).substr(open + 1, close - open - 1));
      const std::string text = in.to_str(inner);
      resolved.replace(open, close - open + 1, text);
      open = resolved.find('{', open + text.size());
    }
    out += in.format(value, resolved);
  }
  return out;
}

}  // namespace tidemark::lang
