#include "sim/run/simulator.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

#include "sim/base/check.h"
#include "sim/base/problem.h"
#include "sim/base/random.h"

namespace tidemark {
namespace {

SimulatedDevice device(Bytes total = 1 * kGiB) {
  SimulatedDevice result;
  result.spec.id = "test";
  result.spec.total_bytes = total;
  result.spec.memory_bytes_per_s = 1'000'000'000;
  result.spec.fp32_flops_per_s = 1'000'000'000;
  return result;
}

SimulatorOptions with(EventPolicy::Kind kind) {
  SimulatorOptions options;
  options.policy.kind = kind;
  return options;
}

/// A program under construction.
struct Text {
  Program program;
  std::vector<Instruction> code;

  Instruction& add(Verb verb, std::uint32_t id = kNoRequest, Bytes bytes = 0, StreamId stream = 0) {
    Instruction instruction;
    instruction.verb = verb;
    instruction.id = id;
    instruction.bytes = bytes;
    instruction.stream = stream;
    code.push_back(instruction);
    return code.back();
  }
  void mark(std::string_view name) { add(Verb::kMark).label = program.labels.intern(name); }
  void alloc(RequestId id, Bytes bytes, std::string_view label = "", StreamId stream = 0) {
    add(Verb::kAlloc, id, bytes, stream).label = program.labels.intern(label);
  }
  void free(RequestId id) { add(Verb::kFree, id); }
  void launch(std::uint64_t bytes_moved, StreamId stream = 0) {
    add(Verb::kLaunch, static_cast<std::uint32_t>(program.costs.size()), 0, stream);
    program.costs.push_back({0, bytes_moved, CostClass::kElementwise, CostPrecision::kFp32});
  }
  RunResult run(const SimulatorOptions& options = {}, const SimulatedDevice& on = device()) const {
    Simulator simulator(program, {on}, options);
    Program unused;
    RecordedSource(code).run(unused, simulator);
    return simulator.finish();
  }
};

}  // namespace

TEST_CASE("phases hold every event, with their peaks and what they end with") {
  //  phase          b: 1 MiB ..........
  //  a: 4 MiB ....................
  //  none | model   | forward          | end
  Text text;
  text.alloc(0, 512);
  text.mark("model");
  text.alloc(1, 4 * kMiB, "w");
  text.mark("forward 0");
  text.alloc(2, kMiB + 100, "x");
  text.free(1);
  text.mark("end 0");
  const RunResult result = text.run();
  const DeviceResult& on = result.devices.at(0);
  REQUIRE(on.phases.size() == 4);
  CHECK(on.phases[0].name.empty());
  CHECK(on.phases[0].events == 2);
  CHECK(on.phases[1].name == "model");
  CHECK(on.phases[1].first_event == 2);
  CHECK(on.phases[1].allocated == PhaseBytes{4 * kMiB + 512, 4 * kMiB + 512});
  CHECK(on.phases[2].name == "forward 0");
  CHECK(on.phases[2].allocated == PhaseBytes{kMiB + 1024, 5 * kMiB + 1024});
  CHECK(on.phases[2].requested == PhaseBytes{kMiB + 612, 5 * kMiB + 612});
  CHECK(on.phases[3].events == 0);
  CHECK(on.phases[3].allocated == PhaseBytes{kMiB + 1024, kMiB + 1024});
  std::uint32_t events = 0;
  for (const PhaseResult& phase : on.phases) {
    CHECK(phase.first_event == events);
    events += phase.events;
  }
  CHECK(events == on.events.size());
  CHECK(on.samples.size() == events);
  CHECK(on.labels.size() == events);
  CHECK(on.times_ns.size() == events);
}

TEST_CASE("a peak says when, who asked, and what was live") {
  Text text;
  text.mark("model");
  text.alloc(0, 3 * kMiB, "weights");
  text.alloc(1, 100, "bias");
  text.mark("forward 0");
  text.alloc(2, 2 * kMiB, "out");
  text.free(2);
  text.alloc(3, 2 * kMiB, "again");
  text.program.categories = {Category::kParameter, Category::kParameter, Category::kActivation};
  const RunResult result = text.run();
  const PeakResult& peak = result.devices[0].peak_allocated;
  CHECK(peak.bytes == 5 * kMiB + 512);
  REQUIRE(peak.event < result.devices[0].events.size());
  CHECK(result.devices[0].events[peak.event].id == 2);
  CHECK(peak.phase == 1);
  CHECK(text.program.labels.text(peak.label) == "out");
  CHECK(peak.sample.allocated == peak.bytes);
  REQUIRE(peak.live.size() == 3);
  CHECK(peak.live[0].id == 0);
  CHECK(peak.live[2].block_bytes == 512);
  CHECK(peak.live[2].requested_bytes == 100);
  CHECK(peak.by_category[static_cast<std::size_t>(Category::kParameter)] == 3 * kMiB + 512);
  CHECK(peak.by_category[static_cast<std::size_t>(Category::kActivation)] == 2 * kMiB);
  CHECK(result.devices[0].peak_reserved.bytes == 22 * kMiB);
}

TEST_CASE("a request that fails tells its instruction, and the rest can go on") {
  Text text;
  text.mark("model");
  text.alloc(0, 10 * kMiB);
  text.alloc(1, 100 * kGiB, "huge");
  text.alloc(2, 10 * kMiB);
  Simulator simulator(text.program, {device()}, {});
  const Outcome outcome = simulator.execute(text.code);
  REQUIRE(outcome.failed_at == 2U);
  CHECK(outcome.message.starts_with("CUDA out of memory. Tried to allocate 100.00 GiB."));
  CHECK_FALSE(simulator.execute(std::span(text.code).subspan(3)).failed_at);
  const RunResult result = simulator.finish();
  CHECK(result.instructions == 4);
  REQUIRE(result.devices[0].ooms.size() == 1);
  const OomResult& oom = result.devices[0].ooms[0];
  CHECK(oom.instruction == 2);
  CHECK(oom.phase == 0);
  CHECK(text.program.labels.text(oom.label) == "huge");
  CHECK(oom.message == outcome.message);
  REQUIRE(oom.event != kNoEvent);
  CHECK(result.devices[0].events[oom.event].action == Action::kOom);
  CHECK(result.devices[0].events[oom.event].id == 1);
}

TEST_CASE("the program's own peak resets show in its queries and statistics, not in the phases") {
  Text text;
  text.mark("a");
  text.alloc(0, 8 * kMiB);
  text.free(0);
  text.alloc(1, kMiB);
  text.add(Verb::kResetPeak);
  text.alloc(2, kMiB);
  Simulator simulator(text.program, {device()}, {});
  simulator.execute(text.code);
  CHECK(simulator.query(MemoryQuery::kAllocated, 0) == 2 * kMiB);
  CHECK(simulator.query(MemoryQuery::kMaxAllocated, 0) == 2 * kMiB);
  CHECK(simulator.query(MemoryQuery::kMaxReserved, 0) ==
        simulator.query(MemoryQuery::kReserved, 0));
  CHECK(simulator.query(MemoryQuery::kDeviceTotal, 0) == kGiB);
  CHECK(simulator.query(MemoryQuery::kDeviceFree, 0) ==
        kGiB - simulator.query(MemoryQuery::kReserved, 0));
  const auto statistics = simulator.statistics(0);
  CHECK(std::find(statistics.begin(), statistics.end(),
                  std::pair<std::string, std::int64_t>("allocated_bytes.all.peak", 2 * kMiB)) !=
        statistics.end());
  const RunResult result = simulator.finish();
  CHECK(result.devices[0].phases[0].allocated.peak == 8 * kMiB);
  CHECK(result.devices[0].peak_allocated.bytes == 8 * kMiB);
  CHECK(result.devices[0].statistics.allocated_bytes.all.peak == 2 * kMiB);
}

TEST_CASE("marks change nothing but the phases") {
  const auto build = [](bool marks) {
    Random random(7);
    Text text;
    std::vector<RequestId> live;
    for (RequestId id = 0; id < 500; ++id) {
      if (marks && random.chance(1, 9)) text.mark("p");
      if (!marks) random.chance(1, 9);
      text.alloc(id, 1 + random.below(3'000'000));
      live.push_back(id);
      if (random.chance(2, 3)) {
        const std::size_t at = random.below(live.size());
        text.free(live[at]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    return text.run();
  };
  const RunResult plain = build(false);
  const RunResult marked = build(true);
  CHECK(marked.devices[0].phases.size() > 10);
  CHECK(plain.devices[0].phases.size() == 1);
  CHECK(flatten(plain.devices[0].statistics, Version{2, 11}) ==
        flatten(marked.devices[0].statistics, Version{2, 11}));
  CHECK(plain.devices[0].samples == marked.devices[0].samples);
  CHECK(plain.devices[0].peak_allocated.event == marked.devices[0].peak_allocated.event);
}

TEST_CASE("on one stream no byte depends on durations, whatever the event policy") {
  const auto build = [](std::uint64_t work, EventPolicy::Kind kind) {
    Random random(11);
    Text text;
    for (RequestId id = 0; id < 400; ++id) {
      text.alloc(id, 1 + random.below(30'000'000));
      text.launch(work * random.below(100'000'000));
      text.add(Verb::kUse, id);
      if (id >= 5) text.free(id - 5);
      if (random.chance(1, 20)) text.add(Verb::kSync);
      if (random.chance(1, 30)) text.add(Verb::kEmptyCache);
    }
    return text.run(with(kind), device(120 * kMiB));
  };
  const auto memory_of = [](const RunResult& result) {
    std::vector<Event> events = result.devices[0].events;
    for (Event& event : events) event.instruction = 0;
    return events;
  };
  const RunResult fast = build(0, EventPolicy::Kind::kSimulated);
  REQUIRE(fast.devices[0].events.size() > 500);
  REQUIRE_FALSE(fast.devices[0].ooms.empty());
  for (const auto kind :
       {EventPolicy::Kind::kSimulated, EventPolicy::Kind::kSync, EventPolicy::Kind::kReady}) {
    const RunResult slow = build(50, kind);
    CHECK(memory_of(slow) == memory_of(fast));
    CHECK(slow.end_ns > fast.end_ns);
  }
}

TEST_CASE(
    "a free that another stream holds up completes when that stream gets there in simulated time") {
  //  stream 1   |------- 10 ms -------|
  //  host     alloc use free   alloc     wait  alloc
  //                             ^ pending       ^ completed before it
  const auto completed_at = [](EventPolicy::Kind kind) {
    Text text;
    text.alloc(0, kMiB);
    text.launch(8'500'000, 1);  // 8.5 MB at 0.85 GB/s: 10 ms
    text.add(Verb::kUse, 0, 0, 1);
    text.free(0);
    text.alloc(1, kMiB);
    text.add(Verb::kSync, kNoRequest, 0, 1);
    text.alloc(2, kMiB);
    const RunResult result = text.run(with(kind));
    std::vector<std::string> order;
    for (const Event& event : result.devices[0].events) {
      if (event.action == Action::kAlloc || event.action == Action::kFreeCompleted) {
        order.push_back(std::string(action_name(event.action)) + " " + std::to_string(event.id));
      }
    }
    return order;
  };
  const std::vector<std::string> late{"alloc 0", "alloc 1", "free_completed 0", "alloc 2"};
  CHECK(completed_at(EventPolicy::Kind::kSimulated) == late);
  CHECK(completed_at(EventPolicy::Kind::kSync) == late);
  CHECK(completed_at(EventPolicy::Kind::kReady) ==
        std::vector<std::string>{"alloc 0", "free_completed 0", "alloc 1", "alloc 2"});
}

TEST_CASE("driver calls and launches move the host's clock") {
  Text text;
  text.alloc(0, kMiB);
  text.launch(8'500'000);
  text.add(Verb::kSync);
  text.alloc(1, kMiB);
  const RunResult result = text.run();
  REQUIRE(result.devices[0].times_ns.size() == 3);
  const CostModel costs;
  const Nanoseconds after_malloc = costs.malloc_ns + costs.malloc_page_ns;
  CHECK(result.devices[0].times_ns[0] == after_malloc);
  CHECK(result.devices[0].times_ns[2] == after_malloc + costs.launch_overhead_ns + 10'000'000);
  CHECK(result.end_ns == result.devices[0].times_ns[2]);
}

TEST_CASE("the host's memory is what storages there asked for, and what the pinned cache holds") {
  Text text;
  text.mark("model");
  const auto pageable = [&](Bytes bytes, std::uint32_t is_taken, std::string_view label) {
    text.add(Verb::kPageable, is_taken, bytes).label = text.program.labels.intern(label);
  };
  pageable(5000, 1, "empty");
  text.alloc(0, 3 * kMiB, "to");
  pageable(5000, 0, "to");
  text.mark("inputs 0");
  text.add(Verb::kHostAlloc, 0, 3000).label = text.program.labels.intern("pin_memory");  // 4096
  pageable(100, 1, "randn");
  text.add(Verb::kHostFree, 0);
  text.add(Verb::kHostEmptyCache);
  const RunResult result = text.run();
  // The parameter lies on both sides for a moment: nothing of it is left when 4096 + 100 are taken.
  REQUIRE(result.host.samples.size() == 6);
  const auto held = [&](std::size_t i) { return result.host.samples[i].held(); };
  CHECK(held(0) == 5000);
  CHECK(held(1) == 0);
  CHECK(held(2) == 4096);
  CHECK(held(3) == 4196);
  CHECK(held(4) == 4196);  // kept for the next request
  CHECK(result.host.samples[4].pinned_in_use == 0);
  CHECK(held(5) == 100);
  CHECK(result.host.samples[0].event == 0);
  CHECK(result.host.samples[1].event == 2);  // behind segment_alloc and alloc
  CHECK(result.host.samples[2].phase == 1);
  CHECK(result.host.peak == result.host.samples[0]);
  CHECK(text.program.labels.text(result.host.peak.label) == "empty");
  CHECK(result.host.pageable_bytes == 100);
  CHECK(result.host.pinned.peak_held == 4096);
}

TEST_CASE(
    "whether an event has passed is a question of time, or of the policy that stands for it") {
  Text text;
  text.launch(1'000'000);  // a millisecond
  text.add(Verb::kRecord, 0);
  const auto passed = [&](EventPolicy::Kind kind) {
    Simulator simulator(text.program, {device()}, with(kind));
    simulator.execute(text.code);
    const bool at_once = simulator.query_event(0);
    for (int i = 0; i < 2'000; ++i) simulator.query_event(0);  // a microsecond each
    const bool later = simulator.query_event(0);
    return std::pair(at_once, later);
  };
  CHECK(passed(EventPolicy::Kind::kSimulated) == std::pair(false, true));
  CHECK(passed(EventPolicy::Kind::kReady) == std::pair(true, true));
  CHECK(passed(EventPolicy::Kind::kSync) == std::pair(false, false));
  Simulator simulated(text.program, {device()}, with(EventPolicy::Kind::kSimulated));
  simulated.execute(text.code);
  CHECK(simulated.query_stream(0, 0) == false);
  CHECK(simulated.query_stream(0, 1) == true);
  CHECK(simulated.query_event(7));  // never recorded
  Simulator by_sync(text.program, {device()}, with(EventPolicy::Kind::kSync));
  CHECK_FALSE(by_sync.query_stream(0, 0).has_value());
}

TEST_CASE("a run for peaks alone keeps no events") {
  Text text;
  text.mark("model");
  text.alloc(0, 3 * kMiB);
  text.free(0);
  SimulatorOptions options;
  options.keep_events = false;
  options.keep_times = false;
  options.policy.kind = EventPolicy::Kind::kSync;
  const RunResult result = text.run(options);
  CHECK(result.devices[0].events.empty());
  CHECK(result.devices[0].peak_allocated.bytes == 3 * kMiB);
  CHECK(result.devices[0].phases.at(0).allocated.peak == 3 * kMiB);
  CHECK_FALSE(result.is_timed);
}

TEST_CASE("several devices have memories of their own and the same phases") {
  Text text;
  text.mark("model");
  text.alloc(0, 3 * kMiB);
  text.alloc(1, 5 * kMiB);
  text.code.back().device = 1;
  text.alloc(2, kMiB);
  Simulator simulator(text.program, {device(), device()}, {});
  simulator.execute(text.code);
  const RunResult result = simulator.finish();
  REQUIRE(result.devices.size() == 2);
  CHECK(result.devices[0].peak_allocated.bytes == 4 * kMiB);
  CHECK(result.devices[1].peak_allocated.bytes == 5 * kMiB);
  CHECK(result.devices[1].phases.at(0).name == "model");
  CHECK(result.devices[1].events.at(0).address ==
        0x210000000000U + (result.devices[0].events.at(0).address - 0x200000000000U));
}

TEST_CASE("a device whose context leaves no memory is refused") {
  SimulatedDevice small = device(kMiB);
  small.spec.context_bytes = 2 * kMiB;
  Text text;
  CHECK_THROWS_AS(text.run({}, small), InputError);
}

}  // namespace tidemark
