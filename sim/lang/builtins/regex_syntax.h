#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::lang {

/// Flags as Python's re numbers them.
enum RegexFlag : std::uint32_t {
  kIgnoreCase = 2,
  kLocale = 4,
  kMultiLine = 8,
  kDotAll = 16,
  kUnicode = 32,
  kVerbose = 64,
  kAscii = 256,
};

/// A regular expression of Python's in PCRE2's syntax.
struct RegexText {
  std::string pattern;
  std::vector<std::size_t> origins;  ///< of each byte: where it comes from in Python's
  std::uint32_t flags = 0;           ///< those given, and those that the expression begins with
  std::vector<std::pair<std::string, std::uint32_t>> names;  ///< of groups, with their numbers
  std::vector<std::uint32_t> closed;  ///< by group: how many were closed before it; [0] is unused
  std::string error;                  ///< as re.error says it, place included; empty: none
};

/// Translates what the two write differently (\Z, \v, \u, {,n}, sets, inline flags, references) and
/// refuses what Python refuses and PCRE2 knows. The rest is PCRE2's to judge.
/// Cost: linear in the length.
RegexText translate_regex(std::string_view pattern, std::uint32_t flags);

/// A text that stands in all that an expression matches, as far as that is plain to see: the
/// longest run of letters outside groups. Empty: there is none.
std::string needed_text(const RegexText& regex);

}  // namespace tidemark::lang
