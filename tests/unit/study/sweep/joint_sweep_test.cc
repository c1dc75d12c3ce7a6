#include "sim/study/sweep/joint_sweep.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "sim/base/problem.h"
#include "sim/study/sweep/hand_out.h"
#include "sim/study/sweep/sweep_answer.h"

using namespace tidemark;

namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("tidemark-joint-{}", getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

ScenarioSource scenario(const std::string& sweep) {
  auto text = std::make_shared<SourceText>();
  text->name = "s.yaml";
  text->text =
      "schema_version: 1\ndevice: t4\nparams: {batch: 1, kib: 1024}\nloop: |\n"
      "  keep = [torch.empty(kib * 256, device=\"cuda\") for _ in range(batch)]\n"
      "sweep:\n" +
      sweep;
  return {text, ".", {}, {}};
}

SweepOrigin origin_of(const ScenarioSource& source, const SweepPlan& plan) {
  return {"0", "s.yaml", source.text->text, "", {}, plan.columns(), sweep_size(plan).cells};
}

const std::string kGrid = R"(  grid:
    kib: {from: 100, to: 139, step: 1}
    batch: [1, 2, 3]
    allocator.conf: ["", "expandable_segments:True"]
)";

}  // namespace

TEST_CASE("every lot is handed out once, fewer at a time towards the end") {
  const Folder folder;
  HandOut one(folder.file("parts"), 40);
  HandOut other(folder.file("parts"), 40);
  CHECK(one.slot() == 0);
  CHECK(other.slot() == 1);
  // One slot is known to the first: 40 / (4 rounds x 2 slots) = 5 lots.
  CHECK(one.take(64) == LotRange{0, 5});
  CHECK(other.take(3) == LotRange{5, 8});
  CHECK_FALSE(one.is_over());
  std::uint64_t next = 8;
  one.done({0, 5}, 11);
  while (const std::optional<LotRange> lots = one.take(64)) {
    CHECK(lots->first == next);
    next = lots->end;
    one.done(*lots, 1);
  }
  CHECK(next == 40);
  CHECK_FALSE(one.is_over());  // the other's three are not done
  other.done({5, 8}, 6);
  CHECK_FALSE(other.take(64));
  CHECK(other.is_over());
  CHECK_FALSE(one.take(64));
  CHECK(one.is_over());
  CHECK(one.cells_done() == other.cells_done());
}

TEST_CASE("lots of a process that died are handed out again, also where its slot has a new one") {
  const Folder folder;
  HandOut one(folder.file("parts"), 2);
  auto dies = std::make_unique<HandOut>(folder.file("parts"), 2);
  CHECK(dies->take(1) == LotRange{0, 1});
  CHECK(one.take(1) == LotRange{1, 2});
  one.done({1, 2}, 1);
  CHECK_FALSE(one.take(1));
  CHECK_FALSE(one.is_over());
  dies.reset();
  const HandOut anew(folder.file("parts"), 2);
  CHECK(anew.slot() == 1);
  CHECK(one.take(1) == LotRange{0, 1});
  one.done({0, 1}, 1);
  CHECK_FALSE(one.take(1));
  CHECK(one.is_over());
}

TEST_CASE("a line that a killed process left without an end harms nothing") {
  const Folder folder;
  {
    HandOut one(folder.file("parts"), 3);
    CHECK(one.take(1) == LotRange{0, 1});
    one.done({0, 1}, 7);
  }
  std::ofstream(folder.file("parts/lots"), std::ios::app) << "take 0 1";
  HandOut one(folder.file("parts"), 3);
  CHECK(one.take(1) == LotRange{1, 2});
  CHECK(one.cells_done() == 7);
  HandOut other(folder.file("parts"), 3);
  CHECK(other.take(1) == LotRange{2, 3});
}

