#include "sim/lang/runtime/generator.h"

#include <algorithm>

#include "sim/lang/runtime/condition.h"
#include "sim/lang/syntax/yields.h"

namespace tidemark::lang {

FunctionGenerator::FunctionGenerator(Interp& interp, Ref<Function> function,
                                     std::vector<Value> slots)
    : Iterator(interp.heap()),
      interp_(&interp),
      function_(std::move(function)),
      slots_(std::move(slots)) {
  Evaluator::make_cells(interp, *function_->code, slots_.data());
}

void FunctionGenerator::traverse(Visitor& visitor) const {
  visitor.visit(function_);
  for (const Value& value : slots_) visitor.visit(value);
  for (const Level& level : levels_) {
    visitor.visit(level.iterator);
    visitor.visit(level.exit_method);
    visitor.visit(level.handled_before);
    visitor.visit(level.pending);
    visitor.visit(level.result);
  }
  visitor.visit(result_);
  visitor.visit(returned_);
  visitor.visit(sent_);
  visitor.visit(frame_object_);
  visitor.visit(handled_);
}

void FunctionGenerator::clear() {
  for (const Level& level : levels_) {
    const bool owes =
        level.form == Form::kWith || (level.form == Form::kTry && level.phase != Phase::kFinally &&
                                      !static_cast<const TryStmt*>(level.node)->finally.empty());
    if (owes) {
      interp_->refuse_soon("a generator was dropped inside 'with' or 'try': its end cannot be run");
    }
  }
  finish();
}

void FunctionGenerator::finish() {
  while (!levels_.empty()) {
    const Level innermost = std::move(levels_.back());
    levels_.pop_back();
  }
  if (frame_object_ && frame_object_->use_count() > 1) {
    frame_object_->locals = std::move(slots_);
    slots_.clear();
  }
  frame_object_.reset();
  drop_forward(heap(), slots_);
  handled_.reset();
  if (function_) heap().drop(Value(std::move(function_)));
}

void FunctionGenerator::push_block(const Seq<Stmt*>& body) {
  Level level;
  level.body = body;
  levels_.push_back(std::move(level));
}

Value FunctionGenerator::send(Interp& interp, Value value) {
  if (!started_ && !value.is_none()) {
    interp.type_error("can't send non-None value to a just-started generator");
  }
  return resume(interp, std::move(value), nullptr);
}

Value FunctionGenerator::raise_inside(Interp& interp, Ref<ExceptionObject> exception) {
  if (!started_ || finished()) {
    finish();
    throw Raised{std::move(exception)};
  }
  return resume(interp, Value::none(), std::move(exception));
}

void FunctionGenerator::close(Interp& interp) {
  if (!started_ || finished()) {
    finish();
    return;
  }
  const ClassObject& wanted = *interp.classes().generator_exit;
  try {
    const Value value =
        resume(interp, Value::none(), interp.make_exception(*interp.classes().generator_exit, {}));
    if (!value.empty()) interp.runtime_error("generator ignored GeneratorExit");
  } catch (const Raised& raised) {
    if (!raised.exception->type().derives_from(wanted)) throw;
  }
}

Value FunctionGenerator::resume(Interp& interp, Value sent, Ref<ExceptionObject> thrown) {
  if (running_) interp.value_error("generator already executing");
  if (finished()) {
    returned_ = {};
    return {};
  }
  const Ref<FunctionGenerator> keep(this);
  Frame frame;
  frame.code = function_->code.get();
  frame.slots = slots_.data();
  frame.globals = function_->globals.get();
  frame.function = function_.get();
  frame.closure = &function_->closure;
  frame.at = frame.code->place;
  frame.object = frame_object_;
  Evaluator evaluator(interp, frame);
  Value out;
  running_ = true;
  const Ref<ExceptionObject> outside = interp.handled_;
  if (handled_) interp.handled_ = std::move(handled_);
  const auto suspend = [&] {
    running_ = false;
    frame_object_ = std::move(frame.object);
    if (interp.handled_ != outside) handled_ = interp.handled_;
    interp.handled_ = outside;
  };
  try {
    const CallDepth depth(interp, &frame);
    if (!started_) {
      started_ = true;
      push_block(function_->code->body);
    } else if (thrown) {
      out = thrown_within(interp, evaluator, std::move(thrown));
      if (!out.empty()) {
        suspend();
        return out;
      }
    } else if (!levels_.empty() && levels_.back().form == Form::kYieldFrom) {
      sent_ = std::move(sent);
    } else if (target_ != nullptr) {
      evaluator.assign(std::exchange(target_, nullptr), std::move(sent));
    }
    while (true) {
      try {
        out = advance(interp, evaluator);
        break;
      } catch (Raised& raised) {
        thrown = std::move(raised.exception);
      }
      unwind(interp, evaluator, std::move(thrown));
    }
  } catch (Raised& raised) {
    suspend();
    // What goes on as StopIteration would end the caller's loop in silence.
    if (raised.exception->type().derives_from(*interp.classes().stop_iteration)) {
      const Ref<ExceptionObject> cause = std::move(raised.exception);
      finish();
      Ref<ExceptionObject> error = interp.make_exception(
          *interp.classes().runtime_error, {interp.str("generator raised StopIteration")});
      error->cause = cause;
      throw Raised{std::move(error)};
    }
    finish();
    throw;
  } catch (...) {
    suspend();
    levels_.clear();
    finish();
    throw;
  }
  suspend();
  if (out.empty()) returned_ = std::move(frame.result);
  if (out.empty()) finish();
  return out;
}

// An exception at the `yield`: of `yield from` first within the generator that it goes through.
// What that gives then; Empty: the program goes on here.
Value FunctionGenerator::thrown_within(Interp& interp, Evaluator& evaluator,
                                       Ref<ExceptionObject> exception) {
  Ref<FunctionGenerator> inner;
  if (!levels_.empty() && levels_.back().form == Form::kYieldFrom) {
    auto* within = dynamic_cast<FunctionGenerator*>(levels_.back().iterator.get());
    if (within != nullptr) inner = Ref<FunctionGenerator>(within);
  }
  if (inner) {
    try {
      if (exception->type().derives_from(*interp.classes().generator_exit)) {
        inner->close(interp);
      } else {
        // Empty: it has returned, and `advance` asks it for what.
        return inner->raise_inside(interp, std::move(exception));
      }
    } catch (Raised& raised) {
      exception = std::move(raised.exception);
    }
  }
  unwind(interp, evaluator, std::move(exception));
  return {};
}

bool FunctionGenerator::is_endless() const {
  if (finished()) return false;
  const CodeFile& file = *function_->code->file;
  const auto never_leaves = [&](const Stmt* statement) {
    if (statement->kind != StmtKind::kWhile) return false;
    const auto* loop = static_cast<const WhileStmt*>(statement);
    return is_always_true(loop->test) && exits_of(loop->body, file) == 0;
  };
  if (!started_) {
    const Seq<Stmt*>& body = function_->code->body;
    return std::any_of(body.begin(), body.end(), never_leaves);
  }
  return std::any_of(levels_.begin(), levels_.end(), [&](const Level& level) {
    if (level.form == Form::kWhile) return never_leaves(level.node);
    if (level.form == Form::kYieldFrom) return level.iterator->is_endless();
    return level.form == Form::kFor && level.iterator->is_endless() &&
           exits_of(static_cast<const ForStmt*>(level.node)->body, file) == 0;
  });
}

// What an expression had before it came to a `yield` goes with the expression.
void FunctionGenerator::drop_taken(Interp& interp) {
  const Code& code = *function_->code;
  for (std::size_t i = 0; i < code.slots.size; ++i) {
    if (is_hidden(interp.text(code.slots[i]))) slots_[i].reset();
  }
}

// Runs to the next yield; Empty: to the end.
Value FunctionGenerator::advance(Interp& interp, Evaluator& evaluator) {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    switch (level.form) {
      case Form::kBlock: {
        if (level.next == level.body.size) {
          leave_level(interp, evaluator);
          break;
        }
        const Stmt* node = level.body[level.next++];
        interp.step();
        if (!node->yields) {
          const Flow flow = evaluator.exec(node);
          if (flow != Flow::kNormal) unwind(interp, evaluator, flow);
          break;
        }
        Value out;
        if (enter(interp, evaluator, node, out)) return out;
        break;
      }
      case Form::kFor: {
        const auto* loop = static_cast<const ForStmt*>(level.node);
        interp.step();
        Value item = level.iterator->next(interp);
        if (item.empty()) {
          levels_.pop_back();
          push_block(loop->otherwise);
        } else {
          evaluator.assign(loop->target, std::move(item));
          push_block(loop->body);
        }
        break;
      }
      case Form::kWhile: {
        const auto* loop = static_cast<const WhileStmt*>(level.node);
        if (!loop->before.empty() && level.next == 0) {
          level.next = 1;
          push_block(loop->before);
          break;
        }
        level.next = 0;
        interp.step();
        const bool again = interp.truth(evaluator.eval(loop->test));
        if (!again) levels_.pop_back();
        push_block(again ? loop->body : loop->otherwise);
        break;
      }
      case Form::kYieldFrom: {
        Value given = std::exchange(sent_, {});
        const auto inner = [&] { return dynamic_cast<FunctionGenerator*>(level.iterator.get()); };
        FunctionGenerator* const asked = given.empty() || given.is_none() ? nullptr : inner();
        Value item =
            asked == nullptr ? level.iterator->next(interp) : asked->send(interp, std::move(given));
        if (!item.empty()) return item;
        const Expr* target = static_cast<const YieldStmt*>(level.node)->target;
        FunctionGenerator* const ended = inner();
        Value result = ended == nullptr ? Value::none() : ended->take_returned();
        levels_.pop_back();
        if (target != nullptr) evaluator.assign(target, std::move(result));
        break;
      }
      case Form::kWith:
      case Form::kTry:
        leave_level(interp, evaluator);
        break;
    }
  }
  return {};
}

