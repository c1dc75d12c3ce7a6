#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace tidemark::lang {

struct YamlMap;

/// What a value of a map may be. The tables of these are what readers take limits and choices from,
/// and what the schema for editors is made of. Made by the functions below; what they point to
/// lives as long as the program.
struct YamlForm {
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
  std::string_view
      pattern;  ///< a regular expression for a text, or the keys of a kMapOf; empty: any
  const YamlMap* map = nullptr;
  const YamlForm* item = nullptr;
  std::vector<std::string_view> (*examples)() = nullptr;  ///< texts to offer; null: none
  const YamlForm* otherwise = nullptr;  ///< another form that the value may have; null: none

  /// The same with another form to choose from, which must outlive it.
  [[nodiscard]] constexpr YamlForm either(const YamlForm& other) const {
    YamlForm both = *this;
    both.otherwise = &other;
    return both;
  }
};

/// One key that a map may have.
struct YamlField {
  std::string_view key;
  YamlForm form;
  std::string_view about;  ///< one line for people who write the file
  bool required = false;
};

/// All keys that a map may have, in the order in which they are documented.
struct YamlMap {
  std::span<const YamlField> fields;

  /// nullptr: there is no such key.
  [[nodiscard]] constexpr const YamlField* find(std::string_view key) const {
    for (const YamlField& field : fields) {
      if (field.key == key) return &field;
    }
    return nullptr;
  }
  [[nodiscard]] std::vector<std::string_view> keys() const {
    std::vector<std::string_view> keys;
    keys.reserve(fields.size());
    for (const YamlField& field : fields) keys.push_back(field.key);
    return keys;
  }
};

namespace form {

constexpr YamlForm of_kind(YamlForm::Kind kind) {
  YamlForm form;
  form.kind = kind;
  return form;
}
constexpr YamlForm any() { return of_kind(YamlForm::Kind::kAny); }
constexpr YamlForm boolean() { return of_kind(YamlForm::Kind::kBoolean); }
constexpr YamlForm bytes() { return of_kind(YamlForm::Kind::kBytes); }
constexpr YamlForm text(std::string_view pattern = {}) {
  YamlForm form = of_kind(YamlForm::Kind::kText);
  form.pattern = pattern;
  return form;
}
constexpr YamlForm name(std::string_view pattern) {
  YamlForm form = of_kind(YamlForm::Kind::kName);
  form.pattern = pattern;
  return form;
}
constexpr YamlForm text_like(std::vector<std::string_view> (*examples)()) {
  YamlForm form = of_kind(YamlForm::Kind::kText);
  form.examples = examples;
  return form;
}
constexpr YamlForm limited(YamlForm::Kind kind, std::int64_t least, std::int64_t most) {
  YamlForm form = of_kind(kind);
  form.least = least;
  form.most = most;
  return form;
}
constexpr YamlForm integer(std::int64_t least, std::int64_t most = YamlForm::kNoLimit) {
  return limited(YamlForm::Kind::kInteger, least, most);
}
constexpr YamlForm number(std::int64_t least, std::int64_t most = YamlForm::kNoLimit) {
  return limited(YamlForm::Kind::kNumber, least, most);
}
constexpr YamlForm choice(std::span<const std::string_view> choices) {
  YamlForm form = of_kind(YamlForm::Kind::kChoice);
  form.choices = choices;
  return form;
}
constexpr YamlForm map(const YamlMap& map) {
  YamlForm form = of_kind(YamlForm::Kind::kMap);
  form.map = &map;
  return form;
}
constexpr YamlForm map_of(const YamlForm& item, std::string_view pattern = {}) {
  YamlForm form = of_kind(YamlForm::Kind::kMapOf);
  form.item = &item;
  form.pattern = pattern;
  return form;
}
constexpr YamlForm list_of(const YamlForm& item, std::int64_t least = 0) {
  YamlForm form = of_kind(YamlForm::Kind::kListOf);
  form.item = &item;
  form.least = least;
  return form;
}

}  // namespace form

}  // namespace tidemark::lang
