#pragma once

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/alloc/allocator.h"
#include "sim/alloc/block.h"
#include "sim/alloc/device_memory.h"
#include "sim/alloc/event_clock.h"
#include "sim/alloc/gauge.h"
#include "sim/alloc/knob_values.h"
#include "sim/alloc/pools.h"
#include "sim/alloc/settings.h"
#include "sim/alloc/walk_table.h"

namespace tidemark {

/// How the frequent requests are served: by all rules; by those of splitting, merging and streams,
/// of expandable ranges and of Block::order alone; or without the last two as well.
enum class Way : std::uint8_t { kLong, kShort, kShortest };

/// PyTorch's native caching allocator of one device: for the same requests the same blocks, events,
/// statistics and refusals, for every setting and version that AllocatorSettings names. Source:
/// docs/rules/allocator.md.
///
/// A simulator gives it instructions through execute(), or calls allocate, free, ... one by one in
/// program order, after set_instruction(). Calls to the driver show as segment_* events and as
/// EventClock::device_call, in their true order with the waits they bring. Cost: allocate and free
/// amortised O(log n) in the free blocks of equal size, else O(1), without heap allocation once
/// warm; a request that reaches the driver costs what its reclaiming walks.
///
/// Invariants between calls, which validate() checks:
///  * The blocks of a segment are linked by prev and next in the order of their addresses, without
///    gaps, and belong to one lane. A block is live (kAllocated), waits for other streams
///    (kPending, or kUsed and put off), or is idle: mapped, and then in its lane's FreeSet (kFree),
///    or unmapped and in its pool's `unmapped`. No two neighbours are idle and alike in that.
///  * A live block is what its request's ID is bound to; kPending goes with as many queued events
///  as
///    the block counts.
///  * books_ has what the blocks add up to, reserved_bytes_ what is mapped.
///  * Every lane has the split rule that the settings in force give its pool.
///  * Without expandable ranges and creation orders (plainest_) no block is expandable, and every
///    order is 0.
class CachingAllocator final : public Allocator {
 public:
  /// Applies settings.per_process_memory_fraction. Requires: `device` and `clock` outlive the
  /// allocator.
  CachingAllocator(const AllocatorSettings& settings, DeviceMemory& device, EventClock& clock);
  ~CachingAllocator() override;
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// Errors: InputError where PyTorch fails with a driver error (an odd large_segment_size_mb with
  /// expandable segments).
  bool allocate(RequestId id, Bytes bytes, StreamId stream, PoolId pool) override;
  void free(RequestId id) override;
  void record_stream(RequestId id, StreamId stream) override;
  void empty_cache() override { empty_cache(PoolKey{}); }
  void reset_peak() override;
  std::size_t execute(std::span<const Instruction> chunk) override;
  [[nodiscard]] AllocatorStatistics statistics() const override;
  [[nodiscard]] std::vector<SegmentInfo> segments() const override;
  [[nodiscard]] MemorySample sample() const override;
  void write_state(StateImage& image) const override;

  /// Checks the invariants above and those of the parts. Debug builds call it now and then by
  /// themselves (base/audit.h). Errors: InternalError. Cost: linear in the blocks and lanes.
  void validate() const;

  /// torch.cuda.set_per_process_memory_fraction(). Range: [0, 1].
  void set_memory_fraction(double fraction);
  /// New settings at run time. The caller keeps what an absent key keeps
  /// (docs/rules/settings.md#4); the version and the limit stay.
  void set_settings(const AllocatorSettings& settings);

  /// Private pools (13). A pool is created by its first use, with a use count of 1 that belongs to
  /// its maker: a MemPool object or a capture. `pool` of allocate() makes one that is never
  /// released; it comes from traces and snapshots. What follows down to set_current_stream() is
  /// reached from tests alone until programs may make MemPool objects and capture CUDA graphs,
  /// which docs/model.md leaves out.
  void create_pool(PoolKey key);
  /// Requests on `stream`, which captures from now on, go to the pool.
  void begin_capture(PoolKey key, StreamId stream);
  /// Its use count stays until release_pool(). Requires: the pool is captured into.
  void end_capture(PoolKey key);
  /// One user less; at 0 the pool's memory may be given back. Requires: the pool exists.
  void release_pool(PoolKey key);
  void set_no_split(PoolKey key);
  void set_use_on_oom(PoolKey key, bool use);
  void use_pool(PoolAction action, PoolKey pool, StreamId stream) override;
  [[nodiscard]] bool allows(PoolAction action, PoolKey pool) const;
  /// torch.cuda.empty_cache() of one pool; {0, 0}: of all.
  void empty_cache(PoolKey key);
  /// The stream whose capture decides over free() and empty_cache(); allocate() goes by its own.
  /// Default: 0.
  void set_current_stream(StreamId stream) { current_stream_ = stream; }

