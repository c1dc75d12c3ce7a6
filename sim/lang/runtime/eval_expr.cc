#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/runtime/annotations.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/generator.h"
#include "sim/lang/runtime/rank_value.h"

namespace tidemark::lang {

namespace {

/// A global that a host module makes when it is first used.
Value make_missing(Interp& in, Module& module, Name name) {
  return module.make_missing ? module.make_missing(in, module, name) : Value();
}

}  // namespace

Value Evaluator::load(const NameExpr* node) {
  switch (node->access) {
    case Access::kLocal: {
      const Value& value = frame_.slots[node->slot];
      if (value.empty()) unbound(node);
      return value;
    }
    case Access::kGlobal: {
      const Value& value = frame_.globals->at(node->slot);
      if (!value.empty()) return value;
      if (const Value* builtin = in_.find_builtin(node->name)) return *builtin;
      if (Value made = make_missing(in_, *frame_.globals, node->name); !made.empty()) return made;
      if (Value late = late_builtin(in_, node->name); !late.empty()) return late;
      unbound(node);
    }
    case Access::kCell: {
      const Value& value = static_cast<Cell*>(frame_.slots[node->slot].object())->value;
      if (value.empty()) unbound(node);
      return value;
    }
    case Access::kFree: {
      const Value& value = (*frame_.closure)[node->slot]->value;
      if (value.empty()) unbound(node);
      return value;
    }
    case Access::kClass:
    case Access::kClassFree: {
      if (const Value* found = frame_.class_namespace->find(node->name)) return *found;
      const Value& value = node->access == Access::kClassFree ? (*frame_.closure)[node->slot]->value
                                                              : frame_.globals->at(node->slot);
      if (!value.empty()) return value;
      if (const Value* builtin = in_.find_builtin(node->name)) return *builtin;
      if (Value made = make_missing(in_, *frame_.globals, node->name); !made.empty()) return made;
      if (Value late = late_builtin(in_, node->name); !late.empty()) return late;
      unbound(node);
    }
    case Access::kUnresolved:
      break;
  }
  unbound(node);
}

void Evaluator::unbound(const NameExpr* node) {
  frame_.at = node->place;
  const std::string_view text = in_.text(node->name);
  if (node->access == Access::kLocal || node->access == Access::kCell) {
    in_.name_error(
        *in_.classes().unbound_local_error, node->name,
        fmt::format("cannot access local variable '{}' where it is not associated with a value",
                    text));
  }
  if (node->access == Access::kFree) {
    in_.name_error(*in_.classes().name_error, node->name,
                   fmt::format("cannot access free variable '{}' where it is not associated with a "
                               "value in enclosing scope",
                               text));
  }
  in_.name_error(*in_.classes().name_error, node->name,
                 fmt::format("name '{}' is not defined", text));
}

void Evaluator::store(const NameExpr* node, Value value) {
  switch (node->access) {
    case Access::kLocal:
      frame_.slots[node->slot] = std::move(value);
      return;
    case Access::kGlobal:
      frame_.globals->at(node->slot) = std::move(value);
      return;
    case Access::kCell:
      static_cast<Cell*>(frame_.slots[node->slot].object())->value = std::move(value);
      return;
    case Access::kFree:
      (*frame_.closure)[node->slot]->value = std::move(value);
      return;
    case Access::kClass:
    case Access::kClassFree:
      frame_.class_namespace->set(node->name, std::move(value));
      return;
    case Access::kUnresolved:
      break;
  }
  unbound(node);
}

void Evaluator::remove(const NameExpr* node) {
  if (node->access == Access::kClass || node->access == Access::kClassFree) {
    if (frame_.class_namespace->find(node->name) == nullptr) unbound(node);
    frame_.class_namespace->remove(node->name);
    return;
  }
  if (node->access == Access::kGlobal && frame_.globals->at(node->slot).empty()) unbound(node);
  if (node->access != Access::kGlobal) load(node);
  store(node, {});
}

Value Evaluator::eval(const Expr* node) {
  switch (node->kind) {
    case ExprKind::kName:
      return load(static_cast<const NameExpr*>(node));
    case ExprKind::kConstant:
      return in_.constant(static_cast<const ConstantExpr*>(node)->literal);
    case ExprKind::kCall:
      return call(static_cast<const CallExpr*>(node));
    case ExprKind::kAttribute: {
      const auto* attribute = static_cast<const AttributeExpr*>(node);
      const Value object = eval(attribute->object);
      frame_.at = attribute->name_place;
      return in_.get_attr(object, attribute->name);
    }
    case ExprKind::kBinary: {
      const auto* binary = static_cast<const BinaryExpr*>(node);
      Value left = eval(binary->left);
      Value right = eval(binary->right);
      frame_.at = node->place;
      const DropInOrder drop(left, right);
      return in_.binary(binary->op, left, right);
    }
    case ExprKind::kSubscript: {
      const auto* subscript = static_cast<const SubscriptExpr*>(node);
      Value object = eval(subscript->object);
      Value index = eval(subscript->index);
      frame_.at = node->place;
      const DropInOrder drop(object, index);
      return in_.get_item(object, index);
    }
    case ExprKind::kTuple:
      return in_.tuple(items(static_cast<const SequenceExpr*>(node)));
    case ExprKind::kList:
      return in_.list(items(static_cast<const SequenceExpr*>(node)));
    case ExprKind::kSet:
      return set(static_cast<const SequenceExpr*>(node), false);
    case ExprKind::kDict:
      return dict(static_cast<const DictExpr*>(node));
    case ExprKind::kUnary: {
      const auto* unary = static_cast<const UnaryExpr*>(node);
      const Value operand = eval(unary->operand);
      frame_.at = node->place;
      return in_.unary(unary->op, operand);
    }
    case ExprKind::kNot: {
      const Expr* denied = static_cast<const NotExpr*>(node)->operand;
      const Value operand = eval(denied);
      frame_.at = denied->place;  // what is decided, and told, is the operand
      return Value::boolean(!in_.truth(operand));
    }
    case ExprKind::kBool: {
      const auto* choice = static_cast<const BoolExpr*>(node);
      for (std::size_t i = 0; i + 1 < choice->operands.size; ++i) {
        Value operand = eval(choice->operands[i]);
        frame_.at = choice->operands[i]->place;
        if (in_.truth(operand) == choice->is_or) return operand;
      }
      return eval(choice->operands[choice->operands.size - 1]);
    }
    case ExprKind::kCompare:
      return compare(static_cast<const CompareExpr*>(node));
    case ExprKind::kConditional: {
      const auto* choice = static_cast<const ConditionalExpr*>(node);
      bool chosen = false;
      {
        const Value test = eval(choice->test);
        frame_.at = choice->test->place;
        chosen = in_.truth(test);
      }
      return eval(chosen ? choice->body : choice->otherwise);
    }
    case ExprKind::kSlice: {
      const auto* slice = static_cast<const SliceExpr*>(node);
      const auto part = [&](const Expr* e) { return e == nullptr ? Value::none() : eval(e); };
      Value start = part(slice->start);
      Value stop = part(slice->stop);
      Value step = part(slice->step);
      return make_ref<Slice>(in_.heap(), std::move(start), std::move(stop), std::move(step));
    }
    case ExprKind::kJoined:
      return joined(static_cast<const JoinedExpr*>(node));
    case ExprKind::kLambda:
      return make_function(static_cast<const LambdaExpr*>(node)->function);
    case ExprKind::kComprehension:
      return comprehension(static_cast<const ComprehensionExpr*>(node));
    case ExprKind::kNamed: {
      const auto* named = static_cast<const NamedExpr*>(node);
      Value value = eval(named->value);
      store(named->target, value);
      return value;
    }
    case ExprKind::kTaken:
      return std::exchange(frame_.slots[static_cast<const NameExpr*>(node)->slot], {});
    case ExprKind::kYield:
      frame_.at = node->place;
      in_.refuse("a 'yield' cannot stand here");
    case ExprKind::kStarred:
      break;
  }
  frame_.at = node->place;
  in_.refuse("a starred expression cannot stand here");
}

std::vector<Value> Evaluator::items(const SequenceExpr* node) {
  ValueStack::Span values(*in_.values_, node->has_star ? 0 : node->items.size);
  if (!node->has_star) {
    for (std::size_t i = 0; i < node->items.size; ++i) values[i] = eval(node->items[i]);
    std::vector<Value> out;
    out.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) out.push_back(std::move(values[i]));
    return out;
  }
  // As CPython: one list, extended item by item; on the way out by an exception it dies as a list
  // does.
  Ref<List> list = make_ref<List>(in_.heap());
  for (const Expr* item : node->items) {
    if (item->kind != ExprKind::kStarred) {
      list->items.push_back(eval(item));
      continue;
    }
    const Value spread = eval(static_cast<const StarredExpr*>(item)->value);
    frame_.at = item->place;
    for (Value& value : in_.unpack(spread)) list->items.push_back(std::move(value));
  }
  return std::move(list->items.all());
}

