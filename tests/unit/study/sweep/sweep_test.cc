#include "sim/study/sweep/sweep.h"

#include <map>

#include "sim/base/problem.h"
#include "sim/study/sweep/results.h"

using namespace tidemark;

namespace {

/// A scenario whose loop keeps `count` tensors of `kib` KiB, and its sweep section.
ScenarioSource scenario(const std::string& sweep, const std::string& loop = {}) {
  auto text = std::make_shared<SourceText>();
  text->name = "s.yaml";
  text->text =
      "schema_version: 1\ndevice: t4\nparams: {kib: 1024, count: 4}\nloop: |\n" +
      (loop.empty()
           ? std::string(
                 "  keep = [torch.empty(kib * 256, device=\"cuda\") for _ in range(count)]\n")
           : loop) +
      "variants: {one: {count: 1}}\nsweep:\n" + sweep;
  return {text, ".", {}, {}};
}

std::vector<std::string> cells(const ScenarioSource& source) {
  const SweepPlan plan = parse_sweep(source);
  SweepCursor cursor(plan);
  std::uint64_t lots = 0;
  std::vector<std::string> all;
  while (const auto cell = cursor.next()) {
    std::string text = fmt::format("{}/{}", cell->number, cell->group);
    for (const SweepCell::Setting& setting : cell->settings)
      text += fmt::format(" {}={}", *setting.path, setting.value->yaml);
    all.push_back(text);
    lots = cell->lot + 1;
  }
  CHECK(sweep_size(plan).cells == all.size());
  CHECK(sweep_size(plan).lots == lots);
  return all;
}

std::map<std::uint64_t, CellResult> results(const ScenarioSource& source, unsigned threads,
                                            std::uint64_t shard = 1, std::uint64_t shards = 1) {
  std::map<std::uint64_t, CellResult> all;
  SweepOptions options;
  options.threads = threads;
  options.shard = shard;
  options.shards = shards;
  options.take = [&](const SweepCell& cell, const CellResult& result) {
    CHECK(cell.number == result.number);
    CHECK(all.emplace(cell.number, result).second);
  };
  const SweepPlan plan = parse_sweep(source);
  run_sweep(source, plan, options);
  return all;
}

std::string problems(const std::string& sweep) {
  try {
    parse_sweep(scenario(sweep));
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

const std::string kGrid = R"(  grid:
    allocator.conf: ["", "expandable_segments:True", "max_split_size_mb:64"]
    kib: [512, 3000, 30000]
    count: {from: 1, to: 9, step: 4}
)";

}  // namespace

TEST_CASE("a grid has every combination, settings of the allocator fastest") {
  CHECK(
      cells(scenario(
          "  grid: {allocator.conf: [\"\", x], kib: {from: 1, to: 5, times: 2}, count: [7]}\n")) ==
      std::vector<std::string>{
          "0/0 kib=1 count=7 allocator.conf=\"\"", "1/0 kib=1 count=7 allocator.conf=x",
          "2/1 kib=2 count=7 allocator.conf=\"\"", "3/1 kib=2 count=7 allocator.conf=x",
          "4/2 kib=4 count=7 allocator.conf=\"\"", "5/2 kib=4 count=7 allocator.conf=x"});
}

TEST_CASE(
    "zipped values go in step, conditional ones only where the condition holds, and cells are left "
    "out") {
  CHECK(cells(scenario(R"(  zip: {kib: [1, 2], count: [3, 4]}
  grid: {device: [t4, h100]}
  when: [{if: {device: h100}, grid: {train.steps: [5, 6]}}]
  exclude: [{kib: 2, device: h100, train.steps: 5}, {kib: 1, device: t4}]
)")) == std::vector<std::string>{"0/0 device=t4 kib=2 count=4",
                                 "1/1 device=h100 kib=1 count=3 train.steps=5",
                                 "2/2 device=h100 kib=1 count=3 train.steps=6",
                                 "3/3 device=h100 kib=2 count=4 train.steps=6"});
}

TEST_CASE("a sweep goes over variants too") {
  const auto all = results(scenario("  grid: {variant: [one, \"\"]}\n"), 1);
  REQUIRE(all.size() == 2);
  CHECK(all.at(0).peak_allocated == kMiB);
  CHECK(all.at(1).peak_allocated == 4 * kMiB);
}

TEST_CASE(
    "cells that share one run of the code have the figures of runs of their own, on any number of "
    "threads") {
  const ScenarioSource source = scenario(kGrid);
  const auto all = results(source, 1);
  REQUIRE(all.size() == 27);
  CHECK(results(source, 4) == all);
  const SweepPlan plan = parse_sweep(source);
  SweepCursor cursor(plan);
  while (const auto cell = cursor.next()) {
    const Trial trial = try_scenario(cell_source(source, *cell));
    INFO("cell " << cell->number);
    const CellResult& result = all.at(cell->number);
    CHECK(result.peak_allocated == trial.peak_allocated);
    CHECK(result.peak_reserved == trial.peak_reserved);
    CHECK(result.spare == trial.spare);
    CHECK(result.retries == trial.retries);
    CHECK((result.status == CellStatus::kFits) == trial.fits());
  }
}

TEST_CASE("shards have every cell once between them") {
  const ScenarioSource source = scenario(kGrid);
  auto all = results(source, 2, 1, 3);
  for (const std::uint64_t shard : {2U, 3U}) {
    for (const auto& [number, result] : results(source, 2, shard, 3))
      CHECK(all.emplace(number, result).second);
  }
  CHECK(all == results(source, 1));
}

TEST_CASE(
    "a refused request and an error are results; code that asks for memory runs under each "
    "setting") {
  const auto all = results(scenario("  grid: {kib: [1024, 8388608, -1]}\n"), 1);
  CHECK(all.at(0).status == CellStatus::kFits);
  CHECK(all.at(1).status == CellStatus::kOom);
  CHECK(all.at(1).message == ": empty");
  CHECK(all.at(2).status == CellStatus::kError);
  CHECK_FALSE(all.at(2).message.empty());

  const auto asks =
      results(scenario("  grid: {allocator.conf: [\"\", \"expandable_segments:True\"]}\n",
                       "  a = torch.empty(3000000, device=\"cuda\")\n"
                       "  b = torch.empty(torch.cuda.memory_reserved(), device=\"cuda\")\n"),
              1);
  CHECK(asks.at(0).peak_allocated == 12 * kMiB + 4 * 12 * kMiB);
  CHECK(asks.at(1).peak_allocated != asks.at(0).peak_allocated);
}

TEST_CASE("a cell that ran out of memory stands in a table as such, never by its peak") {
  const ScenarioSource source = scenario("  grid: {kib: [1024, 8388608, -1], count: [1, 2]}\n");
  const SweepPlan plan = parse_sweep(source);
  ResultsFile file =
      ResultsFile::create("", {"0", "s.yaml", source.text->text, "", {}, plan.columns(), 6});
  SweepOptions options;
  options.take = [&](const SweepCell& cell, const CellResult& result) { file.add(cell, result); };
  run_sweep(source, plan, options);
  ResultsQuery pivot;
  pivot.pivot = {"kib", "count", "peak_reserved"};
  const ResultsTable crossed = file.query(pivot);
  REQUIRE(crossed.rows.size() == 3);
  CHECK(crossed.rows[0][1].text == "error");
  CHECK(crossed.rows[1][1].kind == ResultsValue::Kind::kInteger);
  CHECK(crossed.rows[2][2].text == "OOM");
}

TEST_CASE("everything wrong with a sweep is told at once, with its place") {
  CHECK(
      problems("  grids: {kib: [1]}\n").find("sweep: unknown key 'grids'; did you mean 'grid'?") !=
      std::string::npos);
  const std::string all =
      problems(R"(  grid: {kibb: [1], count: [], kib: {from: 5, to: 2, step: 1}, device: h100}
  zip: {kib: [1, 2], train.steps: [1, 2, 3]}
  exclude: [{batch: 3}, {device: a100}]
)");
  for (const char* part :
       {"sweep: kibb: leads nowhere: there is no 'kibb'; did you mean 'kib'?",
        "sweep.grid.count: expected at least one value", "sweep.grid.kib: from 5 is above to 2",
        "sweep.grid.device: expected a list of values or a range, found 'h100'",
        "sweep.zip.train.steps: has 3 values, 'kib' has 2", "sweep.exclude[0].batch: is not varied",
        "sweep.exclude[1].device: is not varied"}) {
    INFO(all);
    CHECK(all.find(part) != std::string::npos);
  }
  CHECK(problems("  grid: {kib: [1, 2]}\n  exclude: [{kib: 3}]\n")
            .find("sweep.exclude[0].kib: 3 is none of its values; they are 1, 2") !=
        std::string::npos);
}

TEST_CASE("a mistyped device is told before anything runs, with its place") {
  const std::string all = problems("  grid: {device: [t4, rtx-3099, RTX 3090, ./my.yaml, A100]}\n");
  for (const char* part :
       {"sweep: device: unknown device 'rtx-3099'; did you mean 'rtx-3090'?",
        "sweep: device: 'A100' may be several devices; say which: a100-pcie-40gb, "}) {
    INFO(all);
    CHECK(all.find(part) != std::string::npos);
  }
  CHECK(all.find("device './my.yaml'") == std::string::npos);
  CHECK(problems("  grid: {device: [t4, RTX 3090]}\n") == "none");
}

TEST_CASE("a setting that leads nowhere is told before anything runs") {
  const auto refused = [](const std::string& path) {
    ScenarioSource source = scenario(kGrid);
    source.overrides = {{path, "3"}};
    try {
      parse_sweep(source);
    } catch (const InputError& error) {
      return error.problems().front().path + ": " + error.problems().front().message;
    }
    return std::string("none");
  };
  CHECK(refused("sweep.grid.batch") == "--set sweep.grid.batch: what is varied stands in the file");
  CHECK(refused("nonsense.key").find("leads nowhere: there is no 'nonsense'") != std::string::npos);
  CHECK(refused("train.steps") == "none");
}

TEST_CASE("results are asked by SQL, sorted, grouped, pivoted, and cut to the front") {
  const ScenarioSource source = scenario(kGrid);
  const SweepPlan plan = parse_sweep(source);
  ResultsFile file =
      ResultsFile::create("", {"0", "s.yaml", source.text->text, "", {}, plan.columns(), 27});
  SweepOptions options;
  options.take = [&](const SweepCell& cell, const CellResult& result) { file.add(cell, result); };
  run_sweep(source, plan, options);

  ResultsQuery query;
  query.where = "kib = 512 and \"allocator.conf\" = ''";
  query.columns = {"count", "peak_allocated"};
  query.sort = {"-count"};
  query.limit = 2;
  const ResultsTable table = file.query(query);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.left_out == 1);
  CHECK(table.rows[0][0].integer == 9);
  CHECK(table.rows[0][1].integer == 9 * 512 * 1024);

