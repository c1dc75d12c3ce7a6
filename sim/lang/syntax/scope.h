#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "sim/base/problem.h"
#include "sim/lang/syntax/parser.h"

/// What resolving names knows of each function, class body and module of a tree (resolve.cc), and
/// how their frames are laid out from it (scope.cc).
namespace tidemark::lang {

struct Symbol {
  bool parameter = false;
  bool bound = false;
  bool global = false;    // declared
  bool nonlocal = false;  // declared
  bool used = false;
  bool cell = false;
  bool free = false;
  std::uint32_t slot = 0;  // in the frame, or index in frees
};

/// A scope's symbols in the order in which they were met. Most scopes have few: those are searched
/// from the start. A symbol found is good until another is made.
class SymbolTable {
 public:
  struct Entry {
    Name name;
    Symbol symbol;
  };
  Symbol* find(Name name);
  /// Makes it when there is none.
  Symbol& operator[](Name name);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  static constexpr std::size_t kFew = 16;
  [[nodiscard]] std::size_t index_of(Name name) const;
  std::vector<Entry> entries_;
  std::unordered_map<std::uint32_t, std::size_t> by_name_;  // of more than a few
};

struct Scope {
  Code* code = nullptr;
  Scope* parent = nullptr;
  bool comprehension = false;
  SymbolTable symbols;
  std::vector<NameExpr*> uses;  // in the order in which CPython compiles them
  bool uses_super = false;
  // What becomes the code's.
  std::vector<Name> slots;
  std::vector<std::uint32_t> cells;
  std::vector<Name> frees;
  std::vector<Code::Capture> captures;

  Symbol& symbol(Name name) { return symbols[name]; }
  [[nodiscard]] bool is_module() const { return code->form == Code::Form::kModule; }
  [[nodiscard]] bool is_class() const { return code->form == Code::Form::kClass; }
};

/// Decides for every variable where it lives, and writes that into the codes and the names' nodes.
/// Requires: a parent stands before the scopes within it. Appends what is wrong with `nonlocal`.
void lay_out_frames(std::deque<Scope>& scopes, SyntaxTree& tree, const Names& names,
                    const GlobalSlot& globals, std::vector<Problem>& problems);

}  // namespace tidemark::lang
