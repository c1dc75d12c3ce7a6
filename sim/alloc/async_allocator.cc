#include "sim/alloc/async_allocator.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.h"

namespace tidemark {

namespace {
constexpr Version kTrimsAndRetries{2, 14};
}  // namespace

bool AsyncAllocator::allocate(RequestId id, Bytes bytes, StreamId stream, PoolId /*pool*/) {
  refused_ = false;
  if (bytes == 0) return true;
  if (bytes >= kHugeRequestBytes) return refuse(OutOfMemory::Kind::kHuge, id, bytes, bytes, stream);
  const Bytes size = round_up(bytes, kAlignment);
  const bool allowed =
      limit_bytes_ == kUnlimitedBytes || static_cast<Bytes>(used_.current) + bytes <= limit_bytes_;
  std::optional<Place> place;
  if (allowed) {
    place = find(size, stream);
    if (!place) place = add_chunk(size, stream);
    if (!place && version_ >= kTrimsAndRetries) {
      clock_.synchronize(stream);
      trim();
      place = add_chunk(size, stream);
    }
  }
  if (!place) {
    refuse(OutOfMemory::Kind::kAsync, id, bytes, size, stream);
    failure_.limit_bytes = limit_bytes_;
    return false;
  }
  const AsyncBlock block{place->part->first, bytes, size, stream, {}};
  TIDEMARK_CHECK(live_.emplace(id, block).second, fmt::format("request {} is live", id));
  occupy(*place, size, id);
  note(Action::kAlloc, block.address, bytes, stream, id);
  used_.increase(static_cast<std::int64_t>(bytes));
  return true;
}

AsyncAllocator::Place AsyncAllocator::place_at(std::uint64_t address) {
  Chunk& chunk = std::prev(chunks_.upper_bound(address))->second;
  return {&chunk, chunk.parts.find(address)};
}

std::optional<AsyncAllocator::Place> AsyncAllocator::find(Bytes bytes, StreamId stream) {
  const auto fits = free_parts_.lower_bound({bytes, 0});
  for (auto each = fits; each != free_parts_.end(); ++each) {
    const Place place = place_at(each->second);
    const std::vector<Wait>& waits = place.part->second.waits;
    const bool ready = std::all_of(waits.begin(), waits.end(), [&](const Wait& wait) {
      return wait.stream == stream || clock_.is_done(wait.stream, wait.ticket);
    });
    if (ready) return place;
  }
  if (fits == free_parts_.end()) return std::nullopt;
  return place_at(fits->second);
}

std::optional<AsyncAllocator::Place> AsyncAllocator::add_chunk(Bytes bytes, StreamId stream) {
  const Bytes least = round_up(bytes, DeviceMemory::kGranule);
  Bytes size = std::max(least, kChunkBytes);
  std::optional<std::uint64_t> address = device_.allocate(size);
  if (!address && size > least) {
    size = least;
    address = device_.allocate(size);
  }
  if (!address) {
    clock_.device_call(EventClock::DeviceCall::kMallocFailed, least, stream);
    return std::nullopt;
  }
  clock_.device_call(EventClock::DeviceCall::kMalloc, size, stream);
  note(Action::kSegmentAlloc, *address, size, stream, kNoRequest);
  reserved_.increase(static_cast<std::int64_t>(size));
  Chunk& chunk = chunks_[*address];
  chunk.bytes = size;
  chunk.stream = stream;
  chunk.parts[*address] = Part{size, kNoRequest, {}};
  free_parts_.emplace(size, *address);
  return Place{&chunk, chunk.parts.begin()};
}

void AsyncAllocator::occupy(const Place& place, Bytes bytes, RequestId id) {
  const std::uint64_t address = place.part->first;
  Part& part = place.part->second;
  free_parts_.erase({part.bytes, address});
  if (part.bytes > bytes) {
    place.chunk->parts[address + bytes] = Part{part.bytes - bytes, kNoRequest, part.waits};
    free_parts_.emplace(part.bytes - bytes, address + bytes);
  }
  part = Part{bytes, id, {}};
}

void AsyncAllocator::free(RequestId id) {
  const auto found = live_.find(id);
  if (found == live_.end()) return;
  const AsyncBlock block = std::move(found->second);
  live_.erase(found);
  note(Action::kFreeRequested, block.address, block.requested, block.stream, id);
  used_.decrease(static_cast<std::int64_t>(block.requested));
  note(Action::kFreeCompleted, block.address, block.requested, block.stream, id);
  std::vector<Wait> waits{{block.stream, clock_.record(block.stream)}};
  for (const StreamId stream : block.uses) waits.push_back({stream, clock_.record(stream)});
  const Place place = place_at(block.address);
  Parts& parts = place.chunk->parts;
  auto part = place.part;
  part->second.id = kNoRequest;
  part->second.waits = std::move(waits);
  free_parts_.emplace(part->second.bytes, part->first);
  if (const auto next = std::next(part); next != parts.end()) part = absorb(parts, part, next);
  if (part != parts.begin()) absorb(parts, std::prev(part), part);
}

/// Joins two neighbours if both are free.
AsyncAllocator::Parts::iterator AsyncAllocator::absorb(Parts& parts, Parts::iterator first,
                                                       Parts::iterator second) {
  if (first->second.id != kNoRequest || second->second.id != kNoRequest) return first;
  free_parts_.erase({first->second.bytes, first->first});
  free_parts_.erase({second->second.bytes, second->first});
  std::vector<Wait>& waits = first->second.waits;
  for (const Wait& wait : second->second.waits) {
    const auto same = std::find_if(waits.begin(), waits.end(),
                                   [&](const Wait& each) { return each.stream == wait.stream; });
    if (same == waits.end()) {
      waits.push_back(wait);
    } else {
      same->ticket = std::max(same->ticket, wait.ticket);
    }
  }
  first->second.bytes += second->second.bytes;
  free_parts_.emplace(first->second.bytes, first->first);
  parts.erase(second);
  return first;
}

void AsyncAllocator::record_stream(RequestId id, StreamId stream) {
  const auto found = live_.find(id);
  if (found == live_.end() || found->second.stream == stream) return;
  std::vector<StreamId>& uses = found->second.uses;
  const auto at = std::lower_bound(uses.begin(), uses.end(), stream);
  if (at == uses.end() || *at != stream) uses.insert(at, stream);
}

void AsyncAllocator::empty_cache() {
  clock_.synchronize_device();
  trim();
}

void AsyncAllocator::trim() {
  for (auto chunk = chunks_.begin(); chunk != chunks_.end();) {
    const Parts& parts = chunk->second.parts;
    const Part& first = parts.begin()->second;
    const bool whole = parts.size() == 1 && first.id == kNoRequest;
    const bool done = std::all_of(first.waits.begin(), first.waits.end(), [&](const Wait& wait) {
      return clock_.is_done(wait.stream, wait.ticket);
    });
    if (!whole || !done) {
      ++chunk;
      continue;
    }
    note(Action::kSegmentFree, chunk->first, chunk->second.bytes, chunk->second.stream, kNoRequest);
    clock_.device_call(EventClock::DeviceCall::kFree, chunk->second.bytes, chunk->second.stream);
    free_parts_.erase({chunk->second.bytes, chunk->first});
    device_.free(chunk->first, chunk->second.bytes);
    reserved_.decrease(static_cast<std::int64_t>(chunk->second.bytes));
    chunk = chunks_.erase(chunk);
  }
}

void AsyncAllocator::reset_peak() {
  used_.reset_peak();
  reserved_.reset_peak();
}

AllocatorStatistics AsyncAllocator::statistics() const {
  AllocatorStatistics statistics;
  statistics.allocated_bytes.all = {used_.current, used_.peak, 0, 0};
  statistics.active_bytes.all = statistics.allocated_bytes.all;
  statistics.reserved_bytes.all = {reserved_.current, reserved_.peak, 0, 0};
  statistics.max_split_size = 0;
  return statistics;
}

std::vector<SegmentInfo> AsyncAllocator::segments() const {
  std::vector<SegmentInfo> segments;
  for (const auto& [address, chunk] : chunks_) {
    SegmentInfo segment;
    segment.address = address;
    segment.total_bytes = chunk.bytes;
    segment.stream = chunk.stream;
    segment.kind = PoolKind::kLarge;
    segment.device = device_.config().device;
    for (const auto& [begin, part] : chunk.parts) {
      const bool taken = part.id != kNoRequest;
      const Bytes requested = taken ? live_.at(part.id).requested : 0;
      if (taken) segment.allocated_bytes += part.bytes;
      segment.requested_bytes += requested;
      segment.blocks.push_back({begin, part.bytes, requested, part.id,
                                taken ? BlockState::kActiveAllocated : BlockState::kInactive});
    }
    segment.active_bytes = segment.allocated_bytes;
    segments.push_back(std::move(segment));
  }
  return segments;
}

MemorySample AsyncAllocator::sample() const {
  MemorySample sample;
  sample.reserved = static_cast<Bytes>(reserved_.current);
  sample.requested = sample.active = sample.allocated = static_cast<Bytes>(used_.current);
  if (!free_parts_.empty()) sample.largest_free = free_parts_.rbegin()->first;
  return sample;
}

}  // namespace tidemark
