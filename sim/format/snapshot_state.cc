#include "sim/format/snapshot_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "sim/format/address_map.h"

namespace tidemark {

namespace {

constexpr Bytes kSmallPage = 2 * kMiB;
constexpr Bytes kSmallRequest = kMiB;

/// Address ranges that carry what their memory is; touching ranges of one kind are one.
class Ranges {
 public:
  void add(StateSegment segment) {
    const auto after = ranges_.lower_bound(segment.address);
    if (after != ranges_.end() && segment.address + segment.bytes == after->first &&
        alike(segment, after->second)) {
      segment.bytes += after->second.bytes;
      drop(after);
    }
    const auto behind = ranges_.lower_bound(segment.address);
    if (behind != ranges_.begin()) {
      StateSegment& before = std::prev(behind)->second;
      if (before.address + before.bytes == segment.address && alike(before, segment)) {
        before.bytes += segment.bytes;
        return;
      }
    }
    const auto same = ranges_.find(segment.address);
    if (same != ranges_.end()) drop(same);
    put(segment);
  }
  /// Returns whether the whole of [address, address + bytes) was there.
  bool remove(std::uint64_t address, Bytes bytes) {
    auto found = ranges_.upper_bound(address);
    if (found == ranges_.begin()) return false;
    --found;
    const StateSegment whole = found->second;
    if (address + bytes > whole.address + whole.bytes) return false;
    drop(found);
    if (address > whole.address) {
      StateSegment front = whole;
      front.bytes = address - whole.address;
      put(front);
    }
    if (address + bytes < whole.address + whole.bytes) {
      StateSegment back = whole;
      back.address = address + bytes;
      back.bytes = whole.address + whole.bytes - back.address;
      put(back);
    }
    return true;
  }
  /// The nearest range of the same stream: pages of one reservation are one kind.
  [[nodiscard]] const StateSegment* nearest(std::uint64_t address, StreamId stream) const {
    const auto after = expandable_.lower_bound({stream, address});
    const bool has_after = after != expandable_.end() && after->first == stream;
    const bool has_before = after != expandable_.begin() && std::prev(after)->first == stream;
    if (!has_after && !has_before) return nullptr;
    const bool is_before =
        has_before && (!has_after || address - std::prev(after)->second <= after->second - address);
    return &ranges_.at(is_before ? std::prev(after)->second : after->second);
  }
  [[nodiscard]] std::vector<StateSegment> list() const {
    std::vector<StateSegment> out;
    out.reserve(ranges_.size());
    for (const auto& [begin, range] : ranges_) out.push_back(range);
    return out;
  }

 private:
  static bool alike(const StateSegment& a, const StateSegment& b) {
    return a.expandable && b.expandable && a.stream == b.stream && a.pool == b.pool &&
           a.small == b.small;
  }
  using ByAddress = std::map<std::uint64_t, StateSegment>;
  void put(const StateSegment& segment) {
    ranges_.emplace(segment.address, segment);
    if (segment.expandable) expandable_.emplace(segment.stream, segment.address);
  }
  void drop(ByAddress::iterator range) {
    if (range->second.expandable) expandable_.erase({range->second.stream, range->first});
    ranges_.erase(range);
  }
  ByAddress ranges_;
  std::set<std::pair<StreamId, std::uint64_t>> expandable_;  ///< those of ranges_
};

/// Where large requests lie in the events that the walk back has before it, and how many at a
/// place. Counted when it is first asked.
class LargeRequests {
 public:
  explicit LargeRequests(const EventTrace& trace) : trace_(trace) {}
  /// `left`: how many events the walk has before it; never more than at the last call.
  bool any_in(std::uint64_t begin, Bytes bytes, std::size_t left) {
    if (!counted_) {
      for (std::size_t i = 0; i < left; ++i) {
        const SnapshotEvent each = trace_[i];
        if (is_large(each)) ++places_[each.address];
      }
      counted_ = true;
      left_ = left;
    }
    for (; left_ > left; --left_) {
      const SnapshotEvent each = trace_[left_ - 1];
      if (!is_large(each)) continue;
      const auto place = places_.find(each.address);
      if (--place->second == 0) places_.erase(place);
    }
    const auto found = places_.lower_bound(begin);
    return found != places_.end() && found->first - begin < bytes;
  }

