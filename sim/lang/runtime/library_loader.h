#pragma once

#include "sim/lang/imports/library_index.h"
#include "sim/lang/runtime/interp.h"

namespace tidemark::lang {

/// Gives a module what its file of the library defines, each name when it is first asked for: a
/// definition is run alone, an import takes one member of one module, and the statements between
/// them are run, once and in order, before the first of the file's own names is made. What C++ has
/// put into the module stays, and what C++ makes when it is asked (make_missing) comes after the
/// file's names. Requires: `file` lives as long as the module.
void load_lazily(Interp& interp, Module& module, const LibraryModule& file);

/// Something outside the language: it can be named and handed on, and any use of it is refused.
Value make_later(Interp& interp, std::string name);

}  // namespace tidemark::lang
