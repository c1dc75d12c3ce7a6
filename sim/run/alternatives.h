#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/routing.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// What `assume` says of what PyTorch itself leaves to chance: it takes its earliest end, or its
/// latest.
inline constexpr std::string_view kChanceEarly = "chance=early";
inline constexpr std::string_view kChanceLate = "chance=late";
/// Whether a text of `assume` is about chance, or about routing: it names no line.
bool is_of_chance(std::string_view text);
bool is_of_routing(std::string_view text);
/// The routing that a way of `assume` states: `routing=zipf:1.2,falling` favours the first experts,
/// `routing=zipf:1.2,rising` the last. None: it states none. Requires: one of ways_of().
std::optional<Routing> routing_of(const std::vector<std::string>& way);

/// What a run takes unknown values for, in every way that `assume` leaves open: `train.py:12=both`
/// is true and false, `train.py:30=8..64` is 8 and 64, `chance=both` both ends of what is left to
/// chance, `routing=zipf:1.2` both ends of that
/// routing. The first has the first of each. One empty
/// way: nothing is given. Errors: InputError for a text that is none, and for more than
/// kMostAlternatives ways.
std::vector<std::vector<std::string>> ways_of(const std::vector<std::string>& assume);
inline constexpr std::size_t kMostAlternatives = 16;

/// What a run of a way came to.
AlternativeResult told_of(const std::vector<std::string>& assume, const RunResult& result);

/// Runs each way by `run`; gives the place of the worst: one that ends by an out-of-memory error,
/// else one that is refused more often, else one that reserves more, else the first. `told` gets
/// what each came to. A way in which the program fails by itself is told, and is never the worst.
/// Errors: those of the first way, where the program fails in every one.
std::size_t worst_of(const std::vector<std::vector<std::string>>& ways,
                     const std::function<RunResult(const std::vector<std::string>&)>& run,
                     std::vector<AlternativeResult>& told);

}  // namespace tidemark
