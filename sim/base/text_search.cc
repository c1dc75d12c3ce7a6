#include "sim/base/text_search.h"

#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tidemark {

namespace {

bool is_special(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x80;
}

std::size_t find_the_slow_way(std::string_view text, std::string_view part) {
  const void* const found = memmem(text.data(), text.size(), part.data(), part.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

#ifdef __SSE2__
constexpr std::size_t kBlock = sizeof(__m128i);

__m128i block_at(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

/// A bit for each byte of a block: that of the lowest address is the lowest.
unsigned bits_of(__m128i block) { return static_cast<unsigned>(_mm_movemask_epi8(block)); }
#endif

}  // namespace

std::size_t find_text(std::string_view text, std::string_view part) {
  if (part.size() < 2 || part.size() > text.size()) return text.find(part);
  std::size_t at = 0;
#ifdef __SSE2__
  const std::size_t last = part.size() - 1;
  const __m128i first_bytes = _mm_set1_epi8(part.front());
  const __m128i last_bytes = _mm_set1_epi8(part.back());
  // Bytes that comparisons may cost before the search that grows with the text alone takes over.
  std::size_t patience = 4 * text.size();
  for (; text.size() - at >= last + kBlock; at += kBlock) {
    const char* const block = text.data() + at;
    unsigned bits = bits_of(_mm_and_si128(_mm_cmpeq_epi8(block_at(block), first_bytes),
                                          _mm_cmpeq_epi8(block_at(block + last), last_bytes)));
    for (; bits != 0; bits &= bits - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(bits));
      if (std::memcmp(block + i, part.data(), part.size()) == 0) return at + i;
      if (patience < part.size()) {
        const std::size_t found = find_the_slow_way(text.substr(at), part);
        return found == std::string_view::npos ? found : at + found;
      }
      patience -= part.size();
    }
  }
#endif
  const std::size_t found = find_the_slow_way(text.substr(at), part);
  return found == std::string_view::npos ? found : at + found;
}

std::size_t find_special(std::string_view text) {
  std::size_t at = 0;
#ifdef __SSE2__
  // As signed numbers all that is not ASCII is below the space as well.
  const __m128i space = _mm_set1_epi8(' ');
  for (; text.size() - at >= kBlock; at += kBlock) {
    const unsigned bits = bits_of(_mm_cmplt_epi8(block_at(text.data() + at), space));
    if (bits != 0) return at + static_cast<std::size_t>(std::countr_zero(bits));
  }
#endif
  while (at < text.size() && !is_special(text[at])) ++at;
  return at;
}

}  // namespace tidemark
