#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/lang/runtime/interp.h"
#include "sim/torch/tensors/custom_op_spec.h"

namespace tidemark::torch {

class Session;

/// Makes the custom ops known under their names. `constants`: values that their expressions may
/// use. Errors: InputError at the declaration for a name that is taken.
void add_custom_ops(Session& session, const std::vector<CustomOpSpec>& specs,
                    const std::vector<std::pair<std::string, lang::Value>>& constants);

}  // namespace tidemark::torch
