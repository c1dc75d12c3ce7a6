#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/format/pickle_value.h"

namespace tidemark {

/// What a pickle remembers, by slot. Most of a snapshot's slots are frames of which a recording has
/// a few hundred, and nobody asks for them again: pages of slots that are no longer new keep each
/// different value once. Memory: 8 bytes a slot for the first and the newest, about 1.5 for others
/// of a snapshot, never more than 8.
class PickleMemo {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  void push(PickleValue value) {
    if (size_ % kPage == 0) begin_page();
    pages_.back().values.push_back(value);
    ++size_;
  }
  /// Requires: slot < size().
  [[nodiscard]] PickleValue operator[](std::size_t slot) const {
    const Page& page = pages_[slot / kPage];
    const std::size_t at = slot % kPage;
    return page.codes.empty() ? page.values[at] : packed(page, at);
  }
  /// Requires: slot < size().
  void set(std::size_t slot, PickleValue value);
  [[nodiscard]] std::size_t memory_bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kPage = 2048;
  struct Page {
    /// The slots' values; packed: the different ones, [0] being the first of a series.
    std::vector<PickleValue> values;
    std::vector<std::uint8_t> codes;  ///< packed: indexes of values, one or two bytes a slot
    /// Packed to a byte: code 0 stands for values that count up by one from values[0].
    bool series = false;
  };
  [[nodiscard]] static PickleValue packed(const Page& page, std::size_t at);
  [[nodiscard]] static std::size_t code_of(const Page& page, std::size_t at);
  static void put_code(Page& page, std::size_t at, std::size_t code);
  void begin_page();
  void pack(Page& page);
  void unpack(Page& page);
  std::vector<Page> pages_;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace tidemark
