#include "sim/timeline/timeline.h"

#include <algorithm>

#include "sim/base/check.h"

namespace tidemark {

PhaseName split_phase_name(std::string_view name) {
  const std::size_t space = name.rfind(' ');
  if (space == std::string_view::npos) return {name, {}};
  const std::string_view step = name.substr(space + 1);
  const bool is_step =
      !step.empty() && step.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_step ? PhaseName{name.substr(0, space), step} : PhaseName{name, {}};
}

std::optional<std::size_t> phase_at(std::span<const PhaseSpan> phases, std::size_t event) {
  // Phases without events share their first_event with the next: the last one that starts here
  // holds it.
  const auto after = std::upper_bound(
      phases.begin(), phases.end(), event,
      [](std::size_t index, const PhaseSpan& phase) { return index < phase.first_event; });
  if (after == phases.begin()) return std::nullopt;
  const auto found = std::prev(after);
  if (event >= found->first_event + found->events) return std::nullopt;
  return static_cast<std::size_t>(found - phases.begin());
}

std::vector<CategoryBytes> stack_categories(std::span<const Event> events,
                                            std::span<const Amounts> amounts,
                                            std::span<const Category> categories) {
  TIDEMARK_CHECK(events.size() == amounts.size(), std::to_string(events.size()) + " events, " +
                                                      std::to_string(amounts.size()) + " amounts");
  std::vector<CategoryBytes> stacked;
  stacked.reserve(events.size());
  CategoryBytes now{};
  Bytes before = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Bytes after = amounts[i].allocated;
    const RequestId id = events[i].id;
    const Category category = id < categories.size() ? categories[id] : Category::kUnknown;
    // Unsigned wrap-around adds a free's negative difference; each sum stays at or above 0.
    now[static_cast<std::size_t>(category)] += after - before;
    before = after;
    stacked.push_back(now);
  }
  return stacked;
}

std::optional<std::size_t> peak_event(std::span<const Amounts> amounts, Bytes Amounts::*field) {
  const auto highest =
      std::max_element(amounts.begin(), amounts.end(),
                       [field](const Amounts& a, const Amounts& b) { return a.*field < b.*field; });
  if (highest == amounts.end()) return std::nullopt;
  return static_cast<std::size_t>(highest - amounts.begin());
}

Fragmentation fragmentation(const Amounts& amounts) {
  return {amounts.active - amounts.requested, amounts.reserved - amounts.active,
          amounts.inactive_split, amounts.largest_free};
}

std::optional<std::uint64_t> mean_fragmentation_ppm(std::span<const Amounts> amounts) {
  std::uint64_t sum = 0;
  std::uint64_t counted = 0;
  for (const Amounts& at : amounts) {
    if (at.reserved == 0) continue;
    sum += parts_per_million(at.reserved - at.active, at.reserved);
    ++counted;
  }
  if (counted == 0) return std::nullopt;
  return (sum + counted / 2) / counted;
}

}  // namespace tidemark