  ResultsQuery pivot;
  pivot.pivot = {"kib", "count", "peak_allocated"};
  CHECK_THROWS_WITH(file.query(pivot),
                    Catch::Contains("3 cells would stand in one place: the table does not show "
                                    "allocator.conf"));
  pivot.where = "\"allocator.conf\" = ''";
  const ResultsTable crossed = file.query(pivot);
  REQUIRE(crossed.rows.size() == 3);
  CHECK(crossed.columns[3].name == "count = 9");
  CHECK(crossed.rows[0][3].integer == 9 * 512 * 1024);

  ResultsQuery front;
  front.where = "\"allocator.conf\" = ''";
  front.columns = {"kib", "count"};
  front.pareto = {"peak_allocated", "-count"};
  std::vector<std::pair<std::int64_t, std::int64_t>> kept;
  for (const auto& row : file.query(front).rows) kept.emplace_back(row[0].integer, row[1].integer);
  CHECK(kept == std::vector<std::pair<std::int64_t, std::int64_t>>{{512, 1}, {512, 5}, {512, 9}});

  ResultsQuery wrong;
  wrong.where = "1; DROP TABLE cells";
  wrong.sort = {"kip"};
  try {
    (void)file.query(wrong);
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("--sort: there is no column 'kip'; did you mean 'kib'?") !=
          std::string::npos);
    CHECK(std::string(error.what()).find("--where: ") != std::string::npos);
  }
  CHECK(file.query({}).rows.size() == 27);
}

TEST_CASE("a plan of more combinations than anybody waits for is refused at once") {
  const std::string why = problems(
      "  grid:\n    kib: {from: 1, to: 100000, step: 1}\n    count: {from: 1, to: 10001, step: "
      "1}\n");
  CHECK(why.find("has more than 1000000000 combinations") != std::string::npos);
}
