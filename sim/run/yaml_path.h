#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/yaml/yaml.h"

namespace tidemark {

/// A step of a dotted path: a key, or a place in a list.
struct PathStep {
  std::string key;
  std::optional<std::size_t> index;
};

/// "train.batch[1]" as train, batch, [1]. Errors: empty when it is no path.
std::vector<PathStep> path_steps(std::string_view path);

/// What stands where a path leads; nullptr: nothing, or it is no path.
const yaml::Node* find_path(const yaml::Node& root, std::string_view path);

}  // namespace tidemark
