// Gives every file of the folders named on the command line to a fuzz target, so that its corpus is
// a test in every build. Before them, a build without libFuzzer searches too, if blindly:
// --draw COUNT SEED gives the target random bytes as well, for targets that make sense of any;
// --change COUNT SEED gives it files of the folders with bytes dropped, repeated, moved from one
// file into another, or set.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// The last number told is where a crash was.
void draw(unsigned long long count, unsigned long long seed) {
  for (unsigned long long i = seed; i < seed + count; ++i) {
    if (i % 100 == 0) {
      std::printf("drawn %llu\n", i);
      std::fflush(stdout);
    }
    std::mt19937_64 random(i);
    std::vector<std::uint8_t> bytes(1 + random() % 400);
    for (std::uint8_t& each : bytes) each = static_cast<std::uint8_t>(random());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
}

using Bytes = std::vector<std::uint8_t>;

std::size_t below(std::mt19937_64& random, std::size_t end) {
  return static_cast<std::size_t>(random() % end);
}

/// Some bytes of `from`, at most 64.
Bytes part_of(std::mt19937_64& random, const Bytes& from) {
  if (from.empty()) return {};
  const auto begin = static_cast<std::ptrdiff_t>(below(random, from.size()));
  const auto length = static_cast<std::ptrdiff_t>(
      std::min(1 + below(random, 64), from.size() - static_cast<std::size_t>(begin)));
  return {from.begin() + begin, from.begin() + begin + length};
}

void change(std::mt19937_64& random, Bytes& bytes, const Bytes& other) {
  constexpr std::array<std::uint8_t, 16> kTelling{0,  1,  9,  10,  32,  34,   45,   48,
                                                  57, 58, 91, 123, 127, 0x80, 0xfe, 0xff};
  const auto at = static_cast<std::ptrdiff_t>(below(random, bytes.size() + 1));
  const bool is_at_end = at == static_cast<std::ptrdiff_t>(bytes.size());
  const std::size_t kind = random() % 6;
  if (kind == 0) {
    const auto most = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(bytes.size()) - at);
    const auto length = static_cast<std::ptrdiff_t>(std::min(most, 1 + below(random, 40)));
    bytes.erase(bytes.begin() + at, bytes.begin() + at + length);
  } else if (kind == 1 || kind == 2) {
    const Bytes part = part_of(random, kind == 1 ? bytes : other);
    bytes.insert(bytes.begin() + at, part.begin(), part.end());
  } else if (!is_at_end && kind == 3) {
    bytes[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1U << (random() % 8));
  } else if (!is_at_end && kind == 4) {
    bytes[static_cast<std::size_t>(at)] = kTelling.at(below(random, kTelling.size()));
  } else if (!is_at_end) {
    bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random());
  }
}

/// As draw(): the last number told is where a crash was.
void change_all(const std::vector<Bytes>& inputs, unsigned long long count,
                unsigned long long seed) {
  for (unsigned long long i = seed; i < seed + count; ++i) {
    if (i % 1000 == 0) {
      std::printf("changed %llu\n", i);
      std::fflush(stdout);
    }
    std::mt19937_64 random(i);
    Bytes bytes = inputs[below(random, inputs.size())];
    for (std::size_t n = 1 + random() % 6; n > 0; --n)
      change(random, bytes, inputs[below(random, inputs.size())]);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t inputs = 0;
  int first = 1;
  unsigned long long changes = 0;
  unsigned long long change_seed = 0;
  for (; argc > first + 2 && argv[first][0] == '-'; first += 3) {
    const unsigned long long count = std::strtoull(argv[first + 1], nullptr, 10);
    const unsigned long long seed = std::strtoull(argv[first + 2], nullptr, 10);
    inputs += count;
    if (std::string_view(argv[first]) == "--draw") {
      draw(count, seed);
    } else {
      changes = count;
      change_seed = seed;
    }
  }
  std::vector<Bytes> corpus;
  for (int i = first; i < argc; ++i) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files) {
      std::ifstream stream(file, std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
      // Printed first: after a crash the last line names the input.
      std::printf("%s: %zu bytes\n", file.filename().c_str(), bytes.size());
      std::fflush(stdout);
      corpus.emplace_back(bytes.begin(), bytes.end());
      LLVMFuzzerTestOneInput(corpus.back().data(), corpus.back().size());
      ++inputs;
    }
  }
  if (!corpus.empty()) change_all(corpus, changes, change_seed);
  std::printf("%zu inputs\n", inputs);
  return inputs == 0 ? 1 : 0;
}
