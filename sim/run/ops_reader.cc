#include "sim/run/ops_reader.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/lang/syntax/names.h"
#include "sim/lang/syntax/parser.h"
#include "sim/run/literals.h"
#include "sim/run/scenario_fields.h"
#include "sim/run/train_reader.h"
#include "sim/yaml/yaml_fields.h"

namespace tidemark {
namespace {

using torch::CustomExpression;
using torch::CustomOpSpec;
using torch::CustomStep;

/// The parameters' names, in order. Problems of the text are told as of the whole of it: what is
/// parsed has more around it.
std::vector<std::string> parameters_of(const yaml::Node& node, const std::string& path,
                                       std::vector<Problem>& problems) {
  lang::Names names;
  std::vector<Problem> found;
  const auto tree =
      lang::parse_module(std::make_shared<const SourceText>(
                             SourceText{path, fmt::format("def op({}):\n    pass\n", node.text)}),
                         names, found);
  if (!found.empty() || tree->body.size != 1) {
    problems.push_back(
        {node.at, path,
         fmt::format("expected parameters as Python writes them, found '{}'", node.text),
         "q, k, v, dropout_p=0.0"});
    return {};
  }
  const auto* statement = static_cast<const lang::FunctionStmt*>(tree->body[0]);
  const lang::Parameters& parameters = *statement->function->parameters;
  if (parameters.star != nullptr || parameters.double_star != nullptr)
    problems.push_back(
        {node.at, path, "* and ** have no place here", "give each parameter a name"});
  std::vector<std::string> out;
  for (const auto* group : {&parameters.positional, &parameters.keyword_only}) {
    for (const lang::Parameter& parameter : *group)
      out.emplace_back(names.text(parameter.name->name));
  }
  return out;
}

class OpReader {
 public:
  OpReader(const yaml::Entry& entry, std::vector<Problem>& problems)
      : fields_(entry.value, fmt::format("ops.{}", entry.key), problems, kOpMap),
        problems_(problems) {
    spec_.name = entry.key;
    spec_.at = entry.key_at;
    spec_.path = fmt::format("ops.{}", entry.key);
  }

  CustomOpSpec read() {
    check_name();
    if (fields_.node().kind != yaml::Node::Kind::kMap) return std::move(spec_);
    if (const yaml::Node* function = fields_.get("function")) {
      read_function(*function);
      fields_.done();
      return std::move(spec_);
    }
    for (const std::string_view key : {"args", "forward", "returns"}) fields_.require(key);
    read_parameters();
    read_let();
    std::set<std::string> known(spec_.parameter_names.begin(), spec_.parameter_names.end());
    const std::set<std::string> made = read_steps("forward", spec_.forward, known, known);
    read_returns(made);
    std::set<std::string> tensors = known;
    tensors.insert(made.begin(), made.end());
    read_names("saves", spec_.saves, tensors, "neither an argument nor made in forward");
    read_names("without_gradient", spec_.without_gradient,
               {spec_.returns.begin(), spec_.returns.end()}, "not returned");
    read_backward(known);
    fields_.done();
    return std::move(spec_);
  }

 private:
  using Names = std::set<std::string>;

  void report(const yaml::Node& at, const std::string& path, std::string message,
              std::string hint = {}) {
    problems_.push_back({at.at, path, std::move(message), std::move(hint)});
  }
  static std::string nearest(std::string_view word, const Names& names) {
    return did_you_mean(word, {names.begin(), names.end()});
  }

  void check_name() {
    std::string_view rest = spec_.name;
    for (bool more = true; more;) {
      const std::size_t dot = rest.find('.');
      if (!is_identifier(rest.substr(0, dot))) {
        problems_.push_back({spec_.at, "ops", fmt::format("'{}' is no name of an op", spec_.name),
                             "names with dots between them: flash_attn.flash_attn_func"});
        return;
      }
      more = dot != std::string_view::npos;
      if (more) rest.remove_prefix(dot + 1);
    }
  }

  CustomExpression expression(const yaml::Node& node, const std::string& path) {
    if (node.is_text()) {
      check_expression(node, path, problems_);
      return {embedded_source(node), node.at, path};
    }
    if (node.kind != yaml::Node::Kind::kList) {
      report(node, path, fmt::format("expected an expression, found {}", describe(node)));
      return {};
    }
    std::string text = "(";
    for (const yaml::Node& item : node.items) {
      if (item.is_text()) check_expression(item, path, problems_);
      if (!item.is_text())
        report(item, path, fmt::format("expected an expression, found {}", describe(item)));
      text += "(" + item.text + "), ";
    }
    auto source = std::make_shared<SourceText>();
    source->name = node.at.source->name;
    source->text = text + ")";
    source->first_line = node.at.source->first_line + node.at.line - 1;
    source->indent = node.at.column - 1;
    return {std::move(source), node.at, path};
  }

  void read_function(const yaml::Node& node) {
    const std::string path = fields_.path_of("function");
    const std::size_t dot = node.is_text() ? node.text.rfind('.') : std::string::npos;
    if (dot == std::string::npos || !is_identifier(node.text.substr(dot + 1))) {
      report(node, path, fmt::format("expected a function of a file, found {}", describe(node)),
             "my_ops.attention, for the function attention of my_ops.py");
      return;
    }
    spec_.function = {embedded_source(node), node.at, path};
  }

