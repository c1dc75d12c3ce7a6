#pragma once

#include <string>

#include "sim/format/json_writer.h"
#include "sim/report/text.h"
#include "sim/study/explain/explanation.h"

namespace tidemark {

/// "To its end the program needs a device of 30.5 GiB ...": one sentence.
std::string need_text(const Need& need);
/// Writes it as an object.
void write_need(const Need& need, JsonWriter& json);
/// Why a request was refused, with the proof; what the program needs to its end, or of a recording
/// what would have served this request. Requires: the explanation's picture has `oom`.
std::string oom_text(const Explanation& explanation, const TextStyle& style);
/// Writes the member "oom": the same, or null.
void write_oom(const Explanation& explanation, JsonWriter& json);

}  // namespace tidemark
