#pragma once

#include "sim/lang/runtime/interp.h"

namespace tidemark::lang {

/// dict.update with a mapping or an iterable of pairs. Errors: Python's.
void update_dict(Interp& interp, Dict& dict, const Value& from);

/// A mapping as a dict: the dict itself, or one made with keys() and []; null: not a mapping.
Ref<Dict> mapping_of(Interp& interp, const Value& value);

/// Between what hash(x) gives and the hash that tables go by: an object whose __hash__ gives that
/// of an integer is found under the integer.
std::uint64_t table_hash(std::int64_t python_hash);
std::int64_t python_hash(std::uint64_t table_hash);
/// What tables go by for what a class's own __hash__ returned. Errors: Python's.
std::uint64_t hash_answered(Interp& interp, const Value& answer);

}  // namespace tidemark::lang
