#include "sim/format/pickle_writer.h"

#include <bit>
#include <limits>

namespace tidemark {

PickleWriter::PickleWriter(std::string& out) : out_(out) { out_ += "\x80\x04"; }

void PickleWriter::little(std::uint64_t number, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) out_ += static_cast<char>((number >> (8U * i)) & 0xffU);
}

void PickleWriter::value(std::string_view text) {
  if (const auto found = texts_.find(text); found != texts_.end()) {
    again(found->second);
    return;
  }
  if (text.size() < 256) {
    out_ += '\x8c';
    little(text.size(), 1);
  } else {
    out_ += 'X';
    little(text.size(), 4);
  }
  out_ += text;
  texts_.emplace(text, remember());
}

void PickleWriter::value(std::int64_t number) {
  if (number >= 0 && number < 256) {
    out_ += 'K';
    little(static_cast<std::uint64_t>(number), 1);
  } else if (number >= 0 && number < 65536) {
    out_ += 'M';
    little(static_cast<std::uint64_t>(number), 2);
  } else if (number >= std::numeric_limits<std::int32_t>::min() &&
             number <= std::numeric_limits<std::int32_t>::max()) {
    out_ += 'J';
    little(static_cast<std::uint64_t>(number), 4);
  } else {
    // The fewest bytes whose two's complement holds the number, as Python writes it.
    unsigned bytes = 5;
    while (bytes < 8 && (number >> (8 * bytes - 1)) != 0 && (number >> (8 * bytes - 1)) != -1)
      ++bytes;
    out_ += '\x8a';
    little(bytes, 1);
    little(static_cast<std::uint64_t>(number), bytes);
  }
}

void PickleWriter::value(double number) {
  out_ += 'G';
  const auto bits = std::bit_cast<std::uint64_t>(number);
  for (unsigned i = 8; i-- > 0;) out_ += static_cast<char>((bits >> (8U * i)) & 0xffU);
}

void PickleWriter::pair(std::uint64_t first, std::uint64_t second) {
  value(first);
  value(second);
  out_ += '\x86';
}

std::uint32_t PickleWriter::remember() {
  out_ += '\x94';
  return slots_++;
}

void PickleWriter::again(std::uint32_t slot) {
  if (slot < 256) {
    out_ += 'h';
    little(slot, 1);
  } else {
    out_ += 'j';
    little(slot, 4);
  }
}

}  // namespace tidemark
