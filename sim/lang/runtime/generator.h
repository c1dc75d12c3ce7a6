#pragma once

#include <vector>

#include "sim/lang/runtime/frame.h"

namespace tidemark::lang {

/// A generator expression: its frame, and the iterators of the `for` clauses it is in.
class Generator final : public Iterator {
 public:
  Generator(Heap& heap, Ref<Function> function, Ref<Iterator> first);
  ~Generator() override { finish(); }
  Value next(Interp& interp) override;
  [[nodiscard]] std::string_view type_name() const override { return "generator"; }
  [[nodiscard]] bool is_generator() const override { return true; }
  [[nodiscard]] bool is_endless() const override {
    return active_.size() == 1 && function_->code->comprehension->clauses.size == 1 &&
           active_[0]->is_endless();
  }
  void traverse(Visitor& visitor) const override;
  void clear() override { finish(); }

 private:
  Value resume(Interp& interp, Frame& frame);
  // Drops the iterators from the innermost out, then the variables in order, then the function.
  void finish();

  Ref<Function> function_;
  std::vector<Value> slots_;
  std::vector<Ref<Iterator>> active_;
  bool started_ = false;
  bool running_ = false;
};

/// A function with `yield`. Between two values it is the stack of the compound statements it stands
/// in; everything that holds no yield runs as in any function.
class FunctionGenerator final : public Iterator {
 public:
  FunctionGenerator(Interp& interp, Ref<Function> function, std::vector<Value> slots);
  ~FunctionGenerator() override { clear(); }
  Value next(Interp& interp) override { return send(interp, Value::none()); }
  /// Goes on with `value` as what the `yield` gives. Empty: the function has returned.
  Value send(Interp& interp, Value value);
  /// Raises at the `yield`. Empty: the function has returned.
  Value raise_inside(Interp& interp, Ref<ExceptionObject> exception);
  /// close(): GeneratorExit at the `yield`.
  void close(Interp& interp);
  [[nodiscard]] std::string_view type_name() const override { return "generator"; }
  [[nodiscard]] bool is_generator() const override { return true; }
  [[nodiscard]] bool is_endless() const override;
  /// What it has returned, told once.
  Value take_returned() { return returned_.empty() ? Value::none() : std::move(returned_); }
  void traverse(Visitor& visitor) const override;
  /// Drops the statements from the innermost out, then the variables in order.
  void clear() override;
  [[nodiscard]] bool finished() const { return !function_; }

 private:
  enum class Form : std::uint8_t { kBlock, kFor, kWhile, kWith, kTry, kYieldFrom };
  enum class Phase : std::uint8_t { kBody, kElse, kHandler, kFinally };
  struct Level {
    Form form = Form::kBlock;
    Phase phase = Phase::kBody;
    const Stmt* node = nullptr;
    Seq<Stmt*> body;                      // of a block
    std::size_t next = 0;                 // of a block: the statement; of a with: the item
    Ref<Iterator> iterator;               // of a for
    Value exit_method;                    // of a with
    const NameExpr* caught = nullptr;     // of a handler: its name
    Ref<ExceptionObject> handled_before;  // of a handler
    Ref<ExceptionObject> pending;         // of a finally: what to raise after it
    Flow flow = Flow::kNormal;            // of a finally: what to do after it
    Value result;                         // of a finally after a return
  };

  Value resume(Interp& interp, Value sent, Ref<ExceptionObject> thrown);
  Value advance(Interp& interp, class Evaluator& evaluator);
  bool enter(Interp& interp, Evaluator& evaluator, const Stmt* node, Value& out);
  void push_block(const Seq<Stmt*>& body);
  void enter_with(Evaluator& evaluator, const WithStmt* node, std::size_t item);
  void leave_level(Interp& interp, Evaluator& evaluator);
  void unwind(Interp& interp, Evaluator& evaluator, Flow flow);
  void unwind(Interp& interp, Evaluator& evaluator, Ref<ExceptionObject> exception);
  bool handle(Interp& interp, Evaluator& evaluator, const Ref<ExceptionObject>& exception);
  void drop_taken(Interp& interp);
  Value thrown_within(Interp& interp, Evaluator& evaluator, Ref<ExceptionObject> exception);
  void end_handler(Interp& interp, Evaluator& evaluator, Level& level);
  void finish();

  Interp* interp_;
  Ref<Function> function_;
  std::vector<Value> slots_;
  std::vector<Level> levels_;
  const Expr* target_ = nullptr;  // of the yield it stands at
  Value result_;                  // of return
  Value returned_;                // once it has ended
  Value sent_;                    // what goes on to the generator of a `yield from`
  Ref<FrameObject> frame_object_;
  Ref<ExceptionObject> handled_;  // what its own handlers handle
  bool started_ = false;
  bool running_ = false;
};

}  // namespace tidemark::lang