Value Evaluator::dict(const DictExpr* node) {
  Ref<Dict> out = in_.dict();
  for (std::size_t i = 0; i < node->values.size; ++i) {
    if (node->keys[i] == nullptr) {
      const Value spread = eval(node->values[i]);
      frame_.at = node->values[i]->place;
      const Ref<Dict> other = mapping_of(in_, spread);
      if (!other) {
        in_.type_error(fmt::format("'{}' object is not a mapping", in_.type_name(spread)));
      }
      const std::vector<ValueTable::Entry> entries = other->table.entries();
      for (const ValueTable::Entry& entry : entries) {
        if (!entry.key.empty()) out->table.set(in_, entry.key, entry.value);
      }
      continue;
    }
    Value key = eval(node->keys[i]);
    Value value = eval(node->values[i]);
    frame_.at = node->keys[i]->place;
    out->table.set(in_, std::move(key), std::move(value));
  }
  return out;
}

Value Evaluator::joined(const JoinedExpr* node) {
  std::string out;
  Value before;  // what is another text on other ranks, and all in front of it
  for (const JoinedPart& part : node->parts) {
    if (part.value == nullptr) {
      out += in_.text(part.text);
      continue;
    }
    Value value = eval(part.value);
    frame_.at = part.value->place;
    if (Value told = text_of_ranks(in_, value); !told.empty()) {
      value = std::move(told);
      const std::string wanted = part.spec == nullptr ? std::string() : in_.to_str(eval(part.spec));
      const bool is_shown = part.conversion == 'r' || part.conversion == 'a';
      const Value parts[] = {before.empty() ? in_.str({}) : before, in_.str(std::exchange(out, {})),
                             value};
      before = by_rank(in_, parts, [&](std::span<const Value> of) {
        const Value text = is_shown ? in_.str(in_.repr(of[2])) : of[2];
        return in_.str(in_.to_str(of[0]) + in_.to_str(of[1]) + in_.format(text, wanted));
      });
      continue;
    }
    if (part.conversion == 's') value = in_.str(in_.to_str(value));
    if (part.conversion == 'r' || part.conversion == 'a') value = in_.str(in_.repr(value));
    std::string spec;
    if (part.spec != nullptr) spec = in_.to_str(eval(part.spec));
    frame_.at = part.value->place;
    out += in_.format(value, spec);
  }
  if (!before.empty()) return in_.binary(BinaryOp::kAdd, before, in_.str(std::move(out)));
  return in_.str(std::move(out));
}

