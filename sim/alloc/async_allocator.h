#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/alloc/simple_allocator.h"
#include "sim/base/release.h"

namespace tidemark {

struct AsyncBlock {
  std::uint64_t address = 0;
  Bytes requested = 0;
  Bytes bytes = 0;  ///< requested, rounded up to the pool's alignment
  StreamId stream = 0;
  std::vector<StreamId> uses;  ///< other streams recorded on it, ascending
};

/// `backend:cudaMallocAsync`: PyTorch hands every request to the driver's stream-ordered memory
/// pool, whose release threshold it sets to the maximum. The counting (exact requested bytes, `all`
/// alone, no counters) is PyTorch's and measured; the pool is a model of the driver's:
///  * It grows by chunks of 32 MiB, or of the request rounded up to 2 MiB where that is more or
///    where 32 MiB cannot be had.
///  * A freed range is reused, best fit and lowest address first, when its streams are the
///  request's
///    own or are done. Otherwise, before the pool grows, the request's stream is made to wait for
///    them (the driver's internal dependencies).
///  * It keeps what is freed until a trim (empty_cache, or from 2.14 on a failed request) gives
///  back
///    chunks that are free.
/// PyTorch keeps no history or snapshot of this backend; events and segments here are Tidemark's.
/// Source: docs/rules/allocator.md#17.
class AsyncAllocator final : public SimpleAllocator<AsyncAllocator, AsyncBlock> {
 public:
  static constexpr Bytes kAlignment = 512;
  static constexpr Bytes kChunkBytes = 32 * kMiB;

  /// Requires: `device` and `clock` outlive the allocator. `limit_bytes`: of the requested bytes;
  /// kUnlimitedBytes: none.
  AsyncAllocator(Version version, DeviceMemory& device, EventClock& clock, Bytes limit_bytes)
      : SimpleAllocator(device, clock), version_(version), limit_bytes_(limit_bytes) {}

  bool allocate(RequestId id, Bytes bytes, StreamId stream, PoolId pool) override;
  void free(RequestId id) override;
  void record_stream(RequestId id, StreamId stream) override;
  /// Waits for the device, then trims.
  void empty_cache() override;
  void reset_peak() override;
  /// allocated_bytes.all, active_bytes.all and reserved_bytes.all, current and peak; all else is 0,
  /// as in PyTorch.
  [[nodiscard]] AllocatorStatistics statistics() const override;
  [[nodiscard]] std::vector<SegmentInfo> segments() const override;
  [[nodiscard]] MemorySample sample() const override;

 private:
  struct Wait {
    StreamId stream = 0;
    EventClock::Ticket ticket = 0;
  };
  /// A part of a chunk. Parts tile their chunk; no two free ones touch.
  struct Part {
    Bytes bytes = 0;
    RequestId id = kNoRequest;  ///< whose it is; kNoRequest: free
    std::vector<Wait> waits;    ///< of a free one: what its last users had queued
  };
  using Parts = std::map<std::uint64_t, Part>;  ///< by address
  struct Chunk {
    Bytes bytes = 0;
    Parts parts;
    StreamId stream = 0;  ///< whose request made it
  };
  struct Place {
    Chunk* chunk = nullptr;
    Parts::iterator part;
  };

  Place place_at(std::uint64_t address);
  std::optional<Place> find(Bytes bytes, StreamId stream);
  std::optional<Place> add_chunk(Bytes bytes, StreamId stream);
  void occupy(const Place& place, Bytes bytes, RequestId id);
  Parts::iterator absorb(Parts& parts, Parts::iterator first, Parts::iterator second);
  void trim();

  Version version_;
  Bytes limit_bytes_;
  std::map<std::uint64_t, Chunk> chunks_;  ///< by address
  std::set<std::pair<Bytes, std::uint64_t>> free_parts_;
  Stat used_;
  Stat reserved_;
};

}  // namespace tidemark
