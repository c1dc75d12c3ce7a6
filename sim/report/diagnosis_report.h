#pragma once

#include <string>

#include "sim/report/text.h"
#include "sim/run/run_result.h"
#include "sim/study/explain/diagnosis.h"

namespace tidemark {

/// What is wrong, the proof, what was tried, and the smallest change that undoes it.
std::string diagnosis_text(const Diagnosis& diagnosis, const TextStyle& style);
/// Schema: docs/formats/json.md, "diagnosis".
std::string diagnosis_json(const Diagnosis& diagnosis);

/// The memory equation of textbooks (model + gradients + optimizer + activations + batch, at their
/// highest, in requested bytes) beside what the device held, and what it leaves out, by name, so
/// that both come to the same sum. Requires: events and live blocks were kept.
std::string equation_text(const RunResult& result, const TextStyle& style);

/// What nvidia-smi would show of this process at its highest, and how sure that is.
std::string process_view_text(const RunResult& result, const TextStyle& style);

}  // namespace tidemark
