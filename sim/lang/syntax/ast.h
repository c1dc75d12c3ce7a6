#pragma once

#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/lang/syntax/lexer.h"
#include "sim/lang/syntax/operators.h"
#include "sim/lang/syntax/seq.h"

/// The syntax tree. Nodes are plain structs that refer to plain structs alone; the resolver
/// (resolve.cc) fills in where each name lives, and from there on nothing writes to them: the
/// evaluator walks them as they are. They lie in a tree's arena, or are a part of the program
/// (imports/image.h).
namespace tidemark::lang {

struct Code;
struct FunctionNode;

enum class ExprKind : std::uint8_t {
  kName,
  kConstant,
  kJoined,
  kTuple,
  kList,
  kSet,
  kDict,
  kUnary,
  kNot,
  kBinary,
  kBool,
  kCompare,
  kConditional,
  kCall,
  kAttribute,
  kSubscript,
  kSlice,
  kStarred,
  kLambda,
  kComprehension,
  kNamed,
  kYield,
  kTaken,
};

struct Expr {
  ExprKind kind;
  Place place;
};

/// Where a name lives, once resolved.
enum class Access : std::uint8_t {
  kUnresolved,
  kLocal,      ///< slot of the frame
  kCell,       ///< slot of the frame that holds a Cell
  kFree,       ///< index in the function's closure
  kGlobal,     ///< slot of the module, then builtins
  kClass,      ///< namespace of the class body, then slot of the module, then builtins
  kClassFree,  ///< namespace of the class body, then the closure
};

struct NameExpr : Expr {
  Name name;
  Access access = Access::kUnresolved;
  std::uint32_t slot = 0;
};
/// What a literal means. A text is interned: an interpreter makes one str of it.
struct Literal {
  enum class Kind : std::uint8_t { kNone, kEllipsis, kBool, kInt, kFloat, kText };
  Kind kind = Kind::kNone;
  std::int64_t bits = 0;

  static Literal of(bool value) { return {Kind::kBool, value ? 1 : 0}; }
  static Literal of(std::int64_t value) { return {Kind::kInt, value}; }
  static Literal of(double value) { return {Kind::kFloat, std::bit_cast<std::int64_t>(value)}; }
  static Literal of(Name text) { return {Kind::kText, static_cast<std::int64_t>(text)}; }

  [[nodiscard]] std::int64_t integer() const { return bits; }  // of kBool and kInt
  [[nodiscard]] double real() const { return std::bit_cast<double>(bits); }
  [[nodiscard]] Name text() const { return static_cast<Name>(bits); }
};
struct ConstantExpr : Expr {
  Literal literal;
};
/// What a literal such as 2.5j calls with 2.5; no name of a program can be this.
inline constexpr std::string_view kImaginary = "<imaginary>";
/// A piece of an f-string: text, or an expression with conversion and format.
struct JoinedPart {
  Name text;
  Expr* value;      // null: the piece is `text`
  char conversion;  // 'r', 's', 'a' or 0
  Expr* spec;       // null, or a JoinedExpr or constant
};
struct JoinedExpr : Expr {
  Seq<JoinedPart> parts;
};
/// Tuple, list or set display.
struct SequenceExpr : Expr {
  Seq<Expr*> items;
  bool has_star;
};
struct DictExpr : Expr {
  Seq<Expr*> keys;  // null: the value is spread with **
  Seq<Expr*> values;
};
struct UnaryExpr : Expr {
  UnaryOp op;
  Expr* operand;
};
struct NotExpr : Expr {
  Expr* operand;
};
struct BinaryExpr : Expr {
  BinaryOp op;
  Expr* left;
  Expr* right;
};
struct BoolExpr : Expr {
  bool is_or;
  Seq<Expr*> operands;
};
enum class Relation : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIs, kIsNot, kIn, kNotIn };
struct Comparison {
  Relation relation;
  Expr* right;
};
struct CompareExpr : Expr {
  Expr* left;
  Seq<Comparison> steps;
};
struct ConditionalExpr : Expr {
  Expr* test;
  Expr* body;
  Expr* otherwise;
};
struct Keyword {
  Name name;
  Expr* value;
  bool spread;  // **value
  Place place;
};
struct CallExpr : Expr {
  Expr* callee;
  Seq<Expr*> arguments;
  Seq<Keyword> keywords;
  Seq<Name> keyword_names;  // of all keywords; used where nothing is spread
  bool spread;              // has *args or **kwargs
};
struct AttributeExpr : Expr {
  Expr* object;
  Name name;
  Place name_place;
};
struct SubscriptExpr : Expr {
  Expr* object;
  Expr* index;
};
struct SliceExpr : Expr {
  Expr* start;  // null where left out
  Expr* stop;
  Expr* step;
};
struct StarredExpr : Expr {
  Expr* value;
};
struct LambdaExpr : Expr {
  FunctionNode* function;
};
struct Clause {
  Expr* target;
  Expr* iterable;
  Seq<Expr*> conditions;
};
enum class ComprehensionKind : std::uint8_t { kList, kSet, kDict, kGenerator };
struct ComprehensionExpr : Expr {
  ComprehensionKind form;
  Expr* element;
  Expr* value;  // of a dict
  Seq<Clause> clauses;
  Code* code;
};
struct NamedExpr : Expr {
  NameExpr* target;
  Expr* value;
};
/// A `yield` within an expression; yields.h makes statements of it, so that none is left after the
/// parser, but where it says so.
struct YieldExpr : Expr {
  Expr* value;  // null: None
  bool from;
};
/// kTaken is a NameExpr: a hidden local of yields.h, which is empty once it is read.

