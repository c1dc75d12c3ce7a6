#pragma once

#include <string>

#include "sim/format/events_csv.h"
#include "sim/report/text.h"
#include "sim/timeline/diff.h"

namespace tidemark {

/// One side of a comparison. Requires: `table` outlives the call.
struct DiffSide {
  std::string name;
  const EventTable* table = nullptr;
};

/// The first difference with the events around it, then totals side by side; for equal sequences
/// one line. `context`: equal events shown before the first difference, and events of each side
/// shown from it on.
std::string diff_text(const EventDiff& diff, const DiffSide& a, const DiffSide& b,
                      const DiffOptions& options, std::size_t context, const TextStyle& style);

/// The same for programs; the schema is docs/formats/json.md, "diff".
std::string diff_json(const EventDiff& diff, const DiffSide& a, const DiffSide& b,
                      const DiffOptions& options);

/// One row a total: total,a,b.
std::string diff_csv(const EventDiff& diff);

}  // namespace tidemark
