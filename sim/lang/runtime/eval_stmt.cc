#include <fmt/format.h>

#include <algorithm>
#include <typeinfo>

#include "sim/lang/runtime/bound_check.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/importer.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/loop_search.h"

namespace tidemark::lang {

Flow Evaluator::run(const Seq<Stmt*>& body) {
  for (const Stmt* statement : body) {
    in_.step();
    const Flow flow = exec(statement);
    if (flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Flow Evaluator::exec(const Stmt* node) {
  frame_.at = node->place;
  switch (node->kind) {
    case StmtKind::kExpr:
      eval(static_cast<const ExprStmt*>(node)->value);
      break;
    case StmtKind::kAssign:
      assign_stmt(static_cast<const AssignStmt*>(node));
      break;
    case StmtKind::kAugAssign:
      augmented(static_cast<const AugAssignStmt*>(node));
      break;
    case StmtKind::kAnnotated:
      annotated(static_cast<const AnnotatedStmt*>(node));
      break;
    case StmtKind::kDelete:
      for (const Expr* target : static_cast<const DeleteStmt*>(node)->targets) {
        delete_target(target);
        in_.step();  // where __del__ of one comes before the next goes
      }
      break;
    case StmtKind::kReturn: {
      const Expr* value = static_cast<const ReturnStmt*>(node)->value;
      frame_.result = value == nullptr ? Value::none() : eval(value);
      return Flow::kReturn;
    }
    case StmtKind::kPass:
      break;
    case StmtKind::kIf: {
      const auto* branch = static_cast<const IfStmt*>(node);
      bool chosen = false;
      {
        const Value test = eval(branch->test);
        frame_.at = branch->test->place;
        chosen = in_.truth(test);
        if (only_raises(*branch) && is_fault_of_bound(in_, frame_, *branch, chosen)) chosen = false;
      }
      return run(chosen ? branch->body : branch->otherwise);
    }
    case StmtKind::kWhile:
      return while_stmt(static_cast<const WhileStmt*>(node));
    case StmtKind::kFor:
      return for_stmt(static_cast<const ForStmt*>(node));
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
    case StmtKind::kFunction:
      function_stmt(static_cast<const FunctionStmt*>(node));
      break;
    case StmtKind::kClass:
      class_stmt(static_cast<const ClassStmt*>(node));
      break;
    case StmtKind::kWith:
      return with_stmt(static_cast<const WithStmt*>(node), 0);
    case StmtKind::kTry:
      return try_stmt(static_cast<const TryStmt*>(node));
    case StmtKind::kRaise:
      raise_stmt(static_cast<const RaiseStmt*>(node));
      break;
    case StmtKind::kAssert:
      assert_stmt(static_cast<const AssertStmt*>(node));
      break;
    case StmtKind::kMatch:
      return run(chosen_case(static_cast<const MatchStmt*>(node)));
    case StmtKind::kImport:
      import_stmt(static_cast<const ImportStmt*>(node));
      break;
    case StmtKind::kImportFrom:
      import_from_stmt(static_cast<const ImportFromStmt*>(node));
      break;
    case StmtKind::kYield:  // FunctionGenerator runs what holds one
    case StmtKind::kGlobal:
    case StmtKind::kNonlocal:
      break;
  }
  return Flow::kNormal;
}

void Evaluator::assign(const Expr* target, Value value) {
  switch (target->kind) {
    case ExprKind::kName:
      store(static_cast<const NameExpr*>(target), std::move(value));
      return;
    case ExprKind::kAttribute: {
      const auto* attribute = static_cast<const AttributeExpr*>(target);
      Value object = eval(attribute->object);
      frame_.at = target->place;
      const DropInOrder drop(value, object);
      in_.set_attr(object, attribute->name, value);
      return;
    }
    case ExprKind::kSubscript: {
      const auto* subscript = static_cast<const SubscriptExpr*>(target);
      Value object = eval(subscript->object);
      Value index = eval(subscript->index);
      frame_.at = target->place;
      const DropInOrder drop(value, object, index);
      in_.set_item(object, index, value);
      return;
    }
    case ExprKind::kTuple:
    case ExprKind::kList:
      unpack(static_cast<const SequenceExpr*>(target), std::move(value));
      return;
    default:
      in_.refuse("cannot assign to this expression");
  }
}

void Evaluator::unpack(const SequenceExpr* target, Value value) {
  frame_.at = target->place;
  const std::size_t wanted = target->items.size;
  if (const Tuple* pair = value.as<Tuple>(); wanted == 2 && pair != nullptr &&
                                             pair->items.size() == 2 &&
                                             target->items[0]->kind != ExprKind::kStarred &&
                                             target->items[1]->kind != ExprKind::kStarred) {
    ValueStack::Span two(*in_.values_, 2);
    two[0] = pair->items[0];
    two[1] = pair->items[1];
    value.reset();
    assign(target->items[0], std::move(two[0]));
    assign(target->items[1], std::move(two[1]));
    return;
  }
  std::size_t star = wanted;
  for (std::size_t i = 0; i < wanted; ++i) {
    if (target->items[i]->kind == ExprKind::kStarred) star = i;
  }
  ValueStack::Span values(*in_.values_, wanted);
  const auto too_few = [&](std::size_t got) {
    in_.value_error(fmt::format("not enough values to unpack (expected {}{}, got {})",
                                star < wanted ? "at least " : "",
                                star < wanted ? wanted - 1 : wanted, got));
  };
  const auto too_many = [&] {
    in_.value_error(fmt::format("too many values to unpack (expected {})", wanted));
  };
  // What records code (torch.fx) says itself what comes of it.
  if (value.as<Instance>() != nullptr && star == wanted) {
    if (const Value* own = in_.class_of(value).lookup(in_.intern("__unpack_into__"));
        own != nullptr)
      value = in_.call(Value(*own), {value, Value::integer(static_cast<std::int64_t>(wanted))});
  }
  const std::vector<Value>* sequence = nullptr;
  if (const Tuple* tuple = value.as<Tuple>()) sequence = &tuple->items;
  if (const List* list = value.as<List>()) sequence = &list->items.all();
  if (sequence != nullptr && star == wanted) {
    if (sequence->size() < wanted) too_few(sequence->size());
    if (sequence->size() > wanted) too_many();
    for (std::size_t i = 0; i < wanted; ++i) values[i] = (*sequence)[i];
  } else if (star == wanted) {
    if (!in_.iterable(value)) {
      in_.type_error(fmt::format("cannot unpack non-iterable {} object", in_.type_name(value)));
    }
    const Ref<Iterator> iterator = in_.iterate(value);
    for (std::size_t i = 0; i < wanted; ++i) {
      values[i] = iterator->next(in_);
      if (values[i].empty()) too_few(i);
    }
    if (!iterator->next(in_).empty()) too_many();
  } else {
    if (!in_.iterable(value)) {
      in_.type_error(fmt::format("cannot unpack non-iterable {} object", in_.type_name(value)));
    }
    std::vector<Value> all = in_.unpack(value);
    if (all.size() + 1 < wanted) too_few(all.size());
    const std::size_t after = wanted - star - 1;
    for (std::size_t i = 0; i < star; ++i) values[i] = std::move(all[i]);
    for (std::size_t i = 0; i < after; ++i) {
      values[star + 1 + i] = std::move(all[all.size() - after + i]);
    }
    std::vector<Value> middle(
        std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(star)),
        std::make_move_iterator(all.end() - static_cast<std::ptrdiff_t>(after)));
    values[star] = in_.list(std::move(middle));
  }
  value.reset();
  for (std::size_t i = 0; i < wanted; ++i) {
    const Expr* item = target->items[i];
    if (item->kind == ExprKind::kStarred) item = static_cast<const StarredExpr*>(item)->value;
    assign(item, std::move(values[i]));
  }
}

// a, b = x, y: for two and three targets CPython makes no tuple, and where all targets are plain
// locals it stores the last one first.
bool Evaluator::assign_swapped(const AssignStmt* node) {
  if (node->targets.size != 1 || node->value->kind != ExprKind::kTuple) return false;
  const Expr* target = node->targets[0];
  if (target->kind != ExprKind::kTuple && target->kind != ExprKind::kList) return false;
  const auto* to = static_cast<const SequenceExpr*>(target);
  const auto* from = static_cast<const SequenceExpr*>(node->value);
  const std::size_t count = to->items.size;
  if ((count != 2 && count != 3) || from->items.size != count || from->has_star) return false;
  bool locals = true;
  bool constants = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (to->items[i]->kind == ExprKind::kStarred) return false;
    locals = locals && to->items[i]->kind == ExprKind::kName &&
             static_cast<const NameExpr*>(to->items[i])->access == Access::kLocal;
    constants = constants && from->items[i]->kind == ExprKind::kConstant;
  }
  if (constants) return false;  // one constant tuple
  ValueStack::Span values(*in_.values_, count);
  for (std::size_t i = 0; i < count; ++i) values[i] = eval(from->items[i]);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t i = locals ? count - 1 - n : n;
    assign(to->items[i], std::move(values[i]));
  }
  return true;
}

void Evaluator::assign_stmt(const AssignStmt* node) {
  if (assign_swapped(node)) return;
  Value value = eval(node->value);
  for (std::size_t i = 0; i + 1 < node->targets.size; ++i) assign(node->targets[i], value);
  assign(node->targets[node->targets.size - 1], std::move(value));
}

void Evaluator::augmented(const AugAssignStmt* node) {
  const auto apply = [&](Value left) {
    Value right = eval(node->value);
    frame_.at = node->place;
    const DropInOrder drop(left, right);
    return in_.inplace(node->op, left, right);
  };
  switch (node->target->kind) {
    case ExprKind::kName: {
      const auto* name = static_cast<const NameExpr*>(node->target);
      store(name, apply(load(name)));
      return;
    }
    case ExprKind::kAttribute: {
      const auto* attribute = static_cast<const AttributeExpr*>(node->target);
      Value object = eval(attribute->object);
      frame_.at = attribute->name_place;
      Value result = apply(in_.get_attr(object, attribute->name));
      const DropInOrder drop(result, object);
      in_.set_attr(object, attribute->name, result);
      return;
    }
    default: {
      const auto* subscript = static_cast<const SubscriptExpr*>(node->target);
      Value object = eval(subscript->object);
      Value index = eval(subscript->index);
      frame_.at = node->target->place;
      Value result = apply(in_.get_item(object, index));
      const DropInOrder drop(result, object, index);
      in_.set_item(object, index, result);
      return;
    }
  }
}

void Evaluator::annotated(const AnnotatedStmt* node) {
  if (node->value != nullptr) assign(node->target, eval(node->value));
  if (frame_.annotations != nullptr && node->target->kind == ExprKind::kName) {
    frame_.annotations->push_back(
        {static_cast<const NameExpr*>(node->target)->name, node->annotation});
  }
}

void Evaluator::delete_target(const Expr* target) {
  switch (target->kind) {
    case ExprKind::kName:
      remove(static_cast<const NameExpr*>(target));
      return;
    case ExprKind::kAttribute: {
      const auto* attribute = static_cast<const AttributeExpr*>(target);
      const Value object = eval(attribute->object);
      frame_.at = target->place;
      in_.del_attr(object, attribute->name);
      return;
    }
    case ExprKind::kSubscript: {
      const auto* subscript = static_cast<const SubscriptExpr*>(target);
      const Value object = eval(subscript->object);
      const Value index = eval(subscript->index);
      frame_.at = target->place;
      in_.del_item(object, index);
      return;
    }
    default:
      for (const Expr* item : static_cast<const SequenceExpr*>(target)->items) delete_target(item);
      return;
  }
}

Flow Evaluator::while_stmt(const WhileStmt* node) {
  while (true) {
    in_.step();
    {
      const Value test = eval(node->test);
      frame_.at = node->test->place;
      if (!in_.truth(test)) break;
    }
    const Flow flow = run(node->body);
    if (flow == Flow::kBreak) return Flow::kNormal;
    if (flow == Flow::kReturn) return flow;
  }
  return run(node->otherwise);
}

Flow Evaluator::for_stmt(const ForStmt* node) {
  Ref<Iterator> iterator;
  {
    const Value iterable = walked(node->iterable);
    frame_.at = node->iterable->place;
    iterator = in_.iterate(iterable);
  }
  const RunningFor running{*node, *iterator, frame_.loop};
  InLoop in_loop(frame_.loop, &running);
  const std::unique_ptr<LoopWatch> loop_watch = watch(node, *iterator);
  std::optional<LoopSearch> search = LoopSearch::of(in_, *node, *iterator);
  while (true) {
    if (search) search->pass_over(in_);
    in_.step();
    frame_.at = node->iterable->place;
    Value item = iterator->next(in_);
    if (item.empty()) break;
    assign(node->target, std::move(item));
    const Flow flow = run(node->body);
    if (flow == Flow::kBreak) return Flow::kNormal;
    if (flow == Flow::kReturn) return flow;
    if (loop_watch) leave_out_turns(*loop_watch, static_cast<RangeIterator&>(*iterator), node);
  }
  in_loop.end();
  iterator.reset();
  return run(node->otherwise);
}

std::unique_ptr<LoopWatch> Evaluator::watch(const ForStmt* node, const Iterator& iterator) {
  if (in_.loop_watcher_ == nullptr || node->target->kind != ExprKind::kName) return nullptr;
  if (typeid(iterator) != typeid(RangeIterator)) return nullptr;
  return in_.loop_watcher_->watch({*node, frame_, static_cast<const RangeIterator&>(iterator)});
}

void Evaluator::leave_out_turns(LoopWatch& loop_watch, RangeIterator& range, const ForStmt* node) {
  if (range.left() == 0) return;
  const std::int64_t count = loop_watch.turn_ended();
  if (count == 0) return;
  range.skip(count);
  // The variable has its last value after the loop.
  if (range.left() == 0) assign(node->target, Value::integer(range.upcoming() - range.step()));
}

Value Evaluator::enter_with(const Expr* expression, Value& exit_method) {
  Value manager = eval(expression);
  frame_.at = expression->place;
  const auto special = [&](name::Known id) {
    Value self;
    Value method = in_.find_special(manager, known(id), self);
    if (method.empty()) {
      in_.type_error(fmt::format("'{}' object does not support the context manager protocol{}",
                                 in_.type_name(manager),
                                 id == name::kExit ? " (missed __exit__ method)" : ""));
    }
    if (self.empty()) return method;
    return Value(make_ref<BoundMethod>(in_.heap(), std::move(method), std::move(self)));
  };
  const Value enter_method = special(name::kEnter);
  exit_method = special(name::kExit);
  manager.reset();
  return in_.call(enter_method);
}

Flow Evaluator::with_stmt(const WithStmt* node, std::size_t item) {
  if (item == node->items.size) return run(node->body);
  const Expr* expression = node->items[item].manager;
  Value leave_method;
  Value value = enter_with(expression, leave_method);
  Ref<ExceptionObject> exception;
  Flow flow = Flow::kNormal;
  try {
    if (node->items[item].target != nullptr) {
      assign(node->items[item].target, std::move(value));
    } else {
      value.reset();
    }
    flow = with_stmt(node, item + 1);
  } catch (Raised& raised) {
    exception = std::move(raised.exception);
  }
  if (!exception) {
    frame_.at = expression->place;
    in_.call(leave_method, {Value::none(), Value::none(), Value::none()});
    return flow;
  }
  trace(*exception);
  Handling handling(in_.handled_, exception);
  frame_.at = expression->place;
  const Value type = Ref<ClassObject>(&exception->type());
  const Value swallowed = in_.call(leave_method, {type, exception, Value::none()});
  if (in_.truth(swallowed)) {
    exception.reset();
    return Flow::kNormal;
  }
  leave_method.reset();
  handling.end();
  throw Raised{std::move(exception)};
}

Flow Evaluator::try_stmt(const TryStmt* node) {
  if (node->finally.empty()) return except_part(node);
  Ref<ExceptionObject> exception;
  Flow flow = Flow::kNormal;
  try {
    flow = except_part(node);
  } catch (Raised& raised) {
    exception = std::move(raised.exception);
  }
  if (!exception) {
    Value result = std::move(frame_.result);
    const Flow after = run(node->finally);
    if (after != Flow::kNormal) return after;
    frame_.result = std::move(result);
    return flow;
  }
  trace(*exception);
  Handling handling(in_.handled_, exception);
  const Flow after = run(node->finally);
  if (after != Flow::kNormal) {
    exception.reset();
    return after;
  }
  handling.end();
  throw Raised{std::move(exception)};
}

Flow Evaluator::except_part(const TryStmt* node) {
  if (node->handlers.empty()) return run(node->body);
  Ref<ExceptionObject> exception;
  Flow flow = Flow::kNormal;
  try {
    const Importer::Asking asking(in_.importer(), node->takes_import_errors);
    flow = run(node->body);
  } catch (Raised& raised) {
    exception = std::move(raised.exception);
  }
  if (exception && node->by_group) return handle_groups(node, std::move(exception));
  if (exception) return handle(node, std::move(exception));
  return flow == Flow::kNormal ? run(node->otherwise) : flow;
}

Flow Evaluator::handle(const TryStmt* node, Ref<ExceptionObject> exception) {
  trace(*exception);
  Handling handling(in_.handled_, exception);
  for (const Handler& handler : node->handlers) {
    if (handler.type != nullptr) {
      const Value type = eval(handler.type);
      frame_.at = handler.type->place;
      if (!matches(in_, *exception, type)) continue;
    }
    if (handler.target == nullptr) {
      exception.reset();
      return run(handler.body);
    }
    store(handler.target, exception);
    exception.reset();
    Flow flow = Flow::kNormal;
    try {
      flow = run(handler.body);
    } catch (Raised&) {
      store(handler.target, {});
      throw;
    }
    // The exception stops being handled, then its name goes.
    handling.end();
    store(handler.target, {});
    return flow;
  }
  handling.end();
  throw Raised{std::move(exception)};
}

bool Evaluator::matches(Interp& interp, const ExceptionObject& exception, const Value& type) {
  if (const ClassObject* wanted = type.as<ClassObject>()) {
    if (wanted->derives_from(*interp.classes().base_exception)) {
      return exception.type().derives_from(*wanted);
    }
  }
  if (const Tuple* tuple = type.as<Tuple>()) {
    const NestedCall nested(interp);
    return std::any_of(tuple->items.begin(), tuple->items.end(),
                       [&](const Value& item) { return matches(interp, exception, item); });
  }
  interp.type_error("catching classes that do not inherit from BaseException is not allowed");
}

Ref<ExceptionObject> Evaluator::exception_from(Value value) {
  if (ClassObject* type = value.as<ClassObject>()) {
    if (type->derives_from(*in_.classes().base_exception)) value = in_.call(value);
  }
  Ref<ExceptionObject> exception = value.ref<ExceptionObject>();
  if (!exception) in_.type_error("exceptions must derive from BaseException");
  return exception;
}

void Evaluator::raise_stmt(const RaiseStmt* node) {
  if (node->exception == nullptr) {
    if (!in_.handled_) in_.runtime_error("No active exception to reraise");
    throw Raised{in_.handled_};
  }
  Ref<ExceptionObject> exception;
  {
    Value value = eval(node->exception);
    frame_.at = node->place;
    exception = exception_from(std::move(value));
  }
  if (node->cause != nullptr) {
    Value cause = eval(node->cause);
    frame_.at = node->place;
    exception->suppress_context = true;
    exception->cause = cause.is_none() ? Value() : Value(exception_from(std::move(cause)));
  }
  in_.raise(std::move(exception));
}

void Evaluator::assert_stmt(const AssertStmt* node) {
  {
    const Value test = eval(node->test);
    frame_.at = node->test->place;
    if (in_.truth(test)) return;
  }
  std::vector<Value> args;
  if (node->message != nullptr) args.push_back(eval(node->message));
  frame_.at = node->place;
  in_.raise(in_.call(in_.classes().assertion_error, std::move(args)).ref<ExceptionObject>());
}

void Evaluator::function_stmt(const FunctionStmt* node) {
  std::vector<Value> decorators;
  for (const Expr* decorator : node->decorators) decorators.push_back(eval(decorator));
  Value function = make_function(node->function);
  for (std::size_t i = decorators.size(); i > 0; --i) {
    frame_.at = node->decorators[i - 1]->place;
    ValueStack::Span argument(*in_.values_, 1);
    argument[0] = std::move(function);
    CallArgs args{argument.data(), 1, nullptr, 0, true};
    function = in_.call(decorators[i - 1], args);
    decorators[i - 1].reset();
  }
  store(node->target, std::move(function));
}

void Evaluator::trace(ExceptionObject& exception) {
  if (!exception.traceback.empty() && frame_.object &&
      exception.traceback.back().frame == frame_.object) {
    return;
  }
  if (!frame_.object) {
    frame_.object = make_ref<FrameObject>(in_.heap(), shared_code(*frame_.code));
  }
  exception.traceback.push_back({frame_.object, {frame_.code, frame_.at.begin, frame_.at.end}});
}

}  // namespace tidemark::lang
