#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/alloc/caching_allocator.h"
#include "tests/support/naive_allocator.h"

namespace tidemark {

/// Drives the fast and the naive allocator through the same steps. Every look at the state first
/// checks that both agree on every event, statistic, segment and block, so one expectation holds
/// for both.
class BothAllocators {
 public:
  struct Setup {
    std::string conf = {};
    Bytes room_bytes = 64 * kGiB;  ///< what of the device is there for us
    Bytes total_bytes = 80 * kGiB;
    std::optional<double> fraction = std::nullopt;
    Version version = Version{2, 11};
    PoolId no_split_pool = 0;
  };
  BothAllocators() : BothAllocators(Setup{}) {}
  explicit BothAllocators(const Setup& setup);

  /// The request's id. Refused requests have one too: see refused().
  RequestId malloc(Bytes bytes, StreamId stream = 0, PoolId pool = 0);
  void free(RequestId id);
  void use(RequestId id, StreamId stream);
  void sync(StreamId stream);
  void empty_cache();
  void delete_pool(PoolId pool);
  [[nodiscard]] bool refused() const { return refused_; }

  /// The memory as a drawing, sizes in units of `unit`: "S0: 5A 15f | S1: 20A". S0, S1, ...:
  /// cudaMalloc segments in order of creation, those released left out; L and s: the expandable
  /// ranges of the large and the small pool, with their stream's number if not 0. A: allocated, P:
  /// pending, f: free, u: no memory behind it.
  std::string drawing(Bytes unit = kMiB);
  /// The events since the last call: "segment_alloc(2M) alloc(1000)".
  std::string events();

  std::int64_t stat(const std::string& key);
  std::int64_t allocated() { return stat("allocated_bytes.all.current"); }
  std::int64_t requested() { return stat("requested_bytes.all.current"); }
  std::int64_t active() { return stat("active_bytes.all.current"); }
  std::int64_t reserved() { return stat("reserved_bytes.all.current"); }
  std::int64_t segments() { return stat("segment.all.current"); }
  /// Inactive split blocks: how many and how large.
  std::pair<std::int64_t, std::int64_t> split();
  /// "current/peak/allocated/freed"
  std::string cell(const std::string& name);

 private:
  void execute(const Instruction& instruction);
  void check_equal();

  DeviceMemory memory_;
  TraceClock clock_;
  History history_;
  CachingAllocator fast_;
  naive::Allocator naive_;
  Version version_;
  RequestId next_ = 0;
  bool refused_ = false;
  std::size_t events_told_ = 0;
};

}  // namespace tidemark
