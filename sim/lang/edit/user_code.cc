#include "sim/lang/edit/user_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/lang/syntax/parser.h"
#include "sim/lang/syntax/walker.h"

namespace tidemark::lang {
namespace {

/// Writes down every node.
class Collector final : public Walker {
 public:
  Collector(std::vector<const Stmt*>& statements, std::vector<const Expr*>& expressions)
      : statements_(statements), expressions_(expressions) {}
  void stmt(const Stmt* node) override {
    statements_.push_back(node);
    Walker::stmt(node);
  }
  void expr(const Expr* node) override {
    expressions_.push_back(node);
    Walker::expr(node);
  }

 private:
  std::vector<const Stmt*>& statements_;
  std::vector<const Expr*>& expressions_;
};

class Finder final : public Walker {
 public:
  explicit Finder(const std::function<bool(const Expr&)>& is_it) : is_it_(is_it) {}
  void expr(const Expr* node) override {
    found = found || is_it_(*node);
    if (!found) Walker::expr(node);
  }
  bool found = false;

 private:
  const std::function<bool(const Expr&)>& is_it_;
};

/// By where they begin; of those that begin together the one around the others first.
template <class Node>
void sort_by_place(std::vector<const Node*>& nodes) {
  std::stable_sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) {
    if (a->place.begin != b->place.begin) return a->place.begin < b->place.begin;
    return a->place.end > b->place.end;
  });
}

int opening(Tok kind) {
  return kind == Tok::kLeftParen || kind == Tok::kLeftBracket || kind == Tok::kLeftBrace ? 1 : 0;
}
int closing(Tok kind) {
  return kind == Tok::kRightParen || kind == Tok::kRightBracket || kind == Tok::kRightBrace ? 1 : 0;
}

}  // namespace

UserCode::UserCode(std::shared_ptr<const SourceText> source, Imports around)
    : source_(std::move(source)), around_(std::move(around)) {
  std::vector<Problem> problems;
  tree_ = parse_module(source_, names_, problems);
  if (!problems.empty()) {
    has_syntax_errors_ = true;
    tree_ = std::make_shared<SyntaxTree>(source_);
    return;
  }
  tokens_ = tokenize(source_, whole(*source_), names_, problems);
  Collector(statements_, expressions_).body(tree_->body);
  sort_by_place(statements_);
  sort_by_place(expressions_);
  find_imports();
}

void UserCode::find_imports() {
  for (const Stmt* statement : statements_) {
    if (statement->kind == StmtKind::kImport) {
      for (const ImportedName& entry : static_cast<const ImportStmt*>(statement)->names) {
        const std::string_view module = name(entry.module);
        imports_[std::string(name(entry.target->name))] =
            std::string(entry.whole ? module : module.substr(0, module.find('.')));
      }
    } else if (statement->kind == StmtKind::kImportFrom) {
      const auto* from = static_cast<const ImportFromStmt*>(statement);
      for (const ImportedName& entry : from->names) {
        imports_[std::string(name(entry.target->name))] =
            fmt::format("{}.{}", name(from->module), name(entry.name));
      }
    }
  }
}

std::string_view UserCode::text(Place place) const {
  return std::string_view(source_->text).substr(place.begin, place.end - place.begin);
}

Place UserCode::extent(const Expr& node) const {
  const auto begins_before = [](const Token& token, std::uint32_t at) {
    return token.at.begin < at;
  };
  const auto first =
      std::lower_bound(tokens_.begin(), tokens_.end(), node.place.begin, begins_before);
  const auto last = std::lower_bound(first, tokens_.end(), node.place.end, begins_before);
  int open = 0;
  int unopened = 0;  // brackets that close within and opened before
  for (auto token = first; token != last; ++token) {
    open += opening(token->kind);
    if (closing(token->kind) == 0) continue;
    open > 0 ? --open : ++unopened;
  }
  Place out = node.place;
  int depth = 0;
  for (auto token = first; unopened > 0 && token != tokens_.begin();) {
    --token;
    depth += closing(token->kind) - opening(token->kind);
    if (depth >= 0) continue;
    depth = 0;
    --unopened;
    out.begin = token->at.begin;
  }
  for (auto token = last; open > 0 && token != tokens_.end(); ++token) {
    depth += opening(token->kind) - closing(token->kind);
    if (depth >= 0) continue;
    depth = 0;
    --open;
    out.end = token->at.end;
  }
  return out;
}

const Token& UserCode::token_before(std::uint32_t at) const {
  auto token =
      std::lower_bound(tokens_.begin(), tokens_.end(), at,
                       [](const Token& one, std::uint32_t to) { return one.at.begin < to; });
  do --token;
  while (token->kind == Tok::kComma);
  return *token;
}

std::string UserCode::path(const Expr& node, const Imports& more) const {
  if (node.kind == ExprKind::kName) {
    const std::string_view first = name(static_cast<const NameExpr&>(node).name);
    if (const auto own = imports_.find(first); own != imports_.end()) return own->second;
    if (const auto other = more.find(first); other != more.end()) return other->second;
    const auto outer = around_.find(first);
    return outer != around_.end() ? outer->second : std::string(first);
  }
  if (node.kind != ExprKind::kAttribute) return {};
  const auto& attribute = static_cast<const AttributeExpr&>(node);
  const std::string object = path(*attribute.object, more);
  return object.empty() ? object : object + "." + std::string(name(attribute.name));
}

bool UserCode::mentions(std::string_view name) const {
  Name id{};
  return names_.find(name, &id) &&
         std::any_of(tokens_.begin(), tokens_.end(), [id](const Token& token) {
           return token.kind == Tok::kName && token.name == id;
         });
}

const Expr* keyword_of(const UserCode& code, const CallExpr& call, std::string_view name) {
  for (const Keyword& keyword : call.keywords) {
    if (!keyword.spread && code.name(keyword.name) == name) return keyword.value;
  }
  return nullptr;
}

bool contains(const Expr& node, const std::function<bool(const Expr&)>& is_it) {
  Finder finder(is_it);
  finder.expr(&node);
  return finder.found;
}

std::vector<Edit> with_argument(const UserCode& code, const CallExpr& call,
                                std::string_view argument) {
  const Token& last = code.token_before(call.place.end - 1);
  const Place end{last.at.end, last.at.end};
  if (last.kind == Tok::kLeftParen) return {{end, std::string(argument)}};
  const std::string more = ", " + std::string(argument);
  const Expr* first = call.arguments.empty() ? nullptr : call.arguments[0];
  const bool is_generator =
      call.arguments.size + call.keywords.size == 1 && first != nullptr &&
      first->kind == ExprKind::kComprehension &&
      static_cast<const ComprehensionExpr*>(first)->form == ComprehensionKind::kGenerator;
  if (!is_generator) return {{end, more}};
  // Beside others it needs brackets of its own.
  return {{{first->place.begin, first->place.begin}, "("}, {end, ")" + more}};
}

std::string edited(std::string_view text, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.at.begin < b.at.begin; });
  std::string out;
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    out += text.substr(done, edit.at.begin - done);
    out += edit.text;
    done = edit.at.end;
  }
  return out += text.substr(done);
}

}  // namespace tidemark::lang
