#include "sim/program/instruction_log.h"

#include <algorithm>
#include <array>

#include "sim/base/packed_bytes.h"

namespace tidemark {

namespace {

// A packed instruction is a head of two bytes and what the head says. Bits of the head:
//   0-4 verb, 5-6 id, 7-9 bytes, 10-11 label, 12 stream, pool or device differ
constexpr Bytes kUnit = 512;
enum IdCode : unsigned { kNextId, kIdBack, kIdItself, kNoId };
constexpr std::array<std::uint8_t, 4> kIdBytes{0, 2, 4, 0};
constexpr std::array<std::uint8_t, 8> kSizeBytes{0, 1, 2, 3, 2, 4, 8};  // units; from 4 on bytes
constexpr unsigned kFirstRawSize = 4;
enum LabelCode : unsigned { kNoLabel, kSameLabel, kShortLabel, kLongLabel };
constexpr std::array<std::uint8_t, 4> kLabelBytes{0, 0, 2, 4};
constexpr unsigned kRest = 1U << 12U;
constexpr std::size_t kIdAtStart = 4;  ///< bytes: the request that comes next, before a chunk
constexpr std::size_t kMostPacked = 2 + 4 + 8 + 4 + 5;

unsigned size_code(Bytes bytes) {
  if (bytes == 0) return 0;
  const bool whole = bytes % kUnit == 0;
  const std::uint64_t value = whole ? bytes / kUnit : bytes;
  for (unsigned code = whole ? 1U : kFirstRawSize; code < 6; ++code) {
    if (code == kFirstRawSize && whole) break;
    if (value >> (8U * kSizeBytes[code]) == 0) return code;
  }
  return 6;
}

}  // namespace

void InstructionLog::push_back(const Instruction& instruction) {
  if (open_.empty()) {
    // A chunk is read without the others.
    if (open_.capacity() == 0) open_.reserve(kIdAtStart + kChunk * kMostPacked);
    before_ = {before_.next_id, 0, 0, 0, 0};
    put_bytes(open_, before_.next_id, kIdAtStart);
  }
  const bool asks = instruction.verb == Verb::kAlloc;
  const RequestId back = before_.next_id - instruction.id;
  unsigned id = kIdItself;
  if (instruction.id == kNoRequest) {
    id = kNoId;
  } else if (asks && back == 0) {
    id = kNextId;
  } else if (!asks && back <= 0xffffU) {
    id = kIdBack;
  }
  const unsigned size = size_code(instruction.bytes);
  unsigned label = instruction.label <= 0xffffU ? kShortLabel : kLongLabel;
  if (instruction.label == 0) {
    label = kNoLabel;
  } else if (instruction.label == before_.label) {
    label = kSameLabel;
  }
  const bool rest = instruction.stream != before_.stream || instruction.pool != before_.pool ||
                    instruction.device != before_.device;
  put_bytes(open_,
            static_cast<unsigned>(instruction.verb) | id << 5U | size << 7U | label << 10U |
                (rest ? kRest : 0U),
            2);
  put_bytes(open_, id == kIdBack ? back : instruction.id, kIdBytes[id]);
  const bool in_units = size < kFirstRawSize;
  put_bytes(open_, in_units ? instruction.bytes / kUnit : instruction.bytes, kSizeBytes[size]);
  put_bytes(open_, instruction.label, kLabelBytes[label]);
  if (rest) {
    put_bytes(open_, instruction.stream, 2);
    put_bytes(open_, instruction.pool, 2);
    put_bytes(open_, instruction.device, 1);
  }
  if (asks) {
    before_.next_id = instruction.id + 1;
    before_.label = instruction.label;
  }
  before_.stream = instruction.stream;
  before_.pool = instruction.pool;
  before_.device = instruction.device;
  if (++size_ % kChunk != 0) return;
  chunks_.push_back(open_);
  open_.clear();
}

void InstructionLog::truncate(std::size_t size) {
  if (size == size_) return;
  const std::size_t chunk = size / kChunk;
  std::vector<Instruction> kept;
  ByteChunks::Window window;
  unpack(chunk, window, kept);
  const std::uint8_t* packed = chunk < chunks_.size() ? chunks_.at(chunk, window) : open_.data();
  before_.next_id = 0;
  for (std::size_t i = kIdAtStart; i-- > 0;) before_.next_id = before_.next_id << 8U | packed[i];
  chunks_.truncate(std::min(chunk, chunks_.size()));
  open_.clear();
  size_ = chunk * kChunk;
  kept.resize(size - size_);
  for (const Instruction& each : kept) push_back(each);
}

void InstructionLog::unpack(std::size_t chunk, ByteChunks::Window& window,
                            std::vector<Instruction>& out) const {
  out.resize(std::min(kChunk, size_ - chunk * kChunk));
  const bool is_open = chunk == chunks_.size();
  const std::vector<std::uint8_t> last = is_open ? padded(open_) : std::vector<std::uint8_t>();
  PackedBytes bytes(is_open ? last.data() : chunks_.at(chunk, window));
  Before before;
  before.next_id = static_cast<RequestId>(bytes.take(kIdAtStart));
  for (Instruction& each : out) {
    const auto head = static_cast<unsigned>(bytes.take(2));
    const unsigned id = head >> 5U & 3U;
    const unsigned size = head >> 7U & 7U;
    const unsigned label = head >> 10U & 3U;
    each.verb = static_cast<Verb>(head & 31U);
    const auto id_bytes = static_cast<RequestId>(bytes.take(kIdBytes[id]));
    const std::uint64_t amount = bytes.take(kSizeBytes[size]);
    const auto text = static_cast<LabelId>(bytes.take(kLabelBytes[label]));
    if ((head & kRest) != 0) {
      before.stream = static_cast<StreamId>(bytes.take(2));
      before.pool = static_cast<PoolId>(bytes.take(2));
      before.device = static_cast<std::uint8_t>(bytes.take(1));
    }
    each.id = id == kNextId     ? before.next_id
              : id == kIdBack   ? before.next_id - id_bytes
              : id == kIdItself ? id_bytes
                                : kNoRequest;
    each.bytes = size < kFirstRawSize ? amount * kUnit : amount;
    each.label = label == kSameLabel ? before.label : text;
    each.stream = before.stream;
    each.pool = before.pool;
    each.device = before.device;
    if (each.verb != Verb::kAlloc) continue;
    before.next_id = each.id + 1;
    before.label = each.label;
  }
}

Instruction InstructionLog::operator[](std::size_t index) const {
  std::vector<Instruction> chunk;
  ByteChunks::Window window;
  unpack(index / kChunk, window, chunk);
  return chunk[index % kChunk];
}

std::vector<Instruction> Instructions::unpacked() const {
  std::vector<Instruction> out;
  out.reserve(size());
  InstructionReader(*this).for_each([&out](const Instruction& each) { out.push_back(each); });
  return out;
}

std::span<const Instruction> InstructionReader::next(std::size_t most) {
  std::size_t count = std::min(most, until_ - std::min(at_, until_));
  if (count == 0) return {};
  if (all_.packed_ == nullptr) {
    at_ += count;
    return all_.plain_.subspan(at_ - count, count);
  }
  const std::size_t chunk = at_ / InstructionLog::kChunk;
  if (chunk != chunk_) {
    all_.packed_->unpack(chunk, bytes_, window_);
    chunk_ = chunk;
  }
  const std::size_t within = at_ % InstructionLog::kChunk;
  count = std::min(count, window_.size() - within);
  at_ += count;
  return std::span<const Instruction>(window_).subspan(within, count);
}

}  // namespace tidemark
