#include "tests/support/naive_allocator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sim/alloc/knob_values.h"
#include "sim/base/check.h"
#include "tests/support/naive_blocks.h"

namespace tidemark::naive {

namespace {
constexpr Bytes kMinBlock = 512;
constexpr Bytes kSmallMax = kMiB;
constexpr Bytes kSmallSegment = 2 * kMiB;
constexpr Bytes kLargeMin = 10 * kMiB;
constexpr Bytes kLargeRound = 2 * kMiB;
constexpr Bytes kHuge = Bytes{1} << 60;
}  // namespace

void Stat::increase(Bytes amount) {
  current += static_cast<std::int64_t>(amount);
  peak = std::max(peak, current);
  allocated += static_cast<std::int64_t>(amount);
}
void Stat::decrease(Bytes amount) {
  current -= static_cast<std::int64_t>(amount);
  freed += static_cast<std::int64_t>(amount);
}

// docs/rules/allocator.md#4: stream, size, then the version's tie-break, then address.
bool Allocator::Order::operator()(const Block* a, const Block* b) const {
  const auto key = [this](const Block* block) {
    const std::uint64_t tie = minor <= 11 ? 0 : minor == 12 ? block->creation : block->registration;
    return std::tuple(block->handle(), block->size, tie, block->address);
  };
  return key(a) < key(b);
}

Allocator::Allocator(Options options)
    : options_(std::move(options)),
      minor_(options_.settings.version.minor),
      device_(options_.total_bytes, options_.context_bytes, options_.other_bytes),
      streams_(options_.uses_done, options_.lag) {
  // docs/rules/allocator.md#14.1 and, for the older rule, docs/rules/allocator.md#16.1.
  const auto set_limit = [this](double fraction) {
    const double bytes = fraction * static_cast<double>(device_.total_bytes());
    if (minor_ <= 9) {
      limit_ = static_cast<Bytes>(bytes);
    } else if (fraction < 1.0) {
      limit_ = static_cast<Bytes>(std::llround(bytes));
    } else {
      limit_.reset();
    }
  };
  if (minor_ >= 10) set_limit(options_.settings.knobs->per_process_memory_fraction);
  if (options_.memory_fraction) set_limit(*options_.memory_fraction);
  const Bytes max_split = options_.settings.knobs->max_split_bytes;
  stats_.max_split_size = static_cast<std::int64_t>(max_split);
}

Allocator::~Allocator() = default;

bool Allocator::execute(const Instruction& instruction) {
  const RequestId id = instruction.id;
  bool served = true;
  switch (instruction.verb) {
    case Verb::kAlloc:
      if (instruction.bytes >= kHuge) {
        served = false;
      } else if (instruction.bytes > 0) {
        Block* block = malloc(instruction.bytes, instruction.stream, instruction.pool, id);
        if (block != nullptr) live_[id] = block;
        served = block != nullptr;
      }
      break;
    case Verb::kFree:
      if (const auto found = live_.find(id); found != live_.end()) {
        request_free(found->second);
        live_.erase(found);
      }
      break;
    case Verb::kUse:
      if (const auto found = live_.find(id); found != live_.end()) {
        if (found->second->stream != instruction.stream)
          found->second->used_by[instruction.stream] = true;
      }
      break;
    case Verb::kSync:
      streams_.wait_for(instruction.stream);
      break;
    case Verb::kSyncDevice:
      streams_.wait_for_all();
      break;
    case Verb::kEmptyCache:
      release_all_cached();
      break;
    case Verb::kResetPeak: {
      const auto reset = [](Stat& stat) { stat.peak = stat.current; };
      const auto reset_kinds = [&](StatKinds& kinds) {
        reset(kinds.all);
        reset(kinds.small_pool);
        reset(kinds.large_pool);
      };
      for (StatKinds* kinds :
           {&stats_.allocation, &stats_.segment, &stats_.active, &stats_.inactive_split,
            &stats_.allocated_bytes, &stats_.reserved_bytes, &stats_.active_bytes,
            &stats_.inactive_split_bytes, &stats_.requested_bytes}) {
        reset_kinds(*kinds);
      }
      for (auto& [pool, kinds] : stats_.reserved_bytes_by_private_pools) reset_kinds(kinds);
      reset(stats_.oversize_allocations);
      reset(stats_.oversize_segments);
      break;
    }
    case Verb::kLaunch:
    case Verb::kRecord:
      streams_.enqueue(instruction.stream);
      break;
    default:
      break;
  }
  ++instruction_;
  return served;
}

// docs/rules/allocator.md#3.1 and docs/rules/allocator.md#3.2.
Bytes Allocator::round_request(Bytes bytes) const {
  if (bytes < kMinBlock) return kMinBlock;
  const int highest = 63 - std::countl_zero(bytes);
  const auto bucket = static_cast<std::size_t>(std::clamp(highest - 20, 0, 15));
  const std::uint64_t divisions = options_.settings.knobs->roundup_power2_divisions.at(bucket);
  if (divisions > 1 && bytes > kMinBlock * divisions) {
    if (std::has_single_bit(bytes)) return bytes;
    const Bytes step = std::bit_floor(bytes) / divisions;
    return step == 0 ? 2 * std::bit_floor(bytes) : round_up(bytes, step);
  }
  return round_up(bytes, kMinBlock);
}

// docs/rules/allocator.md#3.4.
Bytes Allocator::segment_bytes(Bytes rounded) const {
  if (rounded <= kSmallMax) return kSmallSegment;
  if (rounded < kLargeMin) return options_.settings.knobs->large_segment_bytes;
  return round_up(rounded, kLargeRound);
}

// docs/rules/allocator.md#3.3 and docs/rules/allocator.md#13.2.
Allocator::Pool& Allocator::choose_pool(Bytes rounded, PoolId id) {
  const bool small = rounded <= kSmallMax;
  auto& pool = pools_[{id, small}];
  if (pool == nullptr) pool = std::make_unique<Pool>(id, small, Order{minor_});
  return *pool;
}

bool Allocator::collects() const {
  return has_limit() && options_.settings.knobs->garbage_collection_threshold > 0;
}

// docs/rules/allocator.md#5.
Allocator::Block* Allocator::malloc(Bytes bytes, StreamId stream, PoolId pool_id, RequestId id) {
  const bool counts_as_capture = pool_id != 0 && minor_ <= 12;
  if (!counts_as_capture) process_events();
  const Bytes rounded = round_request(bytes);
  Pool& pool = choose_pool(rounded, pool_id);
  const Bytes want = segment_bytes(rounded);
  const bool expandable =
      options_.settings.knobs->expandable_segments && (pool_id == 0 || minor_ >= 5);

  Block* block = search(pool, stream, rounded, expandable);
  const std::int64_t rejections = stats_.num_oom_rejections;
  if (block == nullptr) {
    if (collects()) collect_garbage();
    block = get_memory(pool, stream, rounded, want, expandable, false);
  }
  const auto rejected = [&] { return stats_.num_oom_rejections > rejections; };
  if (block == nullptr && !rejected() && release_available(pool, stream, rounded)) {
    block = get_memory(pool, stream, rounded, want, expandable, false);
  }
  if (block == nullptr && !rejected() && !counts_as_capture) {
    release_all_cached();
    block = get_memory(pool, stream, rounded, want, expandable, true);
  }
  if (block == nullptr) {
    if (rejected()) return nullptr;
    record(Action::kOom, device_.free_bytes(), rounded, stream, id);
    ++stats_.num_ooms;
    return nullptr;
  }
  return hand_out(block, rounded, bytes, id, expandable);
}

// docs/rules/allocator.md#6.
Allocator::Block* Allocator::search(Pool& pool, StreamId stream, Bytes wanted, bool expandable) {
  if (collects()) ++pool.search_count;
  Block key;
  key.stream = stream;
  key.size = wanted;
  auto found = pool.free.lower_bound(&key);
  if (found == pool.free.end() || (*found)->stream != stream) return nullptr;
  if ((*found)->range != nullptr) {
    if (expandable) {
      const auto reach = [](const Block* block) {
        return block->size +
               (block->next != nullptr && !block->next->mapped ? block->next->size : 0);
      };
      for (auto next = std::next(found); (*found)->range != nullptr && next != pool.free.end() &&
                                         (*next)->stream == stream && reach(*next) < reach(*found);
           ++next) {
        found = next;
      }
    } else {
      while (found != pool.free.end() && (*found)->stream == stream && (*found)->range != nullptr)
        ++found;
      if (found == pool.free.end() || (*found)->stream != stream) return nullptr;
    }
  }
  Block* block = *found;
  const Bytes max_split = options_.settings.knobs->max_split_bytes;
  if (wanted < max_split && block->size >= max_split) return nullptr;
  if (wanted >= max_split &&
      block->size >= wanted + options_.settings.knobs->max_non_split_rounding_bytes)
    return nullptr;
  pool.free.erase(found);
  return block;
}

// docs/rules/allocator.md#7.
Allocator::Block* Allocator::get_memory(Pool& pool, StreamId stream, Bytes rounded, Bytes want,
                                        bool expandable, bool retry) {
  if (retry) ++stats_.num_alloc_retries;
  if (has_limit() && held_ + want > *limit_) return nullptr;
  if (options_.settings.knobs->throw_on_cudamalloc_oom) {
    const double cap = options_.settings.knobs->per_process_memory_fraction *
                       static_cast<double>(device_.total_bytes());
    if (held_ + want > static_cast<Bytes>(cap)) {
      ++stats_.num_oom_rejections;
      return nullptr;
    }
  }
  if (expandable) return grow(pool, stream, rounded);
  const std::optional<std::uint64_t> address = device_.cuda_malloc(want);
  if (!address) return nullptr;
  held_ += want;
  Block* block = new_block(pool, stream, *address, want);
  block->registration = next_registration_++;
  change(stats_.segment, pool, 1);
  change_reserved(pool, static_cast<std::int64_t>(want));
  if (want >= options_.settings.knobs->max_split_bytes) stats_.oversize_segments.increase(1);
  ++stats_.num_device_alloc;
  record(Action::kSegmentAlloc, *address, want, stream, kNoRequest);
  return block;
}

// docs/rules/allocator.md#8.1.
bool Allocator::should_split(const Block& block, Bytes wanted, bool expandable) const {
  const Bytes remaining = block.size - wanted;
  if (options_.no_split_pools.contains(block.pool->id)) return false;
  if (block.pool->small || expandable) return remaining >= kMinBlock;
  return wanted < options_.settings.knobs->max_split_bytes && remaining > kSmallMax;
}

// docs/rules/allocator.md#8.2.
Allocator::Block* Allocator::hand_out(Block* block, Bytes rounded, Bytes bytes, RequestId id,
                                      bool expandable) {
  Pool& pool = *block->pool;
  const bool already_split = block->is_split();
  const bool counts = block->range == nullptr;
  if (should_split(*block, rounded, expandable)) {
    Block* rest = block;
    block = new_block(pool, rest->stream, rest->address, rounded);
    block->registration = rest->registration;
    block->range = rest->range;
    block->prev = rest->prev;
    if (block->prev != nullptr) block->prev->next = block;
    block->next = rest;
    rest->prev = block;
    rest->address += rounded;
    rest->size -= rounded;
    insert_free(rest);
    if (counts && already_split) {
      change(stats_.inactive_split_bytes, pool, -static_cast<std::int64_t>(rounded));
    } else if (counts) {
      change(stats_.inactive_split_bytes, pool, static_cast<std::int64_t>(rest->size));
      change(stats_.inactive_split, pool, 1);
    }
  } else if (already_split && counts) {
    change(stats_.inactive_split_bytes, pool, -static_cast<std::int64_t>(block->size));
    change(stats_.inactive_split, pool, -1);
  }
  block->allocated = true;
  block->requested_size = bytes;
  block->id = id;
  record(Action::kAlloc, block->address, bytes, block->stream, id);
  const auto size = static_cast<std::int64_t>(block->size);
  change(stats_.allocation, pool, 1);
  change(stats_.allocated_bytes, pool, size);
  change(stats_.active, pool, 1);
  change(stats_.active_bytes, pool, size);
  change(stats_.requested_bytes, pool, static_cast<std::int64_t>(bytes));
  if (block->size >= options_.settings.knobs->max_split_bytes)
    stats_.oversize_allocations.increase(1);
  return block;
}

// docs/rules/allocator.md#9.1.
void Allocator::request_free(Block* block) {
  Pool& pool = *block->pool;
  block->allocated = false;
  change(stats_.allocation, pool, -1);
  change(stats_.allocated_bytes, pool, -static_cast<std::int64_t>(block->size));
  record(Action::kFreeRequested, block->address, block->requested_size, block->stream, block->id);
  if (block->size >= options_.settings.knobs->max_split_bytes)
    stats_.oversize_allocations.decrease(1);
  if (block->used_by.empty()) {
    complete_free(block);
    return;
  }
  // docs/rules/allocator.md#10.1.
  StreamTable<bool> used_by = std::exchange(block->used_by, {});
  for (std::size_t slot = 0; slot < used_by.size(); ++slot) {
    const auto* entry = used_by.at(slot);
    if (entry == nullptr) continue;
    pending_[entry->stream].push_back({streams_.enqueue(entry->stream), block});
    ++block->open_events;
  }
}

// docs/rules/allocator.md#9.2.
void Allocator::complete_free(Block* block) {
  Pool& pool = *block->pool;
  record(Action::kFreeCompleted, block->address, block->requested_size, block->stream, block->id);
  const Bytes size_before = block->size;
  std::int64_t net_blocks = 0;
  std::int64_t net_bytes = 0;
  for (Block* neighbour : {block->prev, block->next}) {
    const Bytes size = neighbour != nullptr ? neighbour->size : 0;
    if (!merge(block, neighbour)) continue;
    net_blocks -= 1;
    net_bytes -= static_cast<std::int64_t>(size);
  }
  insert_free(block);
  if (block->is_split()) {
    net_blocks += 1;
    net_bytes += static_cast<std::int64_t>(block->size);
  }
  if (block->range == nullptr) {
    change(stats_.inactive_split, pool, net_blocks);
    change(stats_.inactive_split_bytes, pool, net_bytes);
  }
  change(stats_.active, pool, -1);
  change(stats_.active_bytes, pool, -static_cast<std::int64_t>(size_before));
  change(stats_.requested_bytes, pool, -static_cast<std::int64_t>(block->requested_size));
}

// docs/rules/allocator.md#10.2.
void Allocator::process_events() {
  for (std::size_t slot = 0; slot < pending_.size();) {
    auto* entry = pending_.at(slot);
    if (entry == nullptr) {
      ++slot;
      continue;
    }
    std::deque<Pending>& queue = entry->value;
    while (!queue.empty() && streams_.done(entry->stream, queue.front().ticket)) {
      Block* block = queue.front().block;
      queue.pop_front();
      if (--block->open_events == 0) complete_free(block);
    }
    if (queue.empty()) {
      pending_.erase_slot(slot);
    } else {
      ++slot;
    }
  }
}

// docs/rules/allocator.md#10.3.
void Allocator::synchronise_and_free() {
  ++stats_.num_sync_all_streams;
  for (std::size_t slot = 0; slot < pending_.size(); ++slot) {
    auto* entry = pending_.at(slot);
    if (entry == nullptr) continue;
    for (const Pending& pending : entry->value) {
      streams_.wait_for(entry->stream);
      if (--pending.block->open_events == 0) complete_free(pending.block);
    }
  }
  pending_.clear();
}

}  // namespace tidemark::naive
