#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/alloc/caching_allocator.h"
#include "sim/base/check.h"

// Settings in force, and pools: the default ones, private ones and the routing to them
// (docs/rules/allocator.md#13, #14.1).

namespace tidemark {

void CachingAllocator::apply_settings() {
  const auto& divisions = knobs_.roundup_power2_divisions;
  has_divisions_ =
      std::any_of(divisions.begin(), divisions.end(), [](std::uint32_t each) { return each > 1; });
  has_oversize_ = knobs_.max_split_bytes != kUnlimitedBytes;
  creation_orders_ = settings_.version == Version{2, 12};
  counts_searches_ = limit_bytes_ != kUnlimitedBytes && knobs_.garbage_collection_threshold > 0;
  if (counts_searches_ && !has_counted_) {
    has_counted_ = true;
    for (const BlockIndex index : blocks_.in_use()) blocks_[index].age_base = 0;
  }
  update_plain();
  for (const auto& lane : lanes_) {
    if (lane->pool != nullptr) lane->split = split_rule(*lane->pool, may_expand(*lane->pool));
  }
}

/// Whether the short way is right: see plain_.
void CachingAllocator::update_plain() {
  plain_ = !has_routing_ && !has_oversize_ && !has_divisions_ && !creation_orders_ &&
           !has_counted_ && (knobs_.expandable_segments || ranges_.empty());
  plainest_ = plain_ && !knobs_.expandable_segments && settings_.version < Version{2, 12};
}

void CachingAllocator::set_settings(const AllocatorSettings& settings) {
  const Version version = settings_.version;
  settings_ = settings;
  knobs_ = *settings.knobs;
  settings_.version = version;
  apply_settings();
}

void CachingAllocator::set_memory_fraction(double fraction) {
  const double scaled = fraction * static_cast<double>(device_.total_bytes());
  if (settings_.version < Version{2, 10}) {
    limit_bytes_ = static_cast<Bytes>(scaled);
  } else {
    limit_bytes_ = fraction < 1 ? static_cast<Bytes>(std::round(scaled)) : kUnlimitedBytes;
  }
  apply_settings();
}

bool CachingAllocator::may_expand(const BlockPool& pool) const {
  return knobs_.expandable_segments &&
         (pool.owner == nullptr || settings_.version >= Version{2, 5});
}

SplitRule CachingAllocator::split_rule(const BlockPool& pool, bool expandable) const {
  if (pool.owner != nullptr && pool.owner->no_split) return {kUnlimitedBytes, 0};
  if (pool.kind == PoolKind::kSmall || expandable) return {kMinBlockBytes, kUnlimitedBytes};
  return {kSmallMaxBytes + 1, knobs_.max_split_bytes};
}

BlockPool& CachingAllocator::pool_of(PrivatePool* owner, PoolKind kind) {
  if (owner == nullptr) return kind == PoolKind::kSmall ? small_ : large_;
  return kind == PoolKind::kSmall ? owner->small : owner->large;
}

namespace {

/// Where a stream's handle lies among those of its device: PyTorch makes the first stream of each
/// priority, then the second of each. Source: c10/cuda/CUDAStream.cpp, initDeviceStreamState.
std::uint32_t place_of_handle(StreamId stream) {
  constexpr std::uint32_t kPool = 32, kPriorities = 4;  // streams of each priority, one pool by one
  if (stream == 0 || stream > kPool * kPriorities) return stream;
  const std::uint32_t index = stream - 1U;
  return 1 + kPriorities * (index % kPool) + index / kPool;
}

}  // namespace

Lane& CachingAllocator::new_lane(BlockPool& pool, StreamId stream) {
  if (unused_lanes_.empty()) {
    lanes_.push_back(std::make_unique<Lane>());
    unused_lanes_.push_back(lanes_.back().get());
  }
  Lane& lane = *unused_lanes_.back();
  unused_lanes_.pop_back();
  lane.pool = &pool;
  lane.stream = stream;
  lane.kind = pool.kind;
  lane.own = &books_.of(pool.kind);
  lane.split = split_rule(pool, may_expand(pool));
  if (stream < BlockPool::kNear) pool.near[stream] = &lane;
  const auto behind = [place = place_of_handle(stream)](const Lane* each) {
    return place_of_handle(each->stream) > place;
  };
  pool.lanes.insert(std::find_if(pool.lanes.begin(), pool.lanes.end(), behind), &lane);
  return lane;
}

PrivatePool* CachingAllocator::find_private_pool(PoolKey key) {
  const auto found = private_pools_.find(key);
  return found == private_pools_.end() ? nullptr : found->second.get();
}

PrivatePool& CachingAllocator::private_pool(PoolKey key) {
  auto& pool = private_pools_[key];
  if (pool == nullptr) {
    pool = std::make_unique<PrivatePool>();
    pool->key = key;
    pool->small.kind = PoolKind::kSmall;
    pool->large.kind = PoolKind::kLarge;
    pool->small.owner = pool->large.owner = pool.get();
  }
  return *pool;
}

void CachingAllocator::create_pool(PoolKey key) {
  if (PrivatePool* const pool = find_private_pool(key)) {
    ++pool->use_count;
  } else {
    private_pool(key);
  }
}

void CachingAllocator::begin_capture(PoolKey key, StreamId stream) {
  create_pool(key);
  routings_.push_back({find_private_pool(key), stream});
  has_routing_ = true;
  update_plain();
}

void CachingAllocator::end_capture(PoolKey key) {
  const std::size_t ended =
      std::erase_if(routings_, [key](const Routing& each) { return each.pool->key == key; });
  TIDEMARK_CHECK(ended > 0, fmt::format("no capture into pool {}, {}", key.capture, key.user));
  has_routing_ = !routings_.empty();
  update_plain();
}

void CachingAllocator::release_pool(PoolKey key) {
  PrivatePool* const pool = find_private_pool(key);
  TIDEMARK_CHECK(pool != nullptr && pool->use_count > 0,
                 fmt::format("pool {}, {} is not in use", key.capture, key.user));
  if (--pool->use_count > 0) return;
  if (pool->no_split) {
    pool->no_split = false;
    apply_settings();
  }
  freeable_.insert(key.capture != 0 ? key.capture : key.user, walk_key(key));
}

/// Whether a program may do that now: what PyTorch asserts is an error of the program's, told
/// above.
bool CachingAllocator::allows(PoolAction action, PoolKey pool) const {
  const auto found = private_pools_.find(pool);
  const bool is_known = found != private_pools_.end();
  const int owners = is_known ? found->second->use_count : 0;
  const bool is_routed =
      std::any_of(routings_.begin(), routings_.end(),
                  [pool](const Routing& each) { return each.pool->key == pool; });
  switch (action) {
    case PoolAction::kCreate:
      return !is_known || owners > 0;
    case PoolAction::kCapture:
    case PoolAction::kRoute:
      return (!is_known || owners > 0) && !is_routed;
    case PoolAction::kJoinCapture:
    case PoolAction::kEndCapture:
    case PoolAction::kEndRoute:
      return is_routed;
    case PoolAction::kRelease:
      return owners > (is_routed ? 1 : 0);
    case PoolAction::kLeaveThread:
    case PoolAction::kReturnThread:
      return true;
    case PoolAction::kServeOnOom:
    case PoolAction::kServeNoOther:
    case PoolAction::kNeverSplit:
    case PoolAction::kEmptyCache:
      break;
  }
  return is_known;
}

void CachingAllocator::use_pool(PoolAction action, PoolKey pool, StreamId stream) {
  if (!allows(action, pool)) return;
  switch (action) {
    case PoolAction::kCreate:
      create_pool(pool);
      break;
    case PoolAction::kServeOnOom:
    case PoolAction::kServeNoOther:
      set_use_on_oom(pool, action == PoolAction::kServeOnOom);
      break;
    case PoolAction::kNeverSplit:
      set_no_split(pool);
      break;
    case PoolAction::kCapture:
      begin_capture(pool, stream);
      set_current_stream(stream);
      break;
    case PoolAction::kJoinCapture:
      routings_.push_back({find_private_pool(pool), stream});
      break;
    case PoolAction::kRoute:
      begin_capture(pool, kAnyStream);
      break;
    case PoolAction::kEndCapture:
      set_current_stream(0);
      end_capture(pool);
      break;
    case PoolAction::kEndRoute:
      end_capture(pool);
      break;
    case PoolAction::kLeaveThread:
    case PoolAction::kReturnThread:
      in_own_thread_ = action == PoolAction::kReturnThread;
      break;
    case PoolAction::kRelease:
      release_pool(pool);
      break;
    case PoolAction::kEmptyCache:
      empty_cache(pool);
      break;
  }
}

void CachingAllocator::set_no_split(PoolKey key) {
  private_pool(key).no_split = true;
  apply_settings();
}

void CachingAllocator::set_use_on_oom(PoolKey key, bool use) {
  PrivatePool* const pool = &private_pool(key);
  std::erase(use_on_oom_, pool);
  if (use) use_on_oom_.insert(use_on_oom_.begin(), pool);
}

PrivatePool* CachingAllocator::route(StreamId stream, PoolId pool) {
  PrivatePool* const innermost = pool == 0 ? nullptr : &private_pool({0, pool});
  const auto accepts = [this, stream](const Routing& routing) {
    return routing.stream == stream || (routing.stream == kAnyStream && in_own_thread_);
  };
  if (settings_.version < Version{2, 10}) {
    const auto first = std::find_if(routings_.begin(), routings_.end(), accepts);
    return first != routings_.end() ? first->pool : innermost;
  }
  if (innermost != nullptr) return innermost;
  const auto last = std::find_if(routings_.rbegin(), routings_.rend(), accepts);
  return last != routings_.rend() ? last->pool : nullptr;
}

void CachingAllocator::delete_pool(PrivatePool& pool) {
  for (BlockPool* const each : {&pool.small, &pool.large}) {
    for (Lane* const lane : each->lanes) {
      lane->pool = nullptr;
      unused_lanes_.push_back(lane);
    }
  }
  std::erase(use_on_oom_, &pool);
  if (pool.reserved_ever) gone_pools_.emplace_back(pool.key, pool.reserved_bytes);
  private_pools_.erase(pool.key);
}

}  // namespace tidemark
