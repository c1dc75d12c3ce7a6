#include "sim/base/text_search.h"

#include <algorithm>
#include <bit>
#include <cstdint>
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

/// Whether a mark other than '\n' begins a text. Source: CPython's str.splitlines.
bool ends_line(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x80) return (byte >= 0x0b && byte <= 0x0d) || (byte >= 0x1c && byte <= 0x1e);
  return text.starts_with("\xc2\x85") || text.starts_with("\xe2\x80\xa8") ||
         text.starts_with("\xe2\x80\xa9");
}

std::size_t find_the_slow_way(std::string_view text, std::string_view part) {
  const void* const found = memmem(text.data(), text.size(), part.data(), part.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::uint16_t pair_at(const char* at) {
  std::uint16_t pair = 0;
  std::memcpy(&pair, at, sizeof pair);
  return pair;
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
  const auto candidates = [&](const char* block) {
    return _mm_and_si128(_mm_cmpeq_epi8(block_at(block), first_bytes),
                         _mm_cmpeq_epi8(block_at(block + last), last_bytes));
  };
  const std::uint16_t head = pair_at(part.data() + last / 2);
  for (; text.size() - at >= last + kBlock; at += kBlock) {
    const char* block = text.data() + at;
    __m128i here = candidates(block);
    if (text.size() - at >= last + 2 * kBlock) {
      const __m128i next = candidates(block + kBlock);
      if (bits_of(_mm_or_si128(here, next)) == 0) {
        at += kBlock;
        continue;
      }
    }
    unsigned bits = bits_of(here);
    for (; bits != 0; bits &= bits - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(bits));
      if (pair_at(block + i + last / 2) != head) continue;
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

std::size_t count_bytes(std::string_view text, char byte) {
  std::size_t count = 0;
  std::size_t at = 0;
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(byte);
  const __m128i zero = _mm_setzero_si128();
  while (text.size() - at >= kBlock) {
    // Each byte counts up to 255, downward as a comparison gives -1.
    const std::size_t blocks = std::min<std::size_t>((text.size() - at) / kBlock, 255);
    __m128i counts = zero;
    for (std::size_t i = 0; i < blocks; ++i, at += kBlock)
      counts = _mm_sub_epi8(counts, _mm_cmpeq_epi8(block_at(text.data() + at), wanted));
    const __m128i sums = _mm_sad_epu8(counts, zero);
    count += static_cast<std::size_t>(_mm_cvtsi128_si64(sums)) +
             static_cast<std::size_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums)));
  }
#endif
  for (; at < text.size(); ++at) count += text[at] == byte ? std::size_t{1} : 0;
  return count;
}

std::size_t find_either(std::string_view text, char one, char other) {
  std::size_t at = 0;
#ifdef __SSE2__
  const __m128i ones = _mm_set1_epi8(one);
  const __m128i others = _mm_set1_epi8(other);
  for (; text.size() - at >= kBlock; at += kBlock) {
    const __m128i block = block_at(text.data() + at);
    const unsigned bits =
        bits_of(_mm_or_si128(_mm_cmpeq_epi8(block, ones), _mm_cmpeq_epi8(block, others)));
    if (bits != 0) return at + static_cast<std::size_t>(std::countr_zero(bits));
  }
#endif
  while (at < text.size() && text[at] != one && text[at] != other) ++at;
  return at;
}

unsigned code_marks(const char* at, std::size_t bytes) {
#ifdef __SSE2__
  if (bytes >= kBlock) {
    const __m128i block = block_at(at);
    const auto is = [](__m128i left, int right) {
      return _mm_cmpeq_epi8(left, _mm_set1_epi8(static_cast<char>(right)));
    };
    const auto at_most = [](__m128i left, int right) {
      return _mm_cmpeq_epi8(_mm_min_epu8(left, _mm_set1_epi8(static_cast<char>(right))), left);
    };
    // Pairs that differ in the lowest bit: " and #, & and ', ( and ).
    const __m128i pairs = _mm_and_si128(block, _mm_set1_epi8(static_cast<char>(0xFE)));
    // [ \ ] and { | } differ in one bit.
    const __m128i brackets =
        _mm_sub_epi8(_mm_or_si128(block, _mm_set1_epi8(0x20)), _mm_set1_epi8('{'));
    const __m128i found =
        _mm_or_si128(_mm_or_si128(_mm_or_si128(is(pairs, '"'), is(pairs, '&')), is(pairs, '(')),
                     _mm_or_si128(at_most(brackets, 2), at_most(block, 0x1F)));
    return bits_of(found);
  }
#endif
  return (1U << std::min<std::size_t>(bytes, 16)) - 1;
}

bool has_other_line_ends(std::string_view text) {
  std::size_t at = 0;
#ifdef __SSE2__
  // Bytes from '\v' to 0x1e, and the first ones of U+0085, U+2028 and U+2029.
  const __m128i first = _mm_set1_epi8('\v');
  const __m128i range = _mm_set1_epi8(0x1e - '\v');
  const __m128i next_line = _mm_set1_epi8('\xc2');
  const __m128i separator = _mm_set1_epi8('\xe2');
  const auto candidates = [&](std::size_t from) {
    const __m128i block = block_at(text.data() + from);
    const __m128i above = _mm_sub_epi8(block, first);
    const __m128i in_range = _mm_cmpeq_epi8(_mm_min_epu8(above, range), above);
    const __m128i others =
        _mm_or_si128(_mm_cmpeq_epi8(block, next_line), _mm_cmpeq_epi8(block, separator));
    return _mm_or_si128(in_range, others);
  };
  for (; text.size() - at >= kBlock; at += kBlock) {
    const __m128i here = candidates(at);
    if (text.size() - at >= 2 * kBlock &&
        bits_of(_mm_or_si128(here, candidates(at + kBlock))) == 0) {
      at += kBlock;
      continue;
    }
    unsigned bits = bits_of(here);
    for (; bits != 0; bits &= bits - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(bits));
      if (ends_line(text.substr(at + i))) return true;
    }
  }
#endif
  for (; at < text.size(); ++at) {
    if (ends_line(text.substr(at))) return true;
  }
  return false;
}

}  // namespace tidemark
