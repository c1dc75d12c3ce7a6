#include "sim/run/ranks.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

RunResult run_that_asks(Bytes bytes, bool ends = false) {
  RunResult result;
  DeviceResult device;
  Event event;
  event.bytes = bytes;
  device.events.push_back(event);
  device.peak_allocated.bytes = device.peak_reserved.bytes = bytes;
  if (ends) device.ooms.emplace_back();
  result.devices.push_back(std::move(device));
  result.ended_by_oom = ends;
  return result;
}

TEST_CASE("of a small job all ranks are run, of a large one those at its ends") {
  CHECK(ranks_to_run({2, 4, 4}, RankChoice::kOne) == std::vector<int>{2});
  CHECK(ranks_to_run({0, 4, 4}, RankChoice::kSome) == std::vector<int>{0, 1, 2, 3});
  CHECK(ranks_to_run({0, 100, 10}, RankChoice::kAll).size() == 100);
  CHECK(ranks_to_run({0, 20, 10}, RankChoice::kSome) ==
        std::vector<int>{0, 1, 2, 3, 4, 8, 9, 10, 11, 15, 16, 17, 18, 19});
}

TEST_CASE("ranks that do the same are one line, the worst first") {
  const auto run = [](int rank) {
    return rank == 3 ? run_that_asks(512, true) : run_that_asks(rank == 1 ? 4096 : 1024);
  };
  for (const unsigned threads : {1U, 4U}) {
    const std::vector<RankResult> told = compare_ranks({0, 1, 2, 3}, threads, run);
    REQUIRE(told.size() == 3);
    CHECK(told[0].ranks == std::vector<int>{3});
    CHECK(told[0].ended_by_oom);
    CHECK(told[1].ranks == std::vector<int>{1});
    CHECK(told[1].peak_reserved == 4096);
    CHECK(told[2].ranks == std::vector<int>{0, 2});
  }
}

TEST_CASE("ranks that are known to do the same are played once") {
  std::vector<int> played;
  const auto play = [&](const RankQuestion& question) {
    const int rank = question.rank;
    played.push_back(rank);
    RankPlay one = told_of(rank, run_that_asks(rank == 3 ? 4096 : 1024));
    if (rank != 3) one.result.ranks = {0, 1, 2};
    return one;
  };
  const std::vector<RankResult> told = classes_of_ranks({0, 4, 4}, 1, play);
  CHECK(played == std::vector<int>{0, 3});
  REQUIRE(told.size() == 2);
  CHECK(told[0].ranks == std::vector<int>{3});
  CHECK(told[1].ranks == std::vector<int>{0, 1, 2});
}

TEST_CASE("of ranks that all differ no more than a few are played") {
  const auto play = [](const RankQuestion& question) {
    return told_of(question.rank, run_that_asks(512 * (1 + static_cast<Bytes>(question.rank))));
  };
  const std::vector<RankResult> told = classes_of_ranks({0, 100, 10}, 1, play);
  CHECK(told.size() == kMostPlays);
  CHECK(told.front().ranks == std::vector<int>{99});
}

TEST_CASE("ranks that part are played for those that part with them, on any number of threads") {
  for (const unsigned threads : {1U, 4U}) {
    std::mutex mutex;
    std::vector<std::pair<int, std::size_t>> played;
    const auto play = [&](const RankQuestion& question) {
      const int stage = question.rank / 25;
      {
        const std::lock_guard lock(mutex);
        played.emplace_back(question.rank, question.among.size());
      }
      std::vector<int> parted;
      for (const int rank : question.among)
        if (rank / 25 != stage) parted.push_back(rank);
      question.parted(parted);
      RankPlay one = told_of(question.rank, run_that_asks(512 * static_cast<Bytes>(8 - stage)));
      one.result.ranks = question.among;
      for (const int rank : parted) std::erase(one.result.ranks, rank);
      return one;
    };
    const std::vector<RankResult> told = classes_of_ranks({0, 100, 10}, threads, play);
    std::ranges::sort(played);
    CHECK(played.size() == 4);
    CHECK(played.front() == std::pair<int, std::size_t>{0, 100});
    REQUIRE(told.size() == 4);
    CHECK(told[0].ranks.front() == 0);
    CHECK(told[3].ranks.front() == 75);
    CHECK(told[3].ranks.size() == 25);
  }
}

TEST_CASE("equal peaks of other events are two lines") {
  const auto run = [](int rank) {
    RunResult result = run_that_asks(1024);
    result.devices.front().events.front().action =
        rank == 0 ? Action::kAlloc : Action::kFreeCompleted;
    return result;
  };
  CHECK(compare_ranks({0, 1}, 1, run).size() == 2);
}

TEST_CASE("the first rank that fails is told") {
  const auto run = [](int rank) -> RunResult {
    if (rank > 0) throw std::runtime_error(rank == 1 ? "one" : "two");
    return run_that_asks(1);
  };
  CHECK_THROWS_WITH(compare_ranks({0, 2, 1}, 2, run), "two");
}

}  // namespace
}  // namespace tidemark
