#include "sim/alloc/device_memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {

void DeviceMemory::Piece::measure() {
  largest_hole_bytes = 0;
  for (const auto& [begin_of_hole, length] : holes)
    largest_hole_bytes = std::max(largest_hole_bytes, length);
}

DeviceMemory::DeviceMemory(const Config& config) : config_(config) {
  TIDEMARK_CHECK(config.total_bytes <= kMostBytes, fmt::format("total {}", config.total_bytes));
  TIDEMARK_CHECK(config.context_bytes <= config.total_bytes &&
                     config.other_bytes <= config.total_bytes - config.context_bytes,
                 fmt::format("context {} and others {} in {}", config.context_bytes,
                             config.other_bytes, config.total_bytes));
  free_bytes_ = config.total_bytes - config.context_bytes - config.other_bytes;
  unused_.emplace(kBase + config.device * kDeviceStride,
                  round_up(2 * config.total_bytes + 64 * kGiB, kGiB));
  unused_virtual_.emplace(kVirtualBase, kVirtualBytes);
}

void DeviceMemory::add_range(Ranges& ranges, std::uint64_t begin, Bytes bytes) {
  auto after = ranges.lower_bound(begin);
  if (after != ranges.end() && after->first == begin + bytes) {
    bytes += after->second;
    after = ranges.erase(after);
  }
  if (after != ranges.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  }
  ranges.emplace_hint(after, begin, bytes);
}

std::uint64_t DeviceMemory::take_from(std::size_t piece_index, Bytes bytes) {
  Piece& piece = pieces_[piece_index];
  const auto hole = std::find_if(piece.holes.begin(), piece.holes.end(),
                                 [bytes](const auto& each) { return each.second >= bytes; });
  const std::uint64_t address = hole->first;
  if (hole->second == bytes) {
    piece.holes.erase(hole);
  } else {
    hole->first += bytes;
    hole->second -= bytes;
  }
  piece.measure();
  return address;
}

std::optional<std::size_t> DeviceMemory::new_piece(Bytes bytes) {
  const Bytes wanted = round_up(bytes, kPieceBytes);
  const auto range = std::find_if(unused_.rbegin(), unused_.rend(),
                                  [wanted](const auto& each) { return each.second >= wanted; });
  if (range == unused_.rend()) return std::nullopt;
  const std::uint64_t begin = range->first + range->second - wanted;
  if (range->second == wanted) {
    unused_.erase(range->first);
  } else {
    range->second -= wanted;
  }
  const auto where = std::find_if(pieces_.rbegin(), pieces_.rend(),
                                  [begin](const Piece& piece) { return piece.begin > begin; });
  const auto at = pieces_.insert(where.base(), Piece{begin, wanted, wanted, {{begin, wanted}}});
  return static_cast<std::size_t>(at - pieces_.begin());
}

void DeviceMemory::follow(Recording recording) {
  TIDEMARK_CHECK(taken_bytes() == 0, fmt::format("{} already taken", taken_bytes()));
  recording_ = std::move(recording);
  follows_ = true;
  recorded_begins_ = recording_.reservations;
  for (const Recording::Segment& each : recording_.segments)
    recorded_begins_.push_back(each.address);
  std::ranges::sort(recorded_begins_);
  step_aside();
}

/// Where the recording has addresses that are this object's own, its own are others from now on.
void DeviceMemory::step_aside() {
  constexpr std::uint64_t kAside = std::uint64_t{1} << 61U;  // beyond all that is recorded
  constexpr std::uint64_t kVirtualAside = std::uint64_t{1} << 60U;
  std::uint64_t longest = 0;
  for (const Recording::Segment& each : recording_.segments)
    longest = std::max(longest, each.bytes);
  const auto move = [this, longest](Ranges& ranges, std::uint64_t aside) {
    const auto [begin, bytes] = *ranges.begin();
    const auto met = std::ranges::lower_bound(recorded_begins_, begin - std::min(begin, longest));
    if (met == recorded_begins_.end() || *met >= begin + bytes) return;
    ranges.clear();
    ranges.emplace(aside, bytes);
  };
  move(unused_, kAside);
  move(unused_virtual_, kVirtualAside);
}

/// Whether nothing of the recording's that is held lies there; what lies there is held then.
bool DeviceMemory::claim(std::uint64_t begin, Bytes bytes) {
  const auto after = recorded_live_.lower_bound(begin);
  if (after != recorded_live_.end() && after->first - begin < bytes) return false;
  if (after != recorded_live_.begin()) {
    const auto before = std::prev(after);
    if (begin - before->first < before->second) return false;
  }
  recorded_live_.emplace_hint(after, begin, bytes);
  return true;
}

std::optional<std::uint64_t> DeviceMemory::recorded_address(Bytes bytes) {
  std::size_t& next = next_recorded_[bytes];
  for (; next < recording_.segments.size(); ++next) {
    const DeviceMemory::Recording::Segment& each = recording_.segments[next];
    // Memory that is held already is no driver's answer.
    if (each.bytes != bytes || !claim(each.address, bytes)) continue;
    ++next;
    return each.address;
  }
  ++unrecorded_;
  return std::nullopt;
}

