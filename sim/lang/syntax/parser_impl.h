#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/lang/syntax/literal_calls.h"
#include "sim/lang/syntax/parser.h"
#include "sim/lang/syntax/unread_body.h"

/// The parser's own state, shared by its three files (statements, expressions, strings).
namespace tidemark::lang {

class Parser {
 public:
  Parser(SyntaxTree& tree, Names& names, std::vector<Problem>& problems)
      : tree_(tree), names_(names), problems_(problems) {}
  void file(Bodies bodies);
  void function_body(Code& function);
  void single_expression();

 private:
  static constexpr std::uint32_t kMaxDepth = 150;
  static constexpr std::uint32_t kMaxChain = 1000;
  static constexpr int kLowestLevel = 1;  // of binary operators

  /// Unwinds to the statement; the problem is recorded already.
  struct SyntaxFailure {};

  /// Counts nesting for as long as it lives.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxDepth) {
        --parser_.depth_;
        parser_.fail(parser_.current().at, "the code is nested too deeply",
                     "name a part of it and use the name");
      }
    }
    ~Nested() { --parser_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  // Tokens.
  [[nodiscard]] const Token& current() const { return tokens_[at_]; }
  [[nodiscard]] Tok kind() const { return tokens_[at_].kind; }
  [[nodiscard]] Tok next_kind() const {
    return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_].kind;
  }
  Token take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool accept(Tok wanted) {
    if (kind() != wanted) return false;
    take();
    return true;
  }
  Token expect(Tok wanted, std::string_view where);
  [[nodiscard]] std::uint32_t last_end() const { return at_ == 0 ? 0 : tokens_[at_ - 1].at.end; }
  /// From a token's begin up to the last one taken, brackets included.
  [[nodiscard]] Place since(std::uint32_t begin) const { return {begin, last_end()}; }
  [[nodiscard]] std::string found() const;
  [[nodiscard]] std::string_view text(Place place) const {
    return std::string_view(tree_.source->text).substr(place.begin, place.end - place.begin);
  }

  // Problems.
  void note(Place at, std::string message, std::string hint = {});
  [[noreturn]] void fail(Place at, std::string message, std::string hint = {});
  void resynchronise();

  template <class T>
  T* make(T node) {
    return tree_.make<T>(node);
  }
  template <class T>
  Seq<T> seq(const std::vector<T>& items) {
    return tree_.make_seq(items);
  }
  /// What a name such as __x means in the class around it: _Class__x.
  Name mangled(Name name) { return class_.empty() ? name : mangled_in_class(name); }
  Name mangled_in_class(Name name);
  static std::string_view own_part(std::string_view class_name);
  NameExpr* make_name(const Token& token) {
    return make(NameExpr{{ExprKind::kName, token.at}, mangled(token.name)});
  }
  Expr* make_constant(Literal literal, Place at);
  /// A literal that is a call of a built-in function that no program can name.
  Expr* called(std::string_view hidden, const Token& at, Expr* argument);
  JoinedPart text_part(std::string_view text);
  Code* new_code(Code::Form form, Name name, Place place);

  // Statements (parser_stmt.cc).
  void statement(std::vector<Stmt*>& out);
  bool any_statement(std::vector<Stmt*>& out);
  void guarded_statement(std::vector<Stmt*>& out);
  void simple_line(std::vector<Stmt*>& out);
  Stmt* simple_statement();
  Stmt* expression_statement();
  Seq<Stmt*> block(std::string_view after);
  Stmt* if_statement();
  Stmt* while_statement();
  Stmt* for_statement();
  Stmt* try_statement();
  Stmt* with_statement();
  bool parenthesised_with();
  Stmt* function_statement(Seq<Expr*> decorators, bool is_async = false);
  Stmt* async_statement();
  [[nodiscard]] bool takes_import_error(const Expr* type) const;
  Stmt* class_statement(Seq<Expr*> decorators);
  Stmt* decorated();
  Stmt* import_statement();
  Stmt* import_from_statement();
  Stmt* name_list_statement(StmtKind form);
  std::string dotted_name(std::vector<Token>* parts);
  Seq<Stmt*> else_block();

  // `match` (parser_match.cc). It is a keyword only where a whole statement can begin with it.
  [[nodiscard]] bool starts_match() const;
  Stmt* match_statement();
  MatchCase match_case();
  Pattern* case_pattern();     // a, *b, c
  Pattern* star_or_pattern();  // *a or a
  Pattern* pattern();          // a | b as c
  Pattern* closed_pattern();
  Pattern* literal_pattern();
  Pattern* name_pattern();
  Pattern* class_pattern(Expr* type);
  Pattern* mapping_pattern();
  Pattern* sequence_pattern(Tok end);
  Pattern* make_sequence(const std::vector<Pattern*>& items, Place place);
  Expr* pattern_value();
  Expr* pattern_number();
  void check_names(const Pattern* pattern, std::vector<Name>& bound);
  void check_reachable(const std::vector<MatchCase>& cases);

  const Parameters* parameters(Tok end, bool annotations);
  void check_target(Expr* target, std::string_view what, bool allow_star = false);
  Expr* target_list(Tok end);

  // Expressions (parser_expr.cc).
  Expr* expressions();       // a, *b, c
  Expr* yield_expression();  // yield a, yield from a
  Expr* yield_or_expressions() {
    return kind() == Tok::kYield ? yield_expression() : expressions();
  }
  Expr* star_or_expression();  // *a or a
  Expr* named_expression();    // a := b
  Expr* expression();          // lambda, ternary
  Expr* lambda();
  Expr* disjunction();
  Expr* conjunction();
  Expr* inversion();
  Expr* comparison();
  Expr* operation(int level);
  Expr* factor();
  Expr* power();
  Expr* primary();
  Expr* atom();
  Expr* parenthesised();
  Expr* bracketed();
  Expr* braced();
  Expr* number();
  Expr* call(Expr* callee, std::uint32_t begin);
  Expr* subscript(Expr* object, std::uint32_t begin);
  Expr* subscript_item();
  Expr* comprehension(ComprehensionKind form, Expr* element, Expr* value, std::uint32_t begin);
  bool at_clause() const { return kind() == Tok::kFor || kind() == Tok::kAsync; }
  bool starts_expression() const;
  [[noreturn]] void unexpected();
  void unsupported(Tok construct);

  // Strings (parser_string.cc).
  Expr* strings();
  void formatted(Place body, bool raw, std::vector<JoinedPart>& parts, int depth);
  void replacement(std::uint32_t& at, std::uint32_t end, bool raw, std::vector<JoinedPart>& parts,
                   int depth);
  Expr* sub_expression(Place range);
  Expr* percent_display(Expr* format, Expr* values);
  std::string decode(Place body, bool raw, bool is_bytes);
  std::uint32_t named_character(Place body, std::size_t& at);

  SyntaxTree& tree_;
  Names& names_;
  std::vector<Problem>& problems_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::uint32_t depth_ = 0;
  std::size_t first_problem_ = 0;   // of this file in problems_
  std::size_t lexer_problems_ = 0;  // how many came from the tokens
  std::uint32_t loops_ = 0;         // around the statement, within its function
  std::uint32_t functions_ = 0;     // around the statement
  bool in_async_ = false;           // the innermost of them is `async`
  std::uint32_t yields_ = 0;        // so far in the function
  std::string_view class_;          // around the statement; empty: none, or nothing but underscores
};

}  // namespace tidemark::lang
