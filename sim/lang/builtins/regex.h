#pragma once

#include "sim/lang/runtime/interp.h"

namespace tidemark::lang {

/// Fills the module _regex, which the library's `re` is written with: compiling an expression and
/// finding it in a text, by PCRE2 and within limits.
void fill_regex(Interp& interp, Module& module);

}  // namespace tidemark::lang
