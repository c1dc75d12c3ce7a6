#include "sim/lang/builtins/regex.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <memory>

#include "sim/base/text_search.h"
#include "sim/lang/builtins/library.h"
#include "sim/lang/builtins/regex_syntax.h"

namespace tidemark::lang {

namespace {

// A match that tries more ways is given up; so many take about a second.
constexpr std::uint32_t kMostTries = 20'000'000;
constexpr std::uint32_t kMostHeapKiB = 64U << 10U;
// In steps, so that the clock is looked at every hundred matches.
constexpr std::uint64_t kStepsOfMatch = 64;
constexpr std::size_t kBytesOfStep = 64;

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
struct FreeContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

/// Whether a text is UTF-8 as PCRE2 wants it: what programs make of surrogates is not.
bool is_well_formed(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t at = 0; at < text.size();) {
    const unsigned char first = byte(at);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (length == 1) {
      ++at;
      continue;
    }
    if (first < 0xC2 || first > 0xF4 || text.size() - at < length) return false;
    for (std::size_t i = 1; i < length; ++i) {
      if ((byte(at + i) & 0xC0U) != 0x80) return false;
    }
    const unsigned char second = byte(at + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) {
      return false;
    }
    at += length;
  }
  return true;
}

/// From bytes to characters and back; places near the last one asked for are found fast.
class Characters {
 public:
  Characters() = default;
  Characters(std::string_view text, bool is_ascii)
      : text_(text), is_ascii_(is_ascii), is_well_formed_(is_ascii_ || is_well_formed(text)) {}

  [[nodiscard]] bool well_formed() const { return is_well_formed_; }
  [[nodiscard]] std::size_t bytes_before(std::int64_t character) {
    if (is_ascii_) return std::min(static_cast<std::size_t>(character), text_.size());
    const bool is_behind = character < character_;
    const std::size_t from = is_behind ? 0 : byte_;
    const std::size_t byte =
        from + utf8_offset(text_.substr(from), character - (is_behind ? 0 : character_));
    if (byte < text_.size()) {
      byte_ = byte;
      character_ = character;
    }
    return byte;
  }
  std::int64_t at(std::size_t byte) {
    if (is_ascii_) return static_cast<std::int64_t>(byte);
    character_ += byte >= byte_ ? utf8_length(text_.substr(byte_, byte - byte_))
                                : -utf8_length(text_.substr(byte, byte_ - byte));
    byte_ = byte;
    return character_;
  }

 private:
  std::string_view text_;
  bool is_ascii_ = true;
  bool is_well_formed_ = true;
  std::size_t byte_ = 0;
  std::int64_t character_ = 0;
};

/// A compiled expression, as the library's `re` holds it.
class Regex final : public Instance {
 public:
  Regex(Interp& in, Ref<ClassObject> type, pcre2_code* code, RegexText text, std::uint32_t options)
      : Instance(in.heap(), std::move(type), Kind::kInstance, kHostKind),
        code_(code),
        match_(pcre2_match_data_create_from_pattern(code, nullptr)),
        context_(pcre2_match_context_create(nullptr)),
        text_(std::move(text)),
        needed_(needed_text(text_)),
        options_(options) {
    if (match_ == nullptr || context_ == nullptr) throw std::bad_alloc();
    pcre2_set_match_limit(context_.get(), kMostTries);
    pcre2_set_heap_limit(context_.get(), kMostHeapKiB);
  }
  static bool is(const Object& o) {
    return o.kind() == Kind::kInstance && o.host_kind() == kHostKind;
  }

  [[nodiscard]] const RegexText& text() const { return text_; }
  [[nodiscard]] std::uint32_t groups() const {
    return static_cast<std::uint32_t>(text_.closed.size() - 1);
  }
  /// The places of a text, which is looked through once for all calls that follow one another.
  /// Good until the next call.
  Characters& places_in(const Value& value, std::string_view text);
  /// Where it matches from `begin` on, in bytes: pairs of each group, the whole first. Empty: it
  /// does not. Requires: `subject` is the text of the last places_in() or begins it. Errors:
  /// InputError where the limits are reached.
  std::span<const PCRE2_SIZE> find(Interp& in, std::string_view subject, std::size_t begin,
                                   std::uint32_t options);

