#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/base/problem.h"
#include "sim/format/byte_source.h"
#include "sim/format/pickle_memo.h"
#include "sim/format/pickle_value.h"

namespace tidemark {

/// A text from a file as it may stand in a message: its first 80 characters, '?' for what is not
/// plain ASCII.
std::string printable(std::string_view text);

/// Texts by number, each stored once. Bytes that are not UTF-8 become U+FFFD.
class Texts {
 public:
  Texts();
  std::uint32_t intern(std::string_view text);
  [[nodiscard]] std::string_view operator[](std::uint32_t id) const {
    return {texts_[id].data, texts_[id].size};
  }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct Entry {
    const char* data;
    std::uint32_t size;
    std::uint32_t hash;
  };
  std::uint32_t insert(std::string_view text, std::uint32_t hash, std::size_t slot);
  void grow();
  std::vector<Entry> texts_;
  std::vector<std::uint32_t> slots_;  ///< text number + 1; 0: empty; a power of two of them
  std::vector<std::unique_ptr<char[]>> pages_;
  char* page_end_ = nullptr;
  std::size_t page_room_ = 0;
  std::size_t stored_bytes_ = 0;
};

class PickleReader;

/// Turns each container, when its items are complete, into a value of its own. Items are plain
/// values or the results of earlier calls. A container filled in several batches comes once a
/// batch, with the result so far as `before` (fresh_container() the first time).
class PickleConsumer {
 public:
  virtual ~PickleConsumer() = default;
  /// `items`: key, value, key, value, ...
  virtual PickleValue dict(PickleReader& reader, PickleValue before,
                           std::span<const PickleValue> items) = 0;
  virtual PickleValue list(PickleReader& reader, PickleValue before,
                           std::span<const PickleValue> items) = 0;
  /// Tuples of one item and more.
  virtual PickleValue tuple(PickleReader& reader, std::span<const PickleValue> items) = 0;
  /// Memory that the consumer's results take, for the reader's bound.
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
};

struct PickleLimits {
  std::size_t memory_bytes = std::size_t{4} << 30U;  ///< all tables of reader and consumer together
  std::uint32_t depth = 64;                          ///< containers inside each other
  std::uint32_t text_bytes = 1U << 20U;              ///< one text
};

/// Reads one pickle of protocol 2 to 5 that holds plain data only: dicts, lists, tuples, texts,
/// numbers, booleans, None. Executes nothing and has no way to: an opcode that names, calls or
/// builds a Python object is refused.
///
/// Memory: that of PickleMemo, 8 bytes a value on the stack, each different text once; input
/// passes through a 1 MiB buffer. Refused beyond PickleLimits. Errors: InputError with one message
/// that has the byte's position. Cost: linear in the bytes.
class PickleReader {
 public:
  /// `name` of the input is for messages.
  PickleReader(ByteSource& source, std::string name, PickleLimits limits = {});

  /// Reads from the start to the pickle's end and returns what stands for the whole. Requires:
  /// called once.
  PickleValue read(PickleConsumer& consumer, const ReadProgress& progress = {});

  [[nodiscard]] Texts& texts() { return texts_; }
  [[nodiscard]] double number(PickleValue value) const {
    return floats_[static_cast<std::size_t>(value.payload())];
  }
  /// Position of the opcode that is being executed, in unpacked bytes from the start.
  [[nodiscard]] std::uint64_t position() const;
  /// Throws the InputError of this place.
  [[noreturn]] void fail(std::string message, std::string hint = {}) const;

 private:
  bool fill(std::size_t wanted);
  void need(std::size_t count);
  [[nodiscard]] std::uint64_t little(std::size_t offset, std::size_t count) const;
  void push(PickleValue value) { stack_.push_back(value); }
  PickleValue text(std::size_t header, std::uint64_t length);
  PickleValue long_integer(std::size_t count);
  void memoize(std::uint64_t slot);
  void fetch(std::uint64_t slot);
  std::size_t pop_mark();
  void close(PickleConsumer& consumer, std::size_t first, bool dict);
  void check_memory(const PickleConsumer& consumer) const;
  void begin_frame();
  void first_bytes();
  void step_rare(unsigned char opcode);
  [[noreturn]] void refuse(unsigned char opcode);
  [[noreturn]] void truncated() const;

  ByteSource& source_;
  std::string name_;
  PickleLimits limits_;
  Texts texts_;
  std::vector<double> floats_;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;
  PickleMemo memo_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;  ///< of the next opcode in the buffer
  std::size_t opcode_at_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t passed_ = 0;  ///< bytes before the buffer
  std::uint64_t frame_end_ = 0;
  bool source_ended_ = false;
};

}  // namespace tidemark
