#include "sim/timeline/event_layout.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace tidemark {

namespace {

constexpr Bytes kRounding = 512;

using Address = std::uint64_t;
using Extents = std::map<Address, Address>;  ///< begin -> end

/// The extent that `address` lies in, or end().
Extents::iterator holding(Extents& extents, Address address) {
  auto next = extents.upper_bound(address);
  if (next == extents.begin()) return extents.end();
  --next;
  return address < next->second ? next : extents.end();
}

/// Segments and the free stretches in them.
class Layout {
 public:
  void apply(const Event& event) {
    const Address begin = event.address;
    const Address end = begin + event.bytes;
    switch (event.action) {
      case Action::kSegmentAlloc:
        segments_[begin] = end;
        add_free(begin, end);
        reserved_ += event.bytes;
        break;
      case Action::kSegmentMap: {
        const auto [first, last] = joined(segments_, begin, end);
        segments_[first] = last;
        add_free(begin, end);
        reserved_ += event.bytes;
        break;
      }
      case Action::kSegmentFree:
      case Action::kSegmentUnmap:
        cut(segments_, begin, end);
        remove_free(begin, end);
        reserved_ -= std::min<Bytes>(reserved_, event.bytes);
        break;
      case Action::kAlloc:
        remove_free(begin, begin + rounded(event.bytes));
        break;
      case Action::kFreeCompleted:
        add_free(begin, begin + rounded(event.bytes));
        break;
      default:
        break;
    }
  }

  [[nodiscard]] EventAmounts amounts() const {
    return {reserved_, sizes_.empty() ? 0 : *sizes_.rbegin()};
  }

 private:
  static Bytes rounded(Bytes bytes) {
    return std::max<Bytes>(kRounding, (bytes + kRounding - 1) / kRounding * kRounding);
  }

  /// Takes the neighbours that touch [begin, end) out, and returns the whole.
  static std::pair<Address, Address> joined(Extents& extents, Address begin, Address end) {
    if (auto before = extents.lower_bound(begin); before != extents.begin()) {
      --before;
      if (before->second == begin) {
        begin = before->first;
        extents.erase(before);
      }
    }
    if (const auto after = extents.find(end); after != extents.end()) {
      end = after->second;
      extents.erase(after);
    }
    return {begin, end};
  }

  static void cut(Extents& extents, Address begin, Address end) {
    const auto whole = holding(extents, begin);
    if (whole == extents.end()) return;
    const auto [first, last] = *whole;
    extents.erase(whole);
    if (first < begin) extents[first] = begin;
    if (end < last) extents[end] = last;
  }

  void add_free(Address begin, Address end) {
    const auto segment = holding(segments_, begin);
    if (segment == segments_.end()) return;
    const auto [lowest, highest] = *segment;
    end = std::min(end, highest);
    // Neighbours of the same segment only: two segments may touch.
    if (begin > lowest) {
      if (const auto before = holding(free_, begin - 1);
          before != free_.end() && before->first >= lowest) {
        begin = before->first;
        erase(before);
      }
    }
    if (end < highest) {
      if (const auto after = free_.find(end); after != free_.end()) {
        end = after->second;
        erase(after);
      }
    }
    insert(begin, end);
  }

  void remove_free(Address begin, Address end) {
    for (auto it = holding(free_, begin); it != free_.end() && it->first < end;) {
      const auto [first, last] = *it;
      erase(it);
      if (first < begin) insert(first, begin);
      if (end < last) insert(end, last);
      it = free_.lower_bound(last);
      if (last >= end) break;
    }
  }

  void insert(Address begin, Address end) {
    free_[begin] = end;
    sizes_.insert(end - begin);
  }
  void erase(Extents::iterator it) {
    sizes_.erase(sizes_.find(it->second - it->first));
    free_.erase(it);
  }

  Extents segments_;
  Extents free_;
  std::multiset<Bytes> sizes_;
  Bytes reserved_ = 0;
};

}  // namespace

std::vector<EventAmounts> event_amounts(std::span<const Event> events) {
  Layout layout;
  std::vector<EventAmounts> amounts;
  amounts.reserve(events.size());
  for (const Event& event : events) {
    layout.apply(event);
    amounts.push_back(layout.amounts());
  }
  return amounts;
}

std::vector<Event> by_segment(std::span<const Event> events) {
  struct Segment {
    Address end;
    Address number;
    Address offset;  ///< of its first byte in what it was made from
  };
  constexpr int kOffsetBits = 44;
  std::map<Address, Segment> segments;
  Address made = 0;
  std::vector<Event> told(events.begin(), events.end());
  for (Event& event : told) {
    if (event.action == Action::kOom || event.action == Action::kSnapshot) continue;
    const Address begin = event.address;
    auto at = segments.upper_bound(begin);
    const auto before = at == segments.begin() ? segments.end() : std::prev(at);
    if (event.action == Action::kSegmentAlloc) {
      at = segments.insert_or_assign(begin, Segment{begin + event.bytes, made++, 0}).first;
    } else if (event.action == Action::kSegmentMap) {
      Segment next{begin + event.bytes, 0, 0};
      if (before != segments.end() && before->second.end == begin) {
        next.number = before->second.number;
        next.offset = before->second.offset + (begin - before->first);
      } else {
        next.number = made++;
      }
      at = segments.insert_or_assign(begin, next).first;
    } else {
      at = before != segments.end() && begin < before->second.end ? before : segments.end();
    }
    if (at == segments.end()) continue;  // of before the first event
    event.address = (at->second.number << kOffsetBits) + at->second.offset + (begin - at->first);
    if (event.action == Action::kSegmentFree) segments.erase(at);
  }
  return told;
}

}  // namespace tidemark
