#include "sim/run/host_memory.h"

#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {

void HostMemory::execute(const Instruction& instruction, const Moment& now) {
  switch (instruction.verb) {
    case Verb::kPageable:
      if (instruction.id != 0) {
        pageable_ += instruction.bytes;
        break;
      }
      TIDEMARK_CHECK(instruction.bytes <= pageable_,
                     fmt::format("{} bytes of {} given back", instruction.bytes, pageable_));
      pageable_ -= instruction.bytes;
      break;
    case Verb::kHostAlloc:
      pinned_.allocate(instruction.id, instruction.bytes);
      break;
    case Verb::kHostFree:
      pinned_.free(instruction.id);
      break;
    case Verb::kHostUse:
      pinned_.use(instruction.id, instruction.device, instruction.stream);
      return;
    default:
      pinned_.empty_cache();
  }
  const PinnedStatistics& pinned = pinned_.statistics();
  const HostSample sample{now.event, now.phase,     instruction.label, now.time_ns,
                          pageable_, pinned.in_use, pinned.held};
  if (sample.held() > peak_.held()) peak_ = sample;
  if (keeps_samples_) samples_.push_back(sample);
}

void HostMemory::write_state(StateImage& image) const {
  pinned_.write_state(image);
  image.put(pageable_);
  image.put(peak_.held());
}

HostResult HostMemory::finish() {
  return {std::move(samples_), peak_, pageable_, pinned_.statistics()};
}

}  // namespace tidemark
