#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/hash.h"
#include "sim/base/text_search.h"
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
  /// One that is all ASCII has as many code points as bytes.
  [[nodiscard]] bool is_ascii() const { return static_cast<std::size_t>(length()) == text_.size(); }
  /// Whether nothing but '\n' ends lines, of all that does for str.splitlines(). Looked for once.
  [[nodiscard]] bool has_plain_lines() const {
    if (lines_ == Lines::kUnknown)
      lines_ = has_other_line_ends(text_) ? Lines::kOther : Lines::kPlain;
    return lines_ == Lines::kPlain;
  }
  /// Where a part first begins; npos: nowhere. Of a long text the answer is kept: programs that
  /// look through files look for the same in each, often more than once.
  [[nodiscard]] std::size_t find(std::string_view part) const;
  /// How often '\n' stands before a byte. It is kept, and counted from the nearest before it.
  [[nodiscard]] std::size_t line_ends_before(std::size_t byte) const;
  [[nodiscard]] std::uint64_t hash() const {
    if (hash_ == 0) hash_ = hash_text(text_) | 1U;
    return hash_;
  }

 private:
  static constexpr std::int64_t kMarkStep = 64;
  using Marks = std::vector<std::size_t>;
  /// What was found out about a long text.
  struct Notes {
    struct Found {
      std::string part;
      std::size_t at = 0;
    };
    struct Counted {
      std::size_t byte = 0;
      std::size_t line_ends = 0;
    };
    std::vector<Found> found;
    std::vector<Counted> counted;
  };
  [[nodiscard]] Notes& notes() const;
  enum class Lines : std::uint8_t { kUnknown, kPlain, kOther };

  mutable Lines lines_ = Lines::kUnknown;
  std::string text_;
  mutable std::uint64_t hash_ = 0;
  mutable std::int64_t length_ = -1;
  mutable std::unique_ptr<const Marks> marks_;  ///< where each kMarkStep-th code point begins
  mutable std::unique_ptr<Notes> notes_;
};

}  // namespace tidemark::lang
