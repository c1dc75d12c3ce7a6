#include "sim/format/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tidemark {

namespace {

/// The opcodes of plain data. Source: Python's pickletools, protocols 2 to 5.
enum Opcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kNoneValue = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kBinFloat = 'G',
  kShortBinUnicode = 0x8c,
  kBinUnicode = 'X',
  kBinUnicode8 = 0x8d,
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kMemoize = 0x94,
  kBinPut = 'q',
  kLongBinPut = 'r',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kProto = 0x80,
  kFrameSize = 0x95,
};

/// What an opcode that is refused would do.
struct Refused {
  unsigned char code;
  std::string_view name;
  std::string_view what;
};
constexpr std::string_view kCalls = "would import or call Python code";
constexpr std::string_view kPersistent = "refers to an object outside the file";
constexpr std::string_view kForeign = "is no part of a memory snapshot";
constexpr std::string_view kText = "belongs to a text pickle (protocol 0 or 1)";
constexpr std::array<Refused, 36> kRefused{{
    {'c', "GLOBAL", kCalls},
    {0x93, "STACK_GLOBAL", kCalls},
    {'i', "INST", kCalls},
    {'o', "OBJ", kCalls},
    {'R', "REDUCE", kCalls},
    {'b', "BUILD", kCalls},
    {0x81, "NEWOBJ", kCalls},
    {0x92, "NEWOBJ_EX", kCalls},
    {0x82, "EXT1", kCalls},
    {0x83, "EXT2", kCalls},
    {0x84, "EXT4", kCalls},
    {'P', "PERSID", kPersistent},
    {'Q', "BINPERSID", kPersistent},
    {0x97, "NEXT_BUFFER", kPersistent},
    {0x98, "READONLY_BUFFER", kPersistent},
    {'B', "BINBYTES", kForeign},
    {'C', "SHORT_BINBYTES", kForeign},
    {0x8e, "BINBYTES8", kForeign},
    {0x96, "BYTEARRAY8", kForeign},
    {0x8f, "EMPTY_SET", kForeign},
    {0x90, "ADDITEMS", kForeign},
    {0x91, "FROZENSET", kForeign},
    {'0', "POP", kForeign},
    {'1', "POP_MARK", kForeign},
    {'2', "DUP", kForeign},
    {'T', "BINSTRING", kForeign},
    {'U', "SHORT_BINSTRING", kForeign},
    {'I', "INT", kText},
    {'L', "LONG", kText},
    {'F', "FLOAT", kText},
    {'S', "STRING", kText},
    {'V', "UNICODE", kText},
    {'g', "GET", kText},
    {'p', "PUT", kText},
    {'d', "DICT", kText},
    {'l', "LIST", kText},
}};

/// Longest opcode with its fixed argument.
constexpr std::size_t kLongestHeader = 16;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

/// Set in the payload of a fresh container's memo slot once something has fetched it: filling it
/// later would change what was already consumed.
constexpr std::int64_t kFetchedBit = std::int64_t{1} << 40U;

}  // namespace

PickleReader::PickleReader(ByteSource& source, std::string name, PickleLimits limits)
    : source_(source),
      name_(std::move(name)),
      limits_(limits),
      buffer_(kBufferBytes + kLongestHeader) {}

std::uint64_t PickleReader::position() const { return passed_ + opcode_at_; }

void PickleReader::fail(std::string message, std::string hint) const {
  Problem problem;
  problem.at.source = std::make_shared<SourceText>(SourceText{name_, {}, 1, 0});
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  throw InputError(std::move(problem));
}

void PickleReader::truncated() const {
  fail(fmt::format("the pickle ends in the middle, at byte {}: the file is truncated",
                   passed_ + filled_));
}