Value Evaluator::relation(Relation relation, const Value& left, const Value& right) {
  switch (relation) {
    case Relation::kIs:
      return Value::boolean(left.same_as(right));
    case Relation::kIsNot:
      return Value::boolean(!left.same_as(right));
    case Relation::kIn:
      return Value::boolean(in_.contains(right, left));
    case Relation::kNotIn:
      return Value::boolean(!in_.contains(right, left));
    default:
      return in_.compare(static_cast<CompareOp>(relation), left, right);
  }
}

Value Evaluator::compare(const CompareExpr* node) {
  Value left = eval(node->left);
  for (std::size_t i = 0;; ++i) {
    Value right = eval(node->steps[i].right);
    frame_.at = node->place;
    if (i + 1 == node->steps.size) {
      const DropInOrder drop(left, right);
      return relation(node->steps[i].relation, left, right);
    }
    Value result = relation(node->steps[i].relation, left, right);
    left.reset();
    if (!in_.truth(result)) return result;
    left = std::move(right);
  }
}

namespace {

/// Drops what a call was made of, the function first, then its arguments in order.
class DropOperands {
 public:
  DropOperands(Value& callee, ValueStack::Span& values) : callee_(callee), values_(values) {}
  ~DropOperands() {
    callee_.reset();
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!values_[i].empty()) values_[i].reset();
  }
  DropOperands(const DropOperands&) = delete;
  DropOperands& operator=(const DropOperands&) = delete;

 private:
  Value& callee_;
  ValueStack::Span& values_;
};

}  // namespace

