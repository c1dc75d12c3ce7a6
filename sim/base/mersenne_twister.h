#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark {

/// MT19937, the generator of PyTorch's, NumPy's and Python's random numbers. It knows how many
/// words it has given, and goes forward without giving them.
class MersenneTwister {
 public:
  static constexpr std::size_t kWords = 624;

  /// As PyTorch and NumPy seed it.
  explicit MersenneTwister(std::uint32_t seed);
  /// As Python does: init_by_array of Matsumoto and Nishimura. Requires: `key` is not empty.
  explicit MersenneTwister(std::span<const std::uint32_t> key);
  /// Goes on with what words() and index() of another were. Requires: index <= kWords.
  MersenneTwister(std::span<const std::uint32_t, kWords> words, std::size_t index);

  std::uint32_t next() {
    if (at_ == kWords) refill();
    ++position_;
    std::uint32_t y = state_[at_++];
    y ^= y >> 11U;
    y ^= (y << 7U) & 0x9d2c5680U;
    y ^= (y << 15U) & 0xefc60000U;
    return y ^ (y >> 18U);
  }
  /// Cost: linear, some words a nanosecond.
  void skip(std::uint64_t words);
  /// How many words were given or skipped.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::span<const std::uint32_t, kWords> words() const { return state_; }
  /// Which of the words is next; kWords: others are to be made.
  [[nodiscard]] std::size_t index() const { return at_; }

 private:
  void refill();

  std::array<std::uint32_t, kWords> state_;
  std::size_t at_ = kWords;
  std::uint64_t position_ = 0;
};

}  // namespace tidemark
