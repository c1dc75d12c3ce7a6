#pragma once

#include <string>
#include <vector>

#include "sim/report/text.h"
#include "sim/study/validate/validation.h"

namespace tidemark {

/// One row a case, the first divergence of each that differs with `context` events around it, then
/// what many cases amount to. `against`: what was compared with ("torch", "recorded:DIR").
std::string validation_text(const std::vector<ValidationCase>& cases, const std::string& against,
                            std::size_t context, const TextStyle& style);

/// The same for programs. Schema: docs/formats/json.md, "validate".
std::string validation_json(const std::vector<ValidationCase>& cases, const std::string& against);

/// One page without anything from elsewhere: the table, and for each case both curves laid over
/// each other.
std::string validation_html(const std::vector<ValidationCase>& cases, const std::string& against);

/// "+0.018 %", "0", "-" for none.
std::string signed_percent(const ComparedBytes& figure);
/// "right", or what was wrong: "wrong: fits" says that the simulator let it fit.
std::string oom_verdict(const ValidationCase& each);

}  // namespace tidemark
