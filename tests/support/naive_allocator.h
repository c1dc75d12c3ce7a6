#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/alloc/segments.h"
#include "sim/alloc/settings.h"
#include "sim/base/bytes.h"
#include "sim/program/event.h"
#include "sim/program/instruction.h"
#include "tests/support/naive_device.h"
#include "tests/support/naive_stream_table.h"

namespace tidemark::naive {

/// A second caching allocator, written from the text of docs/rules/allocator.md alone: ordered
/// sets, linear searches and one section of the text a function. It is the yardstick of the fast
/// one and shares no code with it.

struct Options {
  AllocatorSettings settings;
  Bytes total_bytes = 85017755648;
  Bytes context_bytes = 0;
  Bytes other_bytes = 0;
  /// set_per_process_memory_fraction, called before the first request.
  std::optional<double> memory_fraction;
  UsesDone uses_done = UsesDone::kWhenWaitedFor;
  std::uint64_t lag = 0;
  std::set<PoolId> no_split_pools;
};

struct Stat {
  std::int64_t current = 0, peak = 0, allocated = 0, freed = 0;
  void increase(Bytes amount);
  void decrease(Bytes amount);
};
struct StatKinds {
  Stat all, small_pool, large_pool;
};

struct Statistics {
  StatKinds allocation, segment, active, inactive_split, allocated_bytes, reserved_bytes,
      active_bytes, inactive_split_bytes, requested_bytes;
  Stat oversize_allocations, oversize_segments;
  std::int64_t num_alloc_retries = 0, num_ooms = 0, num_oom_rejections = 0,
               num_sync_all_streams = 0, num_device_alloc = 0, num_device_free = 0,
               max_split_size = 0;
  std::map<PoolId, StatKinds> reserved_bytes_by_private_pools;
};

class Allocator {
 public:
  explicit Allocator(Options options);
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  /// False: the request was refused (out of memory).
  bool execute(const Instruction& instruction);
  /// The MemPool object P goes: its free memory is given back. Source:
  /// docs/rules/allocator.md#13.1.
  void delete_pool(PoolId id);

  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] const Statistics& statistics() const { return stats_; }
  /// As torch.cuda.memory_stats(): sorted keys, those that the version has.
  [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> flat_statistics() const;
  [[nodiscard]] std::vector<SegmentInfo> segments() const;
  [[nodiscard]] Bytes device_free_bytes() const { return device_.free_bytes(); }

 private:
  struct Pool;
  struct Block;
  struct Range;  // one reservation of an expandable segment
  struct Order {
    int minor = 0;
    bool operator()(const Block* a, const Block* b) const;
  };
  using FreeSet = std::set<Block*, Order>;
  struct Pending {
    std::uint64_t ticket = 0;
    Block* block = nullptr;
  };

  Block* malloc(Bytes bytes, StreamId stream, PoolId pool_id, RequestId id);
  void request_free(Block* block);
  void complete_free(Block* block);
  Bytes round_request(Bytes bytes) const;
  Bytes segment_bytes(Bytes rounded) const;
  Pool& choose_pool(Bytes rounded, PoolId id);
  Block* search(Pool& pool, StreamId stream, Bytes wanted, bool expandable);
  Block* get_memory(Pool& pool, StreamId stream, Bytes rounded, Bytes want, bool expandable,
                    bool retry);
  Block* hand_out(Block* block, Bytes rounded, Bytes bytes, RequestId id, bool expandable);
  bool should_split(const Block& block, Bytes wanted, bool expandable) const;

  void process_events();
  void synchronise_and_free();
  void collect_garbage();
  bool release_available(Pool& pool, StreamId stream, Bytes wanted);
  void release_all_cached();
  void release_pool(Pool& pool);
  void release_segment(Block* block);

  Block* find_growth(Pool& pool, StreamId stream, Bytes wanted);
  Block* grow(Pool& pool, StreamId stream, Bytes wanted);
  Block* map(Block* block, Bytes bytes);
  void unmap(Block* block);
  void destroy_if_unmapped(Block* block);

  Block* new_block(Pool& pool, StreamId stream, std::uint64_t address, Bytes size);
  void delete_block(Block* block);
  void insert_free(Block* block);
  void erase_free(Block* block);
  bool merge(Block* survivor, Block* neighbour);
  [[nodiscard]] bool has_limit() const { return limit_.has_value(); }
  [[nodiscard]] bool collects() const;
  void change(StatKinds& stat, const Pool& pool, std::int64_t amount);
  void change_reserved(const Pool& pool, std::int64_t amount);
  void record(Action action, std::uint64_t address, Bytes bytes, StreamId stream, RequestId id);

  Options options_;
  int minor_;
  Device device_;
  Streams streams_;
  std::optional<Bytes> limit_;
  Bytes held_ = 0;
  std::uint64_t next_registration_ = 0;
  std::uint64_t next_block_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Block>> blocks_;          // by creation
  std::map<std::pair<PoolId, bool>, std::unique_ptr<Pool>> pools_;  // (id, small)
  std::set<PoolId> deleted_pools_;
  std::map<std::uint64_t, std::unique_ptr<Range>> ranges_;  // by address
  std::map<RequestId, Block*> live_;
  StreamTable<std::deque<Pending>> pending_;
  Statistics stats_;
  std::vector<Event> events_;
  std::uint32_t instruction_ = 0;
};

}  // namespace tidemark::naive
