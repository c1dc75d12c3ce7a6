// Gives every file of the folders named on the command line to a fuzz target, so that its corpus is
// a test in every build. --draw COUNT SEED before them gives it random bytes as well, for targets
// that make sense of any: a build without libFuzzer searches too, if blindly.

#include <algorithm>
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

}  // namespace

int main(int argc, char** argv) {
  std::size_t inputs = 0;
  int first = 1;
  if (argc > 3 && std::string_view(argv[1]) == "--draw") {
    const unsigned long long count = std::strtoull(argv[2], nullptr, 10);
    draw(count, std::strtoull(argv[3], nullptr, 10));
    inputs += count;
    first = 4;
  }
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
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++inputs;
    }
  }
  std::printf("%zu inputs\n", inputs);
  return inputs == 0 ? 1 : 0;
}
