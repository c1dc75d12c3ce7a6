#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// A text of the user's with its syntax tree, for those who look something up in it or change it.
/// What stands in strings and comments is no code and is never found.
class UserCode {
 public:
  using Imports = std::map<std::string, std::string, std::less<>>;
  /// A text with syntax errors has no nodes: whoever runs it tells what is wrong.
  /// `around`: what names stand for that the text does not import, path() below.
  explicit UserCode(std::shared_ptr<const SourceText> source, Imports around = {});
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

  [[nodiscard]] bool has_syntax_errors() const { return has_syntax_errors_; }
  [[nodiscard]] const std::string& text() const { return source_->text; }
  /// Statements at the left margin, in order.
  [[nodiscard]] const Seq<Stmt*>& body() const { return tree_->body; }
  /// All statements and expressions, those of functions and classes too, as they begin in the text:
  /// what lies around another before it.
  [[nodiscard]] const std::vector<const Stmt*>& statements() const { return statements_; }
  [[nodiscard]] const std::vector<const Expr*>& expressions() const { return expressions_; }

  /// The bytes of an expression. Its Place leaves out brackets around the whole of it, and those
  /// that begin or end one of its operands: "a + b) * c" of "(a + b) * c". This has the latter.
  [[nodiscard]] Place extent(const Expr& node) const;
  [[nodiscard]] std::string_view text(const Expr& node) const { return text(extent(node)); }
  [[nodiscard]] std::string_view text(Place place) const;
  /// The last token before an offset, commas left out. Requires: there is one.
  [[nodiscard]] const Token& token_before(std::uint32_t at) const;
  [[nodiscard]] const std::vector<Token>& tokens() const { return tokens_; }
  [[nodiscard]] std::string_view name(Name name) const { return names_.text(name); }

  /// The names that this text's imports bind ("optim": "torch.optim"); where a name is bound twice
  /// the last import counts.
  [[nodiscard]] const Imports& imports() const { return imports_; }
  /// Whether a name has a meaning that the text needs no import for.
  [[nodiscard]] bool is_around(std::string_view name) const {
    return around_.find(name) != around_.end();
  }
  /// Whether it has any such: it is no file's, and code may stand at its very top.
  [[nodiscard]] bool has_names_around() const { return !around_.empty(); }
  /// The dotted name of what a name or a chain of attributes stands for, where this text's imports,
  /// `more` and then the names around say what its first name is: "torch.optim.Adam" of Adam after
  /// `from torch.optim import Adam`. Empty: it is neither.
  [[nodiscard]] std::string path(const Expr& node, const Imports& more = {}) const;

  /// Whether the text has a variable, attribute, keyword or import of that name.
  [[nodiscard]] bool mentions(std::string_view name) const;

 private:
  void find_imports();

  std::shared_ptr<const SourceText> source_;
  Names names_;
  std::shared_ptr<SyntaxTree> tree_;
  std::vector<Token> tokens_;
  std::vector<const Stmt*> statements_;
  std::vector<const Expr*> expressions_;
  Imports imports_;
  Imports around_;
  bool has_syntax_errors_ = false;
};

/// The value of an argument that a call gives by name; nullptr: it gives none of that name.
const Expr* keyword_of(const UserCode& code, const CallExpr& call, std::string_view name);
/// Whether a node, or one within it, is such that `is_it` says true.
bool contains(const Expr& node, const std::function<bool(const Expr&)>& is_it);

/// One change of a text. An empty place: something is put in there.
struct Edit {
  Place at;
  std::string text;
};
/// What gives a call one more argument, after those that it has: "lr=1e-3" -> "lr=1e-3,
/// fused=True".
std::vector<Edit> with_argument(const UserCode& code, const CallExpr& call,
                                std::string_view argument);
/// The text with all edits made; every other byte stays. Requires: no two overlap.
std::string edited(std::string_view text, std::vector<Edit> edits);

}  // namespace tidemark::lang
