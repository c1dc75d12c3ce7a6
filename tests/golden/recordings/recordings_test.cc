#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "sim/format/snapshot.h"
#include "sim/study/agreement.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

Agreement check_agrees(const fs::path& file) {
  INFO(file);
  const Agreement agreement = agreement_with_recording(read_snapshot_file(file.string()), {});
  CHECK(agreement.events.differing == 0);
  CHECK(agreement.placed_differently == 0);
  CHECK(agreement.differing_blocks == 0);
  CHECK(agreement.recorded == agreement.simulated);
  CHECK(agreement.recorded.events > 0);
  return agreement;
}

TEST_CASE("PyTorch's own recordings re-simulate from their settings, event by event") {
  const std::vector<fs::path> files =
      files_in(TIDEMARK_SOURCE_DIR "/tests/golden/recordings", ".gz");
  REQUIRE(files.size() == 4);
  for (const fs::path& file : files) {
    const Agreement agreement = check_agrees(file);
    CHECK(agreement.settings.version == kDefaultVersion);
    CHECK_FALSE(agreement.warm);
  }
}

TEST_CASE("a recording that differs from what its allocator would do is told so") {
  Snapshot snapshot =
      read_snapshot_file(TIDEMARK_SOURCE_DIR "/tests/golden/recordings/mlp.pickle.gz");
  const auto alloc = std::ranges::find_if(snapshot.events, [](const SnapshotEvent& event) {
    return event.action == Action::kAlloc && event.bytes > kMiB;
  });
  REQUIRE(alloc != snapshot.events.end());
  alloc->bytes += 64 * kMiB;
  AgreementOptions options;
  options.version = kDefaultVersion;
  const Agreement agreement = agreement_with_recording(snapshot, options);
  CHECK_FALSE(agreement.complete());
  CHECK(agreement.events.differing > 0);
}

TEST_CASE("public recordings of real GPUs re-simulate from their settings, event by event") {
  const char* shared = std::getenv("TIDEMARK_SHARED");
  const fs::path folder =
      fs::path(shared != nullptr ? shared : TIDEMARK_SOURCE_DIR "/../shared") / "snapshots";
  if (!fs::is_directory(folder)) {
    std::cout << "SKIPPED: no recordings of real GPUs in " << folder << '\n';
    return;
  }
  const std::vector<fs::path> files = files_in(folder, ".pickle");
  CHECK_FALSE(files.empty());
  std::size_t warm = 0;
  for (const fs::path& file : files) {
    if (check_agrees(file).warm) ++warm;
  }
  std::cout << files.size() << " recordings, " << warm << " of them begun with a filled cache\n";
}

}  // namespace
}  // namespace tidemark
