#include "sim/lang/runtime/loop_search.h"

#include <algorithm>

namespace tidemark::lang {

namespace {

/// The name of the loop's item: `item`, or the second of `number, item`.
const NameExpr* item_of(const ForStmt& loop, bool is_numbered) {
  const Expr* target = loop.target;
  if (is_numbered) {
    if (target->kind != ExprKind::kTuple) return nullptr;
    const auto& names = static_cast<const SequenceExpr*>(target)->items;
    if (names.size != 2 || names[0]->kind != ExprKind::kName) return nullptr;
    target = names[1];
  }
  return target->kind == ExprKind::kName ? static_cast<const NameExpr*>(target) : nullptr;
}

/// Adds the text of a literal. False: it is something else.
bool add_text(const Interp& in, const Expr& value, std::vector<std::string_view>& texts) {
  if (value.kind != ExprKind::kConstant) return false;
  const Literal& literal = static_cast<const ConstantExpr&>(value).literal;
  if (literal.kind != Literal::Kind::kText) return false;
  texts.push_back(in.text(literal.text()));
  return true;
}

}  // namespace

std::optional<LoopSearch> LoopSearch::of(const Interp& in, const ForStmt& loop,
                                         Iterator& iterator) {
  if (loop.body.size != 1 || loop.body[0]->kind != StmtKind::kIf) return std::nullopt;
  const auto& only = static_cast<const IfStmt&>(*loop.body[0]);
  if (!only.otherwise.empty() || only.test->kind != ExprKind::kCall) return std::nullopt;
  const auto& call = static_cast<const CallExpr&>(*only.test);
  if (call.spread || call.arguments.size != 1 || !call.keywords.empty() ||
      call.callee->kind != ExprKind::kAttribute)
    return std::nullopt;
  const auto& method = static_cast<const AttributeExpr&>(*call.callee);
  if (method.object->kind != ExprKind::kName || in.text(method.name) != "startswith")
    return std::nullopt;
  LoopSearch search;
  search.numbered_ = dynamic_cast<EnumerateIterator*>(&iterator);
  search.items_ = search.numbered_ != nullptr ? search.numbered_->sequence()
                                              : dynamic_cast<SequenceIterator*>(&iterator);
  const NameExpr* item = item_of(loop, search.numbered_ != nullptr);
  if (search.items_ == nullptr || item == nullptr ||
      item->name != static_cast<const NameExpr*>(method.object)->name)
    return std::nullopt;
  const Expr& begin = *call.arguments[0];
  if (begin.kind == ExprKind::kTuple) {
    for (const Expr* each : static_cast<const SequenceExpr&>(begin).items) {
      if (!add_text(in, *each, search.begins_)) return std::nullopt;
    }
  } else if (!add_text(in, begin, search.begins_)) {
    return std::nullopt;
  }
  return search;
}

void LoopSearch::pass_over(Interp& in) {
  const std::span<const Value> upcoming = items_->upcoming();
  const auto is_passed = [&](const Value& item) {
    const Str* text = item.as<Str>();
    return text != nullptr &&
           std::none_of(begins_.begin(), begins_.end(),
                        [&](std::string_view begin) { return text->text().starts_with(begin); });
  };
  std::size_t count = 0;
  while (count + 1 < upcoming.size() && is_passed(upcoming[count])) ++count;
  if (count == 0) return;
  in.charge(count);
  if (numbered_ != nullptr) {
    numbered_->skip(count);
  } else {
    items_->skip(count);
  }
}

}  // namespace tidemark::lang
