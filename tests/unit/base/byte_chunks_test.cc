#include "sim/base/byte_chunks.h"

#include <random>

namespace tidemark {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

/// Strings of any length; every second one holds little news.
std::vector<Bytes8> drawn(std::size_t count) {
  std::mt19937_64 random(3);
  std::vector<Bytes8> chunks(count);
  for (std::size_t i = 0; i < count; ++i) {
    chunks[i].resize(random() % 700);
    for (std::uint8_t& each : chunks[i])
      each = static_cast<std::uint8_t>(i % 2 == 0 ? random() : random() % 3);
  }
  return chunks;
}

ByteChunks packed(const std::vector<Bytes8>& chunks, std::size_t plain_bytes) {
  ByteChunks out(plain_bytes);
  for (const Bytes8& each : chunks) out.push_back(each);
  return out;
}

void check_same(const ByteChunks& kept, const std::vector<Bytes8>& chunks) {
  REQUIRE(kept.size() == chunks.size());
  ByteChunks::Window window;
  for (std::size_t step : {1U, 7919U}) {
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const std::size_t at = i * step % chunks.size();
      const std::uint8_t* bytes = kept.at(at, window);
      REQUIRE(Bytes8(bytes, bytes + chunks[at].size()) == chunks[at]);
    }
  }
}

TEST_CASE("chunks are what they were, plain, compressed and partly so") {
  const std::vector<Bytes8> chunks = drawn(500);
  for (const std::size_t plain : {std::size_t{0}, std::size_t{50'000}, ByteChunks::kPlainBytes})
    check_same(packed(chunks, plain), chunks);
}

TEST_CASE("chunks without news take less memory when they are compressed") {
  const std::vector<Bytes8> chunks(2'000, Bytes8(600, 7));
  const std::size_t plain = packed(chunks, ByteChunks::kPlainBytes).memory_bytes();
  CHECK(plain > 1'200'000);
  CHECK(packed(chunks, 0).memory_bytes() < plain / 5);
}

TEST_CASE("chunks cut short go on as if the rest had never been") {
  for (const std::size_t cut : {0U, 1U, 31U, 32U, 33U, 64U, 100U, 499U, 500U}) {
    std::vector<Bytes8> chunks = drawn(500);
    ByteChunks kept = packed(chunks, 20'000);
    kept.truncate(cut);
    chunks.resize(cut);
    check_same(kept, chunks);
    for (const Bytes8& each : drawn(100)) {
      kept.push_back(each);
      chunks.push_back(each);
    }
    check_same(kept, chunks);
  }
}

}  // namespace
}  // namespace tidemark
