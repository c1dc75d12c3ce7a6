#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>

#include "sim/base/problem.h"
#include "sim/format/snapshot.h"

#if defined(__SANITIZE_ADDRESS__)
#define TIDEMARK_UNDER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TIDEMARK_UNDER_ASAN
#endif
#endif

namespace tidemark {
namespace {

namespace fs = std::filesystem;

/// name -> message, as expected.txt lists them: a name, a tab, the message; more lines of one
/// message begin with a tab.
std::map<std::string, std::string> expected_messages() {
  std::ifstream file(TIDEMARK_SOURCE_DIR "/tests/diagnostics/snapshot/expected.txt");
  REQUIRE(file);
  std::map<std::string, std::string> messages;
  std::string name;
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    REQUIRE(tab != std::string::npos);
    if (tab > 0) name = line.substr(0, tab);
    messages[name] += line.substr(tab + 1) + "\n";
  }
  return messages;
}

std::string message_of(const fs::path& file) {
  const std::string path = file.string();
  const std::string name = file.stem().string();
  try {
    const auto source = unzipped(bytes_of_file(path), name);
    (void)read_snapshot(*source, name);
  } catch (const InputError& error) {
    return error.what();
  }
  return "read without a complaint\n";
}

TEST_CASE("every bad snapshot is refused with its message, soon and in little memory") {
  const std::map<std::string, std::string> expected = expected_messages();
  std::map<std::string, std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(TIDEMARK_BAD_SNAPSHOTS)) {
    if (entry.path().extension() != ".bad") continue;
    const std::clock_t start = std::clock();
    found[entry.path().stem().string()] = message_of(entry.path());
    INFO(entry.path());
    CHECK((std::clock() - start) / CLOCKS_PER_SEC < 5);  // of this process, not of a busy machine
  }
  REQUIRE(found.size() >= 60);
  for (const auto& [name, message] : found) {
    INFO(name);
    const auto wanted = expected.find(name);
    CHECK((wanted == expected.end() ? "no message is listed for it\n" : wanted->second) == message);
  }
  CHECK(found.size() == expected.size());
  rusage usage{};
  REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
#if !defined(TIDEMARK_UNDER_ASAN)
  CHECK(usage.ru_maxrss < 128 * 1024);
#endif
}

TEST_CASE("the snapshot that the bad ones are made from is read") {
  const Snapshot snapshot = read_snapshot_file(TIDEMARK_BAD_SNAPSHOTS "/good.pickle");
  REQUIRE(snapshot.segments.size() == 1);
  CHECK(snapshot.segments[0].small);
  CHECK(snapshot.blocks_of(snapshot.segments[0]).size() == 3);
  REQUIRE(snapshot.trace(0).size() == 5);
  const SnapshotEvent& event = snapshot.trace(0)[2];
  CHECK(event.action == Action::kAlloc);
  CHECK(event.address == 0x7f0000000200U);
  CHECK(event.bytes == 300);
  CHECK(event.time_us == 1763324225770003 + 21);
  CHECK(snapshot.texts[event.compile_context] == "N/A");
  REQUIRE(snapshot.stack(event.stack).size() == 2);
  const SnapshotFrame& frame = snapshot.frames[snapshot.stack(event.stack)[0]];
  CHECK(snapshot.texts[frame.name] == "forward");
  CHECK(snapshot.texts[frame.filename] == "model.py");
  CHECK(frame.line == 12);
  CHECK(snapshot.settings.recorded);
  REQUIRE(snapshot.annotations.size() == 1);
  CHECK(snapshot.texts[snapshot.annotations[0].name] == "step");
}

}  // namespace
}  // namespace tidemark