  void read_parameters() {
    const yaml::Node* node = fields_.get("args");
    if (node == nullptr) return;
    const std::string path = fields_.path_of("args");
    if (!node->is_text()) {
      report(*node, path, fmt::format("expected text, found {}", describe(*node)),
             "q, k, v, dropout_p=0.0");
      return;
    }
    spec_.parameters = node->text;
    spec_.parameter_names = parameters_of(*node, path, problems_);
  }

  void read_let() {
    const yaml::Node* node = fields_.get("let");
    if (node == nullptr) return;
    if (node->kind != yaml::Node::Kind::kMap)
      return fields_.report(*node, "let", fmt::format("expected a map, found {}", describe(*node)));
    for (const yaml::Entry& entry : node->entries) {
      const std::string path = fmt::format("{}.let.{}", spec_.path, entry.key);
      if (!is_identifier(entry.key))
        problems_.push_back({entry.key_at, path, fmt::format("'{}' is no name", entry.key), {}});
      spec_.let.emplace_back(entry.key, expression(entry.value, path));
    }
  }

  /// `usable`: tensors that steps may look at. `whole`: those of them whose memory is there.
  /// Returns the names of what was made.
  Names read_steps(std::string_view key, std::vector<CustomStep>& into, Names usable, Names whole) {
    Names made;
    const yaml::Node* node = fields_.get(key);
    if (node == nullptr) return made;
    if (node->kind != yaml::Node::Kind::kList) {
      fields_.report(*node, key,
                     fmt::format("expected a list of steps, found {}", describe(*node)));
      return made;
    }
    for (std::size_t i = 0; i < node->items.size(); ++i) {
      const yaml::Node& item = node->items[i];
      const std::string path = fmt::format("{}[{}]", fields_.path_of(key), i);
      if (item.kind != yaml::Node::Kind::kMap || item.entries.size() != 1) {
        report(item, path,
               fmt::format("expected one step, NAME: {{...}} or free: NAME, found {}",
                           item.kind == yaml::Node::Kind::kMap ? "several keys" : describe(item)));
        continue;
      }
      CustomStep step = read_step(item.entries[0], path, usable, whole, made);
      if (step.kind == CustomStep::Kind::kFree) {
        made.erase(step.name);
        usable.erase(step.name);
        whole.erase(step.name);
      } else {
        usable.insert(step.name);
        whole.insert(step.name);
        if (step.kind == CustomStep::Kind::kContiguous) {
          made.erase(step.name);
          contiguous_.insert(step.name);
        } else {
          made.insert(step.name);
        }
      }
      into.push_back(std::move(step));
    }
    return made;
  }

  CustomStep read_step(const yaml::Entry& entry, const std::string& path, const Names& usable,
                       const Names& whole, const Names& made) {
    CustomStep step;
    step.name = entry.key;
    step.at = entry.key_at;
    step.path = path;
    if (entry.key == "free") {
      step.kind = CustomStep::Kind::kFree;
      step.name = entry.value.text;
      if (!made.contains(step.name) && !contiguous_.contains(step.name)) {
        report(entry.value, path, fmt::format("'{}' is not there to be freed", step.name),
               nearest(step.name, made));
      }
      return step;
    }
    if (!is_identifier(entry.key))
      problems_.push_back({entry.key_at, path, fmt::format("'{}' is no name", entry.key), {}});
    yaml::Fields map(entry.value, path, problems_, kOpStepMap);
    read_kind(entry, map, step, usable, whole);
    const auto optional = [&](std::string_view key, CustomExpression& into) {
      if (const yaml::Node* node = map.get(key)) into = expression(*node, map.path_of(key));
    };
    using Kind = CustomStep::Kind;
    if (step.kind == Kind::kShape || step.kind == Kind::kLike) optional("dtype", step.dtype);
    if (step.kind == Kind::kShape || step.kind == Kind::kBytes) optional("device", step.device);
    if (step.kind == Kind::kBytes) step.keep = map.boolean("keep").value_or(false);
    optional("when", step.when);
    map.done();
    return step;
  }

