#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace tidemark::yaml {

struct Map;

/// What a value of a map may be. The tables of these are what readers take limits and choices from,
/// and what the schema for editors is made of. Made by the functions below; what they point to
/// lives as long as the program.
struct Form {
  enum class Kind : std::uint8_t {
    kAny,      ///< anything
    kText,     ///< any scalar, as it is written
    kName,     ///< a text that `pattern` matches, and no number
    kInteger,  ///< from `least` to `most`
    kNumber,   ///< from `least` to `most`
    kBoolean,
    kBytes,   ///< whole bytes, or an amount with its unit
    kChoice,  ///< one of `choices`
    kMap,     ///< with the keys of `map`
    kMapOf,   ///< with keys of the user's own (`pattern`), each with an `item`
    kListOf,  ///< of at least `least` of `item`
  };
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  Kind kind = Kind::kAny;
  std::int64_t least = 0;
  std::int64_t most = kNoLimit;
  std::span<const std::string_view> choices;
  /// A regular expression for a text, or the keys of a kMapOf; empty: any.
  std::string_view pattern;
  const Map* map = nullptr;
  const Form* item = nullptr;
  std::vector<std::string_view> (*examples)() = nullptr;  ///< texts to offer; null: none
  const Form* otherwise = nullptr;  ///< another form that the value may have; null: none

  /// The same with another form to choose from, which must outlive it.
  [[nodiscard]] constexpr Form either(const Form& other) const {
    Form both = *this;
    both.otherwise = &other;
    return both;
  }
};

/// One key that a map may have.
struct Field {
  std::string_view key;
  Form form;
  std::string_view about;  ///< one line for people who write the file
  bool required = false;
};

/// All keys that a map may have, in the order in which they are documented.
struct Map {
  std::span<const Field> fields;

  /// nullptr: there is no such key.
  [[nodiscard]] constexpr const Field* find(std::string_view key) const {
    for (const Field& field : fields) {
      if (field.key == key) return &field;
    }
    return nullptr;
  }
  [[nodiscard]] std::vector<std::string_view> keys() const {
    std::vector<std::string_view> keys;
    keys.reserve(fields.size());
    for (const Field& field : fields) keys.push_back(field.key);
    return keys;
  }
};

namespace form {

constexpr Form of_kind(Form::Kind kind) {
  Form form;
  form.kind = kind;
  return form;
}
constexpr Form any() { return of_kind(Form::Kind::kAny); }
constexpr Form boolean() { return of_kind(Form::Kind::kBoolean); }
constexpr Form bytes() { return of_kind(Form::Kind::kBytes); }
constexpr Form text(std::string_view pattern = {}) {
  Form form = of_kind(Form::Kind::kText);
  form.pattern = pattern;
  return form;
}
constexpr Form name(std::string_view pattern) {
  Form form = of_kind(Form::Kind::kName);
  form.pattern = pattern;
  return form;
}
constexpr Form text_like(std::vector<std::string_view> (*examples)()) {
  Form form = of_kind(Form::Kind::kText);
  form.examples = examples;
  return form;
}
constexpr Form limited(Form::Kind kind, std::int64_t least, std::int64_t most) {
  Form form = of_kind(kind);
  form.least = least;
  form.most = most;
  return form;
}
constexpr Form integer(std::int64_t least, std::int64_t most = Form::kNoLimit) {
  return limited(Form::Kind::kInteger, least, most);
}
constexpr Form number(std::int64_t least, std::int64_t most = Form::kNoLimit) {
  return limited(Form::Kind::kNumber, least, most);
}
constexpr Form choice(std::span<const std::string_view> choices) {
  Form form = of_kind(Form::Kind::kChoice);
  form.choices = choices;
  return form;
}
constexpr Form map(const Map& map) {
  Form form = of_kind(Form::Kind::kMap);
  form.map = &map;
  return form;
}
constexpr Form map_of(const Form& item, std::string_view pattern = {}) {
  Form form = of_kind(Form::Kind::kMapOf);
  form.item = &item;
  form.pattern = pattern;
  return form;
}
constexpr Form list_of(const Form& item, std::int64_t least = 0) {
  Form form = of_kind(Form::Kind::kListOf);
  form.item = &item;
  form.least = least;
  return form;
}

}  // namespace form

}  // namespace tidemark::yaml
