#include <cstring>

#include "sim/lang/builtins/regex_syntax.h"

/// What a text must have for an expression to match in it.
namespace tidemark::lang {

namespace {

/// Goes through an expression of PCRE2's once. What it does not know ends it without a text.
class NeededText {
 public:
  explicit NeededText(std::string_view pattern) : pattern_(pattern) {}

  std::string find() {
    while (at_ < pattern_.size()) {
      if (!step()) return {};
    }
    end_run();
    return std::move(longest_);
  }

 private:
  void end_run() {
    if (run_.size() > longest_.size()) longest_ = run_;
    run_.clear();
  }

  bool step() {
    const char c = pattern_[at_];
    switch (c) {
      case '|':
        return false;
      case '(':
        end_run();
        return group();
      case '[':
        end_run();
        return set();
      case '\\':
        return escape();
      case '.':
      case '^':
      case '$':
        end_run();
        ++at_;
        return true;
      case '*':
      case '?':
      case '{':
        drop_last();
        end_run();
        return quantifier();
      case '+':
        end_run();
        return quantifier();
      default:
        run_ += c;
        ++at_;
        return true;
    }
  }

  // The character before `*` may be missing: all of its bytes.
  void drop_last() {
    while (!run_.empty() && (static_cast<unsigned char>(run_.back()) & 0xC0U) == 0x80U)
      run_.pop_back();
    if (!run_.empty()) run_.pop_back();
  }

  bool quantifier() {
    if (pattern_[at_] == '{') {
      at_ = pattern_.find('}', at_);
      if (at_ == std::string_view::npos) return false;
    }
    ++at_;
    if (at_ < pattern_.size() && (pattern_[at_] == '?' || pattern_[at_] == '+')) ++at_;
    return true;
  }

  bool escape() {
    if (at_ + 1 >= pattern_.size()) return false;
    const char c = pattern_[at_ + 1];
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80) {
      if (std::strchr("wWsSdDbBAzZ", c) == nullptr) return false;
      end_run();
    } else {
      run_ += c;
    }
    at_ += 2;
    return true;
  }

  // To behind the ']'. The first character is one of the set, a ']' too.
  bool set() {
    ++at_;
    if (at_ < pattern_.size() && pattern_[at_] == '^') ++at_;
    for (bool is_first = true; at_ < pattern_.size(); is_first = false, ++at_) {
      if (pattern_[at_] == '[' && !is_first) return false;  // [:alpha:] and what else it may mean
      if (pattern_[at_] == '\\') {
        ++at_;
      } else if (pattern_[at_] == ']' && !is_first) {
        ++at_;
        return true;
      }
    }
    return false;
  }

  // To behind the ')': what is inside may be missing, or one of several.
  bool group() {
    int depth = 0;
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '[') {
        if (!set()) return false;
        continue;
      }
      if (c == '(') {
        ++depth;
        const char kind = at_ + 2 < pattern_.size() ? pattern_[at_ + 2] : '\0';
        const bool is_special = at_ + 1 < pattern_.size() &&
                                (pattern_[at_ + 1] == '*' || pattern_[at_ + 1] == '?');
        if (is_special && (pattern_[at_ + 1] == '*' || std::strchr(":=!<P", kind) == nullptr))
          return false;  // flags, conditions, verbs
      }
      if (c == '\\') ++at_;
      ++at_;
      if (c == ')' && --depth == 0) return true;
    }
    return false;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  std::string run_;
  std::string longest_;
};

}  // namespace

std::string needed_text(const RegexText& regex) {
  if ((regex.flags & (kIgnoreCase | kVerbose | kLocale)) != 0) return {};
  return NeededText(regex.pattern).find();
}

}  // namespace tidemark::lang
