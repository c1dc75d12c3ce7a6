#pragma once

#include "sim/lang/runtime/interp.h"

namespace tidemark::lang {

/// dict.update with a mapping or an iterable of pairs. Errors: Python's.
void update_dict(Interp& interp, Dict& dict, const Value& from);

/// A mapping as a dict: the dict itself, or one made with keys() and []; null: not a mapping.
Ref<Dict> mapping_of(Interp& interp, const Value& value);

}  // namespace tidemark::lang
