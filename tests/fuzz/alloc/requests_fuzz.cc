// The allocator against the naive one: bytes are read as settings, a device and requests; both must
// do the same.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "sim/alloc/caching_allocator.h"
#include "sim/alloc/settings_parser.h"
#include "tests/support/naive_allocator.h"

namespace {

using namespace tidemark;

void demand(bool condition) {
  if (!condition) std::abort();
}

class Bytewise {
 public:
  Bytewise(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool empty() const { return at_ >= size_; }
  std::uint8_t next() { return empty() ? std::uint8_t{0} : data_[at_++]; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

AllocatorSettings settings_of(Bytewise& input) {
  static constexpr std::array<std::uint8_t, 6> kMinors{4, 6, 11, 12, 13, 15};
  const Version version{2, kMinors.at(input.next() % kMinors.size())};
  const std::uint8_t flags = input.next();
  std::string conf;
  unsigned large = 20;  // the other sizes may not be below it
  if ((flags & 16U) != 0 && version >= Version{2, 11}) {
    large = 12U + 2U * (input.next() % 40U);
    conf += "large_segment_size_mb:" + std::to_string(large) + ",";
  }
  if ((flags & 1U) != 0) conf += "expandable_segments:True,";
  if ((flags & 2U) != 0)
    conf += "max_split_size_mb:" + std::to_string(large + 1U + input.next()) + ",";
  if ((flags & 4U) != 0) conf += "garbage_collection_threshold:0.5,";
  if ((flags & 8U) != 0)
    conf += "roundup_power2_divisions:" + std::to_string(1U << (input.next() % 5U)) + ",";
  if ((flags & 32U) != 0 && version >= Version{2, 12}) conf += "throw_on_cudamalloc_oom:True,";
  return parse_settings("fuzz", conf, version).settings;
}

/// Sizes from a byte: around the borders of the rules and between them.
Bytes size_of(std::uint8_t code) {
  static constexpr std::array<Bytes, 16> kSizes{
      1,        512,      1000,      64 * kKiB, kMiB - 512, kMiB,      kMiB + 1,  2 * kMiB,
      5 * kMiB, 9 * kMiB, 10 * kMiB, 11 * kMiB, 20 * kMiB,  30 * kMiB, 64 * kMiB, 0};
  return kSizes.at(code & 15U) * (1 + (code >> 6U)) + ((code >> 4U) & 3U) * 512;
}

std::vector<Instruction> instructions_of(Bytewise& input) {
  std::vector<Instruction> out;
  RequestId next = 0;
  while (!input.empty() && out.size() < 400) {
    const std::uint8_t op = input.next();
    Instruction instruction;
    if (op < 110) {
      instruction.verb = Verb::kAlloc;
      instruction.id = next++;
      instruction.bytes = size_of(input.next());
      instruction.stream = static_cast<StreamId>(op % 3);
      instruction.pool = op % 7 == 0 ? PoolId{1} : PoolId{0};
    } else if (op < 210) {
      instruction.verb = Verb::kFree;
      instruction.id = next - 1 - std::min<RequestId>(next == 0 ? 0 : next - 1, input.next() % 32);
      if (next == 0) continue;
    } else if (op < 235) {
      if (next == 0) continue;
      instruction.verb = Verb::kUse;
      instruction.id = next - 1 - std::min<RequestId>(next - 1, input.next() % 8);
      instruction.stream = static_cast<StreamId>(op % 4);
    } else if (op < 248) {
      instruction.verb = op % 4 == 0 ? Verb::kSyncDevice : Verb::kSync;
      instruction.stream = static_cast<StreamId>(op % 4);
    } else {
      instruction.verb = op % 3 == 0 ? Verb::kResetPeak : Verb::kEmptyCache;
    }
    out.push_back(instruction);
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytewise input(data, size);
  naive::Options options;
  options.settings = settings_of(input);
  options.total_bytes = (64 + Bytes{input.next()} * 4) * kMiB;
  const std::uint8_t fraction = input.next();
  if (fraction % 3 == 0) options.memory_fraction = static_cast<double>(fraction % 11) / 10;

  DeviceMemory memory({options.total_bytes, 0, 0, 0});
  TraceClock clock;
  CachingAllocator fast(options.settings, memory, clock);
  if (options.memory_fraction) fast.set_memory_fraction(*options.memory_fraction);
  History history;
  fast.set_history(&history);
  naive::Allocator naive(options);
  const std::vector<Instruction> instructions = instructions_of(input);
  for (const Instruction& instruction : instructions) naive.execute(instruction);
  for (std::span<const Instruction> rest = instructions; !rest.empty();)
    rest = rest.subspan(fast.execute(rest));

  demand(history.events == naive.events());
  demand(flatten(fast.statistics(), options.settings.version) == naive.flat_statistics());
  demand(fast.segments() == naive.segments());
  demand(memory.free_bytes() == naive.device_free_bytes());
  return 0;
}