 private:
  struct PendingEvent {
    EventClock::Ticket ticket;
    BlockIndex block;
  };
  struct EventQueue {
    std::vector<PendingEvent> items;
    std::size_t head = 0;
  };
  /// One request on its way through docs/rules/allocator.md#5.
  struct Request {
    RequestId id = kNoRequest;
    Bytes bytes = 0;
    Bytes rounded = 0;
    Lane* lane = nullptr;
    bool routed = false;  ///< to a private pool
    bool capturing = false;
    bool rejected = false;  ///< by throw_on_cudamalloc_oom
  };

  static constexpr std::uint64_t kNeverSeen = ~std::uint64_t{0};
  /// Private pools in WalkTables: capture pools even, user pools odd.
  static WalkTable::Key walk_key(PoolKey key) {
    return key.capture != 0 ? 2 * key.capture : 2 * key.user + 1;
  }

  // caching_allocator.cc
  [[nodiscard]] Bytes round(Bytes bytes) const;
  [[nodiscard]] Bytes segment_bytes(Bytes rounded) const;
  bool allocate_generally(const Instruction& asked);
  bool serve_generally(RequestId id, Bytes bytes, Bytes rounded, Lane& lane);
  bool serve(Request& request);
  BlockIndex search(Lane& lane, Bytes rounded, bool expandable);
  void free_far(RequestId id);
  void free_generally(BlockIndex index);

  // caching_hot.cc
  template <Way kWay, bool kHistory, class... Actions>
  void note_inline(std::uint64_t address, Bytes bytes, Bytes taken, StreamId stream, RequestId id,
                   Actions... actions);
  template <Way kWay, bool kHistory>
  bool allocate_inline(const Instruction& request);
  template <Way kWay, bool kHistory>
  void free_inline(RequestId id);
  template <class Function>
  auto specialised(const Function& function);
  template <Way kWay, bool kHistory, bool kInSet>
  void hand_out_inline(BlockIndex index, Lane& lane, const SplitRule& rule, Bytes rounded,
                       Bytes bytes, RequestId id);
  template <Way kWay, bool kInSet>
  BlockIndex split_inline(BlockIndex index, Lane& lane, Bytes rounded, Block::Flags flags);
  template <Way kWay>
  void count_merge(Tally& own, Block::Flags flags, Bytes freed, std::int64_t merged, Bytes joined,
                   bool is_split);
  template <Way kWay>
  void complete_inline(BlockIndex index);
  template <Way kWay, bool kHistory>
  std::size_t run(std::span<const Instruction> chunk);
  static constexpr std::size_t kWindow = 16;  ///< instructions that prefetch() looks ahead
  void prefetch(std::span<const Instruction> window);
  void hand_out(BlockIndex index, Lane& lane, const SplitRule& rule, const Request& request);
  void complete(BlockIndex index);

