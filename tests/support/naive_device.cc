#include "tests/support/naive_device.h"

#include <algorithm>

#include "sim/base/check.h"

namespace tidemark::naive {

namespace {
constexpr Bytes kPage = 2 * kMiB;
constexpr Bytes kPieceStep = 32 * kMiB;
constexpr std::uint64_t kMallocBase = 0x200000000000;
constexpr std::uint64_t kReserveBase = 0x300000000000;
constexpr Bytes kReserveLength = 16 * 1024 * kGiB;
}  // namespace

Device::Device(Bytes total_bytes, Bytes context_bytes, Bytes other_bytes)
    : total_(total_bytes), free_(total_bytes - context_bytes - other_bytes) {
  unused_[kMallocBase] = round_up(2 * total_ + 64 * kGiB, kGiB);
  unreserved_[kReserveBase] = kReserveLength;
}

void Device::give(Ranges& ranges, std::uint64_t start, Bytes length) {
  auto next = ranges.lower_bound(start);
  if (next != ranges.end() && start + length == next->first) {
    length += next->second;
    next = ranges.erase(next);
  }
  if (next != ranges.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      before->second += length;
      return;
    }
  }
  ranges[start] = length;
}

std::optional<std::uint64_t> Device::cuda_malloc(Bytes bytes) {
  const Bytes taken = round_up(bytes, kPage);
  if (taken > free_) return std::nullopt;
  free_ -= taken;
  for (auto& [start, piece] : pieces_) {
    for (const auto& [hole, length] : piece.holes) {
      if (length < taken) continue;
      const std::uint64_t address = hole;
      const Bytes rest = length - taken;
      piece.holes.erase(address);
      if (rest > 0) piece.holes[address + taken] = rest;
      return address;
    }
  }
  const Bytes piece_length = round_up(taken, kPieceStep);
  for (auto range = unused_.rbegin(); range != unused_.rend(); ++range) {
    if (range->second < piece_length) continue;
    const std::uint64_t start = range->first + range->second - piece_length;
    range->second -= piece_length;
    if (range->second == 0) unused_.erase(start);
    Piece& piece = pieces_[start];
    piece.length = piece_length;
    if (piece_length > taken) piece.holes[start + taken] = piece_length - taken;
    return start;
  }
  TIDEMARK_CHECK(false, "no addresses left");
}

void Device::cuda_free(std::uint64_t address, Bytes bytes) {
  const Bytes taken = round_up(bytes, kPage);
  free_ += taken;
  const auto found = std::prev(pieces_.upper_bound(address));
  auto& [start, piece] = *found;
  give(piece.holes, address, taken);
  if (piece.holes.begin()->second != piece.length) return;
  give(unused_, start, piece.length);
  pieces_.erase(found);
}

std::optional<std::uint64_t> Device::reserve(Bytes bytes) {
  for (const auto& [start, length] : unreserved_) {
    if (length < bytes) continue;
    const std::uint64_t address = start;
    const Bytes rest = length - bytes;
    unreserved_.erase(address);
    if (rest > 0) unreserved_[address + bytes] = rest;
    return address;
  }
  return std::nullopt;
}

void Device::unreserve(std::uint64_t address, Bytes bytes) { give(unreserved_, address, bytes); }

bool Device::create_page(Bytes page_bytes) {
  if (page_bytes > free_) return false;
  free_ -= page_bytes;
  return true;
}

std::uint64_t Streams::enqueue(StreamId stream) {
  Progress& progress = streams_[stream];
  ++progress.queued;
  if (policy_ == UsesDone::kAtOnce) progress.done = progress.queued;
  if (policy_ == UsesDone::kAfterMoreWork && progress.queued > lag_) {
    progress.done = std::max(progress.done, progress.queued - lag_);
  }
  return progress.queued;
}

bool Streams::done(StreamId stream, std::uint64_t ticket) const {
  const auto found = streams_.find(stream);
  return found != streams_.end() && found->second.done >= ticket;
}

void Streams::wait_for(StreamId stream) {
  Progress& progress = streams_[stream];
  progress.done = progress.queued;
}

void Streams::wait_for_all() {
  for (auto& [stream, progress] : streams_) progress.done = progress.queued;
}

}  // namespace tidemark::naive
