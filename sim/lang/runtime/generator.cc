#include "sim/lang/runtime/generator.h"

namespace tidemark::lang {

Generator::Generator(Heap& heap, Ref<Function> function, Ref<Iterator> first)
    : Iterator(heap), function_(std::move(function)) {
  const Code& code = *function_->code;
  slots_.resize(code.slots.size);
  slots_[0] = std::move(first);
  for (const std::uint32_t slot : code.cells) slots_[slot] = make_ref<Cell>(heap);
}

void Generator::traverse(Visitor& visitor) const {
  visitor.visit(function_);
  for (const Value& value : slots_) visitor.visit(value);
  for (const Ref<Iterator>& iterator : active_) visitor.visit(iterator);
}

void Generator::finish() {
  while (!active_.empty()) {
    const Ref<Iterator> innermost = std::move(active_.back());
    active_.pop_back();
  }
  drop_forward(heap(), slots_);
  if (function_) heap().drop(Value(std::move(function_)));
}

Value Generator::next(Interp& interp) {
  if (running_) interp.value_error("generator already executing");
  if (!function_) return {};
  const Ref<Generator> keep(this);
  Frame frame;
  frame.code = function_->code.get();
  frame.slots = slots_.data();
  frame.globals = function_->globals.get();
  frame.function = function_.get();
  frame.closure = &function_->closure;
  frame.at = frame.code->place;
  Value out;
  running_ = true;
  try {
    const CallDepth depth(interp, &frame);
    out = resume(interp, frame);
  } catch (Raised& raised) {
    running_ = false;
    Evaluator(interp, frame).trace(*raised.exception);
    frame.object->locals = std::move(slots_);
    slots_.clear();
    finish();
    throw;
  } catch (...) {
    running_ = false;
    finish();
    throw;
  }
  running_ = false;
  if (out.empty()) finish();
  return out;
}

Value Generator::resume(Interp& interp, Frame& frame) {
  const ComprehensionExpr* node = frame.code->comprehension;
  Evaluator evaluator(interp, frame);
  if (!started_) {
    started_ = true;
    active_.push_back(slots_[0].ref<Iterator>());
  }
  while (!active_.empty()) {
    const Clause& clause = node->clauses[active_.size() - 1];
    frame.at = clause.iterable->place;
    Value item = active_.back()->next(interp);
    if (item.empty()) {
      active_.pop_back();
      continue;
    }
    interp.step();
    evaluator.assign(clause.target, std::move(item));
    bool wanted = true;
    for (const Expr* condition : clause.conditions) {
      const Value test = evaluator.eval(condition);
      frame.at = condition->place;
      wanted = wanted && interp.truth(test);
      if (!wanted) break;
    }
    if (!wanted) continue;
    if (active_.size() == node->clauses.size) return evaluator.eval(node->element);
    const Expr* inner = node->clauses[active_.size()].iterable;
    const Value iterable = evaluator.eval(inner);
    frame.at = inner->place;
    active_.push_back(interp.iterate(iterable));
  }
  return {};
}

}  // namespace tidemark::lang
