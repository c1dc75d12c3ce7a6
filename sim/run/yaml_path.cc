#include "sim/run/yaml_path.h"

#include <algorithm>
#include <charconv>

namespace tidemark {

std::vector<PathStep> path_steps(std::string_view path) {
  std::vector<PathStep> steps;
  while (!path.empty()) {
    if (path.front() == '[') {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(path.data() + 1, path.data() + path.size(), index);
      if (error != std::errc() || end == path.data() + path.size() || *end != ']') return {};
      steps.push_back({{}, index});
      path.remove_prefix(static_cast<std::size_t>(end - path.data()) + 1);
    } else {
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      if (end == 0) return {};
      steps.push_back({std::string(path.substr(0, end)), std::nullopt});
      path.remove_prefix(end);
    }
    if (path.starts_with('.')) {
      path.remove_prefix(1);
      if (path.empty()) return {};
    }
  }
  return steps;
}

const yaml::Node* find_path(const yaml::Node& root, std::string_view path) {
  const std::vector<PathStep> steps = path_steps(path);
  const yaml::Node* node = steps.empty() ? nullptr : &root;
  for (const PathStep& step : steps) {
    if (node == nullptr) break;
    if (!step.index) {
      node = node->find(step.key);
    } else {
      node = *step.index < node->items.size() ? &node->items[*step.index] : nullptr;
    }
  }
  return node;
}

}  // namespace tidemark
