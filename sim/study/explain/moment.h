#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "sim/alloc/device_memory.h"
#include "sim/alloc/make_allocator.h"
#include "sim/format/snapshot.h"
#include "sim/format/snapshot_program.h"
#include "sim/study/replay/agreement.h"

namespace tidemark {

/// One device's recording up to, not including, event `end`; for device 0. `exact`: it starts and
/// gives memory back as it was recorded, else as other settings would (SnapshotProgramOptions).
SnapshotProgram program_until(const Snapshot& snapshot, std::uint8_t device, std::size_t end,
                              bool exact, const AllocatorSettings& settings,
                              bool repeat_reclaims = true);

/// What was held at the start and everything that was asked of the driver since.
Bytes reserved_in_all(const SnapshotProgram& program);

/// The requests of a program that were refused.
struct Refusals {
  std::size_t count = 0;
  bool last = false;  ///< the last instruction's among them
};

/// The driver that a program is played on. `recorded_places`: it answers with the recorded
/// addresses.
DeviceMemory device_memory(const SnapshotProgram& program, Bytes capacity, bool recorded_places);

/// Runs a program and hands the allocator over for questions. `recorded_places`: as above. `until`:
/// how many instructions are run.
template <class Ask>
auto simulated(const SnapshotProgram& program, const AllocatorSettings& settings, Bytes capacity,
               bool recorded_places, Ask ask, std::size_t until = ~std::size_t{0}) {
  DeviceMemory memory = device_memory(program, capacity, recorded_places);
  TraceClock clock;
  const std::unique_ptr<Allocator> allocator = make_allocator(settings, memory, clock);
  Refusals refusals;
  InstructionReader reader(program.instructions, 0, until);
  for (std::span<const Instruction> some = reader.next(); !some.empty(); some = reader.next()) {
    refusals.last = false;
    while (!some.empty()) {
      some = some.subspan(allocator->execute(some));
      if (!allocator->refused()) continue;
      ++refusals.count;
      refusals.last = some.empty();
    }
  }
  return ask(*allocator, refusals);
}

/// Questions "what if" asked of a moment of a recording, under its own settings, each answered by
/// re-simulating all that came before. Cost: linear in the events before, a question.
class MomentTrials {
 public:
  /// The moment right before event `end`. `capacity`: what PyTorch can get of the device.
  MomentTrials(const Snapshot& snapshot, std::uint8_t device, std::size_t end,
               const AllocatorSettings& settings, Bytes capacity);

  /// Whether a request would be served, had `freed` been freed right before it.
  [[nodiscard]] bool serves(Bytes bytes, StreamId stream, std::span<const RequestId> freed = {});
  /// The largest request, in whole MiB or where that is none in 512 bytes, that is served; from 512
  /// GiB on, to 19 bits. The search starts at what no segment in use holds, or at the largest free
  /// block.
  [[nodiscard]] Bytes largest_served(StreamId stream);

 private:
  AllocatorSettings settings_;
  Bytes capacity_;
  SnapshotProgram program_;
};

}  // namespace tidemark
