#include "sim/run/find_peak.h"

#include <catch2/catch.hpp>

namespace tidemark {
namespace {

/// A request of 512 bytes, one of 1024 that needs a segment first, and the first one's end.
DeviceResult device_with_three_requests() {
  DeviceResult device;
  const auto add = [&device](Action action, RequestId id, Bytes bytes, std::uint32_t instruction,
                             Bytes reserved, Bytes allocated) {
    Event event;
    event.action = action;
    event.id = id;
    event.bytes = bytes;
    event.instruction = instruction;
    device.events.push_back(event);
    MemorySample sample;
    sample.reserved = reserved;
    sample.allocated = allocated;
    device.samples.push_back(sample);
    device.labels.push_back(instruction + 1);
  };
  add(Action::kSegmentAlloc, kNoRequest, 2048, 0, 2048, 0);
  add(Action::kAlloc, 0, 512, 0, 2048, 512);
  add(Action::kSegmentAlloc, kNoRequest, 2048, 1, 4096, 512);
  add(Action::kAlloc, 1, 1000, 1, 4096, 1536);
  add(Action::kFreeRequested, 0, 512, 2, 4096, 1024);
  return device;
}

TEST_CASE("a peak of reserved is told as of the request that the segment was made for") {
  const DeviceResult device = device_with_three_requests();
  Program program;
  program.categories = {Category::kParameter, Category::kActivation};
  const PeakResult peak = find_peaks(device, program, true).reserved;
  CHECK(peak.event == 3);
  CHECK(peak.label == 2);
  CHECK(peak.phase == kNoPhase);
  CHECK(peak.sample == device.samples[3]);
  REQUIRE(peak.live.size() == 2);
  CHECK(peak.live.front().id == 1);
  CHECK(peak.by_category[static_cast<std::size_t>(Category::kActivation)] == 1024);
  CHECK(peak.by_category[static_cast<std::size_t>(Category::kParameter)] == 512);
  CHECK(find_peaks(device, program, false).reserved.live.empty());
}

TEST_CASE("what was never above zero has no peak") {
  DeviceResult device = device_with_three_requests();
  for (MemorySample& sample : device.samples) sample.allocated = 0;
  CHECK(find_peaks(device, {}, true).allocated.event == kNoEvent);
  CHECK(find_peaks({}, {}, true).reserved.event == kNoEvent);
}

}  // namespace
}  // namespace tidemark
