#include "sim/base/byte_chunks.h"

#include <zlib.h>

#include <new>

#include "sim/base/packed_bytes.h"

namespace tidemark {

void ByteChunks::push_back(std::span<const std::uint8_t> chunk) {
  if (size_ % kGroup == 0) groups_.emplace_back().begin.push_back(0);
  Group& group = groups_.back();
  group.bytes.resize(group.begin.back());
  group.bytes.insert(group.bytes.end(), chunk.begin(), chunk.end());
  group.begin.push_back(static_cast<std::uint32_t>(group.bytes.size()));
  group.bytes.resize(group.bytes.size() + PackedBytes::kPadding);
  if (++size_ % kGroup == 0) close(group);
}

void ByteChunks::close(Group& group) {
  if (bytes_ + group.bytes.size() > plain_bytes_) {
    auto length = compressBound(static_cast<uLong>(group.bytes.size()));
    std::vector<std::uint8_t> packed(length);
    if (compress2(packed.data(), &length, group.bytes.data(),
                  static_cast<uLong>(group.bytes.size()), Z_BEST_SPEED) != Z_OK)
      throw std::bad_alloc();
    if (length < group.bytes.size() / 8 * 7) {
      group.bytes.assign(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(length));
      group.compressed = true;
    }
  }
  group.bytes.shrink_to_fit();
  group.begin.shrink_to_fit();
  bytes_ += group.bytes.size();
}

void ByteChunks::unpack(const Group& group, std::vector<std::uint8_t>& out) {
  auto length = static_cast<uLong>(group.begin.back() + PackedBytes::kPadding);
  out.resize(length);
  if (uncompress(out.data(), &length, group.bytes.data(), static_cast<uLong>(group.bytes.size())) !=
      Z_OK)
    throw std::bad_alloc();  // it was compressed here: no other reason is left
}

const std::uint8_t* ByteChunks::at(std::size_t chunk, Window& window) const {
  const std::size_t at = chunk / kGroup;
  const Group& group = groups_[at];
  const std::uint32_t begin = group.begin[chunk % kGroup];
  if (!group.compressed) return group.bytes.data() + begin;
  if (window.group != at) {
    window.group = ~std::size_t{0};
    unpack(group, window.bytes);
    window.group = at;
  }
  return window.bytes.data() + begin;
}

void ByteChunks::truncate(std::size_t size) {
  if (size == size_) return;
  groups_.resize((size + kGroup - 1) / kGroup);
  size_ = size;
  bytes_ = 0;
  if (groups_.empty()) return;
  if (size % kGroup != 0) {
    Group& last = groups_.back();
    if (last.compressed) {
      std::vector<std::uint8_t> plain;
      unpack(last, plain);
      last.bytes = std::move(plain);
      last.compressed = false;
    }
    last.begin.resize(size % kGroup + 1);
    last.bytes.resize(last.begin.back() + PackedBytes::kPadding);
  }
  for (std::size_t i = 0; i < size / kGroup; ++i) bytes_ += groups_[i].bytes.size();
}

std::size_t ByteChunks::memory_bytes() const {
  const std::size_t last = groups_.empty() ? 0 : groups_.back().bytes.capacity();
  return bytes_ + last + groups_.capacity() * sizeof(Group) +
         groups_.size() * (kGroup + 1) * sizeof(std::uint32_t);
}

}  // namespace tidemark
