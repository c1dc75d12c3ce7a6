#include "sim/lang/edit/blocks.h"

#include <algorithm>

#include "sim/lang/syntax/walker.h"

namespace tidemark::lang {
namespace {

/// The bodies of a compound statement, in the order of the text.
std::vector<Seq<Stmt*>> bodies_of(const Stmt& node) {
  switch (node.kind) {
    case StmtKind::kIf:
      return {static_cast<const IfStmt&>(node).body, static_cast<const IfStmt&>(node).otherwise};
    case StmtKind::kWhile:
      return {static_cast<const WhileStmt&>(node).body,
              static_cast<const WhileStmt&>(node).otherwise};
    case StmtKind::kFor:
      return {static_cast<const ForStmt&>(node).body, static_cast<const ForStmt&>(node).otherwise};
    case StmtKind::kFunction:
      return {static_cast<const FunctionStmt&>(node).function->body};
    case StmtKind::kClass:
      return {static_cast<const ClassStmt&>(node).body};
    case StmtKind::kWith:
      return {static_cast<const WithStmt&>(node).body};
    case StmtKind::kTry: {
      const auto& tried = static_cast<const TryStmt&>(node);
      std::vector<Seq<Stmt*>> out{tried.body};
      for (const Handler& handler : tried.handlers) out.push_back(handler.body);
      out.push_back(tried.otherwise);
      out.push_back(tried.finally);
      return out;
    }
    case StmtKind::kMatch: {
      std::vector<Seq<Stmt*>> out;
      for (const MatchCase& each : static_cast<const MatchStmt&>(node).cases)
        out.push_back(each.body);
      return out;
    }
    default:
      return {};
  }
}

const Stmt& last_within(const Stmt& node) {
  const Stmt* last = &node;
  for (const Seq<Stmt*>& body : bodies_of(node)) {
    if (!body.empty()) last = body[body.size - 1];
  }
  return last == &node ? node : last_within(*last);
}

class UsedNames final : public Walker {
 public:
  explicit UsedNames(NamesUsed& out) : out_(out) {}
  void target(const Expr* node) override {
    if (node->kind == ExprKind::kName) {
      out_.bound.insert(static_cast<const NameExpr*>(node)->name);
    } else if (node->kind == ExprKind::kTuple || node->kind == ExprKind::kList) {
      for (const Expr* item : static_cast<const SequenceExpr*>(node)->items) target(item);
    } else if (node->kind == ExprKind::kStarred) {
      target(static_cast<const StarredExpr*>(node)->value);
    } else {
      Walker::target(node);
    }
  }

 protected:
  void name(const NameExpr* node) override { out_.read.insert(node->name); }

 private:
  NamesUsed& out_;
};

/// The first token at or behind a byte.
std::size_t token_at(const UserCode& code, std::uint32_t at) {
  const std::vector<Token>& tokens = code.tokens();
  return static_cast<std::size_t>(
      std::lower_bound(tokens.begin(), tokens.end(), at,
                       [](const Token& one, std::uint32_t to) { return one.at.begin < to; }) -
      tokens.begin());
}

bool is_layout(Tok kind) {
  return kind == Tok::kNewline || kind == Tok::kIndent || kind == Tok::kDedent;
}

std::uint32_t line_begin(std::string_view text, std::uint32_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return before == std::string_view::npos ? 0 : static_cast<std::uint32_t>(before + 1);
}

/// Where the line of a statement's last token ends, the line break included.
std::uint32_t line_end(const UserCode& code, const Stmt& statement) {
  const std::vector<Token>& tokens = code.tokens();
  std::size_t i = token_at(code, last_within(statement).place.begin);
  while (is_layout(tokens[i].kind)) ++i;
  while (tokens[i].kind != Tok::kNewline && tokens[i].kind != Tok::kEnd) ++i;
  const std::size_t end = code.text().find('\n', tokens[i - 1].at.end);
  return static_cast<std::uint32_t>(end == std::string::npos ? code.text().size() : end + 1);
}

}  // namespace

std::vector<Block> blocks_of(const UserCode& code) {
  std::vector<Block> blocks{{code.body(), nullptr, 0, 0}};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t at = 0; at < blocks[i].body.size; ++at) {
      const Stmt* owner = blocks[i].body[at];
      for (const Seq<Stmt*>& body : bodies_of(*owner)) {
        if (!body.empty()) blocks.push_back({body, owner, i, at});
      }
    }
  }
  return blocks;
}

NamesUsed names_used(const Stmt& statement) {
  NamesUsed out;
  UsedNames(out).stmt(&statement);
  if (statement.kind == StmtKind::kAugAssign) {
    const Expr* target = static_cast<const AugAssignStmt&>(statement).target;
    if (target->kind == ExprKind::kName)
      out.read.insert(static_cast<const NameExpr*>(target)->name);
  }
  return out;
}

NamesUsed names_used(const Expr& node) {
  NamesUsed out;
  UsedNames(out).expr(&node);
  return out;
}

bool stands_alone(const UserCode& code, const Stmt& statement) {
  const std::vector<Token>& tokens = code.tokens();
  std::size_t first = token_at(code, statement.place.begin);
  while (is_layout(tokens[first].kind)) ++first;
  // An `elif` is a branch of the statement before it.
  if (tokens[first].kind == Tok::kElif) return false;
  if (first > 0 && !is_layout(tokens[first - 1].kind)) return false;
  const Stmt& last = last_within(statement);
  if (&last != &statement) return stands_alone(code, last);
  for (std::size_t i = first; tokens[i].kind != Tok::kEnd && tokens[i].kind != Tok::kNewline; ++i) {
    if (tokens[i].kind == Tok::kSemicolon) return false;
  }
  return true;
}

Place lines_of(const UserCode& code, const Stmt& first, const Stmt& last) {
  return {line_begin(code.text(), first.place.begin), line_end(code, last)};
}

std::string indent_of(const UserCode& code, const Stmt& statement) {
  const std::uint32_t begin = line_begin(code.text(), statement.place.begin);
  const std::string_view line = std::string_view(code.text()).substr(begin);
  return std::string(line.substr(0, line.find_first_not_of(" \t")));
}

std::vector<Edit> indented(const UserCode& code, Place lines) {
  const std::string& text = code.text();
  const bool has_tabs = text[lines.begin] == '\t';
  std::vector<Edit> edits;
  for (std::uint32_t at = lines.begin; at < lines.end;) {
    const std::size_t end = std::min<std::size_t>(text.find('\n', at), lines.end - 1);
    const bool is_blank = text.find_first_not_of(" \t\r", at) >= end;
    const std::size_t next = token_at(code, at);
    const bool is_within_text = next > 0 && code.tokens()[next - 1].kind == Tok::kString &&
                                code.tokens()[next - 1].at.end > at;
    if (!is_blank && !is_within_text) edits.push_back({{at, at}, has_tabs ? "\t" : "    "});
    at = static_cast<std::uint32_t>(end + 1);
  }
  return edits;
}

}  // namespace tidemark::lang
