#pragma once

#include <functional>
#include <vector>

#include "sim/base/rank.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// The ranks to run of a job like `job`, ascending. kSome takes all of up to kMostUnasked. Of a
/// larger job it takes those at the ends of its machines and the neighbours of the first and the
/// last rank in meshes whose dimensions are powers of two.
std::vector<int> ranks_to_run(const Rank& job, RankChoice choice);
inline constexpr int kMostUnasked = 16;

/// Runs each rank by `run`, on as many threads (0: one a processor), and puts those together that
/// did the same, event for event. Worst first: what ends by an out-of-memory error, else what is
/// refused more often, else what reserves more, allocates more, comes first. Requires: a rank at
/// least; the runs keep their events. Errors: those of the first rank whose run fails.
std::vector<RankResult> compare_ranks(const std::vector<int>& ranks, unsigned threads,
                                      const std::function<RunResult(int rank)>& run);

}  // namespace tidemark
