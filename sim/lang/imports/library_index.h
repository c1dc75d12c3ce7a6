#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/lang/syntax/lexer.h"

/// The library that is written in the language itself: modules in files (sim/library), embedded in
/// the program by the build. The build reads every file with this floor's own parser and writes
/// down what follows, so that nothing is searched or read when a program starts.
namespace tidemark::lang {

/// A name that a module of the library has at its top level.
struct LibraryName {
  enum class Kind : std::uint8_t {
    kDefinition,  ///< of `def` or `class`: run when it is first asked for
    kStatement,   ///< bound by what stands between definitions
    kModule,      ///< of `import module`
    kMember,      ///< of `from module import member`
  };
  std::string_view name;
  Kind kind = Kind::kStatement;
  Place place;              ///< of a definition: whole lines, decorators included
  std::string_view module;  ///< kModule, kMember: where it comes from
  std::string_view member;  ///< kMember: its name there
};

struct LibraryModule {
  std::string_view name;                ///< as it is imported: "torch.nn.utils.rnn"
  std::string_view file;                ///< below its root: "torch/nn/utils/rnn.py"; empty: not
                                        ///< modelled, any use of it is refused by name
  std::string_view text;                ///< of the file
  std::span<const LibraryName> names;   ///< sorted by name, each once
  std::span<const Place> statements{};  ///< whole lines between definitions and imports, in order

  /// nullptr: it has no such name. Cost: logarithmic.
  [[nodiscard]] const LibraryName* find(std::string_view name) const;
};

/// One root of the library.
struct Library {
  std::span<const LibraryModule> modules;  ///< sorted by name, each once

  /// nullptr: it has no such module. Cost: logarithmic.
  [[nodiscard]] const LibraryModule* find(std::string_view name) const;
};

}  // namespace tidemark::lang
