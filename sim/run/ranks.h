#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/rank.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// The ranks to run of a job like `job`, ascending. kSome takes all of up to kMostUnasked. Of a
/// larger job it takes those at the ends of its machines and the neighbours of the first and the
/// last rank in meshes whose dimensions are powers of two: where not all can be played, those.
std::vector<int> ranks_to_run(const Rank& job, RankChoice choice);
inline constexpr int kMostUnasked = 16;

/// What a rank came to.
struct RankPlay {
  RankResult result;         ///< `ranks`: those that do the same, itself among them
  std::uint64_t digest = 0;  ///< of all events; the same for ranks that do the same
};
/// Requires: the run kept its events.
RankPlay told_of(int rank, const RunResult& run);

/// A rank to be played, for ranks that have done the same as far as is known.
struct RankQuestion {
  int rank = 0;
  std::vector<int> among;  ///< ascending, `rank` among them
  /// To be told of those that turn out to do otherwise, while the rank is played: another of them
  /// can be played beside it.
  std::function<void(const std::vector<int>& parted)> parted;
};

/// Plays ranks of a job, on as many threads (0: one a processor), until each rank of its world is
/// among those that do what one of them does, or kMostPlays have been played. `play` says which of
/// `among` do the same; others are asked anew. What comes out does not depend on the threads. Puts
/// those together that did the same, event for event. Order and errors as compare_ranks().
std::vector<RankResult> classes_of_ranks(const Rank& job, unsigned threads,
                                         const std::function<RankPlay(const RankQuestion&)>& play);
inline constexpr std::size_t kMostPlays = 32;

/// Runs each rank by `run`, on as many threads (0: one a processor), and puts those together that
/// did the same, event for event. Worst first: what ends by an out-of-memory error, else what is
/// refused more often, else what reserves more, allocates more, comes first. Requires: a rank at
/// least; the runs keep their events. Errors: those of the first rank whose run fails.
std::vector<RankResult> compare_ranks(const std::vector<int>& ranks, unsigned threads,
                                      const std::function<RunResult(int rank)>& run);

}  // namespace tidemark
