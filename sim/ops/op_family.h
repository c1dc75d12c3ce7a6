#pragma once

#include <cstddef>
#include <span>

#include "sim/ops/registry.h"

namespace tidemark::ops {

/// One family of op_families(), by its place there; the others are not touched. Requires: it is
/// one.
std::span<const OpDef> op_family(std::size_t index);

}  // namespace tidemark::ops