/// Makes `wanted` bytes from at_ on available in the buffer. Returns whether there are as many.
bool PickleReader::fill(std::size_t wanted) {
  if (filled_ - at_ >= wanted) return true;
  if (!source_ended_) {
    const std::size_t kept = filled_ - opcode_at_;
    std::memmove(buffer_.data(), buffer_.data() + opcode_at_, kept);
    passed_ += opcode_at_;
    at_ -= opcode_at_;
    opcode_at_ = 0;
    filled_ = kept;
    if (at_ + wanted > buffer_.size()) buffer_.resize(at_ + wanted + kLongestHeader);
    const std::size_t room = buffer_.size() - filled_;
    const std::size_t count = source_.read({buffer_.data() + filled_, room});
    filled_ += count;
    source_ended_ = count < room;
  }
  return filled_ - at_ >= wanted;
}

void PickleReader::need(std::size_t count) {
  if (filled_ - at_ < count && !fill(count)) truncated();
}

std::uint64_t PickleReader::little(std::size_t offset, std::size_t count) const {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(buffer_[at_ + offset + i]))
             << (8U * i);
  }
  return value;
}

/// at_ stands on the argument's `header` bytes of length.
PickleValue PickleReader::text(std::size_t header, std::uint64_t length) {
  if (length > limits_.text_bytes) {
    fail(fmt::format("byte {}: a text of {} bytes; the longest accepted is {}", position(), length,
                     limits_.text_bytes));
  }
  const auto size = static_cast<std::size_t>(length);
  need(header + size);
  const std::uint32_t id = texts_.intern({buffer_.data() + at_ + header, size});
  at_ += header + size;
  return {PickleValue::kText, id};
}

PickleValue PickleReader::long_integer(std::size_t count) {
  if (count == 0) return {PickleValue::kInt, 0};
  std::uint64_t bits = little(0, std::min<std::size_t>(count, 8));
  if (count > 8) return {PickleValue::kWideInt, 0};
  const auto unused = static_cast<unsigned>(64 - 8 * count);
  const auto value = static_cast<std::int64_t>(bits << unused) >> unused;
  constexpr std::int64_t kLargest = (std::int64_t{1} << 55U) - 1;
  if (value > kLargest || value < -kLargest - 1) return {PickleValue::kWideInt, 0};
  return {PickleValue::kInt, value};
}

void PickleReader::memoize(std::uint64_t slot) {
  if (stack_.empty()) fail(fmt::format("byte {}: nothing to remember", position()));
  // PyTorch's own pickler counts its slots from 0 as Python's do; a jump would let a few bytes
  // claim gigabytes.
  if (slot > memo_.size())
    fail(fmt::format("byte {}: memo slot {} comes before slot {}", position(), slot, memo_.size()));
  PickleValue& top = stack_.back();
  if (top.fresh_container()) top = {top.kind(), static_cast<std::int64_t>(slot) + 1};
  if (slot == memo_.size()) {
    memo_.push(top);
  } else {
    fail(fmt::format("byte {}: memo slot {} is set twice", position(), slot));
  }
}

void PickleReader::fetch(std::uint64_t slot) {
  if (slot >= memo_.size())
    fail(fmt::format("byte {}: memo slot {} was never set", position(), slot));
  const PickleValue value = memo_[static_cast<std::size_t>(slot)];
  push(value);
  if (value.fresh_container() && (value.payload() & kFetchedBit) == 0)
    memo_.set(static_cast<std::size_t>(slot), {value.kind(), value.payload() | kFetchedBit});
}

std::size_t PickleReader::pop_mark() {
  if (marks_.empty())
    fail(fmt::format("byte {}: the end of a container that never began", position()));
  const std::size_t first = marks_.back();
  marks_.pop_back();
  return first;
}

