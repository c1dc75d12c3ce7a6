#pragma once

#include <string>

#include "sim/ops/record_compiler/record.h"

namespace tidemark::ops::records {

// C++ of records that are operators with all of their steps, and of those that call C++ by name.

struct WholeOperator {
  std::string declaration;  ///< "Tensor mse_loss(Context& c, Tensor self, ...)"
  std::string definition;
  bool can_record = false;  ///< its gradients have gradients
};

/// Requires: record.has_steps(). Errors: InputError with the place of what is wrong.
WholeOperator whole_operator(const Records& records, const Record& record);

/// What the op table runs: "return mse_loss(a.context(), a.tensor(0), ...);". Requires: it has
/// steps, or C++ that does them.
std::string run_code(const Records& records, const Record& record);

/// The declaration of C++ that a record names alone, which takes the call's arguments as they are.
/// Empty: it is no such record.
std::string native_declaration(const Record& record);

}  // namespace tidemark::ops::records
