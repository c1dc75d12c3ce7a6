#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/device/links.h"
#include "sim/engine/engine.h"
#include "sim/run/job_times.h"

namespace tidemark {
namespace {

constexpr Nanoseconds kLaunch = 5'000;
constexpr Nanoseconds kEvent = 1'000;
constexpr Nanoseconds kMs = 1'000'000;

DeviceSpec h100() {
  DeviceSpec device;
  device.id = "h100-sxm-80gb";
  device.compute_capability = 90;
  return device;
}

/// A rank as its own run tells of it, of a job whose ranks are all one group.
struct Script {
  explicit Script(std::vector<int> of_ranks, int world) : ranks(std::move(of_ranks)) {
    RankGroup group;
    group.size = world;
    group.is_world = true;
    traffic.groups.push_back(group);
  }

  Script& work(Nanoseconds ns, StreamId stream = 0) {
    recorder.launch(stream, ns, 0);
    return *this;
  }
  Script& transfer(TransferKind kind, NumberByRank peer = {nullptr, {0}}, Bytes bytes = 0,
                   bool is_joined = false) {
    const auto known = std::find(traffic.peers.begin(), traffic.peers.end(), peer);
    Transfer made;
    made.kind = kind;
    made.peer = static_cast<std::uint32_t>(known - traffic.peers.begin());
    if (known == traffic.peers.end()) traffic.peers.push_back(std::move(peer));
    made.bytes = bytes;
    made.is_joined = is_joined;
    made.place = 1;
    traffic.transfers.push_back(made);
    const auto number = static_cast<std::uint32_t>(traffic.transfers.size() - 1);
    recorder.transfer({number, 0, 0, QueuedTransfer::How::kNextLaunch, 0}, 0);
    recorder.launch(0, 0, 0);
    return *this;
  }
  Script& send(int peer) { return transfer(TransferKind::kSend, {nullptr, {peer}}); }
  Script& receive(int peer) { return transfer(TransferKind::kReceive, {nullptr, {peer}}); }
  JobPlay play() {
    return {ranks, recorder.take(), traffic, {{1, "train.py:7"}, {2, "forward 0"}}};
  }