std::optional<std::uint64_t> DeviceMemory::allocate(Bytes bytes) {
  if (bytes > free_bytes_) return std::nullopt;
  const Bytes rounded = round_up(bytes, kGranule);
  if (rounded > free_bytes_) return std::nullopt;
  if (follows_) {
    if (const auto address = recorded_address(bytes)) {
      free_bytes_ -= rounded;
      return address;
    }
  }
  std::size_t index = 0;
  if (rounded <= most_hole_bytes_) {
    index = pieces_.size();
    while (index > 0 && pieces_[index - 1].largest_hole_bytes < rounded) --index;
    if (index == 0) most_hole_bytes_ = rounded - 1;
  }
  if (index-- == 0) {
    const auto added = new_piece(rounded);
    if (!added) return std::nullopt;
    index = *added;
    most_hole_bytes_ = std::max(most_hole_bytes_, pieces_[index].bytes - rounded);
  }
  free_bytes_ -= rounded;
  return take_from(index, rounded);
}

void DeviceMemory::free(std::uint64_t address, Bytes bytes) {
  const Bytes rounded = round_up(bytes, kGranule);
  if (follows_ && recorded_live_.erase(address) > 0) {
    free_bytes_ += rounded;
    return;
  }
  const auto piece =
      std::lower_bound(pieces_.begin(), pieces_.end(), address,
                       [](const Piece& each, std::uint64_t value) { return each.begin > value; });
  TIDEMARK_CHECK(piece != pieces_.end(), fmt::format("address {} is in no piece", address));
  auto& holes = piece->holes;
  auto next = std::lower_bound(holes.begin(), holes.end(), std::pair(address, Bytes{0}));
  std::uint64_t begin = address;
  Bytes length = rounded;
  if (next != holes.end() && next->first == address + rounded) {
    length += next->second;
    next = holes.erase(next);
  }
  if (next != holes.begin() && std::prev(next)->first + std::prev(next)->second == begin) {
    --next;
    begin = next->first;
    length += next->second;
    next = holes.erase(next);
  }
  free_bytes_ += rounded;
  if (length == piece->bytes) {
    add_range(unused_, piece->begin, piece->bytes);
    pieces_.erase(piece);
    return;
  }
  holes.insert(next, {begin, length});
  piece->largest_hole_bytes = std::max(piece->largest_hole_bytes, length);
  most_hole_bytes_ = std::max(most_hole_bytes_, length);
}

std::optional<std::uint64_t> DeviceMemory::reserve(Bytes bytes) {
  if (follows_) {
    while (next_reservation_ < recording_.reservations.size()) {
      const std::uint64_t address = recording_.reservations[next_reservation_++];
      const auto next = std::ranges::upper_bound(recorded_begins_, address);
      const Bytes room = next == recorded_begins_.end() ? bytes : *next - address;
      if (claim(address, std::min(bytes, room))) return address;
    }
    ++unrecorded_;
  }
  const auto range = std::find_if(unused_virtual_.begin(), unused_virtual_.end(),
                                  [bytes](const auto& each) { return each.second >= bytes; });
  if (range == unused_virtual_.end()) return std::nullopt;
  const std::uint64_t begin = range->first;
  const Bytes rest = range->second - bytes;
  const auto hint = unused_virtual_.erase(range);
  if (rest > 0) unused_virtual_.emplace_hint(hint, begin + bytes, rest);
  return begin;
}

Bytes DeviceMemory::reserved_room(std::uint64_t address, Bytes bytes) const {
  if (!follows_) return bytes;
  const auto found = recorded_live_.find(address);
  return found == recorded_live_.end() ? bytes : std::min(bytes, found->second);
}

void DeviceMemory::release(std::uint64_t address, Bytes bytes) {
  if (follows_ && recorded_live_.erase(address) > 0) return;
  add_range(unused_virtual_, address, bytes);
}

bool DeviceMemory::take(Bytes bytes) {
  if (bytes > free_bytes_) return false;
  free_bytes_ -= bytes;
  return true;
}

void DeviceMemory::give_back(Bytes bytes) {
  TIDEMARK_CHECK(bytes <= DeviceMemory::taken_bytes(), fmt::format("{} given back", bytes));
  free_bytes_ += bytes;
}

void DeviceMemory::write_state(StateImage& image) const {
  if (follows_) image.give_up("addresses from a recording");
  image.put(free_bytes_);
  image.put(pieces_.size());
  for (const Piece& piece : pieces_) {
    image.put(piece.begin);
    image.put(piece.bytes);
    image.put(piece.holes.size());
    for (const auto& [begin, length] : piece.holes) {
      image.put(begin);
      image.put(length);
    }
  }
  for (const Ranges* ranges : {&unused_, &unused_virtual_}) {
    image.put(ranges->size());
    for (const auto& [begin, length] : *ranges) {
      image.put(begin);
      image.put(length);
    }
  }
}

}  // namespace tidemark
