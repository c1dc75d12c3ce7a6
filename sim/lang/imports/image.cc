#include "sim/lang/imports/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

namespace tidemark::lang {

NamesOfImage::NamesOfImage(const Names& names) : slots_(names.slots()) {
  entries_.reserve(names.size());
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    const std::string_view text = names.text(static_cast<Name>(id));
    entries_.push_back({{text.data(), static_cast<std::uint32_t>(text.size())},
                        names.hash(static_cast<Name>(id))});
  }
}

NameTable NamesOfImage::table() const {
  return {{entries_.data(), static_cast<std::uint32_t>(entries_.size())},
          {slots_.data(), static_cast<std::uint32_t>(slots_.size())}};
}

void ImageWriter::sort_addresses() {
  std::sort(image_.addresses.begin(), image_.addresses.end(),
            [](const Image::Address& a, const Image::Address& b) { return a.at < b.at; });
}

std::size_t ImageWriter::reserve(std::size_t size, std::size_t alignment) {
  const std::size_t at = (image_.bytes.size() + alignment - 1) / alignment * alignment;
  image_.bytes.resize(at + size, std::byte{0});
  return at;
}

void ImageWriter::put(std::size_t at, const void* from, std::size_t size) {
  std::memcpy(image_.bytes.data() + at, from, size);
}

void write_assembler(const Image& image, std::string_view symbol, std::ostream& out) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  static_assert(sizeof(void*) == kWord);
  std::string text;
  // Constant but for its addresses: the section that is read-only once these are filled in.
  fmt::format_to(std::back_inserter(text),
                 "\t.section .data.rel.ro,\"aw\"\n"
                 "\t.balign 64\n"
                 "\t.globl {0}\n"
                 "\t.type {0}, %object\n"
                 "\t.size {0}, {1}\n"
                 "{0}:\n",
                 symbol, image.bytes.size());
  auto address = image.addresses.begin();
  for (std::size_t at = 0; at < image.bytes.size(); at += kWord) {
    if (address != image.addresses.end() && address->at == at) {
      fmt::format_to(std::back_inserter(text), "\t.quad {}+{}\n", symbol, address->to);
      ++address;
      continue;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, image.bytes.data() + at, std::min(kWord, image.bytes.size() - at));
    fmt::format_to(std::back_inserter(text), "\t.quad {}\n", word);
  }
  text += "\t.section .note.GNU-stack,\"\",%progbits\n";
  out << text;
}

}  // namespace tidemark::lang
