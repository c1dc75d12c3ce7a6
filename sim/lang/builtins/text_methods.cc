#include <fmt/format.h>

#include <algorithm>

#include "sim/base/text_search.h"
#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/text.h"
#include "sim/lang/values/utf8.h"

/// The methods of str.
namespace tidemark::lang {

namespace {

constexpr std::string_view kBlank = " \t\r\n\f\v";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
bool is_alpha(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view stripped(std::string_view text, std::string_view characters, bool left,
                          bool right) {
  if (left) {
    const std::size_t first = text.find_first_not_of(characters);
    text = first == std::string_view::npos ? std::string_view() : text.substr(first);
  }
  if (right) text = text.substr(0, text.find_last_not_of(characters) + 1);
  return text;
}

/// What str.translate finds for a character; Empty: nothing, it stays as it is.
Value entry_of(Interp& in, const Value& table, std::uint32_t code) {
  if (auto* dict = table.as<Dict>()) {
    const Value* found = dict->table.find(in, Value::integer(code));
    return found == nullptr ? Value() : *found;
  }
  try {
    return in.get_item(table, Value::integer(code));
  } catch (const Raised& raised) {
    if (!raised.exception->type().derives_from(*in.classes().lookup_error)) throw;
    return {};
  }
}

/// str.maketrans: a table of code points for str.translate.
Value make_translation(Interp& in, Arguments& args) {
  const Ref<Dict> out = in.dict();
  const auto code_at = [&](const std::string& text, std::size_t& at) {
    return Value::integer(next_code_point(text, at));
  };
  if (!args.has(1)) {
    auto* given = args[0].as<Dict>();
    if (given == nullptr)
      in.type_error("if you give only one argument to maketrans it must be a dict");
    for (const ValueTable::Entry& entry : given->table.entries()) {
      if (entry.key.empty()) continue;
      std::size_t at = 0;
      const auto* text = entry.key.as<Str>();
      out->table.set(in, text == nullptr ? entry.key : code_at(text->text(), at), entry.value);
    }
    return out;
  }
  const std::string& from = args.text(0);
  const std::string& to = args.text(1);
  std::size_t to_at = 0;
  for (std::size_t at = 0; at < from.size();) {
    const Value key = code_at(from, at);
    if (to_at >= to.size())
      in.value_error("the first two maketrans arguments must have equal length");
    out->table.set(in, key, code_at(to, to_at));
  }
  if (to_at < to.size()) in.value_error("the first two maketrans arguments must have equal length");
  for (std::size_t at = 0; args.has(2) && at < args.text(2).size();)
    out->table.set(in, code_at(args.text(2), at), Value::none());
  return out;
}

template <bool kLeft, bool kRight>
Value strip(Interp& in, Arguments& args) {
  const std::string_view characters = args.has(1) ? std::string_view(args.text(1)) : kBlank;
  return in.str(std::string(stripped(args.text(0), characters, kLeft, kRight)));
}

/// A list of lines, which are made when somebody asks for them. Empty: it is not made so.
Value late_lines(Interp& in, const Value& text, bool is_split) {
  if (text.as<Str>() == nullptr) return {};
  std::optional<ListItems> lines = lines_of(text.ref<Str>(), is_split);
  if (!lines) return {};
  in.charge(text.as<Str>()->text().size() / 1024);
  return make_ref<List>(in.heap(), std::move(*lines));
}

Value split(Interp& in, Arguments& args) {
  std::string_view text = args.text(0);
  std::int64_t left = args.integer(2);
  std::vector<Value> out;
  if (!args.has(1)) {
    while (true) {
      text = stripped(text, kBlank, true, false);
      if (text.empty()) break;
      const std::size_t end = left-- == 0 ? std::string_view::npos : text.find_first_of(kBlank);
      if (end == std::string_view::npos) {
        out.push_back(in.str(std::string(stripped(text, kBlank, false, true))));
        break;
      }
      out.push_back(in.str(std::string(text.substr(0, end))));
      text.remove_prefix(end);
    }
    return in.list(std::move(out));
  }
  const std::string& separator = args.text(1);
  if (separator.empty()) in.value_error("empty separator");
  // Of many pieces their number is counted first.
  constexpr std::size_t kLong = 256;
  if (left < 0 && separator.size() == 1 && text.size() > kLong)
    out.reserve(count_bytes(text, separator.front()) + 1);
  if (separator == "\n" && left < 0) {
    if (Value lines = late_lines(in, args[0], true); !lines.empty()) return lines;
  }
  while (left-- != 0) {
    const std::size_t end = find_text(text, separator);
    if (end == std::string_view::npos) break;
    out.push_back(in.str(std::string(text.substr(0, end))));
    text.remove_prefix(end + separator.size());
  }
  out.push_back(in.str(std::string(text)));
  return in.list(std::move(out));
}

Value rsplit(Interp& in, Arguments& args) {
  std::string_view text = args.text(0);
  std::int64_t left = args.integer(2);
  if (left < 0 || !args.has(1)) {
    if (left >= 0) in.refuse("rsplit() with a limit needs a separator");
    return split(in, args);
  }
  const std::string& separator = args.text(1);
  if (separator.empty()) in.value_error("empty separator");
  std::vector<Value> out;
  while (left-- != 0) {
    const std::size_t at = text.rfind(separator);
    if (at == std::string_view::npos) break;
    out.push_back(in.str(std::string(text.substr(at + separator.size()))));
    text = text.substr(0, at);
  }
  out.push_back(in.str(std::string(text)));
  std::reverse(out.begin(), out.end());
  return in.list(std::move(out));
}

Value join(Interp& in, Arguments& args) {
  const std::string& separator = args.text(0);
  std::string out;
  std::size_t n = 0;
  const std::vector<Value> items = in.unpack(args[1]);
  if (items.size() == 1 && items.front().as<Str>() != nullptr) return items.front();
  for (const Value& item : items) {
    const Str* piece = plain_of(item).as<Str>();
    if (piece == nullptr) {
      in.type_error(
          fmt::format("sequence item {}: expected str instance, {} found", n, in.type_name(item)));
    }
    if (n++ > 0) out += separator;
    out += piece->text();
    if (out.size() > in.limits().sequence) in.too_long();
  }
  return in.str(std::move(out));
}

template <bool kStart>
Value affix(Interp& in, Arguments& args) {
  Value given = plain_of(args[0]);
  if (args.has(2) || args.has(3)) {
    const auto part = [&](std::size_t i) { return args.has(i) ? args[i] : Value::none(); };
    given = in.get_item(given, Value(make_ref<Slice>(in.heap(), part(2), part(3), Value::none())));
  }
  const Str* self = given.as<Str>();
  if (self == nullptr) args.mismatch(0, "str");
  const std::string_view text = self->text();
  const auto matches = [&](const Value& value) {
    const Str* part = plain_of(value).as<Str>();
    if (part == nullptr) {
      in.type_error(fmt::format("{} first arg must be str or a tuple of str, not {}",
                                kStart ? "startswith" : "endswith", in.type_name(value)));
    }
    return kStart ? text.starts_with(part->text()) : text.ends_with(part->text());
  };
  if (const Tuple* options = args[1].as<Tuple>()) {
    return Value::boolean(std::any_of(options->items.begin(), options->items.end(), matches));
  }
  return Value::boolean(matches(args[1]));
}

Value replace(Interp& in, Arguments& args) {
  const std::string& text = args.text(0);
  const std::string& old = args.text(1);
  const std::string& fresh = args.text(2);
  std::int64_t left = args.integer(3);
  if (old.empty()) in.refuse("replace() of an empty string is not supported");
  std::string out;
  std::size_t at = 0;
  while (left-- != 0) {
    const std::size_t found = text.find(old, at);
    if (found == std::string::npos) break;
    out.append(text, at, found - at);
    out += fresh;
    at = found + old.size();
    if (out.size() > in.limits().sequence) in.too_long();
  }
  out.append(text, at);
  return in.str(std::move(out));
}

/// The text from the third argument to the fourth, and how many letters lie before it.
std::pair<Value, std::int64_t> given_part(Interp& in, Arguments& args) {
  Value self = plain_of(args[0]);
  std::int64_t before = 0;
  if (args.has(2) || args.has(3)) {
    const auto end = [&](std::size_t i) { return args.has(i) ? args[i] : Value::none(); };
    const Ref<Slice> range = make_ref<Slice>(in.heap(), end(2), end(3), Value::none());
    const auto places = range->indices(in.length(self));
    if (places) before = places->start;
    self = in.get_item(self, range);
  }
  if (self.as<Str>() == nullptr) args.mismatch(0, "str");
  return {std::move(self), before};
}

Value count(Interp& in, Arguments& args) {
  const Value self = given_part(in, args).first;
  const std::string& text = self.as<Str>()->text();
  const std::string& part = args.text(1);
  if (part.empty()) return Value::integer(in.length(self) + 1);
  std::int64_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++found;
  return Value::integer(found);
}

template <bool kBackward, bool kRaises>
Value find(Interp& in, Arguments& args) {
  const auto [self, before] = given_part(in, args);
  const std::string& text = self.as<Str>()->text();
  const std::string& part = args.text(1);
  const std::size_t at = kBackward ? text.rfind(part) : find_text(text, part);
  if (at != std::string::npos)
    return Value::integer(before + utf8_length(std::string_view(text).substr(0, at)));
  if (kRaises) in.value_error("substring not found");
  return Value::integer(-1);
}

template <bool kBackward>
Value partition(Interp& in, Arguments& args) {
  const std::string& text = args.text(0);
  const std::string& separator = args.text(1);
  if (separator.empty()) in.value_error("empty separator");
  const std::size_t at = kBackward ? text.rfind(separator) : text.find(separator);
  if (at == std::string::npos) {
    return kBackward ? in.tuple({in.str(""), in.str(""), in.str(text)})
                     : in.tuple({in.str(text), in.str(""), in.str("")});
  }
  return in.tuple(
      {in.str(text.substr(0, at)), in.str(separator), in.str(text.substr(at + separator.size()))});
}

template <char (*kConvert)(char)>
Value convert(Interp& in, Arguments& args) {
  std::string out = args.text(0);
  std::transform(out.begin(), out.end(), out.begin(), kConvert);
  return in.str(std::move(out));
}

/// A text's first line: its bytes, and those of the mark that ends it, which is 0 at the end.
std::pair<std::size_t, std::size_t> line_of(std::string_view text) {
  constexpr std::string_view kMarks[] = {"\r\n",     "\n",           "\r",          "\v",
                                         "\f",       "\x1c",         "\x1d",        "\x1e",
                                         "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
  for (std::size_t at = 0; at < text.size(); ++at) {
    at += find_special(text.substr(at));
    if (at == text.size()) break;
    const auto c = static_cast<unsigned char>(text[at]);
    if (c > 0x1e && c != 0xc2 && c != 0xe2) continue;
    if (c == '\n') return {at, 1};
    for (const std::string_view mark : kMarks) {
      if (text.substr(at).starts_with(mark)) return {at, mark.size()};
    }
  }
  return {text.size(), 0};
}

Value words(Interp& in, Arguments& args, bool title) {
  std::string out = args.text(0);
  bool first = true;
  for (char& c : out) {
    c = first ? upper(c) : lower(c);
    first = title && !is_alpha(c);
  }
  return in.str(std::move(out));
}

Value justify(Interp& in, Arguments& args, char align) {
  return in.str(format_text(
      in, args.text(0),
      fmt::format("{}{}{}", args.text(2), align, std::max<std::int64_t>(0, args.integer(1)))));
}

template <bool (*kTest)(char)>
Value all_of(Interp& /*in*/, Arguments& args) {
  const std::string& text = args.text(0);
  return Value::boolean(!text.empty() && std::all_of(text.begin(), text.end(), kTest));
}

bool is_alphanumeric(char c) { return is_alpha(c) || is_decimal_digit(c); }
bool is_blank(char c) { return kBlank.find(c) != std::string_view::npos; }

constexpr FunctionRow kMethods[] = {
    {"strip(self, chars=None, /)", strip<true, true>},
    {"lstrip(self, chars=None, /)", strip<true, false>},
    {"rstrip(self, chars=None, /)", strip<false, true>},
    {"split(self, sep=None, maxsplit=-1)", split},
    {"rsplit(self, sep=None, maxsplit=-1)", rsplit},
    {"join(self, iterable, /)", join},
    {"startswith(self, prefix, start=None, end=None, /)", affix<true>},
    {"endswith(self, suffix, start=None, end=None, /)", affix<false>},
    {"replace(self, old, new, count=-1, /)", replace},
    {"find(self, sub, start=None, end=None, /)", find<false, false>},
    {"rfind(self, sub, start=None, end=None, /)", find<true, false>},
    {"index(self, sub, start=None, end=None, /)", find<false, true>},
    {"rindex(self, sub, start=None, end=None, /)", find<true, true>},
    {"partition(self, sep, /)", partition<false>},
    {"rpartition(self, sep, /)", partition<true>},
    {"lower(self, /)", convert<lower>},
    {"casefold(self, /)", convert<lower>},
    {"upper(self, /)", convert<upper>},
    {"capitalize(self, /)", [](Interp& in, Arguments& args) { return words(in, args, false); }},
    {"title(self, /)", [](Interp& in, Arguments& args) { return words(in, args, true); }},
    {"ljust(self, width, fillchar=' ', /)",
     [](Interp& in, Arguments& args) { return justify(in, args, '<'); }},
    {"rjust(self, width, fillchar=' ', /)",
     [](Interp& in, Arguments& args) { return justify(in, args, '>'); }},
    {"center(self, width, fillchar=' ', /)",
     [](Interp& in, Arguments& args) { return justify(in, args, '^'); }},
    {"isdigit(self, /)", all_of<is_decimal_digit>},
    {"isnumeric(self, /)", all_of<is_decimal_digit>},
    {"isdecimal(self, /)", all_of<is_decimal_digit>},
    {"isalpha(self, /)", all_of<is_alpha>},
    {"isalnum(self, /)", all_of<is_alphanumeric>},
    {"isspace(self, /)", all_of<is_blank>},
    {"isidentifier(self, /)",
     [](Interp&, Arguments& args) {
       const std::string& text = args.text(0);
       const auto part = [](char c) { return is_alphanumeric(c) || c == '_'; };
       return Value::boolean(!text.empty() && !is_decimal_digit(text[0]) &&
                             std::all_of(text.begin(), text.end(), part));
     }},
    {"isupper(self, /)",
     [](Interp&, Arguments& args) {
       const std::string& text = args.text(0);
       return Value::boolean(
           std::any_of(text.begin(), text.end(), is_alpha) &&
           std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; }));
     }},
    {"islower(self, /)",
     [](Interp&, Arguments& args) {
       const std::string& text = args.text(0);
       return Value::boolean(
           std::any_of(text.begin(), text.end(), is_alpha) &&
           std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; }));
     }},
    {"count(self, sub, start=None, end=None, /)", count},
    {"removeprefix(self, prefix, /)",
     [](Interp& in, Arguments& args) {
       const std::string& text = args.text(0);
       return text.starts_with(args.text(1)) ? in.str(text.substr(args.text(1).size())) : args[0];
     }},
    {"removesuffix(self, suffix, /)",
     [](Interp& in, Arguments& args) {
       const std::string& text = args.text(0);
       const std::string& end = args.text(1);
       return !end.empty() && text.ends_with(end) ? in.str(text.substr(0, text.size() - end.size()))
                                                  : args[0];
     }},
    {"zfill(self, width, /)",
     [](Interp& in, Arguments& args) {
       std::string out = args.text(0);
       const auto width =
           static_cast<std::size_t>(std::clamp<std::int64_t>(args.integer(1), 0, 1'000'000));
       const std::size_t at = !out.empty() && (out[0] == '-' || out[0] == '+') ? 1 : 0;
       if (out.size() < width) out.insert(at, width - out.size(), '0');
       return in.str(std::move(out));
     }},
    {"splitlines(self, keepends=False)",
     [](Interp& in, Arguments& args) {
       std::string_view text = args.text(0);
       const bool keeps_ends = args.boolean(1);
       if (!keeps_ends) {
         if (Value lines = late_lines(in, args[0], false); !lines.empty()) return lines;
       }
       std::vector<Value> out;
       // Mostly nothing but '\n' ends lines: that is found once.
       const std::size_t kept = keeps_ends ? 1 : 0;
       if (!has_other_line_ends(text)) {
         out.reserve(count_bytes(text, '\n') + 1);
         for (std::size_t begin = 0; begin < text.size();) {
           const std::size_t end = std::min(text.find('\n', begin), text.size());
           out.push_back(in.str(std::string(text.substr(begin, end + kept - begin))));
           begin = end + 1;
         }
         return in.list(std::move(out));
       }
       while (!text.empty()) {
         const auto [size, mark] = line_of(text);
         out.push_back(in.str(std::string(text.substr(0, keeps_ends ? size + mark : size))));
         text.remove_prefix(size + mark);
       }
       return in.list(std::move(out));
     }},
    {"translate(self, table, /)",
     [](Interp& in, Arguments& args) {
       const std::string text = args.text(0);
       std::string out;
       for (std::size_t at = 0; at < text.size();) {
         const std::size_t begin = at;
         const std::uint32_t code = next_code_point(text, at);
         const Value found = entry_of(in, args[1], code);
         if (found.empty())
           out.append(text, begin, at - begin);
         else if (found.is_integral())
           append_utf8(out, static_cast<std::uint32_t>(found.as_int()));
         else if (!found.is_none())
           out += in.to_str(found);
       }
       return in.str(std::move(out));
     }},
    {"expandtabs(self, tabsize=8)",
     [](Interp& in, Arguments& args) {
       const std::int64_t size = args.integer(1);
       std::string out;
       std::int64_t column = 0;
       for (const char c : args.text(0)) {
         if (c == '\t') {
           const std::int64_t spaces = size <= 0 ? 0 : size - column % size;
           out.append(static_cast<std::size_t>(spaces), ' ');
           column += spaces;
           continue;
         }
         out += c;
         const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
         column = c == '\n' || c == '\r' ? 0 : column + (continues ? 0 : 1);
       }
       return in.str(std::move(out));
     }},
    {"isascii(self, /)",
     [](Interp&, Arguments& args) {
       const std::string& text = args.text(0);
       return Value::boolean(std::all_of(
           text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80U; }));
     }},
    {"format(self, *args, **kwargs)",
     [](Interp& in, Arguments& args) {
       const std::vector<Value> positional = args[1].as<Tuple>()->items;
       return in.str(brace_format(in, args.text(0), positional, args[2]));
     }},
};

}  // namespace

void add_text_methods(Interp& in) {
  add_methods(in, *in.classes().str, kMethods);
  define(in, *in.classes().str, "maketrans(x, y=..., z=..., /)", make_translation);
  Value* make = in.classes().str->attrs.find(in.intern("maketrans"));
  *make = make_ref<MethodWrapper>(in.heap(), Kind::kStaticMethod, *make);
}

}  // namespace tidemark::lang