TEST_CASE("several that sweep together make what one makes, and leave one file") {
  const Folder folder;
  const ScenarioSource source = scenario(kGrid);
  const SweepPlan plan = parse_sweep(source);
  const SweepOrigin origin = origin_of(source, plan);
  ResultsFile alone = ResultsFile::create("", origin);
  SweepOptions options;
  options.take = [&](const SweepCell& cell, const CellResult& result) { alone.add(cell, result); };
  run_sweep(source, plan, options);

  const std::string path = folder.file("all.sqlite");
  std::vector<JointPart> parts(4);
  std::vector<std::thread> processes;
  for (JointPart& part : parts) {
    processes.emplace_back(
        [&] { part = run_joint_sweep(source, plan, origin, path, JointSweepOptions{}); });
  }
  for (std::thread& process : processes) process.join();
  CHECK(std::count(parts.begin(), parts.end(), JointPart::kCollected) == 1);
  CHECK(ResultsFile::open(path, false).query({}).rows == alone.query({}).rows);
  CHECK_FALSE(fs::exists(joint_folder(path)));
  CHECK(run_joint_sweep(source, plan, origin, path, {}) == JointPart::kNothing);
  CHECK_FALSE(fs::exists(joint_folder(path)));

  const ScenarioSource other = scenario("  grid: {batch: [1, 2]}\n");
  const SweepPlan other_plan = parse_sweep(other);
  CHECK_THROWS_WITH(run_joint_sweep(other, other_plan, origin_of(other, other_plan), path, {}),
                    Catch::Contains("holds the results of another scenario text"));
}

TEST_CASE("the answer says how far each device goes, and what a setting changes") {
  // A T4 has less than 16 GiB, an H100 more: of tensors of 1 GiB, each in a segment of its own, 8
  // fit on both and 16 on the H100 alone.
  const ScenarioSource source = scenario(R"(  grid:
    device: [t4, h100]
    batch: [1, 16, 8]
    allocator.conf: ["", "expandable_segments:True"]
  exclude: [{device: h100, batch: 1}]
)");
  ScenarioSource larger = source;
  larger.overrides.push_back({"kib", "1048576"});
  const SweepPlan plan = parse_sweep(larger);
  SweepOrigin origin = origin_of(larger, plan);
  origin.overrides = {"kib=1048576"};
  ResultsFile file = ResultsFile::create("", origin);
  SweepOptions options;
  options.take = [&](const SweepCell& cell, const CellResult& result) { file.add(cell, result); };
  run_sweep(larger, plan, options);

  const SweepCells cells = load_cells(file, "", 100);
  REQUIRE(cells.cells.size() == 10);
  const SweepAnswer answer = answer_of(cells);
  CHECK(answer.fits == 8);
  CHECK(answer.ooms == 2);
  REQUIRE(answer.main_axis);
  CHECK(cells.axes[*answer.main_axis].name == "batch");
  REQUIRE(answer.reaches.size() == 2);
  CHECK(answer.reaches[0].device == "t4");
  CHECK(answer.reaches[0].cells == 6);
  CHECK(answer.reaches[0].fits == 4);
  const auto batch = [&](const ReachAnswer& device) {
    const int at = cells.cells[device.best.value()].at[*answer.main_axis];
    return cells.axes[*answer.main_axis].values[static_cast<std::size_t>(at)].shown;
  };
  CHECK(batch(answer.reaches[0]) == "8");
  CHECK(batch(answer.reaches[1]) == "16");
  REQUIRE(answer.effects.size() == 1);
  CHECK(answer.effects[0].pairs == 4);
  // Expandable segments grow by 20 MiB: 1,040 for 1,024 MiB (15,625 millionths more), 8,200 for
  // 8,192 twice and 16,400 for 16,384 (976 each). (15,625 + 3 x 976) / 4 = 4,638.
  CHECK(answer.effects[0].change == 4638);
  CHECK(answer.effects[0].fits_more == 0);

  CHECK(load_cells(file, "device = 't4'", 100).cells.size() == 6);
  CHECK_THROWS_WITH(load_cells(file, "", 9),
                    Catch::Contains("--where: leaves 10 cells, and a page shows 9 at most"));
}
