#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "sim/alloc/knob_values.h"
#include "sim/format/snapshot.h"
#include "sim/format/snapshot_program.h"
#include "sim/study/replay/agreement.h"

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

Agreement check_agrees(const Snapshot& snapshot, const AgreementOptions& options = {}) {
  INFO(snapshot.name << ", device " << int{options.device});
  const Agreement agreement = agreement_with_recording(snapshot, options);
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
    const Agreement agreement = check_agrees(read_snapshot_file(file.string()));
    CHECK(agreement.settings.version == Version{2, 11});
    CHECK_FALSE(agreement.warm);
  }
}

/// "2.5.1-cut.pickle.gz": the release that wrote it and what it shows.
struct Recorded {
  std::string release;
  std::string kind;
};
Recorded recorded_by(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t dash = name.find('-');
  return {name.substr(0, dash), name.substr(dash + 1, name.find(".pickle") - dash - 1)};
}

TEST_CASE(
    "thirteen releases' recordings of two GPUs, private pools, streams, annotations, cut "
    "histories, settings and refusals re-simulate event by event") {
  const std::map<std::string, std::vector<Version>> taken_for{
      {"2.1.2", {{2, 6}}},   {"2.2.2", {{2, 6}}},   {"2.3.1", {{2, 6}}},
      {"2.4.1", {{2, 6}}},   {"2.5.1", {{2, 6}}},   {"2.6.0", {{2, 6}}},
      {"2.7.1", {{2, 6}}},   {"2.8.0", {{2, 10}}},  {"2.9.0", {{2, 10}}},
      {"2.10.0", {{2, 11}}}, {"2.11.0", {{2, 11}}}, {"2.12.0", {{2, 12}, {2, 13}}},
      {"2.15.0", {{2, 15}}},
  };
  const std::set<std::string> without_annotations{"2.1.2", "2.2.2", "2.3.1", "2.4.1"};
  const std::set<std::string> of_a_loop_without_annotations{"2.7.1", "2.8.0", "2.9.0", "2.10.0"};
  const std::vector<fs::path> files =
      files_in(TIDEMARK_SOURCE_DIR "/tests/golden/recordings/releases", ".gz");
  REQUIRE(files.size() == 66);
  for (const fs::path& file : files) {
    INFO(file);
    const auto [release, kind] = recorded_by(file);
    const Snapshot snapshot = read_snapshot_file(file.string());
    const std::vector<std::uint8_t> devices = recorded_devices(snapshot);
    CHECK(devices.size() == (kind == "two" || kind == "expand" ? 2 : 1));
    CHECK((snapshot.pools.size() > 1) == (kind == "pools"));
    CHECK((snapshot.streams.size() > 1) == (kind == "pools" || kind == "streams"));
    CHECK(snapshot.settings.recorded == (release != "2.1.2" && release != "2.2.2"));
    const bool annotated = !snapshot.annotations.empty();
    CHECK(annotated ==
          (!without_annotations.contains(release) && kind != "streams" && kind != "oom" &&
           !(kind == "pools" && of_a_loop_without_annotations.contains(release))));
    for (const std::uint8_t device : devices) {
      AgreementOptions options;
      options.device = device;
      const Agreement agreement = check_agrees(snapshot, options);
      const std::vector<Version>& versions = taken_for.at(release);
      CHECK(std::ranges::find(versions, agreement.settings.version) != versions.end());
      CHECK(agreement.warm == (kind == "cut" || kind == "late" || kind == "conf"));
      CHECK((agreement.recorded.ooms > 0) == (kind == "oom"));
      CHECK((agreement.late_frees > 0) == (kind == "streams"));
      CHECK(agreement.settings.knobs->expandable_segments == (kind == "expand"));
    }
  }
}

TEST_CASE("a recording that differs from what its allocator would do is told so") {
  Snapshot snapshot =
      read_snapshot_file(TIDEMARK_SOURCE_DIR "/tests/golden/recordings/mlp.pickle.gz");
  SnapshotEvents events;
  bool is_changed = false;
  for (SnapshotEvent event : EventTrace(snapshot.events, 0, snapshot.events.size())) {
    if (!is_changed && event.action == Action::kAlloc && event.bytes > kMiB) {
      event.bytes += 64 * kMiB;
      is_changed = true;
    }
    events.push_back(event);
  }
  REQUIRE(is_changed);
  snapshot.events = std::move(events);
  AgreementOptions options;
  options.version = Version{2, 11};
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
    if (check_agrees(read_snapshot_file(file.string())).warm) ++warm;
  }
  std::cout << files.size() << " recordings, " << warm << " of them begun with a filled cache\n";
}

}  // namespace
}  // namespace tidemark