 private:
  const pcre2_code* code_for_subject();

  static constexpr std::uint16_t kHostKind = 0xFFFD;  // no other floor's
  std::unique_ptr<pcre2_code, FreeCode> code_;
  std::unique_ptr<pcre2_match_data, FreeMatch> match_;
  std::unique_ptr<pcre2_match_context, FreeContext> context_;
  RegexText text_;
  std::string needed_;  ///< stands in all that is matched; empty: that is not known
  std::uint32_t options_;
  std::unique_ptr<pcre2_code, FreeCode> code_for_all_;  ///< for texts that are not well formed
  Value last_;                                          ///< the text that places_ are of
  Characters places_;
};

/// PCRE2's newline is Python's.
std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> compile_context() {
  std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  if (context == nullptr) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_compile_extra_options(context.get(), PCRE2_EXTRA_ALLOW_SURROGATE_ESCAPES);
  return context;
}

Characters& Regex::places_in(const Value& value, std::string_view text) {
  if (value.as<Str>() == nullptr || !value.same_as(last_)) {
    const auto* whole = value.as<Str>();
    const bool is_ascii = whole != nullptr && whole->text().size() == text.size()
                              ? whole->is_ascii()
                              : std::ranges::none_of(text, [](char c) { return (c & 0x80) != 0; });
    places_ = Characters(text, is_ascii);
    // An instance of a subclass may hold this in turn.
    last_ = value.as<Str>() == nullptr ? Value() : value;
  }
  return places_;
}

/// PCRE2 looks through the rest of an ill-formed text for each match.
const pcre2_code* Regex::code_for_subject() {
  if (places_.well_formed()) return code_.get();
  if (code_for_all_ == nullptr) {
    int error = 0;
    PCRE2_SIZE place = 0;
    code_for_all_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text_.pattern.data()),
                                      text_.pattern.size(), options_ | PCRE2_MATCH_INVALID_UTF,
                                      &error, &place, compile_context().get()));
    if (code_for_all_ == nullptr) throw std::bad_alloc();  // it was compiled before
  }
  return code_for_all_.get();
}

std::span<const PCRE2_SIZE> Regex::find(Interp& in, std::string_view subject, std::size_t begin,
                                        std::uint32_t options) {
  // A search in a long text that has not what it takes ends where a search for that does.
  constexpr std::size_t kLong = 256;
  if (needed_.size() > 3 && (options & PCRE2_ANCHORED) == 0 && subject.size() - begin > kLong &&
      find_text(subject.substr(begin), needed_) == std::string_view::npos) {
    in.charge(kStepsOfMatch + (subject.size() - begin) / kBytesOfStep);
    return {};
  }
  const auto* bytes = reinterpret_cast<PCRE2_SPTR>(subject.data());
  if (places_.well_formed()) options |= PCRE2_NO_UTF_CHECK;
  const int found = pcre2_match(code_for_subject(), bytes, subject.size(), begin, options,
                                match_.get(), context_.get());
  const std::size_t end = found < 0 ? subject.size() : pcre2_get_ovector_pointer(match_.get())[1];
  in.charge(kStepsOfMatch + (std::max(end, begin) - begin) / kBytesOfStep);
  if (found == PCRE2_ERROR_NOMATCH) return {};
  if (found < 0) {
    in.refuse(fmt::format("matching a regular expression was given up after {} tries", kMostTries),
              "repeats within repeats, such as (a+)+, try every way to share a text between them");
  }
  return {pcre2_get_ovector_pointer(match_.get()), std::size_t{2} * (groups() + 1)};
}

/// The words of sre for what PCRE2 finds wrong; empty: PCRE2's own are as good.
std::string_view words_of(int error) {
  switch (error) {
    case PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS:
      return "missing ), unterminated subpattern";
    case PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS:
      return "unbalanced parenthesis";
    case PCRE2_ERROR_QUANTIFIER_INVALID:
      return "nothing to repeat";
    case PCRE2_ERROR_QUANTIFIER_OUT_OF_ORDER:
      return "min repeat greater than max repeat";
    case PCRE2_ERROR_QUANTIFIER_TOO_BIG:
      return "the repetition number is too large";
    case PCRE2_ERROR_CLASS_RANGE_ORDER:
    case PCRE2_ERROR_CLASS_INVALID_RANGE:
      return "bad character range";
    case PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH:
      return "look-behind requires fixed-width pattern";
    default:
      return {};
  }
}

