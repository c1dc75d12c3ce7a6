#include "sim/lang/runtime/loop_search.h"

#include <algorithm>
#include <string>
#include <typeinfo>
#include <utility>

#include "sim/base/text_search.h"

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

using Question = LoopSearch::Question;

std::optional<Question> question_in(const Interp& in, const Expr& test, Name item);

bool is_item(const Expr& value, Name item) {
  return value.kind == ExprKind::kName && static_cast<const NameExpr&>(value).name == item;
}

/// `item.startswith("...")`, or of a tuple of literals.
std::optional<Question> begins_in(const Interp& in, const CallExpr& call, Name item) {
  if (call.spread || call.arguments.size != 1 || !call.keywords.empty() ||
      call.callee->kind != ExprKind::kAttribute)
    return std::nullopt;
  const auto& method = static_cast<const AttributeExpr&>(*call.callee);
  if (!is_item(*method.object, item) || in.text(method.name) != "startswith") return std::nullopt;
  Question out;
  const Expr& begin = *call.arguments[0];
  if (begin.kind == ExprKind::kTuple) {
    for (const Expr* each : static_cast<const SequenceExpr&>(begin).items) {
      if (!add_text(in, *each, out.texts)) return std::nullopt;
    }
  } else if (!add_text(in, begin, out.texts)) {
    return std::nullopt;
  }
  return out;
}

Question denied(Question question) {
  return {.kind = Question::Kind::kNot, .texts = {}, .parts = {std::move(question)}};
}

/// `"..." in item` or `"..." not in item`.
std::optional<Question> has_in(const Interp& in, const CompareExpr& compare, Name item) {
  if (compare.steps.size != 1 || !is_item(*compare.steps[0].right, item)) return std::nullopt;
  const Relation relation = compare.steps[0].relation;
  Question out{.kind = Question::Kind::kHas, .texts = {}, .parts = {}};
  if ((relation != Relation::kIn && relation != Relation::kNotIn) ||
      !add_text(in, *compare.left, out.texts))
    return std::nullopt;
  return relation == Relation::kIn ? out : denied(std::move(out));
}

std::optional<Question> all_in(const Interp& in, const BoolExpr& both, Name item) {
  Question out{
      .kind = both.is_or ? Question::Kind::kOr : Question::Kind::kAnd, .texts = {}, .parts = {}};
  for (const Expr* each : both.operands) {
    std::optional<Question> part = question_in(in, *each, item);
    if (!part) return std::nullopt;
    out.parts.push_back(std::move(*part));
  }
  return out;
}

