#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/run/run_result.h"

namespace tidemark {

/// What a run takes unknown values for, in every way that `assume` leaves open: `train.py:12=both`
/// is true and false, `train.py:30=8..64` is 8 and 64. The first has the first of each. One empty
/// way: nothing is given. Errors: InputError for a text that is none, and for more than
/// kMostAlternatives ways.
std::vector<std::vector<std::string>> ways_of(const std::vector<std::string>& assume);
inline constexpr std::size_t kMostAlternatives = 16;

/// Runs each way by `run`; gives the place of the worst: one that ends by an out-of-memory error,
/// else one that is refused more often, else one that reserves more, else the first. `told` gets
/// what each came to. A way in which the program fails by itself is told, and is never the worst.
/// Errors: those of the first way, where the program fails in every one.
std::size_t worst_of(const std::vector<std::vector<std::string>>& ways,
                     const std::function<RunResult(const std::vector<std::string>&)>& run,
                     std::vector<AlternativeResult>& told);

}  // namespace tidemark