/// The items from stack_[first] on go into the container below them.
void PickleReader::close(PickleConsumer& consumer, std::size_t first, bool dict) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (first <= floor || first > stack_.size()) {
    fail(fmt::format("byte {}: items without a container", position()));
  }
  if (first == stack_.size()) return;
  PickleValue& container = stack_[first - 1];
  const std::span<const PickleValue> items = std::span(stack_).subspan(first);
  if (dict && items.size() % 2 != 0)
    fail(fmt::format("byte {}: a dict key without a value", position()));
  if (container.kind() < PickleValue::kDict)
    fail(fmt::format("byte {}: items put into a plain value", position()));
  std::int64_t slot = 0;
  if (container.fresh_container()) {
    if ((container.kind() == PickleValue::kDict) != dict) {
      fail(fmt::format("byte {}: a {} filled like a {}", position(), dict ? "list" : "dict",
                       dict ? "dict" : "list"));
    }
    slot = container.payload() & ~kFetchedBit;
    if (slot > 0 && (memo_[static_cast<std::size_t>(slot - 1)].payload() & kFetchedBit) != 0) {
      fail(fmt::format("byte {}: a container that is used before it is complete", position()));
    }
    container = {container.kind(), 0};
  }
  const PickleValue result =
      dict ? consumer.dict(*this, container, items) : consumer.list(*this, container, items);
  stack_[first - 1] = result;
  if (slot > 0) memo_.set(static_cast<std::size_t>(slot - 1), result);
  stack_.resize(first);
}

void PickleReader::check_memory(const PickleConsumer& consumer) const {
  const std::size_t used = stack_.capacity() * sizeof(PickleValue) + memo_.memory_bytes() +
                           floats_.capacity() * sizeof(double) + buffer_.capacity() +
                           texts_.memory_bytes() + consumer.memory_bytes();
  if (used > limits_.memory_bytes) {
    fail(fmt::format("byte {}: reading on would take more than {} of memory", position(),
                     format_bytes(limits_.memory_bytes)));
  }
}

void PickleReader::begin_frame() {
  need(8);
  const std::uint64_t length = little(0, 8);
  at_ += 8;
  const std::uint64_t here = passed_ + at_;
  if (here < frame_end_ || length == 0)
    fail(fmt::format("byte {}: a frame inside a frame", position()));
  if (length > (std::uint64_t{1} << 48U))
    fail(fmt::format("byte {}: a frame of {} bytes", position(), length));
  frame_end_ = here + length;
}

void PickleReader::refuse(unsigned char opcode) {
  const auto* found = std::find_if(kRefused.begin(), kRefused.end(),
                                   [opcode](const Refused& r) { return r.code == opcode; });
  if (found == kRefused.end()) {
    fail(fmt::format("byte {}: 0x{:02x} is no pickle opcode: the file is damaged", position(),
                     opcode));
  }
  std::string named;
  if (opcode == 'c' || opcode == 'i') {
    // Two lines of text: module and name. Shown as far as they are printable.
    fill(200);
    const std::string_view rest(buffer_.data() + at_, std::min<std::size_t>(filled_ - at_, 200));
    for (std::size_t i = 0, lines = 0; i < rest.size() && lines < 2; ++i) {
      if (rest[i] == '\n' && ++lines == 2) break;
      named += rest[i] == '\n' ? '.' : rest[i];
    }
    named = " of " + printable(named);
  } else if (opcode == 0x93 && stack_.size() >= 2 && stack_.back().kind() == PickleValue::kText &&
             stack_[stack_.size() - 2].kind() == PickleValue::kText) {
    named = fmt::format(
        " of {}.{}",
        printable(texts_[static_cast<std::uint32_t>(stack_[stack_.size() - 2].payload())]),
        printable(texts_[static_cast<std::uint32_t>(stack_.back().payload())]));
  }
  fail(fmt::format("byte {}: {}{} {}", position(), found->name, named, found->what),
       found->what == kText
           ? "write the snapshot with torch.cuda.memory._dump_snapshot"
           : "a memory snapshot holds plain data only, and nothing in the file was executed");
}