enum class StmtKind : std::uint8_t {
  kExpr,
  kAssign,
  kAugAssign,
  kAnnotated,
  kDelete,
  kReturn,
  kPass,
  kIf,
  kWhile,
  kFor,
  kBreak,
  kContinue,
  kFunction,
  kClass,
  kWith,
  kTry,
  kRaise,
  kAssert,
  kImport,
  kImportFrom,
  kGlobal,
  kNonlocal,
  kYield,
  kMatch,
};

struct Stmt {
  StmtKind kind;
  Place place;          // of a compound statement: its first line
  bool yields = false;  // a yield stands in it
};

struct Parameter {
  NameExpr* name;
  Expr* fallback;    // null: required
  Place annotation;  // empty: none
};
struct Parameters {
  Seq<Parameter> positional;
  std::uint32_t positional_only;  // how many of them
  Seq<Parameter> keyword_only;
  NameExpr* star;         // null: none
  NameExpr* double_star;  // null: none
  Place star_annotation;
  Place double_star_annotation;
};
struct FunctionNode {
  Name name;
  Place place;  // the name, or "lambda"
  const Parameters* parameters;
  Seq<Stmt*> body;
  Expr* value;  // of a lambda
  Code* code;
};

struct ExprStmt : Stmt {
  Expr* value;
};
struct AssignStmt : Stmt {
  Seq<Expr*> targets;
  Expr* value;
};
struct AugAssignStmt : Stmt {
  BinaryOp op;
  Expr* target;
  Expr* value;
};
struct AnnotatedStmt : Stmt {
  Expr* target;
  Expr* annotation;  // of a class body: evaluated when someone looks; else never
  Expr* value;       // null: none
};
struct DeleteStmt : Stmt {
  Seq<Expr*> targets;
};
struct ReturnStmt : Stmt {
  Expr* value;  // null: None
};
struct IfStmt : Stmt {
  Expr* test;
  Seq<Stmt*> body;
  Seq<Stmt*> otherwise;
};
struct WhileStmt : Stmt {
  Seq<Stmt*> before;  // run before each test: what yields in it
  Expr* test;
  Seq<Stmt*> body;
  Seq<Stmt*> otherwise;
};
struct ForStmt : Stmt {
  Expr* target;
  Expr* iterable;
  Seq<Stmt*> body;
  Seq<Stmt*> otherwise;
};
struct FunctionStmt : Stmt {
  FunctionNode* function;
  NameExpr* target;
  Seq<Expr*> decorators;
};
struct ClassStmt : Stmt {
  NameExpr* target;
  Seq<Expr*> bases;
  Seq<Stmt*> body;
  Seq<Expr*> decorators;
  Seq<Keyword> keywords;  // metaclass= among them
  Code* code;
};
struct WithItem {
  Expr* manager;
  Expr* target;  // null: none
};
struct WithStmt : Stmt {
  Seq<WithItem> items;
  Seq<Stmt*> body;
};
struct Handler {
  Expr* type;        // null: everything
  NameExpr* target;  // null: none
  Seq<Stmt*> body;
  Place place;
};
struct TryStmt : Stmt {
  Seq<Stmt*> body;
  Seq<Handler> handlers;
  Seq<Stmt*> otherwise;
  Seq<Stmt*> finally;
  bool takes_import_errors;  // a handler is for ImportError, or for what it derives from
  bool by_group;             // the handlers are `except*`
};
struct RaiseStmt : Stmt {
  Expr* exception;  // null: again the one being handled
  Expr* cause;
};
struct AssertStmt : Stmt {
  Expr* test;
  Expr* message;
};
struct ImportedName {
  Name module;  // "torch.nn" (import only)
  Name name;    // what is taken (from-import only)
  NameExpr* target;
  bool whole;  // `import a.b as c` binds a.b; without `as` it binds a
  Place place;
};
struct ImportStmt : Stmt {
  Seq<ImportedName> names;
};
struct ImportFromStmt : Stmt {
  Name module;
  std::uint32_t level;  // how many dots stand before it; `from . import name` names no module
  Seq<ImportedName> names;
  bool star;
};
/// `yield x`, `yield from x`, `target = yield x`.
struct YieldStmt : Stmt {
  Expr* value;  // null: None
  bool from;
  Expr* target;  // null: none
};
struct NameListStmt : Stmt {  // global, nonlocal
  Seq<Name> names;
};

