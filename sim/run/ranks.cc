#include "sim/run/ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

struct OneRank {
  RankResult result;
  std::uint64_t digest = 0;
};

OneRank told_of(int rank, const RunResult& run) {
  const Verdict verdict = verdict_of(run);
  OneRank one;
  one.result.ranks = {rank};
  one.result.peak_allocated = verdict.peak_allocated;
  one.result.peak_reserved = verdict.peak_reserved;
  one.result.refused = verdict.refused;
  one.result.ended_by_oom = verdict.ending == Ending::kOutOfMemory;
  one.digest = digest_of(run);
  return one;
}

auto badness(const RankResult& one) {
  return std::tuple(one.ended_by_oom, one.refused, one.peak_reserved, one.peak_allocated);
}

}  // namespace

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
  std::vector<OneRank> all(ranks.size());
  in_parallel(ranks.size(), threads,
              [&](std::size_t i) { all[i] = told_of(ranks[i], run(ranks[i])); });
  std::vector<OneRank> kinds;
  for (OneRank& one : all) {
    const auto same = std::ranges::find_if(kinds, [&](const OneRank& kind) {
      return kind.digest == one.digest && badness(kind.result) == badness(one.result);
    });
    if (same == kinds.end()) {
      kinds.push_back(std::move(one));
    } else {
      same->result.ranks.push_back(one.result.ranks.front());
    }
  }
  std::ranges::stable_sort(kinds, [](const OneRank& a, const OneRank& b) {
    return badness(a.result) > badness(b.result);
  });
  std::vector<RankResult> out;
  out.reserve(kinds.size());
  for (OneRank& kind : kinds) out.push_back(std::move(kind.result));
  return out;
}

}  // namespace tidemark
