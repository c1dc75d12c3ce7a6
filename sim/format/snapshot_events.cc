#include "sim/format/snapshot_events.h"

#include <algorithm>

#include "sim/base/packed_bytes.h"

namespace tidemark {

namespace {

// A packed event is a head of two bytes and what the head says. Bits of the head:
//   0-3 action, 4-5 time, 6-8 address, 9-11 bytes, 12-13 stack, 14 the rest differs
// Each field's code is an index into the table of how many bytes follow for it; code 0: as before.
constexpr std::uint64_t kUnit = 512;
constexpr std::array<std::uint8_t, 4> kTimeBytes{0, 1, 2, 8};           // later by
constexpr std::array<std::uint8_t, 8> kAddressBytes{0, 2, 3, 4, 8};     // units away; 4: itself
constexpr std::array<std::uint8_t, 8> kSizeBytes{0, 1, 2, 3, 2, 4, 8};  // units; from 4 on bytes
constexpr std::array<std::uint8_t, 4> kStackBytes{0, 2, 4};
constexpr unsigned kFirstRawAddress = 4;
constexpr unsigned kFirstRawSize = 4;
constexpr unsigned kRest = 1U << 14U;
constexpr std::size_t kMostPacked = 2 + 8 + 8 + 8 + 4 + 12;

/// The first code from `first` to `last` whose bytes hold `value`; 0: none does.
template <std::size_t Codes>
unsigned code_for(std::uint64_t value, const std::array<std::uint8_t, Codes>& widths,
                  unsigned first, unsigned last) {
  for (unsigned code = first; code <= last; ++code) {
    const unsigned bits = 8U * widths[code];
    if (bits == 64 || value >> bits == 0) return code;
  }
  return 0;
}

struct Coded {
  unsigned code = 0;
  std::uint64_t value = 0;
};

Coded coded_time(const SnapshotEvent& event, const SnapshotEvent& last) {
  const std::uint64_t later =
      static_cast<std::uint64_t>(event.time_us) - static_cast<std::uint64_t>(last.time_us);
  return {later == 0 ? 0 : code_for(later, kTimeBytes, 1, 3), later};
}

Coded coded_address(const SnapshotEvent& event, const SnapshotEvent& last) {
  if (event.address == last.address) return {};
  const std::uint64_t away = event.address - last.address;
  if (away % kUnit == 0) {
    const std::uint64_t units = zigzag(static_cast<std::int64_t>(away) / std::int64_t{kUnit});
    const unsigned code = code_for(units, kAddressBytes, 1, kFirstRawAddress - 1);
    if (code != 0) return {code, units};
  }
  return {kFirstRawAddress, event.address};
}

Coded coded_size(const SnapshotEvent& event, const SnapshotEvent& last) {
  if (event.bytes == last.bytes) return {};
  if (event.bytes % kUnit == 0) {
    const unsigned code = code_for(event.bytes / kUnit, kSizeBytes, 1, kFirstRawSize - 1);
    if (code != 0) return {code, event.bytes / kUnit};
  }
  return {code_for(event.bytes, kSizeBytes, kFirstRawSize, 6), event.bytes};
}

}  // namespace

void SnapshotEvents::push_back(const SnapshotEvent& event) {
  const Coded time = coded_time(event, last_);
  const Coded address = coded_address(event, last_);
  const Coded size = coded_size(event, last_);
  const unsigned stack = event.stack == last_.stack ? 0 : code_for(event.stack, kStackBytes, 1, 2);
  const bool rest = event.user_metadata != last_.user_metadata ||
                    event.compile_context != last_.compile_context || event.pool != last_.pool ||
                    event.stream != last_.stream;
  if (open_.capacity() == 0) open_.reserve(kChunk * kMostPacked);
  put_bytes(open_,
            static_cast<unsigned>(event.action) | time.code << 4U | address.code << 6U |
                size.code << 9U | stack << 12U | (rest ? kRest : 0U),
            2);
  put_bytes(open_, time.value, kTimeBytes[time.code]);
  put_bytes(open_, address.value, kAddressBytes[address.code]);
  put_bytes(open_, size.value, kSizeBytes[size.code]);
  put_bytes(open_, event.stack, kStackBytes[stack]);
  if (rest) {
    put_bytes(open_, event.user_metadata, 4);
    put_bytes(open_, event.compile_context, 4);
    put_bytes(open_, event.pool, 2);
    put_bytes(open_, event.stream, 2);
  }
  last_ = event;
  if (++size_ % kChunk != 0) return;
  chunks_.push_back(open_);
  open_.clear();
  last_ = {};
}

void SnapshotEvents::unpack(std::size_t chunk, ByteChunks::Window& window,
                            std::vector<SnapshotEvent>& out) const {
  out.resize(std::min(kChunk, size_ - chunk * kChunk));
  const bool is_open = chunk == chunks_.size();
  const std::vector<std::uint8_t> last = is_open ? padded(open_) : std::vector<std::uint8_t>();
  PackedBytes bytes(is_open ? last.data() : chunks_.at(chunk, window));
  SnapshotEvent now;
  StreamId stream = 0;
  for (SnapshotEvent& event : out) {
    const auto head = static_cast<unsigned>(bytes.take(2));
    const unsigned address = head >> 6U & 7U;
    const unsigned size = head >> 9U & 7U;
    const unsigned stack = head >> 12U & 3U;
    now.action = static_cast<Action>(head & 15U);
    now.time_us = static_cast<std::int64_t>(static_cast<std::uint64_t>(now.time_us) +
                                            bytes.take(kTimeBytes[head >> 4U & 3U]));
    const std::uint64_t place = bytes.take(kAddressBytes[address]);
    now.address = address < kFirstRawAddress
                      ? now.address + static_cast<std::uint64_t>(unzigzag(place)) * kUnit
                      : place;
    const std::uint64_t amount = bytes.take(kSizeBytes[size]);
    if (size != 0) now.bytes = size < kFirstRawSize ? amount * kUnit : amount;
    if (stack != 0) now.stack = static_cast<StackId>(bytes.take(kStackBytes[stack]));
    if ((head & kRest) != 0) {
      now.user_metadata = static_cast<TextId>(bytes.take(4));
      now.compile_context = static_cast<TextId>(bytes.take(4));
      now.pool = static_cast<std::uint16_t>(bytes.take(2));
      stream = static_cast<StreamId>(bytes.take(2));
    }
    now.stream = names_.empty() ? stream : names_[stream];
    event = now;
  }
}

std::size_t SnapshotEvents::memory_bytes() const {
  return chunks_.memory_bytes() + open_.capacity();
}

void EventTrace::load(Window& window, std::size_t chunk) const {
  events_->unpack(chunk, bytes_, window.events);
  window.chunk = chunk;
}

std::optional<std::size_t> EventTrace::find(Action action, std::size_t from) const {
  for (std::size_t i = from; i < count_; ++i) {
    if ((*this)[i].action == action) return i;
  }
  return std::nullopt;
}

std::size_t EventTrace::count(Action action, std::size_t end) const {
  std::size_t found = 0;
  for (std::size_t i = 0; i < end; ++i) found += (*this)[i].action == action ? 1U : 0U;
  return found;
}

std::size_t EventTrace::first_at(std::int64_t time_us) const {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if ((*this)[middle].time_us < time_us) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace tidemark