 private:
  static bool is_large(const SnapshotEvent& event) {
    return event.action == Action::kAlloc && event.bytes > kSmallRequest;
  }
  EventTrace trace_;
  std::map<std::uint64_t, std::size_t> places_;
  std::size_t left_ = 0;
  bool counted_ = false;
};

}  // namespace

Bytes SnapshotState::reserved_bytes() const {
  Bytes sum = 0;
  for (const StateSegment& segment : segments) sum += segment.bytes;
  return sum;
}

SnapshotRewind::SnapshotRewind(const Snapshot& snapshot, std::uint8_t device)
    : snapshot_(snapshot), device_(device) {}

void SnapshotRewind::contradict(std::size_t event, std::string_view what) {
  if (contradictions_++ == 0) first_contradiction_ = fmt::format("event {}: {}", event, what);
}

SnapshotState SnapshotRewind::before(std::size_t event) {
  contradictions_ = 0;
  first_contradiction_.clear();
  const EventTrace trace = snapshot_.trace(device_);
  AddressMap<StateBlock> live;
  Ranges ranges;
  LargeRequests large(trace);
  for (const SnapshotSegment& segment : snapshot_.segments) {
    if (segment.device != device_) continue;
    ranges.add({segment.address, segment.total_bytes, segment.stream, segment.pool, segment.small,
                segment.expandable});
    for (const SnapshotBlock& block : snapshot_.blocks_of(segment)) {
      if (block.state == SnapshotBlockState::kInactive) continue;
      live[block.address] = {block.address, block.requested_bytes, block.bytes, block.stack,
                             block.state == SnapshotBlockState::kActivePendingFree};
    }
  }
  for (std::size_t i = trace.size(); i-- > event;) {
    const SnapshotEvent each = trace[i];
    switch (each.action) {
      case Action::kAlloc:
        if (live.find(each.address) == nullptr) {
          contradict(i, fmt::format("an alloc at 0x{:x} of a block that is not there afterwards",
                                    each.address));
        }
        live.erase(each.address);
        break;
      case Action::kFreeCompleted:
        if (live.find(each.address) != nullptr) {
          contradict(i, fmt::format("a free at 0x{:x} of a block that is still there afterwards",
                                    each.address));
        }
        live[each.address] = {each.address, each.bytes, 0, 0, true};
        break;
      case Action::kFreeRequested: {
        StateBlock* block = live.find(each.address);
        if (block == nullptr || !block->pending) {
          contradict(
              i, fmt::format("a free_requested at 0x{:x} that never completes and is not pending",
                             each.address));
          live[each.address] = {each.address, each.bytes, 0, 0, false};
        } else {
          block->pending = false;
        }
        break;
      }
      case Action::kSegmentAlloc:
      case Action::kSegmentMap:
        if (!ranges.remove(each.address, each.bytes)) {
          contradict(i, fmt::format("a segment made at 0x{:x} that is not there afterwards",
                                    each.address));
        }
        break;
      case Action::kSegmentFree:
        ranges.add(
            {each.address, each.bytes, each.stream, each.pool, each.bytes == kSmallPage, false});
        break;
      case Action::kSegmentUnmap: {
        StateSegment range{each.address, each.bytes, each.stream, each.pool, false, true};
        const StateSegment* neighbour = ranges.nearest(each.address, each.stream);
        if (neighbour != nullptr) {
          range.small = neighbour->small;
          range.pool = neighbour->pool;
        } else {
          // Nothing of the reservation is left: its pages are small unless a large request lay on
          // them.
          range.small = !large.any_in(range.address, range.bytes, i);
        }
        ranges.add(range);
        break;
      }
      case Action::kOom:
      case Action::kSnapshot:
        break;
    }
  }
  SnapshotState state;
  state.segments = ranges.list();
  live.for_each(
      [&state](std::uint64_t, const StateBlock& block) { state.blocks.push_back(block); });
  std::ranges::sort(state.blocks, {}, &StateBlock::address);
  return state;
}

}  // namespace tidemark
