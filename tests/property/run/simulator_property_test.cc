#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "sim/base/random.h"
#include "sim/run/simulator.h"

namespace tidemark {
namespace {

constexpr StreamId kStreams = 3;

struct Text {
  Program program;
  std::vector<Instruction> code;
};

/// Requests, uses by other streams, launches, waits, marks and queries on one small device that
/// fills up at times.
Text draw(std::uint64_t seed) {
  Random random(seed);
  Text text;
  std::vector<RequestId> live;
  RequestId next = 0;
  for (int i = 0; i < 8; ++i) {
    text.program.costs.push_back({random.below(1'000'000'000), random.below(50'000'000),
                                  CostClass::kElementwise, CostPrecision::kFp32});
  }
  for (int i = 0; i < 1'500; ++i) {
    Instruction instruction;
    instruction.stream = static_cast<StreamId>(random.below(kStreams));
    const std::uint64_t kind = random.below(100);
    if (kind < 40) {
      instruction.verb = Verb::kAlloc;
      instruction.id = next++;
      instruction.bytes =
          random.chance(1, 4) ? 1 + random.below(40'000'000) : 1 + random.below(100'000);
      instruction.label = text.program.labels.intern("op " + std::to_string(random.below(5)));
      live.push_back(instruction.id);
    } else if (kind < 72 && !live.empty()) {
      const std::size_t at = random.below(live.size());
      instruction.verb = Verb::kFree;
      instruction.id = live[at];
      live[at] = live.back();
      live.pop_back();
    } else if (kind < 80 && !live.empty()) {
      instruction.verb = Verb::kUse;
      instruction.id = live[random.below(live.size())];
    } else if (kind < 90) {
      instruction.verb = Verb::kLaunch;
      instruction.id = static_cast<RequestId>(random.below(text.program.costs.size()));
    } else if (kind < 92) {
      instruction.verb = Verb::kRecord;
      instruction.id = static_cast<RequestId>(random.below(4));
    } else if (kind < 94) {
      instruction.verb = Verb::kWait;
      instruction.id = static_cast<RequestId>(random.below(4));
    } else if (kind < 96) {
      instruction.verb = Verb::kMark;
      instruction.label = text.program.labels.intern("phase " + std::to_string(i));
    } else if (kind < 97) {
      instruction.verb = Verb::kSync;
    } else if (kind < 98) {
      instruction.verb = Verb::kEmptyCache;
    } else if (kind < 99) {
      instruction.verb = Verb::kResetPeak;
    } else {
      instruction.verb = Verb::kSyncDevice;
    }
    text.code.push_back(instruction);
  }
  return text;
}

SimulatedDevice device() {
  SimulatedDevice result;
  result.spec.id = "test";
  result.spec.total_bytes = 400 * kMiB;
  result.spec.memory_bytes_per_s = 100'000'000'000;
  result.spec.fp32_flops_per_s = 10'000'000'000'000;
  return result;
}

/// Executes the program in chunks of `chunk` instructions (0: random ones), going on after each
/// refusal.
RunResult run(const Text& text, std::size_t chunk, std::uint64_t seed, SimulatorOptions options) {
  Random random(seed);
  Simulator simulator(text.program, {device()}, options);
  std::span<const Instruction> rest(text.code);
  while (!rest.empty()) {
    const std::size_t most = chunk != 0 ? chunk : 1 + random.below(200);
    const std::size_t size = std::min(most, rest.size());
    const Outcome outcome = simulator.execute(rest.first(size));
    rest = rest.subspan(outcome.failed_at ? *outcome.failed_at + 1 : size);
  }
  return simulator.finish();
}

void require_equal(const DeviceResult& a, const DeviceResult& b) {
  REQUIRE(a.events == b.events);
  REQUIRE(a.samples == b.samples);
  REQUIRE(a.labels == b.labels);
  REQUIRE(a.phases == b.phases);
  REQUIRE(a.statistics == b.statistics);
  REQUIRE(a.segments == b.segments);
  REQUIRE(a.times_ns == b.times_ns);
  REQUIRE(a.peak_allocated == b.peak_allocated);
  REQUIRE(a.peak_reserved == b.peak_reserved);
  REQUIRE(a.ooms.size() == b.ooms.size());
}

}  // namespace

TEST_CASE("how a program is cut into chunks changes nothing") {
  const auto seed = GENERATE(range(1U, 21U));
  CAPTURE(seed);
  const Text text = draw(seed);
  SimulatorOptions options;
  options.policy.kind = static_cast<EventPolicy::Kind>(seed % 4);
  options.policy.lag = seed % 7;
  const RunResult whole = run(text, text.code.size(), seed, options);
  REQUIRE(whole.instructions == text.code.size());
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{0}}) {
    CAPTURE(chunk);
    const RunResult cut = run(text, chunk, seed, options);
    require_equal(whole.devices[0], cut.devices[0]);
    REQUIRE(whole.end_ns == cut.end_ns);
  }
}

TEST_CASE(
    "keeping time changes nothing where the policy does not ask for it, and time never goes back") {
  const auto seed = GENERATE(range(21U, 41U));
  CAPTURE(seed);
  const Text text = draw(seed);
  SimulatorOptions timed;
  timed.policy.kind = EventPolicy::Kind::kSync;
  SimulatorOptions untimed = timed;
  untimed.keep_times = false;
  const RunResult with = run(text, 0, seed, timed);
  const RunResult without = run(text, 0, seed, untimed);
  REQUIRE(with.devices[0].events == without.devices[0].events);
  REQUIRE(with.devices[0].statistics == without.devices[0].statistics);
  const std::vector<Nanoseconds>& times = with.devices[0].times_ns;
  REQUIRE(std::is_sorted(times.begin(), times.end()));
  REQUIRE(times.back() <= with.end_ns);
}

TEST_CASE("phases tile the events and hold the peaks, and what is live adds up") {
  const auto seed = GENERATE(range(41U, 61U));
  CAPTURE(seed);
  const Text text = draw(seed);
  const RunResult result = run(text, 0, seed, {});
  const DeviceResult& on = result.devices[0];
  std::uint32_t next = 0;
  Bytes highest = 0;
  for (const PhaseResult& phase : on.phases) {
    REQUIRE(phase.first_event == next);
    next += phase.events;
    highest = std::max(highest, phase.allocated.peak);
    for (std::uint32_t i = phase.first_event; i < next; ++i) {
      REQUIRE(on.samples[i].allocated <= phase.allocated.peak);
      REQUIRE(on.samples[i].reserved <= phase.reserved.peak);
      REQUIRE(on.samples[i].active <= phase.active.peak);
      REQUIRE(on.samples[i].requested <= phase.requested.peak);
    }
  }
  REQUIRE(next == on.events.size());
  REQUIRE(highest == on.peak_allocated.bytes);
  for (std::uint32_t i = 0; i < on.events.size(); i += 37) {
    Bytes sum = 0;
    for (const LiveBlock& block : live_at(on, text.program, i)) sum += block.block_bytes;
    REQUIRE(sum == on.samples[i].allocated);
  }
}

}  // namespace tidemark
