#pragma once

#include <span>
#include <unordered_map>

#include "sim/alloc/allocator.h"
#include "sim/alloc/device_memory.h"
#include "sim/alloc/event_clock.h"

namespace tidemark {

/// What the allocators without a cache share: the instruction loop, the table of live requests and
/// the counting. `Model` is the allocator itself (static dispatch); it has allocate and
/// free. `Live` is what it keeps of a live request.
template <class Model, class Live>
class SimpleAllocator : public Allocator {
 public:
  std::size_t execute(std::span<const Instruction> chunk) final {
    refused_ = false;
    std::size_t done = 0;
    for (const Instruction& instruction : chunk) {
      const bool served = step(instruction);
      ++instruction_;
      ++done;
      if (!served) break;
    }
    return done;
  }

 protected:
  SimpleAllocator(DeviceMemory& device, EventClock& clock) : device_(device), clock_(clock) {}

  /// PyTorch sorts requests into small and large ones by their rounded size, and so do the
  /// statistics here.
  static PoolKind kind_of(Bytes bytes) {
    return round_up(bytes, kMinBlockBytes) <= kSmallMaxBytes ? PoolKind::kSmall : PoolKind::kLarge;
  }

  void note(Action action, std::uint64_t address, Bytes bytes, StreamId stream, RequestId id) {
    if (history_ == nullptr) return;
    append(Event{address, bytes, id, instruction_, stream, action, device_.config().device});
  }

  /// Refuses a request; false, for the caller to return.
  bool refuse(OutOfMemory::Kind kind, RequestId id, Bytes requested, Bytes taken, StreamId stream) {
    const AllocatorStatistics now = statistics();
    failure_ = OutOfMemory{};
    failure_.kind = kind;
    failure_.id = id;
    failure_.requested_bytes = requested;
    failure_.rounded_bytes = taken;
    failure_.segment_bytes = taken;
    failure_.device_free_bytes = device_.free_bytes();
    failure_.device_total_bytes = device_.total_bytes();
    failure_.allocated_bytes = static_cast<Bytes>(now.allocated_bytes.all.current);
    failure_.reserved_bytes = static_cast<Bytes>(now.reserved_bytes.all.current);
    failure_.process_bytes = device_.config().context_bytes + device_.taken_bytes();
    failure_.device = device_.config().device;
    refused_ = true;
    if (kind != OutOfMemory::Kind::kHuge)
      note(Action::kOom, device_.free_bytes(), taken, stream, id);
    return false;
  }

  DeviceMemory& device_;
  EventClock& clock_;
  std::unordered_map<RequestId, Live> live_;  ///< looked up, never walked

 private:
  bool step(const Instruction& instruction) {
    Model& model = static_cast<Model&>(*this);
    switch (instruction.verb) {
      case Verb::kAlloc:
        return model.Model::allocate(instruction.id, instruction.bytes, instruction.stream,
                                     instruction.pool);
      case Verb::kFree:
        model.Model::free(instruction.id);
        return true;
      default:
        return execute_other(instruction, device_, clock_);
    }
  }
};

}  // namespace tidemark