  /// Joins `neighbour`, which left its set, to the block beside it.
  void absorb(Block* blocks, BlockIndex index, BlockIndex neighbour) {
    Block& block = blocks[index];
    const Block& other = blocks[neighbour];
    if (block.prev == neighbour) {
      block.address = other.address;
      block.prev = other.prev;
      if (block.prev != kNoBlock) blocks[block.prev].next = index;
    } else {
      block.next = other.next;
      if (block.next != kNoBlock) blocks[block.next].prev = index;
    }
    block.bytes += other.bytes;
    blocks_.recycle(neighbour);
  }
  void free_slowly(BlockIndex index);
  /// The growing end of an expandable range: whether it is to be taken needs a closer look (6).
  [[nodiscard]] static bool ends_range(const Block* blocks, BlockIndex index) {
    if (!blocks[index].is(Block::kExpandable)) return false;
    return !blocks[blocks[index].next].is(Block::kMapped);
  }
  void bind(RequestId id, BlockIndex index) {
    if (id < bound_ids_) [[likely]] {
      bound_[id] = index;
    } else {
      bind_new(id, index);
    }
  }
  void bind_new(RequestId id, BlockIndex index);
  void reserve_ids(std::size_t count);
  [[nodiscard]] BlockIndex binding(RequestId id) const {
    return id < bound_ids_ ? bound_[id] : far_binding(id);
  }
  [[nodiscard]] BlockIndex far_binding(RequestId id) const;
  static std::uint32_t units_of(Bytes taken) {
    return static_cast<std::uint32_t>(taken / kMinBlockBytes);
  }
  /// `taken`: the size of the block that the event is about, if it is about one.
  void note(Action action, std::uint64_t address, Bytes bytes, StreamId stream, RequestId id,
            Bytes taken = 0) {
    if (history_ == nullptr) [[likely]]
      return;
    const Event event{address,        bytes,          id, instruction_, stream, action,
                      device_number_, units_of(taken)};
    if (!gathers_) {
      append(event);
      return;
    }
    if (recent_end_ >= &recent_[kRecent / 2]) keep_recent();
    *recent_end_++ = event;
  }
  /// Gives the events that were gathered on a short way to the history: that costs a third of what
  /// growing a vector one by one does.
  void keep_recent() {
    if (recent_end_ == recent_.data()) return;
    history_->append({recent_.data(), recent_end_});
    recent_end_ = recent_.data();
  }

  // caching_memory.cc: memory from and to the driver
  bool refuse(const Request& request, OutOfMemory::Kind kind);
  bool serve_with_new_memory(Request& request);
  BlockIndex grow(Request& request, bool retry);
  BlockIndex new_segment(Lane& lane, Bytes bytes);
  void collect_garbage();
  bool release_available(const Request& request);
  void release_cached(PoolKey key, bool capturing);
  void release_pool_blocks(BlockPool& pool);
  void release_segment(BlockIndex index);
  void change_reserved(const Lane& lane, std::int64_t bytes);

  // caching_expandable.cc
  BlockIndex grow_expandable(Lane& lane, Bytes rounded);
  BlockIndex find_growth(Lane& lane, Bytes rounded);
  BlockIndex reserve_range(Lane& lane, Bytes rounded);
  [[nodiscard]] Bytes expandable_reserve_bytes() const;
  bool map(BlockIndex index, Bytes bytes);
  void unmap(BlockIndex index);
  [[nodiscard]] Bytes page_bytes(PoolKind kind) const;
  void insert_unmapped(BlockIndex index);
  void erase_unmapped(BlockIndex index);

  // caching_streams.cc
  void process_events();
  void synchronize_and_free(const PrivatePool* only);
  void record_events(BlockIndex index);
  void finish_event(BlockIndex index);
  void process_deferred();
  [[nodiscard]] bool is_capturing(StreamId stream) const {
    return has_routing_ && is_in_capture(stream);
  }
  [[nodiscard]] bool is_in_capture(StreamId stream) const;
  void drop_uses(BlockIndex index);

  // caching_audit.cc
  /// Validates when as many instructions were executed since the last time as there are blocks, and
  /// some more a lane, the more the longer the run: what that costs is in proportion to the run.
  void audit_after(std::size_t executed);
  void validate_block(BlockIndex index) const;
  void validate_lanes(std::int64_t free_blocks) const;
  void validate_queues() const;

  // caching_pools.cc
  BlockPool& pool_of(PrivatePool* owner, PoolKind kind);
  Lane& lane_of(BlockPool& pool, StreamId stream) {
    Lane* const lane = find_lane(pool, stream);
    if (lane != nullptr) [[likely]]
      return *lane;
    return new_lane(pool, stream);
  }
  Lane& new_lane(BlockPool& pool, StreamId stream);
  [[nodiscard]] SplitRule split_rule(const BlockPool& pool, bool expandable) const;
  void apply_settings();
  void update_plain();
  [[nodiscard]] bool may_expand(const BlockPool& pool) const;
  PrivatePool& private_pool(PoolKey key);
  [[nodiscard]] PrivatePool* find_private_pool(PoolKey key);
  [[nodiscard]] PrivatePool* route(StreamId stream, PoolId pool);
  void delete_pool(PrivatePool& pool);

