// The allocators beside the fast one, against what real PyTorch did: the naive one, which is a
// yardstick only as long as it is right itself, and the asynchronous backend, as far as its numbers
// can be compared.
#include "sim/alloc/make_allocator.h"
#include "tests/golden/allocator/allocator_case.h"
#include "tests/support/naive_allocator.h"

namespace tidemark::golden {
namespace {

const std::string kOwn = std::string(TIDEMARK_SOURCE_DIR) + "/tests/golden/allocator/";

Played play_naively(const AllocatorCase& golden) {
  naive::Options options;
  options.settings = golden.settings;
  options.total_bytes = golden.device.total_bytes;
  options.context_bytes = golden.device.context_bytes;
  options.memory_fraction = golden.memory_fraction;
  options.lag = golden.lag;
  switch (golden.policy) {
    case TraceClock::Policy::kSync:
      options.uses_done = naive::UsesDone::kWhenWaitedFor;
      break;
    case TraceClock::Policy::kReady:
      options.uses_done = naive::UsesDone::kAtOnce;
      break;
    case TraceClock::Policy::kLag:
      options.uses_done = naive::UsesDone::kAfterMoreWork;
      break;
  }
  naive::Allocator allocator(options);
  for (const Instruction& instruction : golden.trace.instructions) allocator.execute(instruction);
  Played played;
  played.history.events = allocator.events();
  played.statistics = allocator.flat_statistics();
  played.segments = allocator.segments();
  return played;
}

}  // namespace

TEST_CASE("the naive allocator reproduces the goldens too") {
  std::size_t cases = 0;
  for (const char* const set : {"pytorch-2.11", "other-releases"}) {
    for (const std::string& folder : case_folders(kOwn + set)) {
      const AllocatorCase golden = read_case(folder);
      if (golden.settings.backend != Backend::kNative) continue;
      const Differences differences = compare(golden, play_naively(golden));
      INFO(golden.name << ": " << differences.first);
      CHECK(differences.none());
      ++cases;
    }
  }
  CHECK(cases >= 40);
}

// PyTorch counts `all` alone, current and peak. The recorded reserved bytes are no real driver's
// and are left out.
TEST_CASE("the asynchronous backend counts what the real one counts") {
  std::size_t cases = 0;
  for (const std::string& folder : case_folders(kOwn + "pytorch-2.11")) {
    const AllocatorCase golden = read_case(folder);
    if (golden.settings.backend != Backend::kCudaMallocAsync) continue;
    const Played played = play(golden);
    REQUIRE(played.statistics.size() == golden.statistics.size());
    for (std::size_t i = 0; i < golden.statistics.size(); ++i) {
      const std::string& key = golden.statistics[i].first;
      if (key.starts_with("reserved_bytes.all.")) continue;
      INFO(golden.name << ": " << key);
      CHECK(played.statistics[i] == golden.statistics[i]);
    }
    const auto statistic = [&played](std::string_view key) {
      for (const auto& [name, value] : played.statistics) {
        if (name == key) return value;
      }
      return std::int64_t{-1};
    };
    CHECK(statistic("reserved_bytes.all.peak") >= statistic("allocated_bytes.all.peak"));
    ++cases;
  }
  CHECK(cases == 2);
}

}  // namespace tidemark::golden
