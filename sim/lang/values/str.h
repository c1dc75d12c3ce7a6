#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

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
  /// Where the i-th code point begins in text(). Requires: 0 <= i <= length(). Cost: that of
  /// kMarkStep code points; the first time, of a text that is not ASCII, the whole text and 8 bytes
  /// for each kMarkStep of its code points.
  [[nodiscard]] std::size_t offset(std::int64_t i) const;
  [[nodiscard]] std::uint64_t hash() const {
    if (hash_ == 0) hash_ = hash_text(text_) | 1U;
    return hash_;
  }

 private:
  static constexpr std::int64_t kMarkStep = 64;
  using Marks = std::vector<std::size_t>;

  std::string text_;
  mutable std::uint64_t hash_ = 0;
  mutable std::int64_t length_ = -1;
  mutable std::unique_ptr<const Marks> marks_;  ///< where each kMarkStep-th code point begins
};

}  // namespace tidemark::lang
