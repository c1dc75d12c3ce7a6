#pragma once

#include <string>
#include <utility>

#include "sim/base/hash.h"
#include "sim/lang/values/utf8.h"
#include "sim/lang/values/value.h"

namespace tidemark::lang {

/// A string; immutable.
class Str final : public Object {
 public:
  explicit Str(std::string text) : Object(Kind::kStr), text_(std::move(text)) {}
  static bool is(const Object& o) { return o.kind() == Kind::kStr; }
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Of Python: its code points. They are counted once.
  [[nodiscard]] std::int64_t length() const {
    if (length_ < 0) length_ = count_code_points(text_);
    return length_;
  }
  [[nodiscard]] std::uint64_t hash() const {
    if (hash_ == 0) hash_ = hash_text(text_) | 1U;
    return hash_;
  }

 private:
  std::string text_;
  mutable std::uint64_t hash_ = 0;
  mutable std::int64_t length_ = -1;
};

}  // namespace tidemark::lang