// Starts a statement that holds a yield. True: it is the yield, and `out` what it gives.
bool FunctionGenerator::enter(Interp& interp, Evaluator& evaluator, const Stmt* node, Value& out) {
  Level level;
  level.node = node;
  switch (node->kind) {
    case StmtKind::kYield: {
      const auto* yield = static_cast<const YieldStmt*>(node);
      Value value = yield->value == nullptr ? Value::none() : evaluator.eval(yield->value);
      if (!yield->from) {
        target_ = yield->target;
        out = std::move(value);
        return true;
      }
      level.form = Form::kYieldFrom;
      level.iterator = interp.iterate(value);
      levels_.push_back(std::move(level));
      return false;
    }
    case StmtKind::kIf: {
      const auto* branch = static_cast<const IfStmt*>(node);
      const bool chosen = interp.truth(evaluator.eval(branch->test));
      push_block(chosen ? branch->body : branch->otherwise);
      return false;
    }
    case StmtKind::kMatch:
      push_block(evaluator.chosen_case(static_cast<const MatchStmt*>(node)));
      return false;
    case StmtKind::kWhile:
      level.form = Form::kWhile;
      levels_.push_back(std::move(level));
      return false;
    case StmtKind::kFor: {
      const Value iterable = evaluator.eval(static_cast<const ForStmt*>(node)->iterable);
      level.form = Form::kFor;
      level.iterator = interp.iterate(iterable);
      levels_.push_back(std::move(level));
      return false;
    }
    case StmtKind::kWith:
      enter_with(evaluator, static_cast<const WithStmt*>(node), 0);
      return false;
    case StmtKind::kTry:
      if (static_cast<const TryStmt*>(node)->by_group)
        interp.refuse("a yield within 'try' with 'except*' is not modelled", "write 'except'");
      level.form = Form::kTry;
      levels_.push_back(std::move(level));
      push_block(static_cast<const TryStmt*>(node)->body);
      return false;
    default:
      if (const Flow flow = evaluator.exec(node); flow != Flow::kNormal)
        unwind(interp, evaluator, flow);
      return false;
  }
}

