#include "sim/study/validate/validation.h"

#include <catch2/catch.hpp>

#include "sim/base/problem.h"

namespace tidemark {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20U;

Event event(Action action, std::uint64_t address, Bytes bytes, RequestId id = kNoRequest) {
  Event made;
  made.action = action;
  made.address = address;
  made.bytes = bytes;
  made.id = id;
  return made;
}

std::vector<Event> small_run() {
  return {event(Action::kSegmentAlloc, 4 * kMiB, 2 * kMiB), event(Action::kAlloc, 4 * kMiB, 100, 0),
          event(Action::kAlloc, 4 * kMiB + 512, 200, 1),
          event(Action::kFreeRequested, 4 * kMiB, 100, 0),
          event(Action::kFreeCompleted, 4 * kMiB, 100, 0)};
}

/// A run of these events whose peaks are those of its one segment.
RunResult simulated(std::vector<Event> events) {
  RunResult result;
  DeviceResult device;
  device.spec.total_bytes = 100 * kMiB;
  device.spec.context_bytes = 10 * kMiB;
  device.device_free_bytes = 88 * kMiB;
  device.labels.assign(events.size(), 0);
  device.phases.push_back({});
  device.phases.back().events = static_cast<std::uint32_t>(events.size());
  device.events = std::move(events);
  device.statistics.reserved_bytes.all.current = 2 * kMiB;
  device.statistics.reserved_bytes.all.peak = 2 * kMiB;
  device.statistics.allocated_bytes.all.peak = 1024;
  result.devices.push_back(std::move(device));
  return result;
}

MeasuredRun measured(std::vector<Event> events, Bytes peak_allocated, Bytes peak_reserved) {
  MeasuredRun run;
  run.provenance.pretend = true;
  run.provenance.torch = "2.11.0";
  run.devices.push_back({peak_allocated, peak_reserved, 12 * kMiB});
  run.events.events = std::move(events);
  return run;
}

TEST_CASE("The same events and peaks are exact") {
  const ValidationCase found =
      validate("same", simulated(small_run()), measured(small_run(), 1024, 2 * kMiB));
  CHECK(found.exact());
  CHECK(found.events.a_events == 5);
  CHECK(found.peak_allocated.error_ppm() == 0);
  CHECK(found.device_total.simulated == 12 * kMiB);  // 100 - 88 free: context and the segment
  CHECK(found.device_total.error_ppm() == 0);
  CHECK(found.reserved_curve.differing == 0);
}

TEST_CASE("A trace's requests are counted anew, and what it was refused is its verdict") {
  // The trace names 7 twice; the measurement counts 0, 1, 2.
  const auto run = [](RequestId first, RequestId refused, RequestId last) {
    return std::vector<Event>{event(Action::kSegmentAlloc, 4 * kMiB, 2 * kMiB),
                              event(Action::kAlloc, 4 * kMiB, 100, first),
                              event(Action::kFreeRequested, 4 * kMiB, 100, first),
                              event(Action::kFreeCompleted, 4 * kMiB, 100, first),
                              event(Action::kOom, 0, 200 * kMiB, refused),
                              event(Action::kAlloc, 4 * kMiB, 300, last)};
  };
  const MeasuredRun theirs = measured(run(0, 1, 2), 1024, 2 * kMiB);
  const ValidationCase found = validate_trace("trace", simulated(run(7, 9, 7)), theirs);
  CHECK(found.exact());
  CHECK(found.oom_simulated);
  CHECK(found.oom_measured);
  CHECK(found.events.a_events == 6);  // nothing is cut off at the refusal
  // The last request is another one's: freed under 1, never asked for under it.
  CHECK_FALSE(validate("plain", simulated(run(7, 9, 7)), theirs).exact());
}

TEST_CASE("Errors are signed: simulated less measured, in millionths of what was measured") {
  // 1024 of 1280: a fifth too low. 2 MiB of 1 MiB: as much too high as was measured.
  const ValidationCase found =
      validate("off", simulated(small_run()), measured(small_run(), 1280, kMiB));
  CHECK(found.peak_allocated.error_ppm() == -200'000);
  CHECK(found.peak_reserved.error_ppm() == 1'000'000);
  const ValidationSummary summary = summarise({found});
  CHECK(summary.peak_allocated.under == 1);
  CHECK(summary.peak_allocated.max_ppm == 200'000);
  CHECK(summary.peak_reserved.under == 0);
}

TEST_CASE("The median of an even number of errors lies between the middle two") {
  std::vector<ValidationCase> cases;
  for (const Bytes peak :
       std::vector<Bytes>{1024, 1280, 2048, 512}) {  // errors 0, -20 %, -50 %, +100 %
    cases.push_back(
        validate("case", simulated(small_run()), measured(small_run(), peak, 2 * kMiB)));
  }
  const ErrorSummary errors = summarise(cases).peak_allocated;
  CHECK(errors.median_ppm == 350'000);
  CHECK(errors.mean_ppm == 425'000);
  CHECK(errors.under == 2);
}

TEST_CASE("A missing event is the first difference, and moves the curves") {
  std::vector<Event> theirs = small_run();
  theirs.push_back(event(Action::kSegmentAlloc, 8 * kMiB, 20 * kMiB));
  theirs[2].address += 512;
  const ValidationCase found =
      validate("differs", simulated(small_run()), measured(theirs, 1024, 2 * kMiB));
  CHECK_FALSE(found.exact());
  CHECK(found.events.first == 2);
  CHECK(found.events.differing == 2);
  CHECK(found.largest_free_curve.differing == 3);
  CHECK(found.largest_free_curve.largest == 512);
  CHECK(found.largest_free_curve.largest_at == 2);
}

TEST_CASE("Frees beside one another may come in another order") {
  std::vector<Event> ours = small_run();
  std::vector<Event> theirs = small_run();
  const Event first = event(Action::kFreeRequested, 4 * kMiB + 512, 200, 1);
  const Event then = event(Action::kFreeCompleted, 4 * kMiB + 512, 200, 1);
  ours.insert(ours.end(), {first, then});
  theirs.insert(theirs.begin() + 3, {first, then});
  const ValidationCase found = validate("order", simulated(ours), measured(theirs, 1024, 2 * kMiB));
  CHECK(found.exact());
  CHECK(found.other_order == 4);
}

TEST_CASE("What the interpreter lets go of after the request that ended the run is not compared") {
  std::vector<Event> ours = small_run();
  ours.push_back(event(Action::kOom, kMiB, 40 * kMiB, 2));
  std::vector<Event> theirs = ours;
  theirs.push_back(event(Action::kFreeRequested, 4 * kMiB + 512, 200, 1));
  RunResult result = simulated(ours);
  result.ended_by_oom = true;
  MeasuredRun run = measured(theirs, 1024, 2 * kMiB);
  run.ended_by_oom = true;
  const ValidationCase found = validate("oom", result, run);
  CHECK(found.exact());
  CHECK(found.after_oom == 1);
  run.ended_by_oom = false;
  const ValidationCase wrong = validate("oom", result, run);
  CHECK_FALSE(wrong.oom_right());
  CHECK(summarise({wrong}).wrong_oom_verdicts == 1);
}

TEST_CASE("A warm recording is compared with the run's last events, without addresses") {
  MeasuredRun run = measured(small_run(), 1024, 2 * kMiB);
  run.warm = true;
  run.events.events.erase(run.events.events.begin(), run.events.events.begin() + 2);
  for (Event& each : run.events.events) each.address += kMiB;
  const ValidationCase found = validate("warm", simulated(small_run()), run);
  CHECK(found.exact());
  CHECK(found.events.b_events == 3);
}

TEST_CASE("A recording is compared with what the program's own calls recorded") {
  // Recording begins after the first block's segment is back, and ends before the last two frees.
  std::vector<Event> all{event(Action::kSegmentAlloc, 4 * kMiB, 2 * kMiB),
                         event(Action::kAlloc, 4 * kMiB, 100, 0),
                         event(Action::kFreeRequested, 4 * kMiB, 100, 0),
                         event(Action::kFreeCompleted, 4 * kMiB, 100, 0),
                         event(Action::kSegmentFree, 4 * kMiB, 2 * kMiB)};
  std::vector<Event> later = small_run();
  for (Event& each : later) {
    if (each.id != kNoRequest) ++each.id;
  }
  all.insert(all.end(), later.begin(), later.end());
  RunResult result = simulated(all);
  const auto mark = [&](std::string name, std::uint32_t at) {
    MeasuredPoint point;
    point.name = std::move(name);
    point.event = at;
    result.devices[0].points.push_back(point);
  };
  mark("memory history begins", 5);
  mark("memory snapshot: out/first.pickle", 8);
  MeasuredRun run = measured(small_run(), 1024, 2 * kMiB);
  run.events.events.resize(3);
  run.name = "recordings/first.pickle";
  run.is_recording = true;
  const ValidationCase found = validate("window", result, run);
  CHECK(found.exact());
  CHECK(found.events.b_events == 3);
  // A later file of another name is another window; recording that ended is forgotten.
  mark("memory history ends", 8);
  mark("memory history begins", 9);
  mark("memory snapshot: second.pickle", 10);
  CHECK(validate("window", result, run).exact());
  run.name = "second.pickle";
  CHECK(validate("window", result, run).events.b_events == 1);
}

TEST_CASE("On another driver places are counted apart") {
  std::vector<Event> theirs = small_run();
  for (Event& each : theirs) each.address += 64 * kMiB;
  theirs[2].address += 512;
  MeasuredRun run = measured(theirs, 1024, 2 * kMiB);
  run.provenance.pretend = false;
  const ValidationCase found = validate("elsewhere", simulated(small_run()), run);
  CHECK(found.exact());
  CHECK(found.allocations == 2);
  CHECK(found.placed_elsewhere == 1);
}

TEST_CASE("Other numbers of devices are refused") {
  MeasuredRun run = measured(small_run(), 1024, 2 * kMiB);
  run.devices.push_back({});
  CHECK_THROWS_WITH(validate("two", simulated(small_run()), run),
                    "error: two: the measurement is of 2 devices, the scenario of 1\n");
}

}  // namespace
}  // namespace tidemark