// The function to call, with `self` set when it is a method found on self's class: nothing is bound
// then.
Value Evaluator::find_callee(const CallExpr* node, Value& self) {
  if (node->callee->kind != ExprKind::kAttribute) return eval(node->callee);
  const auto* attribute = static_cast<const AttributeExpr*>(node->callee);
  Value object = eval(attribute->object);
  frame_.at = attribute->name_place;
  return in_.find_method(std::move(object), attribute->name, self);
}

Value Evaluator::call(const CallExpr* node) {
  if (node->spread) return call_spread(node);
  const std::size_t positional = node->arguments.size;
  const std::size_t keywords = node->keywords.size;
  ValueStack::Span values(*in_.values_, 1 + positional + keywords);
  Value callee = find_callee(node, values[0]);
  bool with_self = !values[0].empty();
  for (std::size_t i = 0; i < positional; ++i) values[1 + i] = eval(node->arguments[i]);
  for (std::size_t i = 0; i < keywords; ++i) {
    values[1 + positional + i] = eval(node->keywords[i].value);
  }
  frame_.at = node->place;
  if (const BoundMethod* method = with_self ? nullptr : callee.as<BoundMethod>()) {
    values[0] = method->self;
    callee = Value(method->function);
    with_self = true;
  }
  CallArgs args{values.data() + (with_self ? 0 : 1), positional + (with_self ? 1 : 0),
                node->keyword_names.data, keywords, true};
  // On the way out by an exception as well; a handler of its own would stop that at each call.
  const DropOperands drop(callee, values);
  return in_.call(callee, args);
}

// f(*a, **k): CPython builds a tuple and a dict that live until the call returns. A lone *t with a
// tuple t passes t itself.
Value Evaluator::call_spread(const CallExpr* node) {
  Value self;
  Value callee = find_callee(node, self);
  if (!self.empty()) {
    // Without LOAD_METHOD the method is bound.
    callee = make_ref<BoundMethod>(in_.heap(), std::move(callee), std::move(self));
  }
  Ref<Tuple> positional;
  if (node->arguments.size == 1 && node->arguments[0]->kind == ExprKind::kStarred) {
    const Value only = eval(static_cast<const StarredExpr*>(node->arguments[0])->value);
    frame_.at = node->arguments[0]->place;
    positional = only.ref<Tuple>();
    if (!positional) positional = make_ref<Tuple>(in_.heap(), in_.unpack(only));
  } else {
    const SequenceExpr all{{ExprKind::kTuple, node->place}, node->arguments, true};
    positional = make_ref<Tuple>(in_.heap(), items(&all));
  }
  Ref<Dict> keywords;
  if (!node->keywords.empty()) keywords = in_.dict();
  for (const Keyword& keyword : node->keywords) {
    const Value value = eval(keyword.value);
    frame_.at = keyword.place;
    const auto add = [&](const Value& name, const Value& item) {
      if (keywords->table.find(in_, name) != nullptr) {
        in_.type_error(fmt::format("{}() got multiple values for keyword argument '{}'",
                                   in_.callable_name(callee), in_.to_str(name)));
      }
      keywords->table.set(in_, name, item);
    };
    if (!keyword.spread) {
      add(in_.str(std::string(in_.text(keyword.name))), value);
      continue;
    }
    const Ref<Dict> spread = mapping_of(in_, value);
    if (!spread) {
      in_.type_error(fmt::format("{}() argument after ** must be a mapping, not {}",
                                 in_.callable_name(callee), in_.type_name(value)));
    }
    const std::vector<ValueTable::Entry> entries = spread->table.entries();
    for (const ValueTable::Entry& entry : entries) {
      if (entry.key.empty()) continue;
      if (entry.key.as<Str>() == nullptr) in_.type_error("keywords must be strings");
      add(entry.key, entry.value);
    }
  }
  frame_.at = node->place;
  Value result;
  try {
    result = in_.call_with(callee, positional, keywords);
  } catch (const Raised&) {
    callee.reset();
    positional.reset();
    keywords.reset();
    throw;
  }
  callee.reset();
  positional.reset();
  keywords.reset();
  return result;
}

Value Evaluator::set(const SequenceExpr* node, bool is_walked) {
  const bool frozen = is_walked || is_folded_set(*node);
  const Ref<Set> made = make_ref<Set>(in_.heap(), frozen);
  for (Value& item : items(node)) {
    frame_.at = node->place;
    made->add(in_, std::move(item));
  }
  if (!frozen || is_walked) return made;
  const Ref<Set> out = make_ref<Set>(in_.heap());
  out->merge(in_, *made);
  return out;
}