void FunctionGenerator::enter_with(Evaluator& evaluator, const WithStmt* node, std::size_t item) {
  for (; item < node->items.size; ++item) {
    Level level;
    level.form = Form::kWith;
    level.node = node;
    level.next = item;
    Value value = evaluator.enter_with(node->items[item].manager, level.exit_method);
    levels_.push_back(std::move(level));
    if (node->items[item].target != nullptr)
      evaluator.assign(node->items[item].target, std::move(value));
  }
  push_block(node->body);
}

// What stands inside the innermost statement has ended as it should.
void FunctionGenerator::leave_level(Interp& interp, Evaluator& evaluator) {
  Level& level = levels_.back();
  if (level.form == Form::kWith) {
    const Value exit_method = std::move(level.exit_method);
    levels_.pop_back();
    interp.call(exit_method, {Value::none(), Value::none(), Value::none()});
    return;
  }
  if (level.form != Form::kTry) {
    levels_.pop_back();
    return;
  }
  const auto* attempt = static_cast<const TryStmt*>(level.node);
  switch (level.phase) {
    case Phase::kBody:
      level.phase = Phase::kElse;
      push_block(attempt->otherwise);
      return;
    case Phase::kHandler:
      end_handler(interp, evaluator, level);
      [[fallthrough]];
    case Phase::kElse:
      level.phase = Phase::kFinally;
      push_block(attempt->finally);
      return;
    case Phase::kFinally: {
      Level done = std::move(level);
      levels_.pop_back();
      if (done.pending) {
        interp.handled_ = std::move(done.handled_before);
        throw Raised{std::move(done.pending)};
      }
      if (done.flow != Flow::kNormal) {
        result_ = std::move(done.result);
        unwind(interp, evaluator, done.flow);
      }
      return;
    }
  }
}