  void read_kind(const yaml::Entry& entry, yaml::Fields& map, CustomStep& step, const Names& usable,
                 const Names& whole) {
    using Kind = CustomStep::Kind;
    static constexpr auto kKinds = std::to_array<std::pair<std::string_view, Kind>>({
        {"shape", Kind::kShape},
        {"like", Kind::kLike},
        {"contiguous", Kind::kContiguous},
        {"bytes", Kind::kBytes},
    });
    std::string_view first;
    for (const auto& [key, kind] : kKinds) {
      const yaml::Node* node = map.get(key);
      if (node == nullptr) continue;
      if (!first.empty()) {
        map.report(*node, key, fmt::format("cannot stand beside {}", first));
        continue;
      }
      first = key;
      step.kind = kind;
      if (kind == Kind::kShape) step.shape = expression(*node, map.path_of(key));
      if (kind == Kind::kBytes) step.bytes = expression(*node, map.path_of(key));
      if (kind != Kind::kLike && kind != Kind::kContiguous) continue;
      step.of = node->text;
      const Names& among = kind == Kind::kLike ? usable : whole;
      if (among.contains(step.of)) continue;
      if (usable.contains(step.of)) {
        map.report(*node, key, fmt::format("the memory of '{}' is not there in backward", step.of),
                   fmt::format("add {} to saves", step.of));
      } else {
        map.report(*node, key, fmt::format("there is no tensor '{}' here", step.of),
                   nearest(step.of, among));
      }
    }
    if (first.empty() && (entry.value.kind == yaml::Node::Kind::kMap ||
                          entry.value.kind == yaml::Node::Kind::kNull)) {
      problems_.push_back({entry.key_at, step.path,
                           fmt::format("what '{}' is, is missing", entry.key),
                           "give shape, like, contiguous or bytes"});
    }
  }

  void read_returns(const Names& made) {
    const yaml::Node* node = fields_.get("returns");
    if (node == nullptr) return;
    spec_.returns_tuple = node->kind == yaml::Node::Kind::kList;
    const std::vector<yaml::Node> items =
        spec_.returns_tuple ? node->items : std::vector<yaml::Node>{*node};
    for (const yaml::Node& item : items) {
      if (item.kind == yaml::Node::Kind::kNull) {
        spec_.returns.emplace_back();
        continue;
      }
      spec_.returns.push_back(item.text);
      if (made.contains(item.text)) continue;
      const bool is_argument = std::find(spec_.parameter_names.begin(), spec_.parameter_names.end(),
                                         item.text) != spec_.parameter_names.end();
      fields_.report(item, "returns",
                     is_argument || contiguous_.contains(item.text)
                         ? fmt::format("'{}' may be an argument itself", item.text)
                         : fmt::format("'{}' is not made in forward", item.text),
                     is_argument || contiguous_.contains(item.text)
                         ? "return a tensor that forward makes"
                         : nearest(item.text, made));
    }
  }

  void read_names(std::string_view key, std::vector<std::string>& into, const Names& among,
                  std::string_view otherwise) {
    const yaml::Node* node = fields_.get(key);
    if (node == nullptr) return;
    if (node->kind != yaml::Node::Kind::kList) {
      fields_.report(*node, key,
                     fmt::format("expected a list of names, found {}", describe(*node)));
      return;
    }
    for (const yaml::Node& item : node->items) {
      if (!among.contains(item.text)) {
        fields_.report(item, key, fmt::format("'{}' is {}", item.text, otherwise),
                       nearest(item.text, among));
      } else if (std::find(into.begin(), into.end(), item.text) != into.end()) {
        fields_.report(item, key, fmt::format("'{}' stands here twice", item.text));
      }
      into.push_back(item.text);
    }
  }

  void read_backward(const Names& arguments) {
    const yaml::Node* backward = fields_.get("backward");
    const yaml::Node* gradients = fields_.get("gradients");
    if (backward == nullptr && gradients == nullptr) return;
    spec_.has_backward = true;
    Names whole(spec_.saves.begin(), spec_.saves.end());
    for (const std::string& name : spec_.returns) {
      const auto& none = spec_.without_gradient;
      if (!name.empty() && std::find(none.begin(), none.end(), name) == none.end())
        whole.insert("grad_" + name);
    }
    Names usable = whole;
    usable.insert(arguments.begin(), arguments.end());
    contiguous_.clear();
    const Names made = read_steps("backward", spec_.backward, usable, whole);
    if (gradients == nullptr) {
      fields_.require("gradients");
      return;
    }
    if (gradients->kind != yaml::Node::Kind::kMap) {
      fields_.report(*gradients, "gradients",
                     fmt::format("expected a map, found {}", describe(*gradients)));
      return;
    }
    whole.insert(made.begin(), made.end());
    whole.insert(contiguous_.begin(), contiguous_.end());
    for (const yaml::Entry& entry : gradients->entries) {
      const std::string path = fmt::format("{}.gradients.{}", spec_.path, entry.key);
      if (!arguments.contains(entry.key)) {
        problems_.push_back({entry.key_at, path,
                             fmt::format("there is no argument '{}'", entry.key),
                             nearest(entry.key, arguments)});
      }
      if (!whole.contains(entry.value.text)) {
        report(entry.value, path, fmt::format("'{}' is not made in backward", entry.value.text),
               nearest(entry.value.text, whole));
      }
      spec_.gradients.emplace_back(entry.key, entry.value.text);
    }
  }

  yaml::Fields fields_;
  std::vector<Problem>& problems_;
  CustomOpSpec spec_;
  Names contiguous_;  ///< made by `contiguous`: an argument's memory perhaps
};

}  // namespace

std::vector<CustomOpSpec> read_ops(const yaml::Node& node, std::vector<Problem>& problems) {
  std::vector<CustomOpSpec> specs;
  const yaml::Fields map(node, "ops", problems);
  for (const yaml::Entry& entry : node.entries) specs.push_back(OpReader(entry, problems).read());
  return specs;
}

}  // namespace tidemark
