#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/lang/edit/user_code.h"

namespace tidemark::lang {

/// Statements that stand under one another: those of a module, a function, a branch.
struct Block {
  Seq<Stmt*> body;
  const Stmt* owner = nullptr;  ///< whose body they are; null: the module's
  std::size_t around = 0;       ///< the block that the owner stands in, by its place in the list
  std::size_t at = 0;           ///< where the owner stands in it
};
/// All of them, one around another before it; the first is the module's.
std::vector<Block> blocks_of(const UserCode& code);

/// What a piece of code reads and what it binds, those of functions within it among them.
struct NamesUsed {
  std::set<Name> read;
  std::set<Name> bound;
};
NamesUsed names_used(const Stmt& statement);
NamesUsed names_used(const Expr& node);

/// Whether nothing else stands on the lines of a statement, and a line may be put before it.
bool stands_alone(const UserCode& code, const Stmt& statement);
/// The whole lines from one statement to the end of another, the last line break too. Requires:
/// both stand alone.
Place lines_of(const UserCode& code, const Stmt& first, const Stmt& last);
/// What stands before a statement on its line.
std::string indent_of(const UserCode& code, const Stmt& statement);
/// Four spaces, or a tab after tabs, before each of these lines; those that begin within a text
/// stay as they are.
std::vector<Edit> indented(const UserCode& code, Place lines);

}  // namespace tidemark::lang
