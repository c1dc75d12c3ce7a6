#pragma once

#include <string>
#include <vector>

#include "sim/ops/record_compiler/record.h"

namespace tidemark::ops::records {

/// The steps of all gradients, and the texts of those that are refused.
struct Steps {
  std::vector<Step> steps;
  std::vector<std::string> refusals;
};

/// Makes steps of a gradient of `record`: one temporary an operation, in the order in which the
/// compiled PyTorch works: the last argument of a call first, but the object of a method before
/// them. Errors: InputError with its place for a name that is not known, an operator without a
/// record, arguments that fit none.
Gradient compile_gradient(const Records& records, const Record& record,
                          const Expression& expression, Steps& steps);

}  // namespace tidemark::ops::records
