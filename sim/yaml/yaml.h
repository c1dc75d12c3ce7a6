#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/problem.h"
#include "sim/base/source.h"

namespace tidemark::yaml {

struct Entry;

/// A YAML value with its place. Plain data.
struct Node {
  enum class Kind : std::uint8_t { kNull, kScalar, kList, kMap };
  enum class Style : std::uint8_t { kPlain, kQuoted, kBlock };
  Kind kind = Kind::kNull;
  /// Of a scalar; only plain ones are read as numbers, booleans or null.
  Style style = Style::kPlain;
  std::string text;            ///< of a scalar, escapes undone
  std::vector<Node> items;     ///< of a list
  std::vector<Entry> entries;  ///< of a map, in the order of the file; no key twice
  SourceSpan at;

  /// The value of a key; nullptr: not there, or no map.
  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
  [[nodiscard]] bool is_text() const { return kind == Kind::kScalar; }
  [[nodiscard]] bool is_plain() const { return kind == Kind::kScalar && style == Style::kPlain; }
};

struct Entry {
  std::string key;
  SourceSpan key_at;
  Node value;
};

/// Reads one document (an empty one is null). Anchors and aliases are followed; tags are not known.
/// Beyond YAML: in a flow list or map a plain text with an open parenthesis goes on to the closing
/// one, so that [Linear(784, 512), ReLU()] has two values. Errors: InputError: not YAML, a repeated
/// key, a key that is no scalar, a second document, or more than kMaxNodes.
Node parse(const std::shared_ptr<const SourceText>& source);
inline constexpr std::size_t kMaxNodes = 1'000'000;

/// A plain scalar's value by YAML's core rules (decimal integers; no octal, no yes and no).
/// std::nullopt: it is none, or too large.
std::optional<std::int64_t> integer(const Node& node);
std::optional<double> number(const Node& node);  ///< integers too; finite
std::optional<bool> boolean(const Node& node);

/// The value on one line, as YAML that reads back as the same value: "[8, 16]", "{\"lr\": 0.1}".
std::string text(const Node& node);

/// What a node is, for messages: "a list", "'lots'", "nothing".
std::string describe(const Node& node);

/// A scalar's text as a source of its own whose lines and columns are reported as the file's: code
/// inside YAML.
std::shared_ptr<const SourceText> embedded_source(const Node& node);

}  // namespace tidemark::yaml