std::optional<Question> question_in(const Interp& in, const Expr& test, Name item) {
  switch (test.kind) {
    case ExprKind::kCall:
      return begins_in(in, static_cast<const CallExpr&>(test), item);
    case ExprKind::kCompare:
      return has_in(in, static_cast<const CompareExpr&>(test), item);
    case ExprKind::kBool:
      return all_in(in, static_cast<const BoolExpr&>(test), item);
    case ExprKind::kNot: {
      std::optional<Question> part =
          question_in(in, *static_cast<const NotExpr&>(test).operand, item);
      if (part) part = denied(std::move(*part));
      return part;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

bool Question::is_true_of(std::string_view text) const {
  const auto is_part_true = [&](const Question& part) { return part.is_true_of(text); };
  switch (kind) {
    case Kind::kBegins:
      return std::any_of(texts.begin(), texts.end(),
                         [&](std::string_view begin) { return text.starts_with(begin); });
    case Kind::kHas:
      return find_text(text, texts.front()) != std::string_view::npos;
    case Kind::kNot:
      return !parts.front().is_true_of(text);
    case Kind::kAnd:
      return std::all_of(parts.begin(), parts.end(), is_part_true);
    case Kind::kOr:
      return std::any_of(parts.begin(), parts.end(), is_part_true);
  }
  return false;
}

std::optional<bool> Question::is_true_by(char first) const {
  switch (kind) {
    case Kind::kBegins: {
      std::optional<bool> out = false;
      for (const std::string_view begin : texts) {
        if (begin.empty() || (begin.size() == 1 && begin.front() == first)) return true;
        if (begin.front() == first) out.reset();
      }
      return out;
    }
    case Kind::kHas:
      if (texts.front().size() == 1 && texts.front().front() == first) return true;
      return std::nullopt;
    case Kind::kNot: {
      const std::optional<bool> part = parts.front().is_true_by(first);
      return part ? std::optional(!*part) : part;
    }
    case Kind::kAnd:
    case Kind::kOr: {
      std::optional<bool> out = kind == Kind::kAnd;
      for (const Question& part : parts) {
        const std::optional<bool> answer = part.is_true_by(first);
        if (answer && *answer == (kind == Kind::kOr)) return answer;
        if (!answer) out.reset();
      }
      return out;
    }
  }
  return std::nullopt;
}

LoopSearch::Answer LoopSearch::answer_of(std::size_t first) const {
  const std::optional<bool> known = first == kNoLetter
                                        ? question_.is_true_of({})
                                        : question_.is_true_by(static_cast<char>(first));
  if (!known) return Answer::kAsk;
  return *known == passes_where_ ? Answer::kYes : Answer::kNo;
}

inline bool LoopSearch::is_passed(std::string_view text) {
  const std::size_t first =
      text.empty() ? kNoLetter : static_cast<std::size_t>(static_cast<unsigned char>(text.front()));
  Answer& answer = answers_[first];
  if (answer == Answer::kUnknown) answer = answer_of(first);
  return answer == Answer::kAsk ? question_.is_true_of(text) == passes_where_
                                : answer == Answer::kYes;
}

/// How many lines are passed over from one on, which is not the last.
std::size_t LoopSearch::count_passed(TextLines& lines, std::size_t line) {
  const std::size_t from = lines.begin_of(line);
  if (from == std::string_view::npos) return 0;
  const std::string_view text = lines.text();
  const bool is_lone_begin = !passes_where_ && question_.kind == Question::Kind::kBegins &&
                             question_.texts.size() == 1 && !question_.texts.front().empty() &&
                             question_.texts.front().find('\n') == std::string_view::npos;
  std::size_t at = from;
  std::size_t count = 0;
  if (is_lone_begin) {
    // The next line that begins so: it is found as a text behind the end of a line.
    const std::string_view begin = question_.texts.front();
    if (text.substr(from).starts_with(begin)) return 0;
    const std::string wanted = std::string("\n").append(begin);
    // From the text's beginning on, the text itself knows: programs ask it of a file again.
    const Str& whole = lines.whole();
    const std::size_t found = from == 0 ? whole.find(wanted) : find_text(text.substr(from), wanted);
    at = found >= text.size() - from ? text.rfind('\n') + 1 : from + found + 1;
    if (at <= from) return 0;
    count =
        from == 0 ? whole.line_ends_before(at) : count_bytes(text.substr(from, at - from), '\n');
  } else {
    for (std::size_t end = text.find('\n', at); end != std::string_view::npos;
         end = text.find('\n', at)) {
      if (!is_passed(text.substr(at, end - at))) break;
      at = end + 1;
      ++count;
    }
  }
  lines.note(line + count, at);
  return count;
}

std::optional<LoopSearch> LoopSearch::of(const Interp& in, const ForStmt& loop,
                                         Iterator& iterator) {
  if (loop.body[0]->kind != StmtKind::kIf) return std::nullopt;
  const auto& begin = static_cast<const IfStmt&>(*loop.body[0]);
  const bool goes_on = begin.body.size == 1 && begin.body[0]->kind == StmtKind::kContinue;
  if (!begin.otherwise.empty() || (loop.body.size != 1 && !goes_on)) return std::nullopt;
  LoopSearch search;
  search.passes_where_ = goes_on;
  const bool is_numbered = typeid(iterator) == typeid(EnumerateIterator);
  if (!is_numbered && typeid(iterator) != typeid(SequenceIterator)) return std::nullopt;
  search.numbered_ = is_numbered ? static_cast<EnumerateIterator*>(&iterator) : nullptr;
  search.items_ = search.numbered_ != nullptr ? search.numbered_->sequence()
                                              : static_cast<SequenceIterator*>(&iterator);
  const NameExpr* item = item_of(loop, search.numbered_ != nullptr);
  if (search.items_ == nullptr || item == nullptr) return std::nullopt;
  std::optional<Question> question = question_in(in, *begin.test, item->name);
  if (!question) return std::nullopt;
  search.question_ = std::move(*question);
  return search;
}

void LoopSearch::pass_over(Interp& in) {
  std::size_t count = 0;
  if (TextLines* lines = items_->lines()) {
    count = count_passed(*lines, items_->upcoming_line());
  } else {
    const std::span<const Value> upcoming = items_->upcoming();
    const auto is_item_passed = [&](const Value& item) {
      const Str* text = item.as<Str>();
      return text != nullptr && is_passed(text->text());
    };
    while (count + 1 < upcoming.size() && is_item_passed(upcoming[count])) ++count;
  }
  if (count == 0) return;
  in.charge(count);
  if (numbered_ != nullptr) {
    numbered_->skip(count);
  } else {
    items_->skip(count);
  }
}

}  // namespace tidemark::lang
