#include <catch2/catch.hpp>

#include <utility>
#include <vector>

#include "sim/program/source.h"

using namespace tidemark;

namespace {

Instruction request(RequestId id, Bytes bytes) {
  Instruction out;
  out.verb = Verb::kAlloc;
  out.id = id;
  out.bytes = bytes;
  return out;
}

/// Refuses what is larger than a limit, and writes down the IDs of each chunk that it is given.
class Limited final : public Sink {
 public:
  explicit Limited(Bytes limit) : limit_(limit) {}
  Outcome execute(std::span<const Instruction> chunk) override {
    std::vector<RequestId> ids;
    for (const Instruction& one : chunk) ids.push_back(one.id);
    chunks.push_back(std::move(ids));
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      if (chunk[i].bytes > limit_) return {i, "out of memory"};
    }
    return {};
  }
  Bytes query(MemoryQuery /*what*/, std::uint8_t /*device*/) override { return 0; }
  std::vector<std::pair<std::string, std::int64_t>> statistics(std::uint8_t /*device*/) override {
    return {};
  }
  std::vector<std::vector<RequestId>> chunks;

 private:
  Bytes limit_;
};

}  // namespace

TEST_CASE("A recording goes on behind a request that is refused") {
  RecordedSource source({request(0, 1), request(1, 9), request(2, 2), request(3, 9)});
  Program program;
  Limited sink(5);
  source.run(program, sink);
  // Refused at 1: what comes behind it is given again. Refused at 3: nothing is left.
  CHECK(sink.chunks == std::vector<std::vector<RequestId>>{{0, 1, 2, 3}, {2, 3}});
}

TEST_CASE("A recording that fits is one chunk, and an empty one is none") {
  Program program;
  Limited sink(5);
  RecordedSource({request(0, 1), request(1, 2)}).run(program, sink);
  CHECK(sink.chunks == std::vector<std::vector<RequestId>>{{0, 1}});
  RecordedSource({}).run(program, sink);
  CHECK(sink.chunks.size() == 1);
}