/// Says what a file is that cannot be a snapshot, by its first bytes.
void PickleReader::first_bytes() {
  fill(64);
  const std::string_view start(buffer_.data(), std::min<std::size_t>(filled_, 64));
  if (start.empty()) fail("the file is empty");
  if (start.starts_with("PK\x03\x04")) {
    fail("this is a zip file, as torch.save writes checkpoints, not a memory snapshot",
         "record one with torch.cuda.memory._record_memory_history() and "
         "torch.cuda.memory._dump_snapshot()");
  }
  // torch.save's old format begins with a pickled ten-byte magic number.
  if (start.starts_with(std::string_view("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20", 10))) {
    fail("this is a checkpoint in torch.save's old format, not a memory snapshot",
         "record one with torch.cuda.memory._record_memory_history() and "
         "torch.cuda.memory._dump_snapshot()");
  }
  if (start.front() == '{' || start.front() == '[') {
    fail("this is JSON text, not a pickle",
         "write the snapshot with torch.cuda.memory._dump_snapshot");
  }
  if (start.starts_with("tidemark-trace")) fail("this is a request trace, not a memory snapshot");
  if (start.starts_with("\x28\xb5\x2f\xfd") ||
      start.starts_with("\xfd"
                        "7zXZ") ||
      start.starts_with("BZh")) {
    fail("the file is compressed with something other than gzip", "unpack it first");
  }
  if (static_cast<unsigned char>(start.front()) != kProto) {
    fail("this is not a pickle of protocol 2 or newer, so not a memory snapshot");
  }
  need(2);
  const auto protocol = static_cast<unsigned char>(buffer_[1]);
  if (protocol < 2 || protocol > 5)
    fail(fmt::format("pickle protocol {} is not known; 2 to 5 are", protocol));
  at_ = 2;
}

/// Opcodes that a snapshot has few of.
void PickleReader::step_rare(unsigned char opcode) {
  switch (opcode) {
    case kFrameSize:
      begin_frame();
      return;
    case kNoneValue:
      push({PickleValue::kNone, 0});
      return;
    case kBinFloat: {
      need(8);
      const std::uint64_t bits = __builtin_bswap64(little(0, 8));
      at_ += 8;
      floats_.push_back(std::bit_cast<double>(bits));
      push({PickleValue::kFloat, static_cast<std::int64_t>(floats_.size() - 1)});
      return;
    }
    case kBinUnicode8:
      need(8);
      push(text(8, little(0, 8)));
      return;
    case kLong4: {
      need(4);
      const std::uint64_t count = little(0, 4);
      if (count > 255) fail(fmt::format("byte {}: an integer of {} bytes", position(), count));
      need(4 + static_cast<std::size_t>(count));
      at_ += 4;
      push(long_integer(static_cast<std::size_t>(count)));
      at_ += static_cast<std::size_t>(count);
      return;
    }
    case kLongBinPut:
      need(4);
      memoize(little(0, 4));
      at_ += 4;
      return;
    case kEmptyTuple:
      push({PickleValue::kList, 0});
      return;
    default:
      refuse(opcode);
  }
}

