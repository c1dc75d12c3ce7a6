#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// The values of all running frames: variables and the arguments of calls being prepared. Memory
/// comes in chunks that never move; every value outside a reservation is Empty.
class ValueStack {
 public:
  /// A reservation, released when it goes out of scope. What is still in it then is dropped from
  /// the last to the first, as CPython unwinds its value stack.
  class Span {
   public:
    Span(ValueStack& stack, std::size_t count);
    ~Span();
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    Value& operator[](std::size_t i) { return base_[i]; }
    [[nodiscard]] Value* data() const { return base_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    void drop_forward() {
      for (std::size_t i = 0; i < count_; ++i) base_[i].reset();
    }

   private:
    ValueStack& stack_;
    Value* base_;
    std::size_t count_;
    Value* previous_top_;
    std::size_t previous_chunk_;
  };

  /// Every value in use, the oldest first.
  template <class Function>
  void for_each(const Function& function) const {
    for (std::size_t chunk = 0; chunk < chunk_; ++chunk) {
      const Value* const begin = chunks_[chunk].values.get();
      const Value* const end = chunk + 1 == chunk_ ? top_ : begin + chunks_[chunk].size;
      for (const Value* value = begin; value != end; ++value) function(*value);
    }
  }

 private:
  static constexpr std::size_t kChunk = 4096;
  void open_chunk(std::size_t count);
  struct Chunk {
    std::unique_ptr<Value[]> values;
    std::size_t size = 0;
  };
  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0;  // the one in use is chunks_[chunk_ - 1]
  Value* top_ = nullptr;
  Value* end_ = nullptr;
};

inline ValueStack::Span::Span(ValueStack& stack, std::size_t count)
    : stack_(stack), count_(count), previous_top_(stack.top_), previous_chunk_(stack.chunk_) {
  if (static_cast<std::size_t>(stack.end_ - stack.top_) < count) stack.open_chunk(count);
  base_ = stack.top_;
  stack.top_ += count;
}

inline ValueStack::Span::~Span() {
  for (std::size_t i = count_; i > 0; --i) base_[i - 1].reset();
  if (stack_.chunk_ != previous_chunk_) {
    stack_.chunk_ = previous_chunk_;
    stack_.end_ = previous_chunk_ == 0 ? nullptr
                                       : stack_.chunks_[previous_chunk_ - 1].values.get() +
                                             stack_.chunks_[previous_chunk_ - 1].size;
  }
  stack_.top_ = previous_top_;
}

/// Drops values in the order given when it goes out of scope, by an exception too: CPython's
/// instructions drop their operands from the first to the last, whether they succeeded or not.
template <std::size_t kCount>
class DropInOrder {
 public:
  template <class... Values>
  explicit DropInOrder(Values&... values) : values_{&values...} {}
  ~DropInOrder() {
    for (Value* value : values_) value->reset();
  }
  DropInOrder(const DropInOrder&) = delete;
  DropInOrder& operator=(const DropInOrder&) = delete;

 private:
  std::array<Value*, kCount> values_;
};
template <class... Values>
DropInOrder(Values&...) -> DropInOrder<sizeof...(Values)>;

/// One running piece of code.
/// A `for` that is being run, and the one that it stands in.
struct RunningFor {
  const ForStmt& node;
  const Iterator& iterator;
  const RunningFor* outer;
};

/// Makes a loop the innermost one of a frame for as long as it lives.
class InLoop {
 public:
  InLoop(const RunningFor*& innermost, const RunningFor* loop)
      : innermost_(innermost), outer_(innermost) {
    innermost_ = loop;
  }
  ~InLoop() { end(); }
  void end() { innermost_ = outer_; }
  InLoop(const InLoop&) = delete;
  InLoop& operator=(const InLoop&) = delete;

 private:
  const RunningFor*& innermost_;
  const RunningFor* outer_;
};

/// `name: annotation` in a class body.
struct AnnotatedName {
  Name name{};
  const Expr* annotation = nullptr;
};

struct Frame {
  const Code* code = nullptr;
  Value* slots = nullptr;
  Module* globals = nullptr;
  Function* function = nullptr;  // null in a module or class body
  const std::vector<Ref<Cell>>* closure = nullptr;
  AttrMap* class_namespace = nullptr;                 // of a class body
  std::vector<AnnotatedName>* annotations = nullptr;  // of a class body, in order
  Place at;                                           // what is being evaluated
  Frame* back = nullptr;
  mutable Ref<FrameObject> object;   // once something refers to the frame
  Value result;                      // of `return`
  const RunningFor* loop = nullptr;  // the innermost, of those that Evaluator runs
};

/// Counts the depth of host code that calls itself over nested values. Errors: RecursionError.
class NestedCall {
 public:
  explicit NestedCall(Interp& interp);
  ~NestedCall();
  NestedCall(const NestedCall&) = delete;
  NestedCall& operator=(const NestedCall&) = delete;

