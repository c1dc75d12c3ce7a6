#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark::graph::inductor {

/// A set of small numbers, a bit each. Cost: of a union, a word for each 64 numbers.
class NumberSet {
 public:
  void insert(std::uint32_t number) {
    const std::size_t word = number / kBits;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= std::uint64_t{1} << (number % kBits);
  }
  void insert(const NumberSet& others) {
    if (others.words_.size() > words_.size()) words_.resize(others.words_.size());
    for (std::size_t i = 0; i < others.words_.size(); ++i) words_[i] |= others.words_[i];
  }
  void erase(std::uint32_t number) {
    const std::size_t word = number / kBits;
    if (word < words_.size()) words_[word] &= ~(std::uint64_t{1} << (number % kBits));
  }
  [[nodiscard]] bool contains(std::uint32_t number) const {
    const std::size_t word = number / kBits;
    return word < words_.size() && (words_[word] >> (number % kBits) & 1U) != 0;
  }
  /// Whether one of the numbers, asked from the smallest on, is as `wanted` says.
  template <class Wanted>
  [[nodiscard]] bool any_of(const Wanted& wanted) const {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t left = words_[word]; left != 0; left &= left - 1) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
        if (wanted(static_cast<std::uint32_t>(word * kBits) + bit)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  std::vector<std::uint64_t> words_;
};

}  // namespace tidemark::graph::inductor