std::string message_of(int error, PCRE2_SIZE place, const RegexText& text) {
  std::string words(words_of(error));
  if (words.empty()) {
    std::array<PCRE2_UCHAR, 256> buffer{};
    pcre2_get_error_message(error, buffer.data(), buffer.size());
    words = reinterpret_cast<const char*>(buffer.data());
  }
  const std::size_t last = text.origins.empty() ? 0 : text.origins.size() - 1;
  const std::size_t at = place == 0 ? 0 : std::min<std::size_t>(place - 1, last);
  return fmt::format("{} at position {}", words, text.origins.empty() ? 0 : text.origins[at]);
}

/// PCRE2 takes a surrogate only as an escape: `\x{d800}` for the three bytes that stand for it.
void escape_surrogates(RegexText& text) {
  const auto is_surrogate = [&](std::size_t i) {
    return i + 2 < text.pattern.size() && text.pattern[i] == '\xED' &&
           static_cast<unsigned char>(text.pattern[i + 1]) >= 0xA0;
  };
  const bool has_origins = text.origins.size() == text.pattern.size();
  for (std::size_t i = 0; i < text.pattern.size(); ++i) {
    if (!is_surrogate(i)) continue;
    const auto low = [&](std::size_t at) {
      return static_cast<unsigned>(static_cast<unsigned char>(text.pattern[at]) & 0x3FU);
    };
    const std::string escape =
        fmt::format("\\x{{{:x}}}", 0xD000U | (low(i + 1) << 6U) | low(i + 2));
    text.pattern.replace(i, 3, escape);
    const auto at = static_cast<std::ptrdiff_t>(i);
    if (has_origins)
      text.origins.insert(text.origins.begin() + at, escape.size() - 3, text.origins[i]);
    i += escape.size() - 1;
  }
}

/// The expression, or a text that says what is wrong with it.
Value compile(Interp& in, Arguments& args) {
  RegexText text = translate_regex(args.text(0), static_cast<std::uint32_t>(args.integer(1)));
  if (!text.error.empty()) return in.str(text.error);
  escape_surrogates(text);
  std::uint32_t options = PCRE2_UTF | PCRE2_ALT_CIRCUMFLEX;
  const auto set = [&](RegexFlag flag, std::uint32_t option) {
    if ((text.flags & flag) != 0) options |= option;
  };
  set(kIgnoreCase, PCRE2_CASELESS);
  set(kMultiLine, PCRE2_MULTILINE);
  set(kDotAll, PCRE2_DOTALL);
  if ((text.flags & kAscii) == 0) options |= PCRE2_UCP;
  int error = 0;
  PCRE2_SIZE place = 0;
  in.charge(kStepsOfMatch + text.pattern.size());
  pcre2_code* const code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.pattern.data()), text.pattern.size(), options,
                    &error, &place, compile_context().get());
  if (code == nullptr) return in.str(message_of(error, place, text));
  return make_ref<Regex>(in, in.classes().object, code, std::move(text), options);
}

/// The group that was closed last, of those that took part; None: there is none.
Value last_group(const Regex& regex, std::span<const PCRE2_SIZE> spans) {
  const std::vector<std::uint32_t>& closed = regex.text().closed;
  std::size_t last = 0;
  for (std::size_t group = 1; group < closed.size(); ++group) {
    if (spans[2 * group] == PCRE2_UNSET) continue;
    const auto key = [&](std::size_t g) { return std::pair(spans[2 * g + 1], closed[g]); };
    if (last == 0 || key(group) > key(last)) last = group;
  }
  return last == 0 ? Value::none() : Value::integer(static_cast<std::int64_t>(last));
}

/// (start, end) of the whole and of each group in characters, -1 where it took no part; then the
/// last group.
Value spans_of(Interp& in, const Regex& regex, std::span<const PCRE2_SIZE> spans,
               Characters& characters) {
  std::vector<Value> out;
  out.reserve(spans.size() + 1);
  for (const PCRE2_SIZE byte : spans)
    out.push_back(Value::integer(byte == PCRE2_UNSET ? -1 : characters.at(byte)));
  out.push_back(last_group(regex, spans));
  return in.tuple(std::move(out));
}

