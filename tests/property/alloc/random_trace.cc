#include "tests/property/alloc/random_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "sim/alloc/settings_parser.h"
#include "sim/base/random.h"

namespace tidemark {

namespace {

template <class T, std::size_t N>
const T& pick(Random& random, const std::array<T, N>& from) {
  return from.at(random.below(N));
}

std::string random_conf(Random& random, Version version) {
  std::vector<std::string> parts;
  std::uint64_t large = 20;
  const bool expandable = random.chance(2, 5);
  if (version >= Version{2, 11} && random.chance(1, 6)) {
    large = 12 + 2 * random.below(30);
    parts.push_back(fmt::format("large_segment_size_mb:{}", large));
  }
  if (random.chance(2, 5))
    parts.push_back(fmt::format("max_split_size_mb:{}", large + 1 + random.below(200)));
  if (version >= Version{2, 9} && random.chance(1, 10))
    parts.push_back(fmt::format("max_split_size_mb:{}", large));
  if (version >= Version{2, 6} && random.chance(1, 5)) {
    parts.push_back(fmt::format("max_non_split_rounding_mb:{}", large + 1 + random.below(100)));
  }
  if (random.chance(2, 5)) {
    parts.push_back(fmt::format("garbage_collection_threshold:0.{}", 1 + random.below(9)));
  }
  if (random.chance(1, 4)) {
    parts.push_back(
        fmt::format("roundup_power2_divisions:{}", std::uint64_t{1} << random.below(5)));
  } else if (random.chance(1, 5)) {
    std::string list;
    for (std::uint64_t bucket = random.below(4); bucket < 12; bucket += 1 + random.below(4)) {
      list += fmt::format("{}:{},", std::uint64_t{1} << bucket,
                          random.chance(1, 5) ? 0 : std::uint64_t{1} << random.below(5));
    }
    parts.push_back(fmt::format("roundup_power2_divisions:[{}>:{}]", list,
                                std::uint64_t{1} << random.below(5)));
  }
  if (expandable) parts.emplace_back("expandable_segments:True");
  if (expandable && version >= Version{2, 15} && random.chance(1, 3)) {
    parts.push_back(fmt::format("expandable_segments_reserve:0.{}", 1 + random.below(9)));
  }
  if (version >= Version{2, 10} && random.chance(1, 6)) {
    parts.push_back(fmt::format("per_process_memory_fraction:0.{}", 2 + random.below(8)));
  }
  if (version >= Version{2, 12} && random.chance(1, 6))
    parts.emplace_back("throw_on_cudamalloc_oom:True");
  return fmt::format("{}", fmt::join(parts, ","));
}

/// Sizes as programs have them (a few that come again), on borders of the allocator's rules, and
/// anything between.
class Sizes {
 public:
  Sizes(Random& random, Bytes most) : random_(random), most_(most) {
    for (Bytes& size : palette_) size = any();
  }
  Bytes next() {
    if (random_.chance(1, 60)) return 0;
    if (random_.chance(1, 2)) return pick(random_, palette_);
    if (random_.chance(1, 4)) return border();
    return any();
  }

 private:
  Bytes any() {
    const std::uint64_t bits = 3 + random_.below(26);
    const Bytes size = (std::uint64_t{1} << bits) + random_.below(std::uint64_t{1} << bits);
    return 1 + size % most_;
  }
  Bytes border() {
    static constexpr std::array<Bytes, 9> kBorders{
        512, kMiB, 2 * kMiB, 10 * kMiB, 12 * kMiB, 20 * kMiB, 22 * kMiB, 40 * kMiB, 64 * kMiB};
    static constexpr std::array<std::int64_t, 5> kOffsets{-512, -1, 0, 1, 512};
    const std::int64_t size =
        static_cast<std::int64_t>(pick(random_, kBorders)) + pick(random_, kOffsets);
    return std::clamp<Bytes>(static_cast<Bytes>(std::max<std::int64_t>(size, 1)), 1, most_);
  }
  Random& random_;
  Bytes most_;
  std::array<Bytes, 12> palette_{};
};

class Maker {
 public:
  Maker(Random& random, Bytes most, Bytes level)
      : random_(random),
        sizes_(random, most),
        level_(level),
        streams_(pick(random, kStreams)),
        pools_(pick(random, kPools)) {}

  std::vector<Instruction> make(std::size_t length) {
    while (out_.size() < length) step();
    return std::move(out_);
  }

