#include "sim/run/overrides.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/run/scenario_fields.h"
#include "sim/run/yaml_path.h"

namespace tidemark {
namespace {

bool is_among(std::string_view word, const std::vector<std::string_view>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The value of `key`, made when it is not there. `at`: the override's place.
yaml::Node& child(yaml::Node& node, const std::string& key, const SourceSpan& at) {
  if (yaml::Node* found = node.find(key)) return *found;
  node.kind = yaml::Node::Kind::kMap;
  yaml::Entry entry{key, at, {}};
  entry.value.at = at;
  node.entries.push_back(std::move(entry));
  return node.entries.back().value;
}

/// The value of `key`, which the map is left without; null where it has none.
yaml::Node take(yaml::Node& root, std::string_view key) {
  const auto at = std::find_if(root.entries.begin(), root.entries.end(),
                               [&](const yaml::Entry& entry) { return entry.key == key; });
  if (at == root.entries.end()) return {};
  yaml::Node value = std::move(at->value);
  root.entries.erase(at);
  return value;
}

std::string given_at(const Override& one) {
  return one.option.empty() ? "--set " + one.path : one.option;
}

class Setter {
 public:
  explicit Setter(yaml::Node& root) : root_(root) {}

  void set(const Override& one) {
    auto source = std::make_shared<SourceText>();
    source->name = given_at(one);
    source->text = one.value;
    yaml::Node value;
    try {
      value = yaml::parse(source);
    } catch (const InputError& error) {
      problems_.insert(problems_.end(), error.problems().begin(), error.problems().end());
      return;
    }
    place(one, std::move(value), {});
  }

  /// Puts a value where `one.path` leads. `origin`: what stands before the path in messages; empty:
  /// it is an option's.
  void place(const Override& one, yaml::Node value, std::string origin) {
    origin_ = std::move(origin);
    at_ = value.at;
    std::vector<PathStep> steps = path_steps(one.path);
    if (steps.empty() || steps.front().index) return lost(one, "is no path", {});
    if (!complete(one, steps)) return;
    if (steps.front().key == "script" && steps.size() > 1) spell_out_script();
    yaml::Node* node = &root_;
    for (const PathStep& step : steps) {
      node = next(one, *node, step, value.at);
      if (node == nullptr) return;
    }
    *node = std::move(value);
  }

  void finish() {
    if (!problems_.empty()) throw InputError(std::move(problems_));
  }

 private:
  /// `script: FILE` is short for a map with that file.
  void spell_out_script() {
    yaml::Node* script = root_.find("script");
    if (script == nullptr || !script->is_text()) return;
    yaml::Node map;
    map.at = script->at;
    child(map, "file", script->at) = *script;
    *script = std::move(map);
  }

  /// Finds what the first word means.
  bool complete(const Override& one, std::vector<PathStep>& steps) {
    const std::string& word = steps.front().key;
    const yaml::Node* params = root_.find("params");
    const std::vector<std::string_view> keys = kScenarioMap.keys();
    const bool is_parameter = params != nullptr && params->find(word) != nullptr;
    const bool is_script_constant = !is_among(word, keys) && root_.find("script") != nullptr;
    if (is_parameter || is_script_constant) {
      steps.insert(steps.begin(), {"params", std::nullopt});
    } else if (!is_among(word, keys)) {
      const std::vector<std::string_view> of_train = kTrainMap.keys();
      if (!is_among(word, of_train) || root_.find("train") == nullptr) {
        std::vector<std::string_view> known = keys;
        if (root_.find("train") != nullptr)
          known.insert(known.end(), of_train.begin(), of_train.end());
        if (params != nullptr) {
          for (const yaml::Entry& entry : params->entries) known.push_back(entry.key);
        }
        lost(one, fmt::format("leads nowhere: there is no '{}'", word), did_you_mean(word, known));
        return false;
      }
      steps.insert(steps.begin(), {"train", std::nullopt});
    }
    return true;
  }

  yaml::Node* next(const Override& one, yaml::Node& node, const PathStep& step,
                   const SourceSpan& at) {
    if (step.index) {
      if (node.kind == yaml::Node::Kind::kList && *step.index < node.items.size())
        return &node.items[*step.index];
      lost(one,
           node.kind == yaml::Node::Kind::kList
               ? fmt::format("leads nowhere: the list has {} values", node.items.size())
               : fmt::format("leads nowhere: [{}] of {}", *step.index, describe(node)),
           {});
      return nullptr;
    }
    const bool is_device_name = &node == root_.find("device") && node.is_text();
    if (is_device_name) {
      yaml::Entry name{"name", node.at, node};
      yaml::Node map;
      map.kind = yaml::Node::Kind::kMap;
      map.at = node.at;
      map.entries.push_back(std::move(name));
      node = std::move(map);
    }
    if (node.kind == yaml::Node::Kind::kMap || node.kind == yaml::Node::Kind::kNull)
      return &child(node, step.key, at);
    lost(one, fmt::format("leads nowhere: '{}' of {}", step.key, describe(node)), {});
    return nullptr;
  }

  void lost(const Override& one, std::string message, std::string hint) {
    const bool is_option = origin_.empty();
    problems_.push_back({is_option ? SourceSpan{} : at_,
                         is_option ? given_at(one) : origin_ + one.path, std::move(message),
                         std::move(hint)});
  }

  yaml::Node& root_;
  std::vector<Problem> problems_;
  std::string origin_;
  SourceSpan at_;
};

}  // namespace

Override parse_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw InputError(Problem{{}, fmt::format("--set {}", text), "expected PATH=VALUE", {}});
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

void apply_overrides(yaml::Node& root, const std::vector<Override>& overrides) {
  Setter setter(root);
  for (const Override& one : overrides) setter.set(one);
  setter.finish();
}

std::vector<std::string> variant_names(const yaml::Node& root) {
  std::vector<std::string> names;
  const yaml::Node* variants = root.find("variants");
  if (variants == nullptr) return names;
  std::vector<Problem> problems;
  if (variants->kind != yaml::Node::Kind::kMap) {
    problems.push_back({variants->at,
                        "variants",
                        fmt::format("expected a map of names, found {}", describe(*variants)),
                        {}});
  }
  for (const yaml::Entry& entry : variants->entries) {
    names.push_back(entry.key);
    if (entry.value.kind == yaml::Node::Kind::kMap || entry.value.kind == yaml::Node::Kind::kNull)
      continue;
    problems.push_back({entry.value.at, "variants." + entry.key,
                        fmt::format("expected a map of overrides, found {}", describe(entry.value)),
                        "write {KEY: VALUE}"});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return names;
}

void apply_variant(yaml::Node& root, const std::string& variant) {
  const std::vector<std::string> names = variant_names(root);
  const auto known = std::find(names.begin(), names.end(), variant);
  if (!variant.empty() && known == names.end()) {
    const std::vector<std::string_view> words(names.begin(), names.end());
    throw InputError(
        Problem{{},
                "--variant " + variant,
                names.empty() ? "the scenario has no variants" : "there is no such variant",
                names.empty() ? std::string() : did_you_mean(variant, words)});
  }
  const yaml::Node variants = take(root, "variants");
  if (variant.empty()) return;
  Setter setter(root);
  for (const yaml::Entry& entry : variants.find(variant)->entries) {
    setter.place({entry.key, {}}, entry.value, fmt::format("variants.{}.", variant));
  }
  setter.finish();
}

yaml::Node take_sweep(yaml::Node& root) { return take(root, "sweep"); }

}  // namespace tidemark