/// Finds one match after another until `take`, which gets the places of each, says false.
template <class Take>
void find_each(Interp& in, Regex& regex, std::string_view text, std::size_t begin,
               const Take& take) {
  std::uint32_t options = 0;
  for (std::size_t at = begin; at <= text.size();) {
    const auto spans = regex.find(in, text, at, options);
    if (spans.empty() || !take(spans)) return;
    // Where nothing was matched, something has to be from there on.
    options = spans[0] == spans[1] ? PCRE2_NOTEMPTY_ATSTART : 0U;
    at = spans[1];
  }
}

/// The text up to `endpos` and where `pos` is in it.
struct Subject {
  Subject(Arguments& args, Regex& regex)
      : text(args.text(1)),
        from(std::max<std::int64_t>(0, args.integer(2))),
        to(std::max<std::int64_t>(0, args.integer(3))),
        characters(regex.places_in(args[1], text)),
        begin(characters.bytes_before(from)) {
    // Mostly the end is the text's: it is not looked for.
    if (to < static_cast<std::int64_t>(text.size()))
      text = text.substr(0, characters.bytes_before(to));
  }
  std::string_view text;
  std::int64_t from;
  std::int64_t to;
  Characters& characters;
  std::size_t begin;
};

constexpr FunctionRow kFunctions[] = {
    {"compile(pattern, flags)", compile},
    {"describe(regex)",
     [](Interp& in, Arguments& args) {
       const auto& regex = args.object<Regex>(0, "a regular expression");
       const Ref<Dict> names = in.dict();
       for (const auto& [name, group] : regex.text().names)
         names->table.set(in, in.str(name), Value::integer(group));
       return in.tuple({Value::integer(regex.groups()), names, Value::integer(regex.text().flags)});
     }},
    {"find(regex, text, pos, endpos, is_anchored, is_whole)",
     [](Interp& in, Arguments& args) {
       auto& regex = args.object<Regex>(0, "a regular expression");
       Subject subject(args, regex);
       if (subject.begin > subject.text.size()) return Value::none();
       const bool is_whole = args.boolean(5);
       const std::uint32_t options = (args.boolean(4) || is_whole ? PCRE2_ANCHORED : 0U) |
                                     (is_whole ? PCRE2_ENDANCHORED : 0U);
       const auto spans = regex.find(in, subject.text, subject.begin, options);
       return spans.empty() ? Value::none() : spans_of(in, regex, spans, subject.characters);
     }},
    {"find_all(regex, text, pos, endpos, most)",
     [](Interp& in, Arguments& args) {
       auto& regex = args.object<Regex>(0, "a regular expression");
       Subject subject(args, regex);
       const std::int64_t most = args.integer(4);
       std::vector<Value> out;
       find_each(in, regex, subject.text, subject.begin, [&](const auto& spans) {
         if (out.size() >= in.limits().sequence) in.too_long();
         out.push_back(spans_of(in, regex, spans, subject.characters));
         return static_cast<std::int64_t>(out.size()) != most;
       });
       return in.list(std::move(out));
     }},
    // What the matches' group is, "" where it took no part: the whole of each, or its only group.
    {"find_texts(regex, text, pos, endpos, group)",
     [](Interp& in, Arguments& args) {
       auto& regex = args.object<Regex>(0, "a regular expression");
       Subject subject(args, regex);
       const auto group = static_cast<std::size_t>(args.integer(4));
       std::vector<Value> out;
       find_each(in, regex, subject.text, subject.begin, [&](const auto& spans) {
         if (out.size() >= in.limits().sequence) in.too_long();
         const PCRE2_SIZE begin = spans[2 * group];
         out.push_back(in.str(begin == PCRE2_UNSET ? std::string()
                                                   : std::string(subject.text.substr(
                                                         begin, spans[2 * group + 1] - begin))));
         return true;
       });
       return in.list(std::move(out));
     }},
};

}  // namespace

void fill_regex(Interp& interp, Module& module) { add_functions(interp, module, kFunctions); }

}  // namespace tidemark::lang
