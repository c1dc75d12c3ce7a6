#include "sim/run/ranks.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <system_error>
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

/// Ranks that are still to be covered, as sets that have nothing in common. One rank of a set is
/// played for all of it. Those that part from it meanwhile are a set of their own, which another
/// thread may take at once. So each set, and what is played of it, hangs on no other thread.
class Questions {
 public:
  using Play = std::function<RankPlay(const RankQuestion&)>;

  Questions(const Rank& job, unsigned threads, const Play& play)
      : play_(play),
        at_once_(threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads),
        place_(static_cast<std::size_t>(job.world)) {
    const std::vector<int> order = in_order(job);
    for (std::size_t i = 0; i < order.size(); ++i) place_[static_cast<std::size_t>(order[i])] = i;
    std::vector<int> all = order;
    std::ranges::sort(all);
    sets_.push_back({order.front(), std::move(all)});
  }

  /// What one thread alone would play, in its order. Others may have played more.
  std::vector<RankPlay> answers() {
    work();
    for (std::thread& thread : threads_) thread.join();
    std::vector<RankPlay> out;
    std::vector<std::size_t> pending{0};
    while (!pending.empty() && out.size() < kMostPlays) {
      const auto next = std::ranges::min_element(
          pending, {}, [&](std::size_t i) { return place_of(sets_[i].rank); });
      Set& set = sets_[*next];
      pending.erase(next);
      if (!set.is_begun) answer(set);
      if (set.error) std::rethrow_exception(set.error);
      out.push_back(std::move(set.play));
      pending.insert(pending.end(), set.parted.begin(), set.parted.end());
    }
    return out;
  }

 private:
  struct Set {
    int rank = 0;            // that is played
    std::vector<int> ranks;  // ascending, `rank` among them
    bool is_begun = false;
    RankPlay play = {};
    std::exception_ptr error = {};
    std::vector<std::size_t> parted = {};
  };

  std::size_t place_of(int rank) const { return place_[static_cast<std::size_t>(rank)]; }

  /// Answers questions until there are none left and nobody can find more.
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Set* const next = next_set();
      if (next == nullptr && running_ == 0) break;
      if (next == nullptr) {
        changed_.wait(lock);
        continue;
      }
      next->is_begun = true;
      ++begun_;
      ++running_;
      lock.unlock();
      answer(*next);
      lock.lock();
      --running_;
      has_failed_ = has_failed_ || next->error != nullptr;
      changed_.notify_all();
    }
  }

  Set* next_set() {
    Set* first = nullptr;
    if (begun_ >= kMostPlays || has_failed_) return nullptr;
    for (Set& set : sets_) {
      if (set.is_begun) continue;
      if (first == nullptr || place_of(set.rank) < place_of(first->rank)) first = &set;
    }
    return first;
  }

  void answer(Set& set) {
    try {
      set.play =
          play_({set.rank, set.ranks, [&](const std::vector<int>& parted) { part(set, parted); }});
    } catch (...) {
      set.error = std::current_exception();
      return;
    }
    std::vector<int> others;
    std::ranges::set_difference(set.ranks, set.play.result.ranks, std::back_inserter(others));
    part(set, others);
    set.play.result.ranks = set.ranks;
  }

  /// What parts from the one that is played, as far as that has not been told before.
  void part(Set& set, const std::vector<int>& others) {
    const std::unique_lock lock(mutex_);
    std::vector<int> parted;
    std::ranges::set_intersection(set.ranks, others, std::back_inserter(parted));
    std::erase(parted, set.rank);
    if (parted.empty()) return;
    std::erase_if(set.ranks, [&](int rank) { return std::ranges::binary_search(parted, rank); });
    const int first =
        *std::ranges::min_element(parted, {}, [&](int rank) { return place_of(rank); });
    set.parted.push_back(sets_.size());
    sets_.push_back({first, std::move(parted)});
    if (threads_.size() + 1 < at_once_ && threads_.size() < running_) start_thread();
    changed_.notify_all();
  }

  void start_thread() {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      at_once_ = threads_.size() + 1;  // those that there are share the work
    }
  }

  const Play& play_;
  std::size_t at_once_;
  std::vector<std::size_t> place_;  // by rank, in the order in which they are played
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Set> sets_;  // none moves
  std::vector<std::thread> threads_;
  std::size_t begun_ = 0;
  std::size_t running_ = 0;
  bool has_failed_ = false;
};

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
                                         const std::function<RankPlay(const RankQuestion&)>& play) {
  return put_together(Questions(job, threads, play).answers());
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
