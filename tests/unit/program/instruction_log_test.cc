#include "sim/program/instruction_log.h"

#include <random>

namespace tidemark {
namespace {

bool same(const Instruction& a, const Instruction& b) {
  return a.bytes == b.bytes && a.id == b.id && a.label == b.label && a.stream == b.stream &&
         a.pool == b.pool && a.verb == b.verb && a.device == b.device;
}

/// Requests as they come and go, and between them anything.
std::vector<Instruction> drawn(std::size_t count) {
  std::mt19937_64 random(1);
  const auto below = [&random](std::uint64_t end) { return random() % end; };
  std::vector<Instruction> out;
  RequestId next = 0;
  while (out.size() < count) {
    Instruction each;
    if (below(10) == 0) {
      each.verb = static_cast<Verb>(below(19));
      each.id = below(3) == 0 ? kNoRequest : static_cast<RequestId>(random() >> below(64));
      each.bytes = random() >> below(64);
      each.label = static_cast<LabelId>(random() >> below(64));
      each.stream = static_cast<StreamId>(random() >> below(64));
      each.pool = static_cast<PoolId>(random() >> below(64));
      each.device = static_cast<std::uint8_t>(below(8));
    } else if (below(2) == 0) {
      each.verb = Verb::kAlloc;
      each.id = next++;
      each.bytes = below(3) == 0 ? below(1'000'000) : 512 * below(1'000'000);
      each.label = static_cast<LabelId>(below(4));
    } else {
      each.verb = Verb::kFree;
      each.id = static_cast<RequestId>(below(next + 1));
    }
    out.push_back(each);
  }
  return out;
}

InstructionLog packed(const std::vector<Instruction>& instructions,
                      std::size_t plain_bytes = ByteChunks::kPlainBytes) {
  InstructionLog log{ByteChunks(plain_bytes)};
  for (const Instruction& each : instructions) log.push_back(each);
  return log;
}

void check_same(Instructions a, const std::vector<Instruction>& b) {
  REQUIRE(a.size() == b.size());
  std::size_t at = 0;
  InstructionReader(a).for_each([&](const Instruction& each) { REQUIRE(same(each, b[at++])); });
  CHECK(at == b.size());
}

TEST_CASE("packed instructions are what they were") {
  const std::vector<Instruction> instructions = drawn(40'000);
  const InstructionLog log = packed(instructions);
  check_same(log, instructions);
  check_same(packed(instructions, 0), instructions);
  check_same(instructions, Instructions(log).unpacked());
  for (const std::size_t at : {0U, 511U, 512U, 39'999U}) CHECK(same(log[at], instructions[at]));
}

TEST_CASE("a log cut short goes on as if the rest had never been") {
  for (const std::size_t cut :
       {0U, 1U, 511U, 512U, 513U, 1'024U, 16'384U, 20'000U, 39'999U, 40'000U}) {
    std::vector<Instruction> instructions = drawn(40'000);
    InstructionLog log = packed(instructions, cut % 2 == 0 ? 0 : ByteChunks::kPlainBytes);
    log.truncate(cut);
    instructions.resize(cut);
    check_same(log, instructions);
    for (const Instruction& each : drawn(1'000)) {
      log.push_back(each);
      instructions.push_back(each);
    }
    check_same(log, instructions);
  }
}

TEST_CASE("a reader gives a stretch in parts of at most what is asked for") {
  const std::vector<Instruction> instructions = drawn(2'000);
  const InstructionLog log = packed(instructions);
  InstructionReader reader(log, 500, 1'500);
  std::size_t at = 500;
  for (auto some = reader.next(300); !some.empty(); some = reader.next(300)) {
    CHECK(some.size() <= 300);
    for (const Instruction& each : some) REQUIRE(same(each, instructions[at++]));
    CHECK(reader.at() == at);
  }
  CHECK(at == 1'500);
}

}  // namespace
}  // namespace tidemark
