#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemark::lang {

/// A list that lies in a tree's arena or in the program, and is owned by neither this nor another.
template <class T>
struct Seq {
  T* data = nullptr;
  std::uint32_t size = 0;
  T* begin() const { return data; }
  T* end() const { return data + size; }
  T& operator[](std::size_t i) const { return data[i]; }
  [[nodiscard]] bool empty() const { return size == 0; }
};

/// A text of that kind.
using TextSeq = Seq<const char>;
inline std::string_view view(const TextSeq& text) { return {text.data, text.size}; }

}  // namespace tidemark::lang