void FunctionGenerator::end_handler(Interp& interp, Evaluator& evaluator, Level& level) {
  interp.handled_ = std::move(level.handled_before);
  if (level.caught != nullptr) evaluator.store(std::exchange(level.caught, nullptr), {});
}

// break, continue or return: leaves statements up to the loop or the function.
void FunctionGenerator::unwind(Interp& interp, Evaluator& evaluator, Flow flow) {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    const bool loop = level.form == Form::kFor || level.form == Form::kWhile;
    if (loop && flow == Flow::kContinue) return;
    if (loop && flow == Flow::kBreak) {
      levels_.pop_back();
      return;
    }
    if (level.form == Form::kWith) {
      leave_level(interp, evaluator);
      continue;
    }
    if (level.form == Form::kTry) {
      if (level.phase == Phase::kHandler) end_handler(interp, evaluator, level);
      const auto* attempt = static_cast<const TryStmt*>(level.node);
      if (level.phase != Phase::kFinally && !attempt->finally.empty()) {
        level.phase = Phase::kFinally;
        level.flow = flow;
        level.result = std::move(result_);
        push_block(attempt->finally);
        return;
      }
    }
    levels_.pop_back();
  }
}

// An exception: to the first handler, `with` that swallows it, or finally; out of the function
// else.
void FunctionGenerator::unwind(Interp& interp, Evaluator& evaluator,
                               Ref<ExceptionObject> exception) {
  evaluator.trace(*exception);
  drop_taken(interp);
  while (!levels_.empty()) {
    Level& level = levels_.back();
    try {
      if (level.form == Form::kWith) {
        const Value exit_method = std::move(level.exit_method);
        levels_.pop_back();
        const Handling handling(interp.handled_, exception);
        const Value type = Ref<ClassObject>(&exception->type());
        if (interp.truth(interp.call(exit_method, {type, exception, Value::none()}))) return;
        continue;
      }
      if (level.form == Form::kTry) {
        if (level.phase == Phase::kHandler) end_handler(interp, evaluator, level);
        if (level.phase == Phase::kBody && handle(interp, evaluator, exception)) return;
        const auto* attempt = static_cast<const TryStmt*>(level.node);
        if (level.phase != Phase::kFinally && !attempt->finally.empty()) {
          level.phase = Phase::kFinally;
          level.handled_before = std::exchange(interp.handled_, exception);
          level.pending = std::move(exception);
          push_block(attempt->finally);
          return;
        }
      }
      levels_.pop_back();
    } catch (Raised& raised) {
      exception = std::move(raised.exception);
    }
  }
  throw Raised{std::move(exception)};
}

bool FunctionGenerator::handle(Interp& interp, Evaluator& evaluator,
                               const Ref<ExceptionObject>& exception) {
  Level& level = levels_.back();
  const auto* attempt = static_cast<const TryStmt*>(level.node);
  level.phase = Phase::kElse;  // an exception from here on is none of these handlers' business
  for (const Handler& handler : attempt->handlers) {
    if (handler.type != nullptr &&
        !Evaluator::matches(interp, *exception, evaluator.eval(handler.type))) {
      continue;
    }
    level.phase = Phase::kHandler;
    level.handled_before = std::exchange(interp.handled_, exception);
    level.caught = handler.target;
    if (handler.target != nullptr) evaluator.store(handler.target, exception);
    push_block(handler.body);
    return true;
  }
  return false;
}

}  // namespace tidemark::lang
