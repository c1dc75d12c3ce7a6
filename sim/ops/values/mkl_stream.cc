#include "sim/ops/values/mkl_stream.h"

#include <cmath>
#include <limits>
#include <utility>

namespace tidemark::ops {

namespace {

constexpr std::uint64_t kOneWord = std::uint64_t{1} << 32U;

/// MKL's generator MCG31: a product modulo a prime.
/// Source: Notes for Intel oneMKL Vector Statistics, "MCG31m1"; oracle.
class Mcg31 {
 public:
  explicit Mcg31(std::uint64_t seed) : state_(seed % kModulus == 0 ? 1 : seed % kModulus) {}
  /// From 1 to kModulus - 1.
  std::uint64_t next() {
    const std::uint64_t value = state_;
    state_ = state_ * kFactor % kModulus;
    return value;
  }
  static constexpr std::uint64_t kModulus = 0x7FFFFFFF;

 private:
  static constexpr std::uint64_t kFactor = 1132489760;
  std::uint64_t state_;
};

/// Of single numbers the last bit may differ: MKL's logarithm is its own. Double ones agree to
/// about twelve digits.
double exponential(std::uint64_t value, double rate, bool is_double) {
  if (is_double) {
    const double unit = static_cast<double>(value) / static_cast<double>(Mcg31::kModulus);
    return std::numeric_limits<double>::min() - std::log(unit) / rate;
  }
  const float unit =
      static_cast<float>(value) * (1.0F / static_cast<float>(std::uint32_t{1} << 31U));
  const auto log = static_cast<float>(std::log(static_cast<double>(unit)));
  return static_cast<double>(std::numeric_limits<float>::min() -
                             log * static_cast<float>(1.0 / rate));
}

class StreamRecipe final : public Recipe {
 public:
  StreamRecipe(const DrawSpec& spec, std::unique_ptr<Recipe> seed, bool has_two_words)
      : spec_(spec), seed_(std::move(seed)), has_two_words_(has_two_words) {}

  void write(StateImage& image) const override {
    image.put(static_cast<std::uint64_t>(spec_.kind));
    image.put_real(spec_.a);
    seed_->write(image);
  }

  bool make(Numbers& out) const override {
    Numbers words;
    words.dtype = ScalarType::kInt32;
    words.resize(has_two_words_ ? 2 : 1);
    if (!seed_->make(words)) return false;
    // MKL takes 32 bits: of a number of two words those of the second.
    Mcg31 stream(static_cast<std::uint64_t>(words.whole.back()) & (kOneWord - 1));
    const bool is_double = out.dtype == ScalarType::kFloat64;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::uint64_t value = stream.next();
      if (spec_.kind == Draw::kExponential) {
        out.set(i, exponential(value, spec_.a, is_double));
      } else {
        const double unit = static_cast<double>(value) / static_cast<double>(Mcg31::kModulus);
        out.set(i, unit < spec_.a ? 1 : 0);
      }
    }
    return true;
  }

 private:
  const DrawSpec spec_;
  const std::unique_ptr<Recipe> seed_;
  const bool has_two_words_;
};

}  // namespace

bool is_drawn_by_mkl(Draw kind) { return kind == Draw::kExponential || kind == Draw::kBernoulli; }

std::unique_ptr<Recipe> draw_by_mkl(Generator& generator, const DrawSpec& spec, ScalarType dtype) {
  const bool has_two_words = spec.kind == Draw::kExponential && dtype == ScalarType::kFloat64;
  const DrawSpec word{Draw::kBetween, 0, 1, 0, kOneWord};
  auto seed = generator.draw(word, ScalarType::kInt32, has_two_words ? 2 : 1);
  return std::make_unique<StreamRecipe>(spec, std::move(seed), has_two_words);
}

}  // namespace tidemark::ops
