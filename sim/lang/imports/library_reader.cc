#include "sim/lang/imports/library_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/syntax/parser.h"

namespace tidemark::lang {

namespace {

/// Calls `found` with every name that a statement binds where it stands; those that functions and
/// classes within it bind are their own.
class BoundNames {
 public:
  explicit BoundNames(const std::function<void(const NameExpr&)>& found) : found_(found) {}

  void statement(const Stmt* node) const {
    switch (node->kind) {
      case StmtKind::kAssign:
        for (const Expr* each : static_cast<const AssignStmt*>(node)->targets) target(each);
        return;
      case StmtKind::kAugAssign:
        return target(static_cast<const AugAssignStmt*>(node)->target);
      case StmtKind::kAnnotated:
        if (static_cast<const AnnotatedStmt*>(node)->value != nullptr)
          target(static_cast<const AnnotatedStmt*>(node)->target);
        return;
      case StmtKind::kFunction:
        return found_(*static_cast<const FunctionStmt*>(node)->target);
      case StmtKind::kClass:
        return found_(*static_cast<const ClassStmt*>(node)->target);
      case StmtKind::kImport:
        return imported(static_cast<const ImportStmt*>(node)->names);
      case StmtKind::kImportFrom:
        return imported(static_cast<const ImportFromStmt*>(node)->names);
      case StmtKind::kIf:
        block(static_cast<const IfStmt*>(node)->body);
        return block(static_cast<const IfStmt*>(node)->otherwise);
      case StmtKind::kWhile:
        block(static_cast<const WhileStmt*>(node)->body);
        return block(static_cast<const WhileStmt*>(node)->otherwise);
      case StmtKind::kFor:
        target(static_cast<const ForStmt*>(node)->target);
        block(static_cast<const ForStmt*>(node)->body);
        return block(static_cast<const ForStmt*>(node)->otherwise);
      case StmtKind::kWith:
        for (const WithItem& item : static_cast<const WithStmt*>(node)->items) target(item.target);
        return block(static_cast<const WithStmt*>(node)->body);
      case StmtKind::kTry:
        return attempt(*static_cast<const TryStmt*>(node));
      case StmtKind::kMatch:
        for (const MatchCase& each : static_cast<const MatchStmt*>(node)->cases) {
          for_each_part(
              each.pattern, [](const Expr*) {}, [this](const NameExpr* name) { found_(*name); });
          block(each.body);
        }
        return;
      case StmtKind::kExpr:
      case StmtKind::kDelete:
      case StmtKind::kReturn:
      case StmtKind::kPass:
      case StmtKind::kBreak:
      case StmtKind::kContinue:
      case StmtKind::kRaise:
      case StmtKind::kAssert:
      case StmtKind::kGlobal:
      case StmtKind::kNonlocal:
      case StmtKind::kYield:
        return;
    }
  }

 private:
  void block(const Seq<Stmt*>& body) const {
    for (const Stmt* each : body) statement(each);
  }
  void imported(const Seq<ImportedName>& names) const {
    for (const ImportedName& each : names) found_(*each.target);
  }
  void attempt(const TryStmt& node) const {
    block(node.body);
    for (const Handler& handler : node.handlers) block(handler.body);
    block(node.otherwise);
    block(node.finally);
  }
  void target(const Expr* node) const {
    if (node == nullptr) return;
    if (node->kind == ExprKind::kName) return found_(*static_cast<const NameExpr*>(node));
    if (node->kind == ExprKind::kStarred)
      return target(static_cast<const StarredExpr*>(node)->value);
    if (node->kind != ExprKind::kTuple && node->kind != ExprKind::kList) return;
    for (const Expr* item : static_cast<const SequenceExpr*>(node)->items) target(item);
  }

  const std::function<void(const NameExpr&)>& found_;
};

class Reader {
 public:
  Reader(const std::shared_ptr<const SourceText>& source, Names& names,
         const std::function<bool(std::string_view)>& is_builtin, std::vector<Problem>& problems)
      : source_(source), names_(names), is_builtin_(is_builtin), problems_(problems) {}

  LibraryEntries read() {
    const std::size_t before = problems_.size();
    out_.tree = parse_module(source_, names_, problems_);
    if (problems_.size() != before) return std::move(out_);
    for (Stmt* each : out_.tree->body) {
      // A docstring is no statement to run.
      if (each->kind == StmtKind::kExpr &&
          static_cast<const ExprStmt*>(each)->value->kind == ExprKind::kConstant)
        continue;
      statement(each);
    }
    sort_names();
    return std::move(out_);
  }

 private:
  using Kind = LibraryName::Kind;

