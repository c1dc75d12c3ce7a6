#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alloc/settings.h"
#include "sim/base/problem.h"
#include "sim/base/source.h"

namespace tidemark {

/// What PYTORCH_ALLOC_CONF (PYTORCH_CUDA_ALLOC_CONF) says to one PyTorch release.
struct ParsedSettings {
  AllocatorSettings settings;
  std::vector<Problem> warnings;  ///< accepted, but without the effect that it seems to ask for
};

/// Reads `conf->text` as `version` reads it: same syntax, same ranges, same quirks (a wrong
/// separator that 2.9 and later let pass passes here). `conf->name` is printed before each problem.
/// Errors: InputError with every problem, in the order of the text; each message is or ends in
/// PyTorch's own, where it has one worth reading; a key that only other releases know is unknown
/// here. Cost: linear in the text. Source: docs/rules/allocator.md#3.2, docs/rules/settings.md,
/// docs/rules/allocator.md#16.
ParsedSettings parse_settings(std::shared_ptr<const SourceText> conf, Version version);

/// The same for a text without a file. `name`: where it came from ("--alloc-conf").
ParsedSettings parse_settings(std::string_view name, std::string_view conf,
                              Version version = kDefaultWheel.pytorch);

/// One setting that some release knows, for help and for suggestions.
struct SettingInfo {
  std::string_view key;
  std::string_view value;  ///< what stands for its value: "N", "True|False"
  std::string_view help;   ///< one line, lower case, no full stop
  Version since;           ///< first release that knows it
};
/// All of them, in the order of help.
std::span<const SettingInfo> known_settings();

}  // namespace tidemark
