#pragma once

#include <span>

#include "sim/ops/registry.h"

namespace tidemark::ops {

std::span<const OpDef> pointwise_rules();  ///< the rows of records
std::span<const OpDef> foreach_ops();      ///< foreach_ops.cc: the optimizers' operators on lists

}  // namespace tidemark::ops
