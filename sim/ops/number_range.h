#pragma once

#include <string_view>

#include "sim/ops/registry.h"

namespace tidemark::ops {

/// Which arguments of an operator it writes as numbers of its result's type, the last one included.
struct WrittenNumbers {
  std::string_view op;
  std::size_t first = 0;
  std::size_t last = 0;
  bool on_device_only = false;  ///< the host converts without a check
};

/// Null: the operator writes none. `op` may write in place, "fill_".
const WrittenNumbers* written_numbers(std::string_view op);

/// Errors: OpError of a number that the type does not hold. Source: torch's c10::overflows.
void check_number_fits(const Argument& number, ScalarType type);

}  // namespace tidemark::ops
