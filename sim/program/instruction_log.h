#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/byte_chunks.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// Instructions of a long recording, packed. Memory: about 5 bytes an instruction where requests
/// are numbered as they come, at most 31; of a long one less (ByteChunks). Read through
/// InstructionReader.
class InstructionLog {
 public:
  /// Instructions that are unpacked together.
  static constexpr std::size_t kChunk = 512;

  InstructionLog() = default;
  /// `chunks`: empty; says from where on they are compressed.
  explicit InstructionLog(ByteChunks chunks) : chunks_(std::move(chunks)) {}
  void push_back(const Instruction& instruction);
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Forgets all from `size` on. Requires: size <= size().
  void truncate(std::size_t size);
  /// Replaces `out` by the instructions from chunk * kChunk on. Requires: there are any.
  void unpack(std::size_t chunk, ByteChunks::Window& window, std::vector<Instruction>& out) const;
  /// Cost: about a microsecond.
  [[nodiscard]] Instruction operator[](std::size_t index) const;

 private:
  /// What an instruction is told by.
  struct Before {
    RequestId next_id = 0;  ///< one past the last request
    LabelId label = 0;      ///< of the last request
    StreamId stream = 0;
    PoolId pool = 0;
    std::uint8_t device = 0;
  };
  ByteChunks chunks_;
  std::vector<std::uint8_t> open_;  ///< the last chunk while it grows
  Before before_;
  std::size_t size_ = 0;
};

/// Instructions to be played, packed or not. A view: what it looks at must outlive it.
class Instructions {
 public:
  Instructions() = default;
  Instructions(std::span<const Instruction> plain) : plain_(plain) {}     // NOLINT: a view
  Instructions(const std::vector<Instruction>& plain) : plain_(plain) {}  // NOLINT: a view
  Instructions(const InstructionLog& packed) : packed_(&packed) {}        // NOLINT: a view
  [[nodiscard]] std::size_t size() const {
    return packed_ == nullptr ? plain_.size() : packed_->size();
  }
  [[nodiscard]] std::vector<Instruction> unpacked() const;

 private:
  friend class InstructionReader;
  std::span<const Instruction> plain_;
  const InstructionLog* packed_ = nullptr;
};

/// Reads instructions in order, some at a time.
class InstructionReader {
 public:
  /// Those from `first` up to, not including, `until`.
  explicit InstructionReader(Instructions all, std::size_t first = 0,
                             std::size_t until = ~std::size_t{0})
      : all_(all), at_(first), until_(std::min(until, all.size())) {}
  /// The next ones, at most `most`; none at the end. They last until the next call.
  std::span<const Instruction> next(std::size_t most = 8192);
  /// How many were read, counted from the first of all.
  [[nodiscard]] std::size_t at() const { return at_; }
  /// Calls `visit` with each that is left.
  template <class Visit>
  void for_each(Visit visit) {
    for (std::span<const Instruction> some = next(); !some.empty(); some = next()) {
      for (const Instruction& each : some) visit(each);
    }
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  Instructions all_;
  std::size_t at_;
  std::size_t until_;
  std::size_t chunk_ = kNone;  ///< the one in window_
  std::vector<Instruction> window_;
  ByteChunks::Window bytes_;
};

}  // namespace tidemark