  void statement(Stmt* node) {
    bool by_name = true;
    const std::function<void(const NameExpr&)> found = [&](const NameExpr& name) {
      by_name = by_name && !is_builtin_(names_.text(name.name));
    };
    BoundNames(found).statement(node);
    switch (node->kind) {
      case StmtKind::kFunction:
        if (!by_name) break;
        return definition(node, *static_cast<const FunctionStmt*>(node)->target);
      case StmtKind::kClass:
        if (!by_name) break;
        return definition(node, *static_cast<const ClassStmt*>(node)->target);
      case StmtKind::kImport:
        if (!by_name) break;
        return import_modules(*static_cast<const ImportStmt*>(node));
      case StmtKind::kImportFrom: {
        const auto& from = *static_cast<const ImportFromStmt*>(node);
        if (from.level > 0) {
          problem(node->place, "a file of the library takes names by a module's whole name",
                  "write from package.module import name");
          return;
        }
        if (from.star) {
          out_.stars.push_back({node->place, from.module});
          return;
        }
        if (!by_name) break;
        return import_members(from);
      }
      default:
        break;
    }
    const std::function<void(const NameExpr&)> bind = [&](const NameExpr& name) {
      add({name.name, Kind::kStatement}, name.place);
    };
    BoundNames(bind).statement(node);
    out_.statements.push_back(node);
  }

  void definition(Stmt* node, const NameExpr& target) {
    add({target.name, Kind::kDefinition, out_.tree->make_seq(std::vector<Stmt*>{node})},
        target.place);
  }

  void import_modules(const ImportStmt& node) {
    for (const ImportedName& each : node.names) {
      const std::string_view module = names_.text(each.module);
      const std::string_view bound = each.whole ? module : module.substr(0, module.find('.'));
      add({each.target->name, Kind::kModule, {}, names_.intern(bound)}, each.place);
    }
  }

  void import_members(const ImportFromStmt& node) {
    for (const ImportedName& each : node.names)
      add({each.target->name, Kind::kMember, {}, node.module, each.name}, each.place);
  }

  void add(const LibraryName& name, Place place) {
    for (const LibraryName& other : out_.names) {
      if (other.name != name.name) continue;
      const bool same_module =
          name.kind == Kind::kModule && other.kind == Kind::kModule && name.module == other.module;
      if (same_module || (name.kind == Kind::kStatement && other.kind == Kind::kStatement)) return;
      problem(place, fmt::format("'{}' is bound twice at top level", names_.text(name.name)),
              "a definition of the library is run when its name is asked for: give one another "
              "name");
      return;
    }
    out_.names.push_back(name);
  }

  void problem(Place place, std::string message, std::string hint) {
    if (problems_.size() >= InputError::kMaxProblems) return;
    problems_.push_back({span_of(source_, place), {}, std::move(message), std::move(hint)});
  }

  void sort_names() {
    std::sort(out_.names.begin(), out_.names.end(),
              [this](const LibraryName& a, const LibraryName& b) {
                return names_.text(a.name) < names_.text(b.name);
              });
  }

  const std::shared_ptr<const SourceText>& source_;
  Names& names_;
  const std::function<bool(std::string_view)>& is_builtin_;
  std::vector<Problem>& problems_;
  LibraryEntries out_;
};

}  // namespace

LibraryEntries read_library_file(const std::shared_ptr<const SourceText>& source, Names& names,
                                 const std::function<bool(std::string_view name)>& is_builtin,
                                 std::vector<Problem>& problems) {
  return Reader(source, names, is_builtin, problems).read();
}

LibraryModule resolve_library_file(TextSeq name, LibraryEntries& entries, GlobalNames& globals,
                                   Names& names, std::vector<Problem>& problems) {
  for (const LibraryName& each : entries.names) globals.slot(each.name);
  resolve(
      *entries.tree, names, [&](Name global) { return globals.slot(global); }, problems);
  return {name,
          entries.tree->code,
          globals.table(),
          {entries.names.data(), static_cast<std::uint32_t>(entries.names.size())},
          entries.tree->make_seq(entries.statements)};
}

std::vector<LibraryName> public_names(Name module, const LibraryEntries& entries,
                                      const Names& names) {
  std::vector<LibraryName> out;
  for (const LibraryName& each : entries.names) {
    if (each.kind == LibraryName::Kind::kModule || names.text(each.name).starts_with('_')) continue;
    const bool is_taken = each.kind == LibraryName::Kind::kMember;
    out.push_back({each.name,
                   LibraryName::Kind::kMember,
                   {},
                   is_taken ? each.module : module,
                   is_taken ? each.member : each.name});
  }
  return out;
}

}  // namespace tidemark::lang
