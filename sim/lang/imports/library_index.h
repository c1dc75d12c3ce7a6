#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/lang/syntax/ast.h"
#include "sim/lang/syntax/global_table.h"

/// The library that is written in the language itself: modules in files (sim/library), which the
/// build parses, resolves and makes an image of (image.h) that is part of the program. Nothing is
/// searched or read when a program starts.
namespace tidemark::lang {

/// A name that a module of the library has at its top level.
struct LibraryName {
  enum class Kind : std::uint8_t {
    kDefinition,  ///< of `def` or `class`: run when it is first asked for
    kStatement,   ///< bound by what stands between definitions
    kModule,      ///< of `import module`
    kMember,      ///< of `from module import member`
  };
  Name name{};
  Kind kind = Kind::kStatement;
  Seq<Stmt*> definition{};  ///< of a definition: the one statement
  Name module{};            ///< kModule, kMember: where it comes from
  Name member{};            ///< kMember: its name there
};

struct LibraryModule {
  TextSeq name;                  ///< as it is imported: "torch.nn.utils.rnn"
  const Code* code = nullptr;    ///< of its file; null: not modelled, any use is refused by name
  GlobalTable globals;           ///< of its text; the first slots are those of `names`
  Seq<const LibraryName> names;  ///< sorted by text, each once
  Seq<Stmt*> statements;         ///< what stands between definitions and imports, in order

  /// nullptr: it has no such name. Cost: a search in `globals`.
  [[nodiscard]] const LibraryName* find(Name name) const;
};

/// One root of the library.
struct Library {
  Seq<const LibraryModule> modules;  ///< sorted by name, each once
  bool stands_in = false;            ///< for packages: one that is installed wins

  /// nullptr: it has no such module. Cost: logarithmic.
  [[nodiscard]] const LibraryModule* find(std::string_view name) const;
};

/// What an interpreter imports from: some roots of the library, no module in two of them, and the
/// names that their trees are made with.
struct LibraryRoots {
  const NameTable* names = nullptr;  ///< null: there is no library
  std::span<const Library> roots;

  /// nullptr: none has such a module.
  [[nodiscard]] const LibraryModule* find(std::string_view name) const;
  /// Whether it is found in a root that stands in for packages.
  [[nodiscard]] bool stands_in(std::string_view name) const;
  /// Whether there are modules below it, as below a package.
  [[nodiscard]] bool has_modules_of(std::string_view name) const;
  /// A name that the library has. Requires: there is a library.
  [[nodiscard]] std::string_view text(Name name) const {
    return view(names->entries[static_cast<std::uint32_t>(name)].text);
  }
};

/// All of it, as the build writes it.
struct LibraryImage {
  NameTable names;
  Seq<const Library> roots;
};

// What an image of it is made of (image.h).
template <class Visit>
void each_member(const LibraryName& n, const Visit& visit) {
  visit(n.name, n.kind, n.definition, n.module, n.member);
}
template <class Visit>
void each_member(const LibraryModule& m, const Visit& visit) {
  visit(m.name, m.code, m.globals, m.names, m.statements);
}
template <class Visit>
void each_member(const Library& l, const Visit& visit) {
  visit(l.modules, l.stands_in);
}
template <class Visit>
void each_member(const LibraryImage& i, const Visit& visit) {
  visit(i.names, i.roots);
}

}  // namespace tidemark::lang