PickleValue PickleReader::read(PickleConsumer& consumer, const ReadProgress& progress) {
  first_bytes();
  std::uint64_t next_check = passed_ + kBufferBytes;
  while (true) {
    opcode_at_ = at_;
    if (filled_ - at_ < kLongestHeader) {
      fill(kLongestHeader);
      if (filled_ == at_) truncated();
      if (passed_ + at_ >= next_check) {
        next_check = passed_ + at_ + kBufferBytes;
        check_memory(consumer);
        if (progress) {
          const std::uint64_t done = source_.file_bytes_read();
          const std::uint64_t all = source_.file_bytes().value_or(0);
          progress(done,
                   all == 0 ? 0 : static_cast<std::uint32_t>(static_cast<Wide>(done) * 1000 / all));
        }
      }
    }
    const auto opcode = static_cast<unsigned char>(buffer_[at_++]);
    const std::size_t left = filled_ - at_;
    switch (opcode) {
      case kBinGet:
        if (left < 1) truncated();
        fetch(static_cast<unsigned char>(buffer_[at_++]));
        break;
      case kLongBinGet: {
        if (left < 4) truncated();
        std::uint32_t slot = 0;
        std::memcpy(&slot, buffer_.data() + at_, 4);
        at_ += 4;
        fetch(slot);
        break;
      }
      case kMemoize:
        memoize(memo_.size());
        break;
      case kBinPut:
        if (left < 1) truncated();
        memoize(static_cast<unsigned char>(buffer_[at_++]));
        break;
      case kBinInt1:
        if (left < 1) truncated();
        push({PickleValue::kInt, static_cast<unsigned char>(buffer_[at_++])});
        break;
      case kBinInt2: {
        if (left < 2) truncated();
        std::uint16_t value = 0;
        std::memcpy(&value, buffer_.data() + at_, 2);
        at_ += 2;
        push({PickleValue::kInt, value});
        break;
      }
      case kBinInt: {
        if (left < 4) truncated();
        std::int32_t value = 0;
        std::memcpy(&value, buffer_.data() + at_, 4);
        at_ += 4;
        push({PickleValue::kInt, value});
        break;
      }
      case kLong1: {
        if (left < 1) truncated();
        const std::size_t count = static_cast<unsigned char>(buffer_[at_]);
        need(1 + count);
        ++at_;
        push(long_integer(count));
        at_ += count;
        break;
      }
      case kShortBinUnicode:
        if (left < 1) truncated();
        push(text(1, static_cast<unsigned char>(buffer_[at_])));
        break;
      case kBinUnicode:
        if (left < 4) truncated();
        push(text(4, little(0, 4)));
        break;
      case kEmptyDict:
        push({PickleValue::kDict, 0});
        break;
      case kEmptyList:
        push({PickleValue::kList, 0});
        break;
      case kMark:
        if (marks_.size() >= limits_.depth) {
          fail(fmt::format("byte {}: containers nested more than {} deep", position(),
                           limits_.depth));
        }
        marks_.push_back(stack_.size());
        break;
      case kSetItems:
        close(consumer, pop_mark(), true);
        break;
      case kAppends:
        close(consumer, pop_mark(), false);
        break;
      case kSetItem:
        close(consumer, stack_.size() < 2 ? 0 : stack_.size() - 2, true);
        break;
      case kAppend:
        close(consumer, stack_.empty() ? 0 : stack_.size() - 1, false);
        break;
      case kTuple:
      case kTuple1:
      case kTuple2:
      case kTuple3: {
        const std::size_t count = opcode == kTuple ? 0 : opcode - kTuple1 + std::size_t{1};
        const std::size_t floor = marks_.empty() ? 0 : marks_.back();
        if (opcode != kTuple && stack_.size() < floor + count) {
          fail(fmt::format("byte {}: a tuple of {} without as many items", position(), count));
        }
        const std::size_t first = opcode == kTuple ? pop_mark() : stack_.size() - count;
        const PickleValue result = first == stack_.size()
                                       ? PickleValue{PickleValue::kList, 0}
                                       : consumer.tuple(*this, std::span(stack_).subspan(first));
        stack_.resize(first);
        push(result);
        break;
      }
      case kNewTrue:
      case kNewFalse:
        push({PickleValue::kBool, opcode == kNewTrue ? 1 : 0});
        break;
      case kStop:
        if (!marks_.empty() || stack_.size() != 1) {
          fail(fmt::format("byte {}: the pickle stops inside a container", position()));
        }
        opcode_at_ = at_;
        if (fill(1))
          fail(fmt::format("byte {}: stray bytes after the end of the pickle", position()));
        check_memory(consumer);
        return stack_.back();
      default:
        step_rare(opcode);
    }
  }
}

}  // namespace tidemark
