#pragma once

#include <string>
#include <vector>

#include "sim/run/scenario.h"
#include "sim/yaml/yaml.h"

namespace tidemark {

/// parse_scenario() of `text` that is parsed into `root`, for who reads one text many times.
Scenario parse_scenario(yaml::Node root, const SourceText& text, const std::string& folder,
                        const std::vector<Override>& overrides, const std::string& variant,
                        EditedFilesPtr edited = {});

}  // namespace tidemark
