#include "sim/study/explain/moment.h"

#include <utility>

namespace tidemark {

SnapshotProgram program_until(const Snapshot& snapshot, std::uint8_t device, std::size_t end,
                              bool exact, const AllocatorSettings& settings, bool repeat_reclaims) {
  SnapshotProgramOptions options;
  options.device = device;
  options.to_event = end;
  options.exact_start = exact;
  options.repeat_reclaims = exact && repeat_reclaims;
  options.rounded = [&settings](Bytes bytes) { return rounded_request(settings, bytes); };
  return make_snapshot_program(snapshot, options);
}

Bytes reserved_in_all(const SnapshotProgram& program) {
  return program.start.reserved_bytes() + program.gained_bytes;
}

DeviceMemory device_memory(const SnapshotProgram& program, Bytes capacity, bool recorded_places) {
  DeviceMemory memory({std::min(capacity, DeviceMemory::kMostBytes), 0, 0, 0});
  if (!recorded_places) return memory;
  DeviceMemory::Recording recording;
  for (const RecordedAddresses::Segment& each : program.addresses.segments) {
    recording.segments.push_back({each.bytes, each.address});
  }
  recording.reservations = program.addresses.reservations;
  memory.follow(std::move(recording));
  return memory;
}

MomentTrials::MomentTrials(const Snapshot& snapshot, std::uint8_t device, std::size_t end,
                           const AllocatorSettings& settings, Bytes capacity)
    : settings_(settings),
      capacity_(capacity),
      // What the allocator gave back to serve a request, it gives back by itself when it must.
      program_(program_until(snapshot, device, end, true, settings, false)) {}

bool MomentTrials::serves(Bytes bytes, StreamId stream, std::span<const RequestId> freed) {
  const std::size_t before = program_.instructions.size();
  for (const RequestId id : freed)
    program_.instructions.push_back({0, id, 0, 0, 0, Verb::kFree, 0});
  const RequestId id = program_.requests;
  program_.instructions.push_back({bytes, id, 0, stream, 0, Verb::kAlloc, 0});
  const bool served =
      simulated(program_, settings_, capacity_, true,
                [](Allocator&, const Refusals& refusals) { return !refusals.last; });
  program_.instructions.truncate(before);
  return served;
}

Bytes MomentTrials::largest_served(StreamId stream) {
  const Bytes most = std::min(capacity_, DeviceMemory::kMostBytes);
  // The driver has what no segment in use holds, once free segments are given back.
  const auto [active, likely] = simulated(
      program_, settings_, capacity_, true, [most](Allocator& allocator, const Refusals&) {
        const MemorySample now = allocator.sample();
        Bytes in_use = 0;
        for (const SegmentInfo& each : allocator.segments())
          in_use += each.active_bytes > 0 ? each.total_bytes : 0;
        return std::pair(now.active, std::max(most - std::min(most, in_use), now.largest_free));
      });
  const Bytes room = most - std::min(most, active);  // what is active stays
  for (const Bytes unit : {kMiB, kMinBlockBytes}) {
    Bytes low = 0;                                              // served, or nothing
    Bytes high = unit == kMiB ? room / unit + 1 : kMiB / unit;  // refused
    const auto ask = [&](Bytes units) {
      if (low < units && units < high) (serves(units * unit, stream) ? low : high) = units;
    };
    // Segments come in steps of 2 MiB.
    if (unit == kMiB) ask(likely / (2 * kMiB) * 2);
    if (low > 0) ask(low + 1);
    // A GPU has less than 2^19 MiB; what is said to have more is not worth as many runs.
    while (low + 1 < high && high - low > high >> 19U) ask(low + (high - low) / 2);
    if (low > 0) return low * unit;
  }
  return 0;
}

}  // namespace tidemark