 private:
  Interp& interp_;
};

/// Links a frame into the interpreter for as long as it lives, and counts the depth.
/// Errors: RecursionError.
class CallDepth {
 public:
  CallDepth(Interp& interp, Frame* frame);
  ~CallDepth();
  CallDepth(const CallDepth&) = delete;
  CallDepth& operator=(const CallDepth&) = delete;

 private:
  Interp& interp_;
  NestedCall nested_;
  Frame* previous_;
};

/// Makes `exception` what is being handled for as long as it lives (CPython's exc_info).
class Handling {
 public:
  Handling(Ref<ExceptionObject>& handled, Ref<ExceptionObject> exception)
      : handled_(handled), previous_(std::move(handled)) {
    handled_ = std::move(exception);
  }
  ~Handling() { end(); }
  void end() {
    if (!active_) return;
    active_ = false;
    handled_ = std::move(previous_);
  }
  Handling(const Handling&) = delete;
  Handling& operator=(const Handling&) = delete;

 private:
  Ref<ExceptionObject>& handled_;
  Ref<ExceptionObject> previous_;
  bool active_ = true;
};

/// Whether all elements of a display are constants and none of them is a text.
bool are_numbers(const SequenceExpr& display);
/// Whether CPython makes a set from a frozenset that its compiler made: of three numbers or more.
inline bool is_folded_set(const SequenceExpr& display) {
  return display.items.size > 2 && are_numbers(display);
}

/// What a statement did with the flow of control.
enum class Flow : std::uint8_t { kNormal, kBreak, kContinue, kReturn };

/// Runs the code of one frame. Every rule on when a value dies is CPython 3.11's, since the death
/// of a tensor is an event: see docs/language.md, "Lifetimes".
class Evaluator {
 public:
  Evaluator(Interp& interp, Frame& frame) : in_(interp), frame_(frame) {}

  Value eval(const Expr* node);
  Flow run(const Seq<Stmt*>& body);
  Flow exec(const Stmt* node);
  Value comprehension_body();
  void assign(const Expr* target, Value value);
  void store(const NameExpr* node, Value value);
  /// The body of the first case of `match` that fits, its names bound; empty: none does.
  Seq<Stmt*> chosen_case(const MatchStmt* node);
  /// Enters `with`: gives what __enter__ gave, and __exit__ bound.
  Value enter_with(const Expr* manager, Value& exit_method);
  /// Records that the exception went through this frame.
  void trace(ExceptionObject& exception);
  [[nodiscard]] Value make_function(const FunctionNode* node);

  /// What a call of a Function does. `args` may be moved from when they are movable.
  static Value call_function(Interp& interp, Function& function, CallArgs& args);
  /// Runs a module's statements (or a piece of one) in its globals.
  static void run_module_body(Interp& interp, Module& module,
                              const std::shared_ptr<SyntaxTree>& tree);
  static void run_statements(Interp& interp, Module& module, const Code& code,
                             const Seq<Stmt*>& statements);
  static Value run_expression(Interp& interp, Module& module,
                              const std::shared_ptr<SyntaxTree>& tree);
  /// Variables of a finished frame: dropped in order, or kept by the frame object if a traceback
  /// has it.
  static void leave(Interp& interp, Frame& frame, std::size_t count);
  /// What the innermost running `except` handles; None: there is none.
  static Value handled(const Interp& interp) {
    return interp.handled_ ? Value(interp.handled_) : Value::none();
  }
  static bool matches(Interp& interp, const ExceptionObject& exception, const Value& type);
  /// Makes the Cells of a new frame's shared variables.
  static void make_cells(Interp& interp, const Code& code, Value* slots);

 private:
  Value load(const NameExpr* node);
  void remove(const NameExpr* node);
  [[noreturn]] void unbound(const NameExpr* node);

