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
    const Seq<Stmt*>& body = out_.tree->body;
    std::vector<std::uint32_t> lines;  // where each statement's begin
    lines.reserve(body.size + 1);
    for (const Stmt* each : body) lines.push_back(first_line(each));
    lines.push_back(static_cast<std::uint32_t>(source_->text.size()));
    for (std::size_t i = 0; i < body.size; ++i) {
      // A docstring is no statement to run.
      if (body[i]->kind == StmtKind::kExpr &&
          static_cast<const ExprStmt*>(body[i])->value->kind == ExprKind::kConstant)
        continue;
      const bool alone = lines[i] != lines[i + 1] && (i == 0 || lines[i - 1] != lines[i]);
      statement(body[i], {lines[i], lines[i + 1]}, alone);
    }
    sort_names();
    return std::move(out_);
  }

 private:
  using Kind = LibraryName::Kind;

  /// Where the line begins on which a statement does, decorators included.
  [[nodiscard]] std::uint32_t first_line(const Stmt* node) const {
    std::uint32_t at = node->place.begin;
    const auto decorated = [&at](const Seq<Expr*>& decorators) {
      if (!decorators.empty()) at = decorators[0]->place.begin;
    };
    if (node->kind == StmtKind::kFunction)
      decorated(static_cast<const FunctionStmt*>(node)->decorators);
    if (node->kind == StmtKind::kClass) decorated(static_cast<const ClassStmt*>(node)->decorators);
    const std::size_t newline = at == 0 ? std::string::npos : source_->text.rfind('\n', at - 1);
    return newline == std::string::npos ? 0 : static_cast<std::uint32_t>(newline + 1);
  }

  /// `alone`: no other statement shares its lines.
  void statement(const Stmt* node, Place lines, bool alone) {
    bool takes_builtin = false;
    const std::function<void(const NameExpr&)> found = [&](const NameExpr& name) {
      takes_builtin = takes_builtin || is_builtin_(names_.text(name.name));
    };
    BoundNames(found).statement(node);
    const bool by_name = alone && !takes_builtin;
    switch (node->kind) {
      case StmtKind::kFunction:
        if (!by_name) break;
        return definition(*static_cast<const FunctionStmt*>(node)->target, lines);
      case StmtKind::kClass:
        if (!by_name) break;
        return definition(*static_cast<const ClassStmt*>(node)->target, lines);
      case StmtKind::kImport:
        if (!by_name) break;
        return import_modules(*static_cast<const ImportStmt*>(node));
      case StmtKind::kImportFrom: {
        const auto& from = *static_cast<const ImportFromStmt*>(node);
        if (from.module->empty()) {
          problem(node->place, "a file of the library takes names by a module's whole name",
                  "write from package.module import name");
          return;
        }
        if (from.star) {
          out_.stars.push_back({"*", Kind::kMember, node->place, *from.module, {}});
          return;
        }
        if (!by_name) break;
        return import_members(from);
      }
      default:
        break;
    }
    const std::function<void(const NameExpr&)> bind = [&](const NameExpr& name) {
      add({names_.text(name.name), Kind::kStatement, {}, {}, {}}, name.place);
    };
    BoundNames(bind).statement(node);
    if (!out_.statements.empty() && out_.statements.back().end == lines.begin) {
      out_.statements.back().end = lines.end;
    } else {
      out_.statements.push_back(lines);
    }
  }

  void definition(const NameExpr& target, Place lines) {
    add({names_.text(target.name), Kind::kDefinition, lines, {}, {}}, target.place);
  }

  void import_modules(const ImportStmt& node) {
    for (const ImportedName& each : node.names) {
      const std::string_view module = *each.module;
      add({names_.text(each.target->name),
           Kind::kModule,
           {},
           each.whole ? module : module.substr(0, module.find('.')),
           {}},
          each.place);
    }
  }

  void import_members(const ImportFromStmt& node) {
    for (const ImportedName& each : node.names) {
      add({names_.text(each.target->name), Kind::kMember, {}, *node.module, names_.text(each.name)},
          each.place);
    }
  }

  void add(const LibraryName& name, Place place) {
    for (const LibraryName& other : out_.names) {
      if (other.name != name.name) continue;
      const bool same_module =
          name.kind == Kind::kModule && other.kind == Kind::kModule && name.module == other.module;
      if (same_module || (name.kind == Kind::kStatement && other.kind == Kind::kStatement)) return;
      problem(place, fmt::format("'{}' is bound twice at top level", name.name),
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
              [](const LibraryName& a, const LibraryName& b) { return a.name < b.name; });
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

std::vector<LibraryName> public_names(std::string_view module, const LibraryEntries& entries) {
  std::vector<LibraryName> names;
  for (const LibraryName& each : entries.names) {
    if (each.kind == LibraryName::Kind::kModule || each.name.starts_with('_')) continue;
    const bool is_taken = each.kind == LibraryName::Kind::kMember;
    names.push_back({each.name,
                     LibraryName::Kind::kMember,
                     {},
                     is_taken ? each.module : module,
                     is_taken ? each.member : each.name});
  }
  return names;
}

}  // namespace tidemark::lang
