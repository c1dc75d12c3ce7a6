#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/source.h"

namespace tidemark {

struct JsonMember;

/// One JSON value in memory. Numbers without fraction or exponent are kept as integers when they
/// fit.
struct JsonValue {
  enum class Kind : std::uint8_t {
    kNull,
    kBoolean,
    kInteger,
    kUnsigned,
    kReal,
    kText,
    kArray,
    kObject
  };
  Kind kind = Kind::kNull;
  bool boolean = false;
  std::int64_t integer = 0;            ///< kInteger: fits 64 signed bits
  std::uint64_t unsigned_integer = 0;  ///< kUnsigned: beyond that; kInteger >= 0: the same value
  double real = 0;                     ///< kReal; of the integers, the nearest
  std::string text;
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;  ///< in the order of the text
  SourceSpan at;

  /// The member's value, or nullptr. Cost: linear in the members.
  [[nodiscard]] const JsonValue* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

/// Reads one JSON document (RFC 8259). `name` is for messages; at most 64 levels deep.
/// Errors: InputError with one problem, at its line and column.
JsonValue read_json(std::string_view text, std::string_view name);

}  // namespace tidemark
