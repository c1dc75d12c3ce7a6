#include "sim/ops/values/generator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

/// Source: ATen's DistributionsHelper.h, TransformationHelper.h, DistributionTemplates.h and
/// avx_mathfun.h, TensorFactories.cpp (randperm).
namespace tidemark::ops {

namespace {

/// From so many numbers on normal ones are made sixteen at a time.
constexpr std::int64_t kTogether = 16;
/// Integers of a range so large take two words each.
constexpr std::uint64_t kWideRange = std::uint64_t{1} << 28U;

std::uint64_t two_words(MersenneTwister& words) {
  const std::uint64_t high = words.next();
  return high << 32U | words.next();
}

/// [0, 1) with 53 bits, or as many as the type has (at most 24) of one word.
double unit_double(MersenneTwister& words) {
  return static_cast<double>(two_words(words) & ((std::uint64_t{1} << 53U) - 1)) * 0x1p-53;
}
float unit_float(MersenneTwister& words, ScalarType dtype) {
  const unsigned bits = dtype == ScalarType::kBFloat16  ? 8
                        : dtype == ScalarType::kFloat16 ? 11
                                                        : 24;
  const float unit = 1.0F / static_cast<float>(std::uint32_t{1} << bits);
  return static_cast<float>(words.next() & ((std::uint32_t{1} << bits) - 1)) * unit;
}

/// Two at a time: the first is given, the second kept.
std::array<double, 2> normal_pair(MersenneTwister& words) {
  const double u1 = unit_double(words);
  const double u2 = unit_double(words);
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double angle = 2.0 * std::numbers::pi * u1;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

float fused(float x, float y, float z) { return std::fma(x, y, z); }

/// The logarithm of avx_mathfun.h, whose sums of products are fused. Requires: x > 0.
float vector_log(float x) {
  constexpr std::array<float, 9> kFactors{7.0376836292E-2F,  -1.1514610310E-1F, 1.1676998740E-1F,
                                          -1.2420140846E-1F, 1.4249322787E-1F,  -1.6668057665E-1F,
                                          2.0000714765E-1F,  -2.4999993993E-1F, 3.3333331174E-1F};
  x = std::max(x, std::bit_cast<float>(0x00800000U));
  const auto bits = std::bit_cast<std::uint32_t>(x);
  float e = static_cast<float>(static_cast<int>(bits >> 23U) - 0x7f) + 1.0F;
  x = std::bit_cast<float>((bits & ~0x7f800000U) | 0x3f000000U);
  const bool is_small = x < 0.707106781186547524F;
  const float again = is_small ? x : 0.0F;
  x -= 1.0F;
  if (is_small) e -= 1.0F;
  x += again;
  const float z = x * x;
  float y = kFactors[0];
  for (std::size_t i = 1; i < kFactors.size(); ++i) y = fused(y, x, kFactors[i]);
  y *= x;
  y = fused(y, z, e * -2.12194440e-4F);
  y = fused(z, -0.5F, y);
  x += y;
  return fused(e, 0.693359375F, x);
}

/// Sine and cosine of avx_mathfun.h. Requires: 0 <= x.
std::array<float, 2> vector_sine_cosine(float x) {
  float y = x * 1.27323954473516F;
  const auto octant = (static_cast<std::int32_t>(y) + 1) & ~1;
  y = static_cast<float>(octant);
  const bool sine_is_negative = (octant & 4) != 0;
  const bool swaps = (octant & 2) != 0;
  const bool cosine_is_negative = (~(octant - 2) & 4) != 0;
  x = fused(y, -0.78515625F, x);
  x = fused(y, -2.4187564849853515625e-4F, x);
  x = fused(y, -3.77489497744594108e-8F, x);
  const float z = x * x;
  float cosine = fused(2.443315711809948E-005F, z, -1.388731625493765E-003F);
  cosine = fused(cosine, z, 4.166664568298827E-002F);
  cosine *= z;
  cosine = fused(cosine, z, -(z * 0.5F));
  cosine += 1.0F;
  float sine = fused(-1.9515295891E-4F, z, 8.3321608736E-3F);
  sine = fused(sine, z, -1.6666654611E-1F);
  sine *= z;
  sine = fused(sine, x, x);
  if (swaps) std::swap(sine, cosine);
  return {sine_is_negative ? -sine : sine, cosine_is_negative ? -cosine : cosine};
}

/// Sixteen uniform numbers become normal ones.
void make_normal_floats(float* data, float mean, float deviation) {
  for (int j = 0; j < 8; ++j) {
    const float radius = std::sqrt(-2.0F * vector_log(1.0F - data[j]));
    const auto [sine, cosine] =
        vector_sine_cosine(static_cast<float>(2.0F * std::numbers::pi) * data[j + 8]);
    data[j] = fused(radius * cosine, deviation, mean);
    data[j + 8] = fused(radius * sine, deviation, mean);
  }
}
void make_normal_doubles(double* data, double mean, double deviation) {
  for (int j = 0; j < 8; ++j) {
    const double radius = std::sqrt(-2 * std::log(1 - data[j]));
    const double angle = 2.0F * std::numbers::pi * data[j + 8];
    data[j] = radius * std::cos(angle) * deviation + mean;
    data[j + 8] = radius * std::sin(angle) * deviation + mean;
  }
}

/// Types of 16 bits: every step is rounded to the type.
template <ScalarType kType>
void make_normal_halves(float* data, float mean, float deviation) {
  const auto to = [](double x) { return static_cast<float>(rounded_to(kType, x)); };
  for (int j = 0; j < 8; ++j) {
    const float log = to(std::log(to(1.0F - data[j])));
    const float radius = to(std::sqrt(to(-2.0F * log)));
    const float angle = to(2.0F * std::numbers::pi * static_cast<double>(data[j + 8]));
    data[j] = to(to(to(radius * to(std::cos(angle))) * deviation) + mean);
    data[j + 8] = to(to(to(radius * to(std::sin(angle))) * deviation) + mean);
  }
}

class DrawRecipe final : public Recipe {
 public:
  DrawRecipe(const DrawSpec& spec, const GeneratorState& state, std::shared_ptr<Words> words)
      : spec_(spec), state_(state), source_(std::move(words)) {}

  void write(StateImage& image) const override {
    image.put(static_cast<std::uint64_t>(spec_.kind));
    image.put_real(spec_.a);
    image.put_real(spec_.b);
    image.put_signed(spec_.first);
    image.put(spec_.count);
    image.put(state_.seed);
    image.put(state_.position);
  }

  bool make(Numbers& out) const override {
    if (source_->is_lost(state_.seed, state_.position)) return false;
    MersenneTwister& words = source_->at(state_.seed, state_.position);
    const std::size_t count = out.size();
    switch (spec_.kind) {
      case Draw::kNormal:
        normal(words, out);
        return true;
      case Draw::kLogNormal:
        one_by_one(words, out);
        return true;
      case Draw::kPermutation:
        for (std::size_t i = 0; i < count; ++i) out.set_whole(i, static_cast<std::int64_t>(i));
        for (std::size_t i = 0; i + 1 < count; ++i) {
          const std::size_t other = i + words.next() % (count - i);
          std::swap(out.whole[i], out.whole[other]);
        }
        return true;
      case Draw::kBetween:
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint64_t word =
              spec_.count >= kWideRange && takes_wide(out.dtype) ? two_words(words) : words.next();
          out.set_whole(i, static_cast<std::int64_t>(word % spec_.count +
                                                     static_cast<std::uint64_t>(spec_.first)));
        }
        return true;
      case Draw::kAny:
        for (std::size_t i = 0; i < count; ++i) any(words, out, i);
        return true;
      default:
        for (std::size_t i = 0; i < count; ++i) out.set(i, one(words, out.dtype));
        return true;
    }
  }

  /// Whether numbers of the type may take two words each.
  static bool takes_wide(ScalarType dtype) {
    return dtype == ScalarType::kInt64 || dtype == ScalarType::kFloat64 ||
           dtype == ScalarType::kFloat32 || dtype == ScalarType::kBFloat16;
  }

 private:
  [[nodiscard]] double one(MersenneTwister& words, ScalarType dtype) const {
    switch (spec_.kind) {
      case Draw::kUniform: {
        if (dtype == ScalarType::kFloat64)
          return unit_double(words) * (spec_.b - spec_.a) + spec_.a;
        const auto from = static_cast<float>(rounded_to(dtype, spec_.a));
        const auto to = static_cast<float>(rounded_to(dtype, spec_.b));
        const auto width = static_cast<float>(rounded_to(dtype, static_cast<double>(to - from)));
        return static_cast<double>(fused(unit_float(words, dtype), width, from));
      }
      case Draw::kExponential:
        return -1.0 / spec_.a * std::log(1.0 - unit_double(words));
      case Draw::kGeometric:
        return std::ceil(std::log(unit_double(words)) / std::log(1.0 - spec_.a));
      case Draw::kCauchy:
        return spec_.a + spec_.b * std::tan(std::numbers::pi * (unit_double(words) - 0.5));
      default:
        return unit_double(words) < spec_.a ? 1 : 0;
    }
  }

  static void any(MersenneTwister& words, Numbers& out, std::size_t i) {
    switch (out.dtype) {
      case ScalarType::kBool:
        out.set_whole(i, words.next() & 1U);
        return;
      case ScalarType::kInt64:
        out.set_whole(i, static_cast<std::int64_t>(two_words(words) & INT64_MAX));
        return;
      case ScalarType::kFloat64:
        out.set(i, static_cast<double>(two_words(words) % ((std::uint64_t{1} << 53U) + 1)));
        return;
      case ScalarType::kFloat32:
        out.set(i, words.next() % ((1U << 24U) + 1));
        return;
      case ScalarType::kFloat16:
        out.set(i, words.next() % ((1U << 11U) + 1));
        return;
      case ScalarType::kBFloat16:
        out.set(i, words.next() % ((1U << 8U) + 1));
        return;
      default: {
        const bool is_unsigned = out.dtype == ScalarType::kUInt8;
        const auto bits =
            static_cast<unsigned>(8 * element_bytes(out.dtype)) - (is_unsigned ? 0 : 1);
        out.set_whole(i,
                      static_cast<std::int64_t>(words.next() & ((std::uint64_t{1} << bits) - 1)));
      }
    }
  }

  void normal(MersenneTwister& words, Numbers& out) const {
    const auto count = static_cast<std::int64_t>(out.size());
    if (count < kTogether || !spec_.is_dense) {
      one_by_one(words, out);
    } else if (out.dtype == ScalarType::kFloat64) {
      together(
          out.real, [&] { return unit_double(words); }, make_normal_doubles);
    } else {
      std::vector<float> data(out.size());
      const auto unit = [&] { return unit_float(words, out.dtype); };
      if (out.dtype == ScalarType::kFloat16) {
        together(data, unit, make_normal_halves<ScalarType::kFloat16>);
      } else if (out.dtype == ScalarType::kBFloat16) {
        together(data, unit, make_normal_halves<ScalarType::kBFloat16>);
      } else {
        together(data, unit, make_normal_floats);
      }
      for (std::size_t i = 0; i < data.size(); ++i) out.set(i, static_cast<double>(data[i]));
    }
  }

  template <class Real, class Unit>
  void together(std::vector<Real>& data, const Unit& unit,
                void (*make_normal)(Real*, Real, Real)) const {
    for (Real& each : data) each = unit();
    const auto mean = static_cast<Real>(spec_.a);
    const auto deviation = static_cast<Real>(spec_.b);
    for (std::size_t i = 0; i + kTogether <= data.size(); i += kTogether)
      make_normal(data.data() + i, mean, deviation);
    if (data.size() % kTogether == 0) return;
    Real* last = data.data() + data.size() - kTogether;  // made anew
    for (std::int64_t i = 0; i < kTogether; ++i) last[i] = unit();
    make_normal(last, mean, deviation);
  }

  void one_by_one(MersenneTwister& words, Numbers& out) const {
    std::optional<double> kept;
    if (state_.kept_normal) {
      kept = normal_pair(source_->at(state_.seed, *state_.kept_normal))[1];
      source_->at(state_.seed, state_.position);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      double value = 0;
      if (kept) {
        value = *std::exchange(kept, std::nullopt);
      } else {
        const auto pair = normal_pair(words);
        value = pair[0];
        kept = pair[1];
      }
      value = value * spec_.b + spec_.a;
      out.set(i, spec_.kind == Draw::kLogNormal ? std::exp(value) : value);
    }
  }

  const DrawSpec spec_;
  const GeneratorState state_;
  const std::shared_ptr<Words> source_;
};

}  // namespace

namespace {

/// Places of one seed's words from which others are reached soon. Programs ask for numbers later
/// than they draw them: a permutation after what was drawn behind it. Each place follows from its
/// seed alone, so all generators of a thread share them.
class Checkpoints {
 public:
  /// The last at or before `position`.
  MersenneTwister before(std::uint64_t seed, std::uint64_t position) {
    if (seed != seed_) places_.clear();
    seed_ = seed;
    const auto after = behind(position);
    return after == places_.begin() ? MersenneTwister(static_cast<std::uint32_t>(seed))
                                    : *std::prev(after);
  }
  void keep(std::uint64_t seed, const MersenneTwister& words) {
    if (seed != seed_) return;
    const auto after = behind(words.position());
    const std::uint64_t last = after == places_.begin() ? 0 : std::prev(after)->position();
    if (words.position() - last < kApart) return;
    places_.insert(after, words);
    if (places_.size() <= kMost) return;
    std::size_t i = 0;
    std::erase_if(places_, [&](const MersenneTwister&) { return i++ % 2 == 0; });
  }

