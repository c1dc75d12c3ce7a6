#include "sim/base/mersenne_twister.h"

#include <algorithm>

namespace tidemark {

namespace {

constexpr std::size_t kMiddle = 397;

std::uint32_t twisted(std::uint32_t high, std::uint32_t low, std::uint32_t far) {
  const std::uint32_t y = (high & 0x80000000U) | (low & 0x7fffffffU);
  return far ^ (y >> 1U) ^ ((low & 1U) * 0x9908b0dfU);
}

}  // namespace

MersenneTwister::MersenneTwister(std::uint32_t seed) {
  state_[0] = seed;
  for (std::size_t i = 1; i < kWords; ++i) {
    state_[i] =
        1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30U)) + static_cast<std::uint32_t>(i);
  }
}

MersenneTwister::MersenneTwister(std::span<const std::uint32_t> key) : MersenneTwister(19650218U) {
  const auto before = [&](std::size_t i) { return state_[i - 1] ^ (state_[i - 1] >> 30U); };
  std::size_t i = 1;
  const auto next_word = [&] {
    if (++i < kWords) return;
    state_[0] = state_[kWords - 1];
    i = 1;
  };
  std::size_t j = 0;
  for (std::size_t k = 0; k < std::max(kWords, key.size()); ++k) {
    state_[i] = (state_[i] ^ (before(i) * 1664525U)) + key[j] + static_cast<std::uint32_t>(j);
    next_word();
    j = j + 1 < key.size() ? j + 1 : 0;
  }
  for (std::size_t k = 0; k + 1 < kWords; ++k) {
    state_[i] = (state_[i] ^ (before(i) * 1566083941U)) - static_cast<std::uint32_t>(i);
    next_word();
  }
  state_[0] = 0x80000000U;
}

MersenneTwister::MersenneTwister(std::span<const std::uint32_t, kWords> words, std::size_t index)
    : at_(index) {
  std::copy(words.begin(), words.end(), state_.begin());
}

void MersenneTwister::refill() {
  std::size_t i = 0;
  for (; i < kWords - kMiddle; ++i)
    state_[i] = twisted(state_[i], state_[i + 1], state_[i + kMiddle]);
  for (; i < kWords - 1; ++i)
    state_[i] = twisted(state_[i], state_[i + 1], state_[i + kMiddle - kWords]);
  state_[i] = twisted(state_[i], state_[0], state_[kMiddle - 1]);
  at_ = 0;
}

void MersenneTwister::skip(std::uint64_t words) {
  position_ += words;
  while (words > 0) {
    if (at_ == kWords) refill();
    const auto here = std::min<std::uint64_t>(words, kWords - at_);
    at_ += static_cast<std::size_t>(here);
    words -= here;
  }
}

}  // namespace tidemark