enum class PatternKind : std::uint8_t { kValue, kCapture, kSequence, kMapping, kClass, kOr };

struct Pattern {
  PatternKind kind;
  Place place;
};
/// A literal or a dotted name.
struct ValuePattern : Pattern {
  Expr* value;
  bool by_identity;  // None, True, False
};
/// `x`, `_`, `pattern as x`, and `*x` within a sequence.
struct CapturePattern : Pattern {
  Pattern* inner;    // null: anything
  NameExpr* target;  // null: _
};
struct SequencePattern : Pattern {
  Seq<Pattern*> items;
  std::uint32_t star;  // the starred one's place; items.size: none
};
struct MappingPattern : Pattern {
  Seq<Expr*> keys;
  Seq<Pattern*> values;
  NameExpr* rest;  // of **rest; null: none
};
struct ClassPattern : Pattern {
  Expr* type;
  Seq<Pattern*> positional;
  Seq<Name> names;
  Seq<Pattern*> named;
};
struct OrPattern : Pattern {
  Seq<Pattern*> choices;
};
struct MatchCase {
  Pattern* pattern;
  Expr* guard;  // null: none
  Seq<Stmt*> body;
};
struct MatchStmt : Stmt {
  Expr* subject;
  Seq<MatchCase> cases;
};
/// What a pattern evaluates and what it binds, each in order. Both are called with what they find.
template <class OnExpression, class OnTarget>
void for_each_part(const Pattern* pattern, const OnExpression& expression, const OnTarget& target) {
  const auto all = [&](const Seq<Pattern*>& patterns) {
    for (const Pattern* each : patterns) for_each_part(each, expression, target);
  };
  switch (pattern->kind) {
    case PatternKind::kValue:
      expression(static_cast<const ValuePattern*>(pattern)->value);
      return;
    case PatternKind::kCapture: {
      const auto* capture = static_cast<const CapturePattern*>(pattern);
      if (capture->inner != nullptr) for_each_part(capture->inner, expression, target);
      if (capture->target != nullptr) target(capture->target);
      return;
    }
    case PatternKind::kSequence:
      all(static_cast<const SequencePattern*>(pattern)->items);
      return;
    case PatternKind::kMapping: {
      const auto* mapping = static_cast<const MappingPattern*>(pattern);
      for (Expr* key : mapping->keys) expression(key);
      all(mapping->values);
      if (mapping->rest != nullptr) target(mapping->rest);
      return;
    }
    case PatternKind::kClass:
      expression(static_cast<const ClassPattern*>(pattern)->type);
      all(static_cast<const ClassPattern*>(pattern)->positional);
      all(static_cast<const ClassPattern*>(pattern)->named);
      return;
    case PatternKind::kOr:
      all(static_cast<const OrPattern*>(pattern)->choices);
      return;
  }
}