 private:
  static constexpr std::uint64_t kApart = std::uint64_t{1} << 14U;
  static constexpr std::size_t kMost = 256;  // 2.5 KiB each

  std::vector<MersenneTwister>::iterator behind(std::uint64_t position) {
    return std::upper_bound(places_.begin(), places_.end(), position,
                            [](std::uint64_t wanted, const MersenneTwister& place) {
                              return wanted < place.position();
                            });
  }

  std::uint64_t seed_ = 0;
  std::vector<MersenneTwister> places_;  // in order
};

}  // namespace

MersenneTwister& Words::at(std::uint64_t seed, std::uint64_t position) {
  thread_local Checkpoints checkpoints;
  if (!twister_ || seed_ != seed || twister_->position() > position) {
    seed_ = seed;
    twister_ = checkpoints.before(seed, position);
  }
  twister_->skip(position - twister_->position());
  checkpoints.keep(seed, *twister_);
  return *twister_;
}

bool Words::is_lost(std::uint64_t seed, std::uint64_t position) const {
  return std::any_of(lost_.begin(), lost_.end(), [&](const Lost& lost) {
    return lost.seed == seed && lost.begin <= position && position < lost.end;
  });
}

void Generator::leave_out(const GeneratorState& then, std::uint64_t times) {
  const bool is_alike = state.seed == then.seed && state.position >= then.position &&
                        state.kept_normal.has_value() == then.kept_normal.has_value();
  if (!is_alike) {
    is_known = is_known && state == then;
    return;
  }
  const std::uint64_t more = (state.position - then.position) * times;
  if (more == 0) return;
  words_->lose(state.seed, then.position, state.position + more);
  state.position += more;
  if (state.kept_normal) *state.kept_normal += more;
}

void Generator::advance(const DrawSpec& spec, ScalarType dtype, std::int64_t numel) {
  const auto count = static_cast<std::uint64_t>(numel);
  const bool is_double = dtype == ScalarType::kFloat64;
  std::uint64_t words = 2 * count;
  switch (spec.kind) {
    case Draw::kUniform:
      words = is_double ? 2 * count : count;
      break;
    case Draw::kNormal:
    case Draw::kLogNormal: {
      if (spec.kind == Draw::kNormal && numel >= kTogether && spec.is_dense) {
        const bool leaves_rest = numel % kTogether != 0;
        words = (count + (leaves_rest ? kTogether : 0)) * (is_double ? 2 : 1);
        break;
      }
      const std::uint64_t fresh = count - (state.kept_normal && count > 0 ? 1 : 0);
      const std::uint64_t pairs = (fresh + 1) / 2;
      words = 4 * pairs;
      if (fresh % 2 != 0) {
        state.kept_normal = state.position + words - 4;
      } else if (count > 0) {
        state.kept_normal.reset();
      }
      break;
    }
    case Draw::kBetween:
      words = spec.count >= kWideRange && DrawRecipe::takes_wide(dtype) ? 2 * count : count;
      break;
    case Draw::kAny:
      words = is_double || dtype == ScalarType::kInt64 ? 2 * count : count;
      break;
    case Draw::kPermutation:
      words = count > 0 ? count - 1 : 0;
      break;
    default:
      break;
  }
  state.position += words;
}

std::unique_ptr<Recipe> Generator::draw(const DrawSpec& spec, ScalarType dtype,
                                        std::int64_t numel) {
  auto recipe = std::make_unique<DrawRecipe>(spec, state, words_);
  advance(spec, dtype, numel);
  return recipe;
}

}  // namespace tidemark::ops
