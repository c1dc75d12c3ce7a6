#include "sim/run/literals.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/yaml/quoted.h"

namespace tidemark {

const Parameter* named_parameter(const yaml::Node& node, const std::vector<Parameter>& params) {
  if (!node.is_plain() || !is_identifier(node.text)) return nullptr;
  const auto found = std::find_if(params.begin(), params.end(), [&](const Parameter& parameter) {
    return parameter.name == node.text;
  });
  return found == params.end() ? nullptr : &*found;
}

std::string quoted_literal(std::string_view text) { return yaml::quoted(text); }

std::string literal_of(const yaml::Node& node, const std::vector<Parameter>& params) {
  switch (node.kind) {
    case yaml::Node::Kind::kNull:
      return "None";
    case yaml::Node::Kind::kList: {
      std::vector<std::string> items;
      for (const yaml::Node& item : node.items) items.push_back(literal_of(item, params));
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    case yaml::Node::Kind::kMap: {
      std::vector<std::string> entries;
      for (const yaml::Entry& entry : node.entries) {
        entries.push_back(quoted_literal(entry.key) + ": " + literal_of(entry.value, params));
      }
      return fmt::format("{{{}}}", fmt::join(entries, ", "));
    }
    case yaml::Node::Kind::kScalar:
      break;
  }
  if (named_parameter(node, params) != nullptr) return node.text;
  if (const std::optional<bool> truth = yaml::boolean(node)) return *truth ? "True" : "False";
  if (const std::optional<std::int64_t> integer = yaml::integer(node))
    return std::to_string(*integer);
  if (yaml::number(node)) return node.text;
  return quoted_literal(node.text);
}

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (text.empty() || !is_letter(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace tidemark