/// A compiled def, lambda, comprehension, class body or module: how its frame is laid out. Slots
/// are in the order in which CPython lays out and drops them: parameters, other locals by first
/// appearance in the compiled code, then variables shared with inner functions by name.
struct Code {
  enum class Form : std::uint8_t {
    kModule,
    kFunction,
    kLambda,
    kComprehension,
    kGenerator,
    kClass
  };
  struct Capture {
    bool from_cell = true;  // else from the creating function's own closure
    std::uint32_t index = 0;
  };

  Form form = Form::kModule;
  Name name{};
  Name qualname{};  // "Outer.method"
  Place place;
  const struct CodeFile* file = nullptr;
  const Parameters* parameters = nullptr;
  Seq<Stmt*> body;
  Expr* value = nullptr;  // of a lambda
  const ComprehensionExpr* comprehension = nullptr;

  Seq<Name> slots;           // of all variables that live in the frame
  Seq<std::uint32_t> cells;  // those of them that hold Cells
  Seq<Name> frees;
  Seq<Capture> captures;             // one a free variable
  std::int32_t class_cell = -1;      // index of __class__ in frees, for super()
  bool generator = false;            // a function with a yield
  bool is_async = false;             // it cannot be called
  Place returns;                     // the annotation of what it gives; empty: none
  std::int32_t own_class_cell = -1;  // of a class body: slot of the __class__ that its methods see
};

/// The file that a piece of code was read from.
struct CodeFile {
  TextSeq name;
  TextSeq text;
  struct SyntaxTree* tree = nullptr;  // what its nodes lie in; null: they are part of the program

  /// Cost: of a file that is part of the program, a copy of its text.
  [[nodiscard]] std::shared_ptr<const SourceText> source() const;
};

/// The code, which keeps alive what it is a part of.
std::shared_ptr<const Code> shared_code(const Code& code);

/// A file that has been parsed, and the memory of its nodes. Everything that came out of it keeps
/// it alive.
struct SyntaxTree : std::enable_shared_from_this<SyntaxTree> {
  explicit SyntaxTree(std::shared_ptr<const SourceText> parsed);
  const std::shared_ptr<const SourceText> source;
  CodeFile file;
  Seq<Stmt*> body;
  Expr* expression = nullptr;  // of parse_expression
  Code* code = nullptr;        // the module's
  std::size_t codes = 0;       // how many there are, the module's among them

  template <class T>
  T* make(T node) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T(node);
  }
  template <class T>
  Seq<T> make_seq(const std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T>);
    Seq<T> out;
    out.size = static_cast<std::uint32_t>(items.size());
    if (items.empty()) return out;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): T is often a pointer to a node, and is meant
    out.data = static_cast<T*>(allocate(sizeof(T) * items.size(), alignof(T)));
    for (std::size_t i = 0; i < items.size(); ++i) new (out.data + i) T(items[i]);
    return out;
  }

 private:
  void* allocate(std::size_t size, std::size_t alignment) {
    used_ = (used_ + alignment - 1) / alignment * alignment;
    if (chunks_.empty() || used_ + size > capacity_) {
      capacity_ = size > kChunk ? size : kChunk;
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(capacity_));
      used_ = 0;
    }
    void* at = chunks_.back().get() + used_;
    used_ += size;
    return at;
  }
  static constexpr std::size_t kChunk = 32768;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t used_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace tidemark::lang