  Value call(const CallExpr* node);
  Value call_spread(const CallExpr* node);
  Value find_callee(const CallExpr* node, Value& self);
  Value compare(const CompareExpr* node);
  Value relation(Relation relation, const Value& left, const Value& right);
  Value dict(const DictExpr* node);
  Value set(const SequenceExpr* node, bool is_walked);
  /// What a loop goes through: CPython's compiler makes a frozenset of a set of constants.
  Value walked(const Expr* node) {
    const bool is_set = node->kind == ExprKind::kSet;
    const auto* display = static_cast<const SequenceExpr*>(node);
    return is_set && are_numbers(*display) ? set(display, true) : eval(node);
  }
  std::vector<Value> items(const SequenceExpr* node);
  Value joined(const JoinedExpr* node);
  Value comprehension(const ComprehensionExpr* node);
  void clause(const ComprehensionExpr* node, std::size_t index, const Ref<Iterator>& iterator,
              const Value& out);
  std::vector<Ref<Cell>> captured(const Code& code);

  class Matching;
  void assign_stmt(const AssignStmt* node);
  bool assign_swapped(const AssignStmt* node);
  void unpack(const SequenceExpr* target, Value value);
  void augmented(const AugAssignStmt* node);
  void annotated(const AnnotatedStmt* node);
  void delete_target(const Expr* target);
  Flow while_stmt(const WhileStmt* node);
  Flow for_stmt(const ForStmt* node);
  void leave_out_turns(LoopWatch& loop_watch, class RangeIterator& range, const ForStmt* node);
  std::unique_ptr<LoopWatch> watch(const ForStmt* node, const Iterator& iterator);
  Flow with_stmt(const WithStmt* node, std::size_t item);
  Flow try_stmt(const TryStmt* node);
  Flow except_part(const TryStmt* node);
  Flow handle(const TryStmt* node, Ref<ExceptionObject> exception);
  Flow handle_groups(const TryStmt* node, Ref<ExceptionObject> exception);
  void raise_stmt(const RaiseStmt* node);
  Ref<ExceptionObject> exception_from(Value value);
  void assert_stmt(const AssertStmt* node);
  void function_stmt(const FunctionStmt* node);
  void class_stmt(const ClassStmt* node);
  void import_stmt(const ImportStmt* node);
  void import_from_stmt(const ImportFromStmt* node);
  void import_all(const Value& from);

  Interp& in_;
  Frame& frame_;
};

/// A method of an object that stands in a class and rules how it is read or set there; null: it has
/// none.
const Value* descriptor_hook(Interp& interp, const Value& found, std::string_view hook);
/// What __dict__ gives of an object, class, module or function; Empty: it has none.
Value attribute_table(Interp& interp, Value owner);
/// What a class is made of.
struct ClassParts {
  Name name{};
  std::string qualname;
  std::string module;
  std::vector<Value> bases;
  AttrMap attributes;
  Ref<ClassObject> metaclass;  // null: that of the bases
  Ref<Cell> own_cell;          // of __class__, which super() reads; null: nothing reads it
  std::vector<std::pair<Name, Value>> keywords;  // for __init_subclass__
};
/// Builds a class from its body's namespace: resolution order, on_subclass, __set_name__ and
/// __init_subclass__ called.
Ref<ClassObject> build_class(Interp& interp, ClassParts parts);
/// What type(name, bases, attributes, **keywords) gives, by the metaclass given.
Value make_type(Interp& interp, ClassObject& metaclass, CallArgs& args);
/// C3 linearisation. Errors: TypeError as Python's.
std::vector<ClassObject*> merge_bases(Interp& interp, const std::vector<Ref<ClassObject>>& bases);
/// object.__new__.
Ref<Instance> allocate_instance(Interp& interp, ClassObject& type);
/// What calling a class does.
Value instantiate(Interp& interp, ClassObject& type, CallArgs& args);
/// Binds a call's arguments to a Python function's slots. Errors: TypeError with Python's words.
void bind_arguments(Interp& interp, Function& function, CallArgs& args, Value* slots);
/// The same for a host function's signature; `bound` has a place for every parameter.
void bind_signature(Interp& interp, const Signature& signature, CallArgs& args, Value* bound);
/// What isinstance(object, wanted) says, and issubclass of `type` where `object` is Empty. An
/// object in the place of a class answers by its own __instancecheck__ (typing.Sequence,
/// torch.FloatTensor). Errors: TypeError that names `function`.
bool is_instance_of(Interp& interp, const ClassObject& type, const Value& object,
                    const Value& wanted, std::string_view function);
/// Calls a host function.
Value call_builtin(Interp& interp, Builtin& builtin, CallArgs& args);

}  // namespace tidemark::lang
