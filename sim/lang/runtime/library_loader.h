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

/// What stands for `name` where it is not there: it can be named, handed on and inherited from; a
/// call of it, or any other use, is refused as "NAME WHY".
Value make_placeholder(Interp& interp, const std::string& name, const std::string& why,
                       const std::string& hint);
/// The same for something outside the language.
Value make_later(Interp& interp, std::string name);

}  // namespace tidemark::lang
