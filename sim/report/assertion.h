#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/run_result.h"

namespace tidemark {

/// A claim about a run's result, as continuous integration makes it: "peak_reserved < 70GiB",
/// "peak_reserved - peak_allocated < 0.1 * total".
struct Assertion {
  /// A part of a sum: a figure, or a number, times a factor.
  struct Term {
    std::optional<std::size_t> figure;    ///< index into assertion_figures()
    std::uint64_t number = 1;             ///< in place of a figure
    std::int64_t millionths = 1'000'000;  ///< the factor, with the term's sign
  };
  std::string text;  ///< as it was given
  std::vector<Term> left;
  std::string_view relation;  ///< one of < <= > >= == !=
  std::vector<Term> right;
};

/// What a claim can be about, in the order of help. Each may be written as JSON has it, with
/// "_bytes" or ".bytes" behind it.
std::vector<std::string_view> assertion_figures();

/// Reads "SUM RELATION SUM". A sum has figures, amounts of memory with units ("70GiB", "512 MiB")
/// and, where its figures are counts, whole numbers; each may have a factor before it ("0.9 *
/// total"); blanks may be left out. Errors: InputError, with the nearest figure's name.
Assertion parse_assertion(std::string_view text);

/// One line for each claim that is false on some device, what was found in it; empty when all hold.
/// Cost: linear in claims and devices.
std::vector<std::string> failed_assertions(const std::vector<Assertion>& assertions,
                                           const RunResult& result);

}  // namespace tidemark