  std::vector<int> ranks;
  Traffic traffic;
  TrackRecorder recorder{kLaunch, kEvent};
};

Nanoseconds in(const JobTimes& times, std::size_t rank, RankState state) {
  return times.of(rank, state);
}

}  // namespace

TEST_CASE("a receiver waits until its peer has sent, and that is a bubble") {
  Script first({0}, 2);
  first.work(3 * kMs).send(1);
  Script second({1}, 2);
  second.receive(0).work(kMs);
  const JobTimes times = job_times({0, 2, 2}, h100(), {first.play(), second.play()});
  CHECK(times.missing.empty());
  CHECK(times.stuck.empty());
  CHECK(times.has_pipeline);
  REQUIRE(times.ranks.size() == 2);
  // The first begins when its kernel is queued; the second has come to its receive by then.
  CHECK(in(times, 0, RankState::kBubble) == 0);
  CHECK(in(times, 1, RankState::kBubble) == 3 * kMs);
  CHECK(in(times, 1, RankState::kMoving) == 10'000);  // a link's latency
  CHECK(in(times, 1, RankState::kComputing) == kMs);
  CHECK(times.ranks[1].longest_ns == 3 * kMs);
  CHECK(times.ranks[1].longest == "receive from rank 0, train.py:7");
  CHECK(times.ranks[1].end_ns == kLaunch + 3 * kMs + 10'000 + kMs);
}

TEST_CASE("spans have no gaps and come to the whole time") {
  Script first({0}, 2);
  first.recorder.mark(2, 64);
  first.work(kMs).send(1).work(kMs, 3);
  Script second({1}, 2);
  second.work(2 * kMs).receive(0);
  const JobTimes times = job_times({0, 2, 2}, h100(), {first.play(), second.play()});
  for (const RankTimes& one : times.ranks) {
    Nanoseconds at = 0;
    for (const RankSpan& span : one.spans) {
      CHECK(span.begin_ns == at);
      at = span.end_ns;
    }
    CHECK(at == one.end_ns);
    Nanoseconds sum = 0;
    for (const Nanoseconds part : one.by_state) sum += part;
    CHECK(sum == one.end_ns - one.begin_ns);
  }
}

TEST_CASE("one kind of ranks is parted by whom it meets") {
  // Ranks 1 and 2 do the same, but 2 is a place further down the line.
  Script first({0}, 4);
  first.work(kMs).send(1);
  Script middle({1, 2}, 4);
  const auto by_rank =
      std::make_shared<const std::vector<std::uint32_t>>(std::vector<std::uint32_t>{0, 0, 1, 0});
  middle.transfer(TransferKind::kReceive, {by_rank, {0, 1}}).work(kMs);
  middle.transfer(TransferKind::kSend, {by_rank, {2, 3}});
  Script last({3}, 4);
  last.receive(2).work(kMs);
  const JobTimes times = job_times({0, 4, 4}, h100(), {first.play(), middle.play(), last.play()});
  REQUIRE(times.stuck.empty());
  REQUIRE(times.ranks.size() == 4);
  CHECK(in(times, 1, RankState::kBubble) == kMs);
  CHECK(in(times, 2, RankState::kBubble) == 2 * kMs + 10'000);
  CHECK(in(times, 3, RankState::kBubble) == 3 * kMs + 2 * 10'000);
}

TEST_CASE("ranks that meet the same stay together") {
  Script slow({0, 2}, 4);
  slow.work(2 * kMs).transfer(TransferKind::kAllReduce);
  Script fast({1, 3}, 4);
  fast.work(kMs).transfer(TransferKind::kAllReduce);
  const JobTimes times = job_times({0, 4, 4}, h100(), {slow.play(), fast.play()});
  REQUIRE(times.ranks.size() == 2);
  CHECK_FALSE(times.has_pipeline);
  CHECK(times.ranks[1].ranks == std::vector<int>{1, 3});
  CHECK(in(times, 1, RankState::kLagging) == kMs);
  CHECK(in(times, 0, RankState::kLagging) == 0);
}

TEST_CASE("a batch of transfers is one: neither waits for the other") {
  Script first({0}, 2);
  first.transfer(TransferKind::kSend, {nullptr, {1}});
  first.transfer(TransferKind::kReceive, {nullptr, {1}}, 0, true);
  Script second({1}, 2);
  second.transfer(TransferKind::kSend, {nullptr, {0}});
  second.transfer(TransferKind::kReceive, {nullptr, {0}}, 0, true);
  const JobTimes times = job_times({0, 2, 2}, h100(), {first.play(), second.play()});
  CHECK(times.stuck.empty());
  CHECK(times.ranks.front().end_ns == kLaunch + 10'000);
}

TEST_CASE("two that send to each other first wait for ever, and it is said where") {
  Script first({0}, 2);
  first.send(1).receive(1);
  Script second({1}, 2);
  second.send(0).receive(0);
  const JobTimes times = job_times({0, 2, 2}, h100(), {first.play(), second.play()});
  REQUIRE(times.stuck.size() == 2);
  CHECK(times.stuck[0] ==
        "rank 0 waits for ever: send to rank 1, train.py:7; rank 1 has it behind something that "
        "waits, too");
}

TEST_CASE("a peer that is said in two ways is one, by the ranks that are asked about") {
  // Rank 1 hears from rank - 1, then from (rank - 1) % 2, which differ on rank 0 alone.
  const auto by_rank = [](int of_first, int of_second) {
    return NumberByRank{
        std::make_shared<std::vector<std::uint32_t>>(
            std::vector<std::uint32_t>{0, of_first == of_second ? 0U : 1U}),
        of_first == of_second ? std::vector<int>{of_first} : std::vector<int>{of_first, of_second}};
  };
  Script first({0}, 2);
  first.send(1).send(1);
  Script second({1}, 2);
  second.transfer(TransferKind::kReceive, by_rank(-1, 0))
      .transfer(TransferKind::kReceive, by_rank(1, 0));
  const JobTimes times = job_times({0, 2, 2}, h100(), {first.play(), second.play()});
  CHECK(times.stuck.empty());
  CHECK(times.missing.empty());
  REQUIRE(times.ranks.size() == 2);
}

TEST_CASE("peers that are one for some ranks of a kind alone are not followed") {
  const auto places =
      std::make_shared<std::vector<std::uint32_t>>(std::vector<std::uint32_t>{0, 0, 1});
  Script first({0}, 3);
  first.receive(1).receive(2);
  Script others({1, 2}, 3);
  others.send(0).transfer(TransferKind::kSend, {places, {0, 1}});
  const JobTimes times = job_times({0, 3, 3}, h100(), {first.play(), others.play()});
  CHECK(times.missing ==
        "ranks that do the same send to peers that are one for some of them alone");
}

TEST_CASE("a receive that nobody sends, and a collective that a rank leaves out") {
  Script first({0}, 2);
  first.receive(1);
  Script second({1}, 2);
  second.work(kMs);
  JobTimes times = job_times({0, 2, 2}, h100(), {first.play(), second.play()});
  REQUIRE(times.stuck.size() == 1);
  CHECK(times.stuck[0] ==
        "rank 0 waits for ever: receive from rank 1, train.py:7; rank 1 never comes to it");
  Script third({0}, 2);
  third.transfer(TransferKind::kAllReduce).transfer(TransferKind::kAllReduce);
  Script fourth({1}, 2);
  fourth.transfer(TransferKind::kAllReduce);
  times = job_times({0, 2, 2}, h100(), {third.play(), fourth.play()});
  REQUIRE(times.stuck.size() == 1);
  CHECK(times.stuck[0] ==
        "rank 0 waits for ever: all_reduce of 2 ranks, train.py:7; rank 1 never comes to it");
}

TEST_CASE("loops whose turns repeat are followed as often on all ranks") {
  const auto turns = [](Script& one, bool sends, int simulated, std::uint64_t left_out) {
    std::size_t moment = 0;
    for (int i = 0; i < simulated; ++i) {
      if (i == simulated - 1) moment = one.recorder.moment();
      sends ? one.work(kMs).send(1) : one.receive(0).work(kMs);
    }
    one.recorder.repeat(moment, {"step", simulated - 1, simulated - 1, simulated,
                                 simulated + static_cast<std::int64_t>(left_out) - 1, left_out});
  };
  Script first({0}, 2);
  turns(first, true, 2, 1'000'000);
  Script second({1}, 2);
  turns(second, false, 4, 999'998);
  const JobTimes times = job_times({0, 2, 2}, h100(), {first.play(), second.play()});
  CHECK(times.missing.empty());
  CHECK(times.stuck.empty());
  REQUIRE(times.ranks.size() == 2);
  CHECK(in(times, 0, RankState::kComputing) == in(times, 1, RankState::kComputing));
  CHECK(in(times, 0, RankState::kComputing) == 6 * kMs);  // 4 turns, and two more
}

TEST_CASE("a rank that was not run is named") {
  Script first({0}, 2);
  first.work(kMs);
  CHECK(job_times({0, 2, 2}, h100(), {first.play()}).missing == "rank 1 was not run");
}

TEST_CASE("a rank alone has the engine's times") {
  Script script({0}, 1);
  Engine engine({.launch_overhead_ns = kLaunch, .event_overhead_ns = kEvent});
  std::uint64_t seed = 7;
  for (int i = 0; i < 400; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const auto stream = static_cast<StreamId>(seed >> 40U & 3U);
    const auto event = static_cast<std::uint32_t>(seed >> 44U & 7U);
    const auto ns = static_cast<Nanoseconds>(seed >> 48U & 0x7fffU);
    switch (seed >> 60U) {
      case 0:
        script.recorder.record(stream, event);
        engine.record(stream, event);
        break;
      case 1:
        script.recorder.wait(stream, event);
        engine.wait(stream, event);
        break;
      case 2:
        script.recorder.synchronize(stream);
        engine.synchronize(stream);
        break;
      case 3:
        script.recorder.spend(ns);
        engine.spend(ns);
        break;
      case 4:
        script.recorder.synchronize_event(event);
        engine.synchronize_event(event);
        break;
      default:
        script.work(ns, stream);
        engine.launch(stream, ns);
        break;
    }
  }
  script.recorder.synchronize_all();
  engine.drain();
  const JobTimes times = job_times({0, 1, 1}, h100(), {script.play()});
  REQUIRE(times.ranks.size() == 1);
  CHECK(times.ranks.front().end_ns == engine.now());
}

TEST_CASE("transfers take the slower of a machine's links and its network cards") {
  const Links links = links_of(h100());
  CHECK(links.inside.name == "NVLink 4");
  CHECK(links.between.name == "InfiniBand, 400 Gb/s");
  const auto seconds = [&](Spread spread, Traversal traversal) {
    return transfer_ns(links, spread, traversal, 360'000'000'000);
  };
  CHECK(seconds({2, 1}, Traversal::kOnce) == 1'000'000'000 + 10'000);
  CHECK(seconds({4, 1}, Traversal::kShared) == 750'000'000 + 10'000);
  CHECK(seconds({4, 1}, Traversal::kTwice) == 1'500'000'000 + 10'000);
  CHECK(seconds({2, 2}, Traversal::kOnce) == 8'000'000'000 + 20'000);   // one card each
  CHECK(seconds({16, 2}, Traversal::kOnce) == 1'000'000'000 + 20'000);  // eight cards
  CHECK(transfer_ns(links, {1, 1}, Traversal::kTwice, 1 << 20U) == 0);
}

}  // namespace tidemark
