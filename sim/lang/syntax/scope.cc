#include "sim/lang/syntax/scope.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::lang {

std::size_t SymbolTable::index_of(Name name) const {
  if (entries_.size() > kFew) {
    const auto found = by_name_.find(static_cast<std::uint32_t>(name));
    return found == by_name_.end() ? entries_.size() : found->second;
  }
  std::size_t i = 0;
  while (i < entries_.size() && entries_[i].name != name) ++i;
  return i;
}

Symbol* SymbolTable::find(Name name) {
  const std::size_t i = index_of(name);
  return i == entries_.size() ? nullptr : &entries_[i].symbol;
}

Symbol& SymbolTable::operator[](Name name) {
  const std::size_t found = index_of(name);
  if (found < entries_.size()) return entries_[found].symbol;
  entries_.push_back({name, {}});
  if (entries_.size() > kFew) {
    for (std::size_t i = by_name_.size(); i < entries_.size(); ++i)
      by_name_.emplace(static_cast<std::uint32_t>(entries_[i].name), i);
  }
  return entries_.back().symbol;
}

namespace {

class FrameLayout {
 public:
  FrameLayout(SyntaxTree& tree, const Names& names, const GlobalSlot& globals,
              std::vector<Problem>& problems)
      : tree_(tree), names_(names), globals_(globals), problems_(problems) {}

  void run(std::deque<Scope>& scopes) {
    for (Scope& scope : scopes) find_enclosing(scope);
    for (Scope& scope : scopes) lay_out(scope);
    for (Scope& scope : scopes) settle(scope);
  }

 private:
  void problem(Place at, std::string message) {
    if (problems_.size() < InputError::kMaxProblems) {
      problems_.push_back({span_of(tree_.source, at), {}, std::move(message), {}});
    }
  }

  static bool is_own(const Symbol& symbol) {
    return symbol.bound && !symbol.global && !symbol.nonlocal;
  }

  // Whether a function around `scope` has the variable; marks it as shared on the way.
  bool enclosed(Scope* scope, Name name) {
    if (scope == nullptr || scope->is_module()) return false;
    Symbol* symbol = scope->symbols.find(name);
    if (scope->is_class()) {
      if (name == known(name::kClass)) {
        scope->symbol(name).cell = true;
        return true;
      }
    } else if (symbol != nullptr) {
      if (symbol->global) return false;
      if (is_own(*symbol)) {
        symbol->cell = true;
        return true;
      }
    }
    if (!enclosed(scope->parent, name)) return false;
    scope->symbol(name).free = true;
    return true;
  }

  void find_enclosing(Scope& scope) {
    if (scope.is_module()) return;
    if (scope.uses_super && !scope.is_class() && enclosed(scope.parent, known(name::kClass))) {
      scope.symbol(known(name::kClass)).free = true;
    }
    // What lies around is other scopes: no symbol is made in this one.
    for (const SymbolTable::Entry& entry : scope.symbols.entries()) {
      const Name name = entry.name;
      const Symbol& given = entry.symbol;
      if (given.global || is_own(given) || !(given.used || given.bound || given.nonlocal)) continue;
      const bool found = enclosed(scope.parent, name);
      Symbol& symbol = scope.symbol(name);
      symbol.free = symbol.free || found;
      if (!found && symbol.nonlocal) {
        problem(scope.code->place,
                fmt::format("no binding for nonlocal '{}' found", names_.text(name)));
      }
    }
  }

  void lay_out(Scope& scope) {
    Code& code = *scope.code;
    if (!scope.is_module() && !scope.is_class()) {
      for (const NameExpr* node : scope.uses) {
        Symbol& symbol = scope.symbol(node->name);
        if (!is_own(symbol) || symbol.parameter || symbol.cell) continue;
        if (std::find(scope.slots.begin(), scope.slots.end(), node->name) != scope.slots.end())
          continue;
        symbol.slot = static_cast<std::uint32_t>(scope.slots.size());
        scope.slots.push_back(node->name);
      }
    }
    std::vector<Name> cells;
    std::vector<Name> frees;
    for (const SymbolTable::Entry& entry : scope.symbols.entries()) {
      if (entry.symbol.cell) cells.push_back(entry.name);
      // The __class__ of a class's methods is another than that of its own body.
      if (entry.symbol.free && (!entry.symbol.cell || scope.is_class()))
        frees.push_back(entry.name);
    }
    const auto by_text = [&](Name a, Name b) { return names_.text(a) < names_.text(b); };
    std::sort(cells.begin(), cells.end(), by_text);
    std::sort(frees.begin(), frees.end(), by_text);
    for (const Name name : cells) {
      Symbol& symbol = scope.symbol(name);
      if (!symbol.parameter) {
        symbol.slot = static_cast<std::uint32_t>(scope.slots.size());
        scope.slots.push_back(name);
      }
      scope.cells.push_back(symbol.slot);
      if (scope.is_class()) code.own_class_cell = static_cast<std::int32_t>(symbol.slot);
    }
    for (const Name name : frees) {
      if (name == known(name::kClass))
        code.class_cell = static_cast<std::int32_t>(scope.frees.size());
      scope.symbol(name).slot = static_cast<std::uint32_t>(scope.frees.size());
      scope.frees.push_back(name);
    }
  }

  void settle(Scope& scope) {
    Code& code = *scope.code;
    for (const Name name : scope.frees) {
      Symbol& outer = scope.parent->symbol(name);
      const bool is_of_class = outer.cell && scope.parent->is_class();
      scope.captures.push_back(
          {outer.cell, is_of_class ? static_cast<std::uint32_t>(scope.parent->code->own_class_cell)
                                   : outer.slot});
    }
    for (NameExpr* node : scope.uses) {
      const Symbol& symbol = scope.symbol(node->name);
      const bool own = is_own(symbol);
      if (symbol.free && !(scope.is_class() && own)) {
        const bool fallback = scope.is_class() && !symbol.nonlocal;
        node->access = fallback ? Access::kClassFree : Access::kFree;
        node->slot = symbol.slot;
      } else if (scope.is_module() || symbol.global || (!own && !scope.is_class())) {
        node->access = Access::kGlobal;
        node->slot = static_cast<std::uint32_t>(globals_(node->name));
      } else if (scope.is_class()) {
        node->access = Access::kClass;
        node->slot = static_cast<std::uint32_t>(globals_(node->name));
      } else {
        node->access = symbol.cell ? Access::kCell : Access::kLocal;
        node->slot = symbol.slot;
      }
    }
    code.slots = tree_.make_seq(scope.slots);
    code.cells = tree_.make_seq(scope.cells);
    code.frees = tree_.make_seq(scope.frees);
    code.captures = tree_.make_seq(scope.captures);
  }

  SyntaxTree& tree_;
  const Names& names_;
  const GlobalSlot& globals_;
  std::vector<Problem>& problems_;
};

}  // namespace

void lay_out_frames(std::deque<Scope>& scopes, SyntaxTree& tree, const Names& names,
                    const GlobalSlot& globals, std::vector<Problem>& problems) {
  FrameLayout(tree, names, globals, problems).run(scopes);
}

}  // namespace tidemark::lang
