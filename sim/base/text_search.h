#pragma once

#include <string_view>

/// Searches in long texts, sixteen bytes at a time where the processor has SSE2.
namespace tidemark {

/// Where `part` first begins in `text`; npos: nowhere. The empty part begins at 0. Cost: about a
/// byte of `text` each half instruction where the part's first and last bytes seldom stand that far
/// apart; in the worst case that of memmem, which grows with the text's length alone.
std::size_t find_text(std::string_view text, std::string_view part);

/// Where the first byte stands that is below the space or not ASCII; the text's size: nowhere. Ends
/// of lines are such bytes (Python's str.splitlines).
std::size_t find_special(std::string_view text);

/// How often a byte stands in a text.
std::size_t count_bytes(std::string_view text, char byte);

/// The place of the first of two bytes; the text's size: nowhere.
std::size_t find_either(std::string_view text, char one, char other);

/// A bit for each of the sixteen bytes from `at` on that a scan of Python's code has to look at,
/// the lowest that of the first: brackets, quotes, '#', the backslash and what is below the space;
/// '&' and '|' too, which cost nothing to leave out. Of less than sixteen bytes: all of them.
unsigned code_marks(const char* at, std::size_t bytes);

/// Whether a text has a mark that ends a line for Python's str.splitlines(), other than '\n'.
bool has_other_line_ends(std::string_view text);

}  // namespace tidemark