  static constexpr std::size_t kRecent = 256;
  static constexpr std::size_t kEventsEach = 2;  ///< at most, of an instruction served inline
  /// kRecent served inline, behind others up to the half of it; all of this device.
  std::array<Event, kRecent + kRecent / 2> recent_;
  Event* recent_end_ = recent_.data();
  bool gathers_ = false;

  AllocatorSettings settings_;
  KnobValues knobs_;  ///< of settings_, at hand
  DeviceMemory& device_;
  EventClock& clock_;
  BlockStore blocks_;
  /// Blocks by RequestId. From calloc: what was never touched costs nothing.
  struct Freer {
    void operator()(BlockIndex* ids) const { std::free(ids); }
  };
  std::unique_ptr<BlockIndex[], Freer> bindings_;
  BlockIndex* bound_ = nullptr;
  std::size_t bound_ids_ = 0;
  std::unordered_map<RequestId, BlockIndex> far_bindings_;  ///< of ids too large for the vector
  BlockPool small_;
  BlockPool large_;
  Books books_;
  std::uint8_t device_number_ = 0;
  /// Nothing in force but splitting and merging, streams and expandable ranges: the short way
  /// through allocate and free.
  bool plain_ = true;
  bool plainest_ = true;        ///< no expandable ranges, and ties of size go to the address
  bool awaits_events_ = false;  ///< there are queued events or deferred frees
  bool has_routing_ = false;
  bool in_own_thread_ = true;  ///< that of the program: not autograd's
  bool has_oversize_ = false;  ///< max_split is finite
  bool has_divisions_ = false;
  bool creation_orders_ = false;  ///< Block::order comes from the creation of the object (2.12)
  bool counts_searches_ = false;  ///< garbage collection is on
  bool has_counted_ = false;      ///< and was at some time: Block::age_base means something
  std::uint64_t seen_progress_ = kNeverSeen;  ///< of the clock, when events were last looked at
  /// Creation counter of 2.12, registration counter of 2.13 and later.
  std::uint32_t next_order_ = 0;
  StreamId current_stream_ = 0;
  /// Active, neither allocated nor pending: of the free that is being noted.
  Bytes completing_bytes_ = 0;

  StatArray segment_;
  StatArray reserved_bytes_;
  Stat oversize_allocations_;
  Stat oversize_segments_;
  std::int64_t num_alloc_retries_ = 0;
  std::int64_t num_ooms_ = 0;
  std::int64_t num_oom_rejections_ = 0;
  std::int64_t num_sync_all_streams_ = 0;
  std::int64_t num_device_alloc_ = 0;
  std::int64_t num_device_free_ = 0;
  std::int64_t max_split_at_start_ = -1;
  Bytes limit_bytes_ = kUnlimitedBytes;

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> unused_lanes_;
  std::map<PoolKey, std::unique_ptr<PrivatePool>> private_pools_;
  /// Their reserved bytes stay in the statistics.
  std::vector<std::pair<PoolKey, StatArray>> gone_pools_;
  std::vector<PrivatePool*> use_on_oom_;   ///< latest first
  WalkTable freeable_;                     ///< see walk_key
  std::map<std::uint64_t, Bytes> ranges_;  ///< expandable: begin -> page size
  std::vector<Routing> routings_;
  std::vector<EventQueue> queues_;  ///< by stream
  WalkTable queue_order_;
  std::vector<StreamUses> uses_;
  std::vector<std::uint32_t> unused_uses_;
  std::vector<BlockIndex> deferred_;
  std::map<BlockIndex, std::vector<StreamId>> capture_uses_;
  std::vector<BlockIndex> scratch_;
  std::size_t unaudited_ = 0;  ///< instructions since the last audit
  std::size_t audits_ = 0;
};

}  // namespace tidemark
