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

}  // namespace tidemark
