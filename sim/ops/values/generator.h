#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/base/mersenne_twister.h"
#include "sim/ops/values/known.h"

/// The host's random numbers: PyTorch's own, bit for bit from the generator's words, as it draws
/// them on x86 processors with AVX2. (For bernoulli_(p), dropout and exponential_ PyTorch uses
/// MKL's streams on Intel's processors and its own way on others: these are the latter's.)
namespace tidemark::ops {

/// What torch.default_generator begins with. Source: c10's default_rng_seed_val.
inline constexpr std::uint64_t kDefaultSeed = 67280421310721;

/// How far a generator has come. Of normal numbers it draws two and keeps one for the next call.
struct GeneratorState {
  std::uint64_t seed = kDefaultSeed;
  std::uint64_t position = 0;                ///< words drawn
  std::optional<std::uint64_t> kept_normal;  ///< where the pair began whose second is kept
  friend bool operator==(const GeneratorState&, const GeneratorState&) = default;
};

enum class Draw : std::uint8_t {
  kUniform,      ///< [a, b)
  kNormal,       ///< mean a, deviation b
  kLogNormal,    ///< of a normal number with a, b
  kExponential,  ///< rate a
  kGeometric,    ///< probability a
  kCauchy,       ///< median a, width b
  kBernoulli,    ///< probability a
  kBetween,      ///< integers: `count` of them from `first`
  kAny,          ///< any integer that the type holds, from 0
  kPermutation,  ///< of 0, 1, ...
};

/// One call's worth of random numbers.
struct DrawSpec {
  Draw kind = Draw::kUniform;
  double a = 0;
  double b = 1;
  std::int64_t first = 0;
  std::uint64_t count = 0;
  bool is_dense = true;  ///< the tensor is contiguous
};

/// The words of one seed, for draws at any place; going forward is cheap.
class Words {
 public:
  /// Reads from `position` on.
  MersenneTwister& at(std::uint64_t seed, std::uint64_t position);
  /// What was drawn there stands for draws that were left out, and is not known.
  void lose(std::uint64_t seed, std::uint64_t begin, std::uint64_t end) {
    lost_.push_back({seed, begin, end});
  }
  [[nodiscard]] bool is_lost(std::uint64_t seed, std::uint64_t position) const;

 private:
  struct Lost {
    std::uint64_t seed;
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<Lost> lost_;
  std::optional<MersenneTwister> twister_;
  std::uint64_t seed_ = 0;
};

/// torch.Generator of the host.
class Generator {
 public:
  void set_seed(std::uint64_t seed) {
    state = {seed, 0, std::nullopt};
    is_known = true;
  }
  /// The numbers of a call; they are drawn when somebody asks for them. Cost: constant.
  std::unique_ptr<Recipe> draw(const DrawSpec& spec, ScalarType dtype, std::int64_t numel);
  /// The state goes on as a call of so many numbers makes it go on.
  void advance(const DrawSpec& spec, ScalarType dtype, std::int64_t numel);
  /// What was drawn since `then` comes `times` times more, and nobody looks at it.
  void leave_out(const GeneratorState& then, std::uint64_t times);

  GeneratorState state;
  bool is_known = true;  ///< false: something drew of which it is not known how much

 private:
  std::shared_ptr<Words> words_ = std::make_shared<Words>();
};

}  // namespace tidemark::ops