std::vector<Ref<Cell>> Evaluator::captured(const Code& code) {
  std::vector<Ref<Cell>> cells;
  cells.reserve(code.captures.size);
  for (const Code::Capture& capture : code.captures) {
    cells.push_back(capture.from_cell ? frame_.slots[capture.index].ref<Cell>()
                                      : (*frame_.closure)[capture.index]);
  }
  return cells;
}

Value Evaluator::make_function(const FunctionNode* node) {
  std::vector<Value> defaults;
  std::vector<Value> keyword_defaults;
  for (const Parameter& parameter : node->parameters->positional) {
    if (parameter.fallback != nullptr) defaults.push_back(eval(parameter.fallback));
  }
  for (const Parameter& parameter : node->parameters->keyword_only) {
    keyword_defaults.push_back(parameter.fallback == nullptr ? Value() : eval(parameter.fallback));
  }
  Ref<Function> function =
      make_ref<Function>(in_.heap(), shared_code(*node->code), Ref<Module>(frame_.globals));
  function->defaults = std::move(defaults);
  function->keyword_defaults = std::move(keyword_defaults);
  function->closure = captured(*node->code);
  function->name = node->name;
  function->qualname = node->code->qualname;
  const bool is_inner =
      frame_.function != nullptr || (frame_.class_namespace != nullptr && !frame_.closure->empty());
  if (is_inner && node->value == nullptr) keep_local_names(in_, frame_, *function);
  return function;
}

Value Evaluator::comprehension(const ComprehensionExpr* node) {
  const Code& code = *node->code;
  Ref<Function> function =
      make_ref<Function>(in_.heap(), shared_code(code), Ref<Module>(frame_.globals));
  function->closure = captured(code);
  function->name = code.name;
  function->qualname = code.qualname;
  Ref<Iterator> iterator;
  {
    const Value iterable = walked(node->clauses[0].iterable);
    frame_.at = node->clauses[0].iterable->place;
    iterator = in_.iterate(iterable);
  }
  if (code.form == Code::Form::kGenerator) {
    return make_ref<Generator>(in_.heap(), std::move(function), std::move(iterator));
  }
  frame_.at = node->place;
  ValueStack::Span values(*in_.values_, 1);
  values[0] = std::move(iterator);
  CallArgs args{values.data(), 1, nullptr, 0, true};
  return call_function(in_, *function, args);
}

Value Evaluator::comprehension_body() {
  const ComprehensionExpr* node = frame_.code->comprehension;
  Value out;
  switch (node->form) {
    case ComprehensionKind::kList:
      out = in_.list({});
      break;
    case ComprehensionKind::kSet:
      out = make_ref<Set>(in_.heap());
      break;
    default:
      out = in_.dict();
      break;
  }
  clause(node, 0, frame_.slots[0].ref<Iterator>(), out);
  return out;
}

void Evaluator::clause(const ComprehensionExpr* node, std::size_t index,
                       const Ref<Iterator>& iterator, const Value& out) {
  const Clause& clause_node = node->clauses[index];
  while (true) {
    frame_.at = clause_node.iterable->place;
    Value item = iterator->next(in_);
    if (item.empty()) return;
    in_.step();
    assign(clause_node.target, std::move(item));
    bool wanted = true;
    for (const Expr* condition : clause_node.conditions) {
      const Value test = eval(condition);
      frame_.at = condition->place;
      if (!in_.truth(test)) {
        wanted = false;
        break;
      }
    }
    if (!wanted) continue;
    if (index + 1 < node->clauses.size) {
      Ref<Iterator> inner;
      {
        const Value iterable = walked(node->clauses[index + 1].iterable);
        frame_.at = node->clauses[index + 1].iterable->place;
        inner = in_.iterate(iterable);
      }
      clause(node, index + 1, inner, out);
      continue;
    }
    Value element = eval(node->element);
    switch (node->form) {
      case ComprehensionKind::kList:
        static_cast<List*>(out.object())->items.push_back(std::move(element));
        break;
      case ComprehensionKind::kSet:
        frame_.at = node->element->place;
        static_cast<Set*>(out.object())->add(in_, std::move(element));
        break;
      default: {
        Value value = eval(node->value);
        frame_.at = node->element->place;
        static_cast<Dict*>(out.object())->table.set(in_, std::move(element), std::move(value));
        break;
      }
    }
  }
}

}  // namespace tidemark::lang
