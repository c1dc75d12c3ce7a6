#include "sim/study/advice/quantity.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/run/script.h"
#include "sim/run/yaml_path.h"

namespace tidemark {
namespace {

/// What people call the things that they vary, by the names that scenarios and scripts give them.
struct Alias {
  std::string_view word;
  std::string_view key;  ///< of train; empty: none
  std::span<const std::string_view> names;
};
constexpr std::string_view kBatchNames[] = {"batch",       "batch_size",       "bs",
                                            "micro_batch", "micro_batch_size", "train_batch_size"};
constexpr std::string_view kLengthNames[] = {
    "seq",    "seq_len",        "seq_length", "seqlen",         "sequence_length",
    "length", "max_length",     "context",    "context_length", "block_size",
    "tokens", "max_new_tokens", "new_tokens"};
constexpr std::string_view kLayerNames[] = {"layers",     "n_layer",           "n_layers",
                                            "num_layers", "num_hidden_layers", "depth",
                                            "blocks",     "num_blocks"};
constexpr Alias kAliases[] = {
    {"batch", "batch", kBatchNames}, {"length", "seq", kLengthNames}, {"layers", {}, kLayerNames}};

/// A quantity, or why there is none.
struct Found {
  std::optional<Quantity> quantity;
  std::string message;
  std::string hint;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<std::int64_t> integer_in(const std::string& text) {
  yaml::Node node;
  node.kind = yaml::Node::Kind::kScalar;
  node.text = text;
  return yaml::integer(node);
}

class Finder {
 public:
  explicit Finder(const ScenarioSource& source) : root_(read_tree(source)) {
    if (root_.find("script") == nullptr) return;
    script_ = read_scenario(source).loop;
    for (const ScriptConstant& constant : script_constants(script_)) {
      if (const auto value = integer_in(std::string(constant.value)))
        constants_.push_back({std::string(constant.name), *value});
    }
  }

  Found find(std::string_view word) const {
    for (const Alias& alias : kAliases) {
      if (alias.word == word) return by_alias(alias);
    }
    if (word.find_first_of(".[") != std::string_view::npos) return by_path(word);
    if (auto named = by_name(word)) return {std::move(named), {}, {}};
    return {std::nullopt, "is no parameter with an integer value", did_you_mean(word, words())};
  }

  /// The scenario's own: its parameters and the constants of its code.
  std::vector<std::string_view> own_words() const {
    std::vector<std::string_view> words;
    if (const yaml::Node* params = root_.find("params")) {
      for (const yaml::Entry& entry : params->entries) words.push_back(entry.key);
    }
    words.reserve(words.size() + constants_.size());
    for (const Constant& constant : constants_) words.push_back(constant.name);
    return words;
  }

  /// The general words, then the scenario's own that are none of them.
  std::vector<std::string_view> words() const {
    std::vector<std::string_view> words{"batch", "length", "layers", "device"};
    for (const std::string_view word : own_words()) {
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
    return words;
  }

 private:
  struct Constant {
    std::string name;
    std::int64_t value;
  };

  Found by_alias(const Alias& alias) const {
    const yaml::Node* train = root_.find("train");
    const yaml::Node* own =
        train == nullptr || alias.key.empty() ? nullptr : train->find(alias.key);
    if (own != nullptr && own->kind == yaml::Node::Kind::kList)
      return {std::nullopt, "the scenario gives one a step", "set a single value"};
    if (own != nullptr) return by_path(fmt::format("train.{}", alias.key));
    for (const std::string_view name : alias.names) {
      if (auto named = by_name(name)) return {std::move(named), {}, {}};
    }
    if (const yaml::Node* args = find_path(root_, "model.args")) {
      for (const yaml::Entry& entry : args->entries) {
        if (std::find(alias.names.begin(), alias.names.end(), lower(entry.key)) !=
            alias.names.end())
          return by_path(fmt::format("model.args.{}", entry.key));
      }
    }
    return {std::nullopt, "the scenario has no parameter of that kind",
            "name the key or parameter to vary: --over params.width"};
  }

  /// A parameter or a script's constant, whatever its case.
  std::optional<Quantity> by_name(std::string_view name) const {
    if (const yaml::Node* params = root_.find("params")) {
      for (const yaml::Entry& entry : params->entries) {
        const auto value = integer_at(entry.value);
        if (value && (entry.key == name || lower(entry.key) == name))
          return Quantity{"params." + entry.key, *value};
      }
    }
    for (const Constant& constant : constants_) {
      if (constant.name == name || lower(constant.name) == name)
        return Quantity{"params." + constant.name, constant.value};
    }
    return std::nullopt;
  }

  Found by_path(std::string_view path) const {
    constexpr std::string_view kParams = "params.";
    if (path.starts_with(kParams)) {
      const std::string_view name = path.substr(kParams.size());
      if (auto named = by_name(name)) return {std::move(named), {}, {}};
      return {std::nullopt, "is no parameter with an integer value", did_you_mean(name, words())};
    }
    const yaml::Node* node = find_path(root_, path);
    if (node == nullptr || node->kind == yaml::Node::Kind::kNull)
      return {Quantity{std::string(path), 1}, {}, {}};
    if (node->is_plain()) {
      if (auto named = by_name(node->text); named && named->path == "params." + node->text)
        return {std::move(named), {}, {}};
    }
    if (const auto value = integer_at(*node)) return {Quantity{std::string(path), *value}, {}, {}};
    return {std::nullopt, fmt::format("expected an integer there, found {}", describe(*node)), {}};
  }

  /// A number, or the parameter that a plain text names.
  std::optional<std::int64_t> integer_at(const yaml::Node& node) const {
    if (const auto value = yaml::integer(node)) return value;
    const yaml::Node* params = root_.find("params");
    if (!node.is_plain() || params == nullptr) return std::nullopt;
    const yaml::Node* named = params->find(node.text);
    return named == nullptr ? std::nullopt : yaml::integer(*named);
  }

  yaml::Node root_;
  std::shared_ptr<const SourceText> script_;
  std::vector<Constant> constants_;
};

}  // namespace

std::optional<Quantity> find_quantity(const ScenarioSource& source, std::string_view word) {
  return Finder(source).find(word).quantity;
}

Quantity require_quantity(const ScenarioSource& source, std::string_view option,
                          std::string_view word) {
  Found found = Finder(source).find(word);
  if (found.quantity) return std::move(*found.quantity);
  throw InputError(Problem{
      {}, fmt::format("{} {}", option, word), std::move(found.message), std::move(found.hint)});
}

std::vector<std::string> quantity_words(const ScenarioSource& source) {
  const Finder finder(source);
  const std::vector<std::string_view> words = finder.words();
  return {words.begin(), words.end()};
}

std::vector<std::string> own_quantity_words(const ScenarioSource& source) {
  const Finder finder(source);
  const std::vector<std::string_view> words = finder.own_words();
  return {words.begin(), words.end()};
}

std::vector<std::string_view> names_of_quantity(std::string_view word) {
  for (const Alias& alias : kAliases) {
    if (alias.word == word) return {alias.names.begin(), alias.names.end()};
  }
  return {word};
}

std::optional<std::int64_t> integer_of(const Scenario& scenario, const std::string& text) {
  for (const Parameter& parameter : scenario.params) {
    if (parameter.name == text) return parameter.integer;
  }
  return integer_in(text);
}

}  // namespace tidemark
