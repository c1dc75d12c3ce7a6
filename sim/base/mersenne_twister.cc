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
