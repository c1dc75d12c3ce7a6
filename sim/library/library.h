#pragma once

#include "sim/lang/imports/library_index.h"

/// The modules that are written in the language itself. Each is a file below one of four roots, and
/// the path below the root is the name under which it is imported: python/ (Python's own), torch/,
/// numpy/, stand_ins/ (what other packages' modules are here). The build embeds them all.
namespace tidemark::library {

/// Every root.
lang::LibraryRoots all();
/// Those that need no tensors: python/ and stand_ins/.
lang::LibraryRoots python();

}  // namespace tidemark::library
