#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/lang/imports/library_index.h"
#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// What the build writes down of one file of the library. The texts are those of `names`, `tree`
/// and the source.
struct LibraryEntries {
  std::vector<LibraryName> names;  ///< sorted by name
  std::vector<Place> statements;
  std::vector<LibraryName> stars;  ///< of `from module import *`, whose names others know: `place`
                                   ///< and `module`
  std::shared_ptr<SyntaxTree> tree;
};

/// Reads the top level of a file. A definition or an import whose name is a built-in's is a
/// statement: within the file that name is the file's own from the beginning, as in Python.
/// Problems, appended: those of the parser; `from . import m`; a definition or an import whose name
/// is bound a second time, since it is run when its name is asked for and not in the order of the
/// lines.
LibraryEntries read_library_file(const std::shared_ptr<const SourceText>& source, Names& names,
                                 const std::function<bool(std::string_view name)>& is_builtin,
                                 std::vector<Problem>& problems);

/// What `from module import *` takes of a file: its public names and what it takes itself from
/// other modules, which is taken from there. The modules themselves that it imports are its own.
std::vector<LibraryName> public_names(std::string_view module, const LibraryEntries& entries);

}  // namespace tidemark::lang
