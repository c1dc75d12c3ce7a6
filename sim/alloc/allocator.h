#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/alloc/segments.h"
#include "sim/alloc/sizes.h"
#include "sim/alloc/stats.h"
#include "sim/base/release.h"
#include "sim/base/state_image.h"
#include "sim/program/event.h"
#include "sim/program/instruction.h"

namespace tidemark {

class DeviceMemory;
class EventClock;

/// Amounts right after one event, or now.
struct MemorySample {
  Bytes reserved = 0;   ///< held from the driver
  Bytes active = 0;     ///< allocated or waiting for other streams; block sizes
  Bytes allocated = 0;  ///< block sizes
  Bytes requested = 0;  ///< what the active blocks' callers asked for
  /// Free parts of split segments (expandable ones not counted, as PyTorch).
  Bytes inactive_split = 0;
  Bytes largest_free = 0;  ///< the largest free block
  friend bool operator==(const MemorySample&, const MemorySample&) = default;
};

/// What an allocator did, in order. Switched on by Allocator::set_history; off, it costs nothing.
struct History {
  std::vector<Event> events;
  /// One an event when `sampling`; complete after Allocator::finish_samples().
  std::vector<MemorySample> samples;
  bool sampling = false;
  void append(std::span<const Event> more);
};

/// Why the last request was refused, and the figures that PyTorch's message repeats. Source:
/// docs/rules/allocator.md#14.2.
struct OutOfMemory {
  enum class Kind : std::uint8_t {
    kDevice,    ///< the device or the limit is full
    kRejected,  ///< by throw_on_cudamalloc_oom: nothing was tried
    kHuge,      ///< 2^60 bytes or more
    kAsync,     ///< backend:cudaMallocAsync, which has its own text
  };
  Kind kind = Kind::kDevice;
  RequestId id = kNoRequest;
  Bytes requested_bytes = 0;
  Bytes rounded_bytes = 0;
  /// What the driver would have been asked for: the size that the message names.
  Bytes segment_bytes = 0;
  Bytes device_free_bytes = 0;
  Bytes device_total_bytes = 0;
  Bytes limit_bytes = kUnlimitedBytes;
  Bytes allocated_bytes = 0;
  Bytes reserved_bytes = 0;
  Bytes private_free_bytes = 0;  ///< free blocks of private pools
  Bytes process_bytes = 0;  ///< what the driver says that this process has, its context included
  /// Of expandable segments: what one may reserve; 0: they are off.
  Bytes expandable_reserve_bytes = 0;
  Version version;
  std::uint8_t device = 0;
};

/// A device allocator: takes requests one by one, or a chunk of instructions.
///
/// For who drives it: set_instruction(n) before each instruction stamps the events that follow
/// (execute() does it by itself); kSync and kSyncDevice go to the EventClock, kDeviceBytes to the
/// DeviceMemory, what is not of Concern::kAllocator to nobody here. A request of a dead ID is
/// ignored, as docs/rules/traces.md#2 asks.
class Allocator {
 public:
  virtual ~Allocator() = default;

  /// Serves a request on `stream`; `pool` not 0: as inside torch.cuda.use_mem_pool of user pool [0,
  /// pool], for this one request. 0 bytes: served, and nothing happens. Returns false when it is
  /// refused (OutOfMemoryError): see failure(). Requires: `id` is not live.
  virtual bool allocate(RequestId id, Bytes bytes, StreamId stream, PoolId pool) = 0;
  virtual void free(RequestId id) = 0;
  virtual void record_stream(RequestId id, StreamId stream) = 0;
  virtual void empty_cache() = 0;
  /// What a program does with a private pool. Backends without such pools ignore it.
  virtual void use_pool(PoolAction /*action*/, PoolKey /*pool*/, StreamId /*stream*/) {}
  virtual void reset_peak() = 0;

  /// Executes what concerns an allocator of `chunk`, ignores the rest. Stops after a refused
  /// request. Returns how many instructions were executed, the refused one included; `refused()`
  /// tells whether the last one was. The fast way: no call an instruction.
  virtual std::size_t execute(std::span<const Instruction> chunk) = 0;
  [[nodiscard]] bool refused() const { return refused_; }
  [[nodiscard]] const OutOfMemory& failure() const { return failure_; }

  [[nodiscard]] virtual AllocatorStatistics statistics() const = 0;
  [[nodiscard]] virtual std::vector<SegmentInfo> segments() const = 0;
  [[nodiscard]] virtual MemorySample sample() const = 0;
  /// Writes what decides over later requests, statistics not included: blocks and their ages, what
  /// waits for other streams. Default: gives up.
  virtual void write_state(StateImage& image) const { image.give_up("this allocator backend"); }

  /// Events go to `history` from now on; nullptr: off. Not owned.
  void set_history(History* history) { history_ = history; }
  void set_instruction(std::uint32_t instruction) { instruction_ = instruction; }
  /// Makes history's samples as many as its events.
  void finish_samples() {
    if (history_ != nullptr && history_->sampling &&
        history_->samples.size() != history_->events.size())
      add_samples();
  }

 protected:
  Allocator() = default;
  Allocator(const Allocator&) = default;
  Allocator& operator=(const Allocator&) = default;
  /// Executes what every allocator does alike: all but kAlloc and kFree. Returns false when it sets
  /// refused_. Requires: neither kAlloc nor kFree.
  bool execute_other(const Instruction& instruction, DeviceMemory& device, EventClock& clock);
  void append(const Event& event) {
    finish_samples();
    history_->events.push_back(event);
  }

  History* history_ = nullptr;
  OutOfMemory failure_;
  std::uint32_t instruction_ = 0;
  bool refused_ = false;

 private:
  void add_samples();
};

/// The text of torch.OutOfMemoryError, word for word. Source: docs/rules/allocator.md#14.2.
std::string oom_message(const OutOfMemory& failure);

}  // namespace tidemark
