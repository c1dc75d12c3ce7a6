#include <array>
#include <bit>
#include <span>
#include <vector>

#include "sim/base/mersenne_twister.h"
#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/host.h"

/// The host module _random: the generator under random.Random and numpy.random.RandomState.
namespace tidemark::lang {

namespace {

class Twister final : public Instance {
 public:
  Twister(Interp& interp, const MersenneTwister& generator)
      : Instance(interp.heap(), interp.classes().object, Kind::kInstance, kHostKind),
        words(generator) {}
  static bool is(const Object& o) {
    return o.kind() == Kind::kInstance && o.host_kind() == kHostKind;
  }
  Value deep_copy(Interp& interp, DeepCopies& /*copies*/) override {
    return make_ref<Twister>(interp, words);
  }
  MersenneTwister words;

 private:
  static constexpr std::uint16_t kHostKind = 0xFFFB;  // no other floor's
};

MersenneTwister& words_of(Arguments& args) {
  return args.object<Twister>(0, "a generator of random numbers").words;
}

std::uint64_t two_words(MersenneTwister& words) {
  const std::uint64_t high = words.next();
  return high << 32U | words.next();
}

/// Source: CPython, _randommodule.c, genrand_res53; NumPy's is the same.
double unit_real(MersenneTwister& words) {
  const double high = words.next() >> 5U;
  const double low = words.next() >> 6U;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

/// Source: CPython, _randommodule.c, getrandbits: the first word is the lowest.
std::uint64_t random_bits(MersenneTwister& words, unsigned bits) {
  if (bits == 0) return 0;
  if (bits <= 32) return words.next() >> (32U - bits);
  const std::uint64_t low = words.next();
  return low | std::uint64_t{words.next() >> (64U - bits)} << 32U;
}

/// From 0 to below `n`. Source: CPython, random.py, _randbelow_with_getrandbits.
std::uint64_t random_below(MersenneTwister& words, std::uint64_t n) {
  const auto bits = static_cast<unsigned>(std::bit_width(n));
  std::uint64_t number = random_bits(words, bits);
  while (number >= n) number = random_bits(words, bits);
  return number;
}

/// From 0 to `most`. Source: NumPy, legacy distributions, random_interval.
std::uint64_t random_interval(MersenneTwister& words, std::uint64_t most) {
  if (most == 0) return 0;
  const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero(most);
  const bool is_short = most <= 0xffffffffU;
  std::uint64_t number = most + 1;
  while (number > most) number = (is_short ? words.next() : two_words(words)) & mask;
  return number;
}

Value whole(std::uint64_t number) { return Value::integer(static_cast<std::int64_t>(number)); }

std::uint64_t count_of(Interp& interp, const Arguments& args, std::size_t i) {
  const std::int64_t n = args.integer(i);
  if (n < 0) interp.value_error("a count is not negative");
  return static_cast<std::uint64_t>(n);
}

/// The order of `n` things that each library's shuffle() makes of 0, 1, 2, ...
Value order(Interp& interp, Arguments& args) {
  MersenneTwister& words = words_of(args);
  const std::uint64_t n = count_of(interp, args, 1);
  if (n > interp.limits().sequence) interp.too_long();
  const bool is_numpy = args.boolean(2);
  std::vector<Value> out;
  out.reserve(n);
  for (std::uint64_t i = 0; i < n; ++i) out.push_back(whole(i));
  for (std::uint64_t i = n; i-- > 1;)
    std::swap(out[i], out[is_numpy ? random_interval(words, i) : random_below(words, i + 1)]);
  return interp.list(std::move(out));
}

constexpr FunctionRow kFunctions[] = {
    {"by_number(seed)",
     [](Interp& interp, Arguments& args) -> Value {
       return make_ref<Twister>(interp,
                                MersenneTwister(static_cast<std::uint32_t>(args.integer(0))));
     }},
    {"by_key(words)",
     [](Interp& interp, Arguments& args) -> Value {
       std::vector<std::uint32_t> key;
       for (const std::int64_t word : args.integers(0))
         key.push_back(static_cast<std::uint32_t>(word));
       if (key.empty()) interp.value_error("a key has at least one word");
       return make_ref<Twister>(interp, MersenneTwister(std::span<const std::uint32_t>(key)));
     }},
    {"by_state(words, index)",
     [](Interp& interp, Arguments& args) -> Value {
       std::array<std::uint32_t, MersenneTwister::kWords> words{};
       const std::vector<std::int64_t> given = args.integers(0);
       const std::int64_t index = args.integer(1);
       if (given.size() != words.size() || index < 0 ||
           index > static_cast<std::int64_t>(words.size()))
         interp.value_error("state vector is the wrong size or its index is out of range");
       for (std::size_t i = 0; i < words.size(); ++i)
         words[i] = static_cast<std::uint32_t>(given[i]);
       return make_ref<Twister>(interp, MersenneTwister(words, static_cast<std::size_t>(index)));
     }},
    {"state(generator)",
     [](Interp& interp, Arguments& args) {
       std::vector<Value> words;
       for (const std::uint32_t word : words_of(args).words()) words.push_back(whole(word));
       return interp.tuple({interp.tuple(std::move(words)), whole(words_of(args).index())});
     }},
    {"word(generator)", [](Interp&, Arguments& args) { return whole(words_of(args).next()); }},
    {"real(generator)",
     [](Interp&, Arguments& args) { return Value::real(unit_real(words_of(args))); }},
    {"bits(generator, count)",
     [](Interp& interp, Arguments& args) {
       const std::uint64_t count = count_of(interp, args, 1);
       if (count > 62) interp.refuse("more than 62 random bits at a time are not modelled");
       return whole(random_bits(words_of(args), static_cast<unsigned>(count)));
     }},
    {"below(generator, n)",
     [](Interp& interp, Arguments& args) {
       const std::uint64_t n = count_of(interp, args, 1);
       if (n == 0) interp.value_error("a random number below 0");
       return whole(random_below(words_of(args), n));
     }},
    {"interval(generator, most)",
     [](Interp& interp, Arguments& args) {
       return whole(random_interval(words_of(args), count_of(interp, args, 1)));
     }},
    {"order(generator, n, is_numpy)", order},
};

}  // namespace

void add_random_numbers(Interp& interp) {
  interp.add_module("_random",
                    [](Interp& in, Module& module) { add_functions(in, module, kFunctions); });
}

}  // namespace tidemark::lang
