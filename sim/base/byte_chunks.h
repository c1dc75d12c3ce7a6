#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemark {

/// A long row of short byte strings, "chunks", for tables that are written once and read in order.
/// What lies beyond `plain_bytes` is kept compressed, some chunks together (zlib's fastest level).
///
/// Invariants: every group but the last has kGroup chunks; one that has fewer is not compressed.
/// Cost of a read: none for what is plain; else some 10 microseconds where the group changes.
class ByteChunks {
 public:
  /// Chunks that are kept together.
  static constexpr std::size_t kGroup = 32;
  static constexpr std::size_t kPlainBytes = std::size_t{64} << 20U;

  /// What one reader holds unpacked. Not for two threads at once, and not for two rows.
  struct Window {
    std::size_t group = ~std::size_t{0};
    std::vector<std::uint8_t> bytes;
  };

  explicit ByteChunks(std::size_t plain_bytes = kPlainBytes) : plain_bytes_(plain_bytes) {}

  void push_back(std::span<const std::uint8_t> chunk);
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The bytes of a chunk; PackedBytes::kPadding more may be read. They last until the next call
  /// with this window or the next change. Requires: chunk < size().
  [[nodiscard]] const std::uint8_t* at(std::size_t chunk, Window& window) const;
  /// Forgets all chunks from `size` on. Requires: size <= size(). Windows are to be made anew.
  void truncate(std::size_t size);
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct Group {
    std::vector<std::uint8_t> bytes;   ///< of its chunks, then PackedBytes::kPadding
    std::vector<std::uint32_t> begin;  ///< of each chunk, and the end of the last
    bool compressed = false;           ///< bytes are
  };
  static void unpack(const Group& group, std::vector<std::uint8_t>& out);
  void close(Group& group);

  std::vector<Group> groups_;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;  ///< of the groups that are closed
  std::size_t plain_bytes_;
};

}  // namespace tidemark
