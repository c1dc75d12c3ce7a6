#include "sim/alloc/allocator.h"

#include <fmt/format.h>

#include "sim/alloc/device_memory.h"
#include "sim/alloc/event_clock.h"

namespace tidemark {

bool Allocator::execute_other(const Instruction& instruction, DeviceMemory& device,
                              EventClock& clock) {
  switch (instruction.verb) {
    case Verb::kUse:
      record_stream(instruction.id, instruction.stream);
      break;
    case Verb::kSync:
      clock.synchronize(instruction.stream);
      break;
    case Verb::kSyncDevice:
      clock.synchronize_device();
      break;
    case Verb::kEmptyCache:
      empty_cache();
      break;
    case Verb::kResetPeak:
      reset_peak();
      break;
    case Verb::kPool:
      use_pool(static_cast<PoolAction>(instruction.id), PoolKey::of(instruction.bytes),
               instruction.stream);
      break;
    case Verb::kDeviceBytes:
      if (instruction.id == 0) {
        device.give_back(instruction.bytes);
      } else if (!device.take(instruction.bytes)) {
        // A library that gets no memory fails outside PyTorch's allocator.
        refused_ = true;
        failure_ = OutOfMemory{};
        failure_.requested_bytes = instruction.bytes;
        failure_.device_free_bytes = device.free_bytes();
        return false;
      }
      break;
    default:
      break;
  }
  return true;
}

void Allocator::add_samples() {
  // A sample shows its event's whole effect, so it is taken when the next event or the end comes.
  // That is mostly one.
  const std::size_t events = history_->events.size();
  const MemorySample now = sample();
  do history_->samples.push_back(now);
  while (history_->samples.size() < events);
}

namespace {

/// The end of the message: what PyTorch would try.
std::string advice(const OutOfMemory& failure) {
  const bool knows_reserve = failure.version >= Version{2, 15};
  if (knows_reserve && failure.expandable_reserve_bytes > 0) {
    if (failure.segment_bytes > failure.expandable_reserve_bytes &&
        failure.segment_bytes <= failure.device_total_bytes) {
      return fmt::format(
          "This allocation exceeds the expandable-segment reserve of {} for this stream, and a "
          "single allocation cannot span expandable segments. Raise PYTORCH_CUDA_ALLOC_CONF "
          "expandable_segments_reserve or expandable_segments_reserve_by_class (or unset it) so "
          "that a segment is at least {}.",
          format_bytes(failure.expandable_reserve_bytes), format_bytes(failure.segment_bytes));
    }
    return "expandable_segments is enabled. If instead the process is running out of virtual "
           "address space (VSZ), expandable segments may be over-reserving VA (each segment "
           "reserves ~9/8 of device memory, times the number of streams); reduce it via "
           "PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve / "
           "expandable_segments_reserve_by_class.";
  }
  return fmt::format(
      "If reserved but unallocated memory is large try setting "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation "
      "for Memory Management  ({})",
      failure.version >= Version{2, 10}
          ? "https://docs.pytorch.org/docs/stable/notes/"
            "cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf"
          : "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables");
}

}  // namespace

std::string oom_message(const OutOfMemory& failure) {
  if (failure.kind == OutOfMemory::Kind::kHuge) {
    return "CUDA out of memory. Tried to allocate more than 1EB memory.";
  }
  if (failure.kind == OutOfMemory::Kind::kAsync) {
    return fmt::format(
        "Allocation on device {} would exceed allowed memory. (out of memory)\n"
        "Currently allocated     : {}\nRequested               : {}\nDevice limit            : {}\n"
        "Free (according to CUDA): {}\nPyTorch limit (set by user-supplied memory fraction)\n"
        "                        : {}",
        failure.device, format_bytes(failure.allocated_bytes),
        format_bytes(failure.requested_bytes), format_bytes(failure.device_total_bytes),
        format_bytes(failure.device_free_bytes), format_bytes(failure.limit_bytes));
  }
  if (failure.kind == OutOfMemory::Kind::kRejected) {
    return fmt::format(
        "CUDA out of memory. Allocation was preemptively rejected because it would exceed "
        "per_process_memory_fraction limit. Requested size: {}",
        format_bytes(failure.requested_bytes));
  }
  const Bytes private_free = failure.private_free_bytes;
  std::string text = fmt::format(
      "CUDA out of memory. Tried to allocate {}. GPU {} has a total capacity of {} of which {} is "
      "free. Including non-PyTorch memory, this process has {} memory in use. ",
      format_bytes(failure.segment_bytes), failure.device, format_bytes(failure.device_total_bytes),
      format_bytes(failure.device_free_bytes), format_bytes(failure.process_bytes));
  if (failure.limit_bytes != kUnlimitedBytes) {
    text += fmt::format("{} allowed; ", format_bytes(failure.limit_bytes));
  }
  text += fmt::format("Of the allocated memory {} is allocated by PyTorch, ",
                      format_bytes(failure.allocated_bytes + private_free));
  if (private_free > 0) {
    text += fmt::format("with {} allocated in private pools (e.g., CUDA Graphs), ",
                        format_bytes(private_free));
  }
  text += fmt::format("and {} is reserved by PyTorch but unallocated. {}",
                      format_bytes(failure.reserved_bytes - failure.allocated_bytes - private_free),
                      advice(failure));
  return text;
}

}  // namespace tidemark
