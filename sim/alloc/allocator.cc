#include "sim/alloc/allocator.h"

#include <fmt/format.h>

namespace tidemark {

void Allocator::finish_samples() {
  if (history_ == nullptr || !history_->sampling) return;
  // A sample shows its event's whole effect, so it is taken when the next event or the end comes.
  if (history_->samples.size() < history_->events.size()) {
    history_->samples.resize(history_->events.size(), sample());
  }
}

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
        "CUDA out of memory. Tried to allocate {} bytes, which per_process_memory_fraction does "
        "not allow.",
        failure.requested_bytes);
  }
  const Bytes private_free = failure.private_free_bytes;
  std::string text = fmt::format(
      "CUDA out of memory. Tried to allocate {}. GPU {} has a total capacity of {} of which {} is "
      "free. "
      "Including non-PyTorch memory, this process has {} memory in use. ",
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
  const bool new_address = failure.version >= Version{2, 10};
  text += fmt::format(
      "and {} is reserved by PyTorch but unallocated. If reserved but unallocated memory is large "
      "try setting "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation "
      "for Memory "
      "Management  ({})",
      format_bytes(failure.reserved_bytes - failure.allocated_bytes - private_free),
      new_address ? "https://docs.pytorch.org/docs/stable/notes/"
                    "cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf"
                  : "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables");
  return text;
}

}  // namespace tidemark
