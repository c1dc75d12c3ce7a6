#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/lang/imports/library_index.h"
#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// What the build takes down of one file of the library: parts of its tree, which is not resolved
/// yet.
struct LibraryEntries {
  /// `from module import *`: the names are those that the module's file has.
  struct Star {
    Place place;
    Name module{};
  };
  std::vector<LibraryName> names;  ///< sorted by text
  std::vector<Stmt*> statements;   ///< between definitions and imports
  std::vector<Star> stars;
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

/// The module that a file is, its tree resolved. Its globals get the first slots of `globals` and
/// those behind them. Requires: all that `stars` take is in `names`. The module lives as long as
/// `name`, `entries` and `globals`, which stay as they are.
LibraryModule resolve_library_file(TextSeq name, LibraryEntries& entries, GlobalNames& globals,
                                   Names& names, std::vector<Problem>& problems);

/// What `from module import *` takes of a file: its public names and what it takes itself from
/// other modules, which is taken from there. The modules themselves that it imports are its own.
std::vector<LibraryName> public_names(Name module, const LibraryEntries& entries,
                                      const Names& names);

}  // namespace tidemark::lang