 private:
  static constexpr std::array<std::uint64_t, 6> kStreams{0, 0, 1, 2, 4, 9};
  static constexpr std::array<std::uint64_t, 5> kPools{0, 0, 0, 1, 2};
  struct Live {
    RequestId id;
    Bytes bytes;
  };

  Instruction& add(Verb verb) {
    Instruction instruction;
    instruction.verb = verb;
    out_.push_back(instruction);
    return out_.back();
  }
  StreamId stream() { return static_cast<StreamId>(random_.below(streams_ + 1)); }

  void step() {
    const std::uint64_t what = random_.below(1000);
    if (what < 2) {
      add(Verb::kEmptyCache);
    } else if (what < 5) {
      add(Verb::kResetPeak);
    } else if (what < 7) {
      add(Verb::kMark);
    } else if (what < 40 && streams_ > 0) {
      if (random_.chance(1, 4)) {
        add(Verb::kSyncDevice);
      } else {
        add(Verb::kSync).stream = stream();
      }
    } else if (what < 160 && streams_ > 0 && !live_.empty()) {
      const RequestId id = live_[random_.below(live_.size())].id;
      Instruction& use = add(Verb::kUse);
      use.id = id;
      use.stream = stream();
    } else if (live_.empty() || (held_ < level_ && random_.chance(11, 20))) {
      allocate();
    } else {
      drop();
    }
  }

  void allocate() {
    Instruction& request = add(Verb::kAlloc);
    request.id = next_++;
    request.bytes = sizes_.next();
    request.stream = random_.chance(2, 3) ? StreamId{0} : stream();
    if (pools_ > 0 && random_.chance(1, 4))
      request.pool = static_cast<PoolId>(1 + random_.below(pools_));
    live_.push_back({request.id, request.bytes});
    held_ += request.bytes;
  }

  void drop() {
    // Young blocks die first, as temporaries do, but not always.
    const std::size_t from_end =
        static_cast<std::size_t>(random_.below(std::min<std::size_t>(live_.size(), 8)));
    const std::size_t index = random_.chance(1, 2)
                                  ? live_.size() - 1 - from_end
                                  : static_cast<std::size_t>(random_.below(live_.size()));
    add(Verb::kFree).id = live_[index].id;
    held_ -= live_[index].bytes;
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  Random& random_;
  Sizes sizes_;
  Bytes level_;
  std::uint64_t streams_;
  std::uint64_t pools_;
  RequestId next_ = 0;
  Bytes held_ = 0;
  std::vector<Live> live_;
  std::vector<Instruction> out_;
};

}  // namespace

RandomTrace random_trace(std::uint64_t seed, std::size_t length) {
  Random random(seed);
  RandomTrace trace;
  trace.seed = seed;
  static constexpr std::array<std::uint8_t, 8> kMinors{4, 6, 9, 11, 11, 12, 13, 15};
  const Version version{2, pick(random, kMinors)};
  trace.conf = random_conf(random, version);
  trace.settings = parse_settings("random", trace.conf, version).settings;
  // Small devices run full, large ones never do.
  trace.total_bytes = (Bytes{256} << random.below(6)) * kMiB + random.below(3) * 12345;
  trace.context_bytes = random.below(4) * 17 * kMiB;
  if (random.chance(1, 3)) {
    trace.memory_fraction = static_cast<double>(1 + random.below(10)) / 10;
  }
  const Bytes most = std::max<Bytes>(trace.total_bytes / (3 + random.below(40)), 4 * kMiB);
  const Bytes level = trace.total_bytes * (3 + random.below(8)) / 10;
  trace.instructions = Maker(random, most, level).make(length);
  return trace;
}

std::string RandomTrace::describe() const {
  return fmt::format(
      "TIDEMARK_SEED={} (PyTorch {}.{}, '{}', total {}, context {}, fraction {}, {} instructions)",
      seed, settings.version.major, settings.version.minor, conf, total_bytes, context_bytes,
      memory_fraction ? fmt::format("{}", *memory_fraction) : "none", instructions.size());
}

std::uint64_t first_seed(std::uint64_t fallback) {
  const char* const text = std::getenv("TIDEMARK_SEED");
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}
std::uint64_t seed_count(std::uint64_t fallback) {
  if (std::getenv("TIDEMARK_SEED") != nullptr) return 1;
  const char* const times = std::getenv("TIDEMARK_SEEDS_TIMES");
  return times == nullptr ? fallback : fallback * std::strtoull(times, nullptr, 10);
}

}  // namespace tidemark
