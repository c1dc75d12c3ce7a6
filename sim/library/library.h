#pragma once

#include "sim/lang/imports/library_index.h"

/// The modules that are written in the language itself. Each is a file below one of five roots, and
/// the path below the root is the name under which it is imported: python/ (Python's own), torch/,
/// numpy/, outside/ and stand_ins/ (parts of other packages, and what stands in for them). The
/// build embeds them all.
namespace tidemark::library {

/// Every root.
lang::LibraryRoots all();
/// Those that need no tensors: python/ and stand_ins/.
lang::LibraryRoots python();

}  // namespace tidemark::library
