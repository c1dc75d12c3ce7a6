#include "sim/study/advice/orders.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/random.h"
#include "sim/run/literals.h"
#include "sim/run/script.h"
#include "sim/study/advice/code_edit.h"
#include "sim/study/advice/quantity.h"

namespace tidemark {
namespace {

using Order = std::vector<std::size_t>;

/// Numbers that a scenario goes through, one a step.
struct NumberList {
  std::string path;  ///< of an override; "loop": the text between `begin` and `end`
  std::vector<std::string> texts;
  std::vector<std::int64_t> numbers;
  std::size_t begin = 0;  ///< past the opening bracket
  std::size_t end = 0;    ///< at the closing one
};

/// "1, 2, 3" as its parts; empty where one of them is no whole number.
NumberList list_of(std::string path, std::string_view text, const Scenario& scenario) {
  NumberList list;
  list.path = std::move(path);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string part(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    part.erase(0, std::min(part.find_first_not_of(" \n\t"), part.size()));
    part.erase(part.find_last_not_of(" \n\t") + 1);
    if (part.empty() && text.empty()) break;  // a comma at the end
    const std::optional<std::int64_t> number = integer_of(scenario, part);
    if (!number) return {};
    list.texts.push_back(std::move(part));
    list.numbers.push_back(*number);
  }
  return list;
}

/// Whether some `for` goes through the list: `in NAME:`, `in enumerate(NAME)`, `in zip(NAME, ...)`.
bool is_gone_through(std::string_view code, std::string_view name) {
  for (std::size_t at = code.find(" in "); at != std::string_view::npos;
       at = code.find(" in ", at + 1)) {
    const std::size_t stop = std::min(code.find('\n', at), code.size());
    const std::string_view line = code.substr(at, stop - at);
    for (std::size_t hit = line.find(name); hit != std::string_view::npos;
         hit = line.find(name, hit + 1)) {
      const std::size_t past = hit + name.size();
      const bool is_whole = !is_word_character(line[hit - 1]) &&
                            (past == line.size() || !is_word_character(line[past]));
      if (is_whole) return true;
    }
  }
  return false;
}

/// `NAME = [1, 2, 3]` of the loop's text.
void add_spelled_out(const Scenario& scenario, std::vector<NumberList>& lists) {
  const std::string& text = scenario.loop->text;
  constexpr std::string_view kOpening = " = [";
  for (std::size_t at = text.find(kOpening); at != std::string::npos;
       at = text.find(kOpening, at + 1)) {
    const std::size_t open = at + kOpening.size() - 1;
    const std::size_t close = closing_bracket(text, open);
    std::size_t name = at;
    while (name > 0 && is_word_character(text[name - 1])) --name;
    if (close == std::string::npos || name == at) continue;
    if (!is_gone_through(text, std::string_view(text).substr(name, at - name))) continue;
    NumberList list =
        list_of("loop", std::string_view(text).substr(open + 1, close - open - 1), scenario);
    list.begin = open + 1;
    list.end = close;
    lists.push_back(std::move(list));
  }
}

std::string_view without_brackets(std::string_view text) {
  if (text.size() < 2 || (text.front() != '[' && text.front() != '(')) return {};
  return text.substr(1, text.size() - 2);
}

std::vector<NumberList> lists_of(const Scenario& scenario) {
  std::vector<NumberList> lists;
  const auto add_train = [&](std::string_view key, const StepValues& values) {
    if (values.is_list)
      lists.push_back(list_of(fmt::format("train.{}", key),
                              fmt::format("{}", fmt::join(values.values, ",")), scenario));
  };
  if (scenario.train) {
    add_train("batch", scenario.train->batch);
    add_train("seq", scenario.train->seq);
    add_train("image", scenario.train->image);
  } else {
    const std::string& code = scenario.loop->text;
    for (const Parameter& parameter : scenario.params) {
      if (!scenario.is_script && is_gone_through(code, parameter.name))
        lists.push_back(
            list_of("params." + parameter.name, without_brackets(parameter.value), scenario));
    }
    for (const ScriptConstant& constant : script_constants(scenario.is_script ? code : "")) {
      if (is_gone_through(code, constant.name))
        lists.push_back(list_of(fmt::format("params.{}", constant.name),
                                without_brackets(constant.value), scenario));
    }
    if (has_own_loop(scenario)) add_spelled_out(scenario, lists);
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
  // Texts of the loop from the last to the first, so that places before stay what they are.
  std::string loop = scenario.loop ? scenario.loop->text : std::string();
  bool has_loop = false;
  for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
    std::string numbers;
    for (const std::size_t step : order)
      numbers += (numbers.empty() ? "" : ", ") + list->texts[step];
    if (list->path == "loop") {
      loop.replace(list->begin, list->end - list->begin, numbers);
      has_loop = true;
    } else {
      overrides.push_back({list->path, "[" + numbers + "]"});
    }
  }
  std::reverse(overrides.begin(), overrides.end());
  if (has_loop) overrides.push_back({"loop", quoted_literal(loop)});
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
