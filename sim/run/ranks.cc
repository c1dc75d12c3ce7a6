#include "sim/run/ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sim/base/hash.h"
#include "sim/base/parallel.h"
#include "sim/run/verdict.h"

namespace tidemark {

namespace {

/// Numbers in the order in which they first appear: what two ranks that do the same have alike.
class Appearances {
 public:
  std::uint64_t number(std::uint64_t value) {
    return numbers_.try_emplace(value, numbers_.size()).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
};

/// Of all that the rank's allocator did, turns that were left out included. Each GPU has addresses
/// of its own.
std::uint64_t digest_of(const RunResult& result) {
  std::uint64_t hash = kEmptyHash;
  const auto add = [&hash](std::uint64_t number) { hash = hash_number(hash, number); };
  for (const DeviceResult& device : result.devices) {
    Appearances addresses;
    Appearances streams;
    add(device.events.size());
    for (const Event& event : device.events) {
      add(addresses.number(event.address));
      add(event.bytes);
      add(streams.number(event.stream) << 8U | static_cast<std::uint64_t>(event.action));
    }
  }
  for (const RepeatResult& repeat : result.repeats) {
    add(repeat.instructions);
    for (const std::uint64_t events : repeat.events) add(events);
  }
  return hash;
}

auto badness(const RankResult& one) {
  return std::tuple(one.ended_by_oom, one.refused, one.peak_reserved, one.peak_allocated);
}

/// Those that did the same as one, worst first.
std::vector<RankResult> put_together(std::vector<RankPlay> plays) {
  std::vector<RankPlay> kinds;
  for (RankPlay& one : plays) {
    const auto same = std::ranges::find_if(kinds, [&](const RankPlay& kind) {
      return kind.digest == one.digest && badness(kind.result) == badness(one.result);
    });
    if (same == kinds.end()) {
      kinds.push_back(std::move(one));
    } else {
      std::vector<int>& ranks = same->result.ranks;
      ranks.insert(ranks.end(), one.result.ranks.begin(), one.result.ranks.end());
    }
  }
  for (RankPlay& kind : kinds) std::ranges::sort(kind.result.ranks);
  std::ranges::stable_sort(kinds, [](const RankPlay& a, const RankPlay& b) {
    return badness(a.result) > badness(b.result);
  });
  std::vector<RankResult> out;
  out.reserve(kinds.size());
  for (RankPlay& kind : kinds) out.push_back(std::move(kind.result));
  return out;
}

/// The ranks of a job in the order in which they are played: those first that tell most.
std::vector<int> in_order(const Rank& job) {
  std::vector<int> order = ranks_to_run(job, RankChoice::kSome);
  std::vector<bool> is_there(static_cast<std::size_t>(job.world));
  for (const int rank : order) is_there[static_cast<std::size_t>(rank)] = true;
  for (int rank = 0; rank < job.world; ++rank)
    if (!is_there[static_cast<std::size_t>(rank)]) order.push_back(rank);
  return order;
}

}  // namespace

RankPlay told_of(int rank, const RunResult& run) {
  const Verdict verdict = verdict_of(run);
  RankPlay one;
  one.result.ranks = {rank};
  one.result.peak_allocated = verdict.peak_allocated;
  one.result.peak_reserved = verdict.peak_reserved;
  one.result.refused = verdict.refused;
  one.result.ended_by_oom = verdict.ending == Ending::kOutOfMemory;
  one.digest = digest_of(run);
  return one;
}

std::vector<RankResult> classes_of_ranks(const Rank& job, unsigned threads,
                                         const std::function<RankPlay(int rank)>& play) {
  const std::size_t at_once =
      threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads;
  std::vector<int> pending = in_order(job);
  std::vector<RankPlay> classes;
  std::size_t played = 0;
  while (!pending.empty() && played < kMostPlays) {
    // The first alone: it may speak for all.
    const std::size_t count =
        std::min({played == 0 ? 1 : at_once, pending.size(), kMostPlays - played});
    std::vector<RankPlay> plays(count);
    in_parallel(count, threads, [&](std::size_t i) { plays[i] = play(pending[i]); });
    played += count;
    for (RankPlay& one : plays) {
      const auto is_pending = [&](int rank) {
        return std::ranges::find(pending, rank) != pending.end();
      };
      if (!is_pending(one.result.ranks.front())) continue;
      const std::vector<int>& ranks = one.result.ranks;
      std::erase_if(pending, [&](int rank) { return std::ranges::binary_search(ranks, rank); });
      classes.push_back(std::move(one));
    }
  }
  return put_together(std::move(classes));
}

std::vector<int> ranks_to_run(const Rank& job, RankChoice choice) {
  std::vector<int> ranks;
  if (choice == RankChoice::kOne) {
    ranks.push_back(job.index);
  } else if (choice == RankChoice::kAll || job.world <= kMostUnasked) {
    for (int rank = 0; rank < job.world; ++rank) ranks.push_back(rank);
  } else {
    const int last = job.world - 1;
    const int second = job.per_node % job.world;  // the second machine's first rank
    ranks = {0, job.per_node - 1, second, last - second, job.world - job.per_node, last};
    for (int distance = 1; distance < job.world; distance *= 2) {
      ranks.push_back(distance);
      ranks.push_back(last - distance);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  }
  return ranks;
}

std::vector<RankResult> compare_ranks(const std::vector<int>& ranks, unsigned threads,
                                      const std::function<RunResult(int rank)>& run) {
  std::vector<RankPlay> all(ranks.size());
  in_parallel(ranks.size(), threads,
              [&](std::size_t i) { all[i] = told_of(ranks[i], run(ranks[i])); });
  return put_together(std::move(all));
}

}  // namespace tidemark
