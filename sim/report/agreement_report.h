#pragma once

#include <string>

#include "sim/format/json_writer.h"
#include "sim/report/text.h"
#include "sim/study/replay/agreement.h"

namespace tidemark {

/// How far a re-simulation agrees with the recording: one paragraph when it does throughout, else
/// the differences.
std::string agreement_text(const Agreement& agreement, const TextStyle& style);

/// The same as one JSON object, the value of a key that was just written. Schema:
/// docs/formats/json.md, "recording".
void write_agreement(const Agreement& agreement, JsonWriter& json);

/// A Markdown table row for docs/validation.md: name, events, differing, placed differently, peaks,
/// segments, blocks.
std::string agreement_row(std::string_view name, const Agreement& agreement);

}  // namespace tidemark
