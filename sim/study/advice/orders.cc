#include "sim/study/advice/orders.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/random.h"
#include "sim/run/script.h"
#include "sim/study/advice/code_edit.h"
#include "sim/study/advice/quantity.h"

namespace tidemark {
namespace {

using Order = std::vector<std::size_t>;

/// Numbers that a scenario goes through, one a step.
struct NumberList {
  std::string path;  ///< of an override; "loop": the loop's text, at `place`
  std::vector<std::string> texts;
  std::vector<std::int64_t> numbers;
  lang::Place place{};  ///< from the first number to the last
};

/// No numbers where one of the texts is no whole number.
NumberList list_of(std::string path, std::vector<std::string> texts, const Scenario& scenario) {
  NumberList list;
  list.path = std::move(path);
  for (std::string& text : texts) {
    const std::optional<std::int64_t> number = integer_of(scenario, text);
    if (!number) return {};
    list.texts.push_back(std::move(text));
    list.numbers.push_back(*number);
  }
  return list;
}

/// [1, 2, 3] or (1, 2, 3); nullptr: another expression.
const lang::SequenceExpr* as_sequence(const lang::Expr& node) {
  const bool is_one = node.kind == lang::ExprKind::kList || node.kind == lang::ExprKind::kTuple;
  return is_one ? &static_cast<const lang::SequenceExpr&>(node) : nullptr;
}

std::vector<std::string> items_of(const lang::UserCode& code, const lang::SequenceExpr& sequence) {
  std::vector<std::string> texts;
  for (const lang::Expr* item : sequence.items) texts.emplace_back(code.text(*item));
  return texts;
}

/// The items of a literal's text; none where it is no list.
std::vector<std::string> items_of(std::string_view literal) {
  const lang::UserCode code(
      std::make_shared<const SourceText>(SourceText{"", std::string(literal)}));
  const lang::SequenceExpr* sequence =
      code.expressions().empty() ? nullptr : as_sequence(*code.expressions().front());
  return sequence == nullptr ? std::vector<std::string>() : items_of(code, *sequence);
}

/// Whether some `for` goes through the list: `in NAME`, `in enumerate(NAME)`, `in zip(NAME, ...)`.
bool is_gone_through(const lang::UserCode& code, std::string_view name) {
  const auto is_it = [&](const lang::Expr& node) {
    return node.kind == lang::ExprKind::kName &&
           code.name(static_cast<const lang::NameExpr&>(node).name) == name;
  };
  for (const lang::Stmt* statement : code.statements()) {
    if (statement->kind == lang::StmtKind::kFor &&
        contains(*static_cast<const lang::ForStmt*>(statement)->iterable, is_it))
      return true;
  }
  for (const lang::Expr* node : code.expressions()) {
    if (node->kind != lang::ExprKind::kComprehension) continue;
    for (const lang::Clause& clause : static_cast<const lang::ComprehensionExpr*>(node)->clauses) {
      if (contains(*clause.iterable, is_it)) return true;
    }
  }
  return false;
}

/// `NAME = [1, 2, 3]` of the loop's text.
void add_spelled_out(const Scenario& scenario, const lang::UserCode& code,
                     std::vector<NumberList>& lists) {
  for (const lang::Stmt* statement : code.statements()) {
    if (statement->kind != lang::StmtKind::kAssign) continue;
    const auto* assigned = static_cast<const lang::AssignStmt*>(statement);
    const lang::SequenceExpr* sequence = as_sequence(*assigned->value);
    const lang::Expr& target = *assigned->targets[0];
    if (sequence == nullptr || sequence->items.empty() || assigned->targets.size != 1) continue;
    if (target.kind != lang::ExprKind::kName || !is_gone_through(code, code.text(target))) continue;
    NumberList list = list_of("loop", items_of(code, *sequence), scenario);
    const lang::Seq<lang::Expr*>& items = sequence->items;
    list.place = {code.extent(*items[0]).begin, code.extent(*items[items.size - 1]).end};
    lists.push_back(std::move(list));
  }
}

std::vector<NumberList> lists_of(const Scenario& scenario) {
  std::vector<NumberList> lists;
  const auto add_train = [&](std::string_view key, const StepValues& values) {
    if (values.is_list)
      lists.push_back(list_of(fmt::format("train.{}", key), values.values, scenario));
  };
  if (scenario.train) {
    add_train("batch", scenario.train->batch);
    add_train("seq", scenario.train->seq);
    add_train("image", scenario.train->image);
  } else {
    const lang::UserCode code(scenario.loop);
    for (const Parameter& parameter : scenario.params) {
      if (!scenario.is_script && is_gone_through(code, parameter.name))
        lists.push_back(list_of("params." + parameter.name, items_of(parameter.value), scenario));
    }
    for (const ScriptConstant& constant :
         scenario.is_script ? script_constants(scenario.loop) : std::vector<ScriptConstant>()) {
      if (is_gone_through(code, constant.name))
        lists.push_back(
            list_of(fmt::format("params.{}", constant.name), items_of(constant.value), scenario));
    }
    if (has_own_loop(scenario)) add_spelled_out(scenario, code, lists);
  }
  const std::size_t least = scenario.train ? 2 : 3;
  std::erase_if(lists, [&](const NumberList& list) { return list.numbers.size() < least; });
  if (lists.empty()) return lists;
  const std::size_t steps = lists.front().numbers.size();
  std::erase_if(lists, [&](const NumberList& list) { return list.numbers.size() != steps; });
  return lists;
}

std::vector<Override> in_order(const Scenario& scenario, const std::vector<NumberList>& lists,
                               const Order& order) {
  std::vector<Override> overrides;
  std::vector<lang::Edit> edits;
  for (const NumberList& list : lists) {
    std::string numbers;
    for (const std::size_t step : order)
      numbers += (numbers.empty() ? "" : ", ") + list.texts[step];
    if (list.path == "loop") {
      edits.push_back({list.place, std::move(numbers)});
    } else {
      overrides.push_back({list.path, "[" + numbers + "]"});
    }
  }
  if (!edits.empty()) overrides.push_back(loop_with(scenario, std::move(edits)));
  return overrides;
}

}  // namespace

std::vector<StepOrder> step_orders(const ScenarioSource& source, unsigned shuffles) {
  constexpr std::uint64_t kSeed = 1;
  const Scenario scenario = read_scenario(source);
  const std::vector<NumberList> lists = lists_of(scenario);
  std::vector<StepOrder> orders{{"as given", {}}};
  if (lists.empty()) return orders;
  const std::size_t steps = lists.front().numbers.size();
  std::vector<Wide> size(steps, 1);
  for (const NumberList& list : lists) {
    for (std::size_t i = 0; i < steps; ++i) size[i] *= static_cast<std::uint64_t>(list.numbers[i]);
  }
  const auto texts_in = [&](const Order& order) {
    std::vector<std::string> texts;
    for (const NumberList& list : lists) {
      for (const std::size_t step : order) texts.push_back(list.texts[step]);
    }
    return texts;
  };
  Order order(steps);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::vector<std::string>> known{texts_in(order)};
  const auto add = [&](std::string name) {
    std::vector<std::string> texts = texts_in(order);
    if (std::find(known.begin(), known.end(), texts) != known.end()) return;
    known.push_back(std::move(texts));
    orders.push_back({std::move(name), in_order(scenario, lists, order)});
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size[a] < size[b]; });
  add("smallest first");
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
  add("largest first");
  Random random(kSeed);
  for (unsigned i = 1; i <= shuffles; ++i) {
    for (std::size_t last = steps; last > 1; --last)
      std::swap(order[last - 1], order[random.below(last)]);
    add(fmt::format("shuffled {}", i));
  }
  return orders;
}

}  // namespace tidemark
