#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/yaml/yaml.h"

namespace tidemark {

/// `PATH=VALUE` of --set: a dotted path of the scenario, or a parameter's name. VALUE is read as
/// YAML.
struct Override {
  std::string path;  ///< "train.batch[1]", "width"
  std::string value;
  std::string option = {};  ///< that said it, for messages: "--device"; empty: --set
  friend bool operator==(const Override&, const Override&) = default;
};

/// Errors: InputError when there is no '=' or no path.
Override parse_override(std::string_view text);

/// Puts the values where the paths lead, in order: a path of one word is a parameter's name first,
/// then a key of the file, then a key of `train`. Keys that a map may have are made where they are
/// not there; whether they exist is for the reader of the scenario to say. Errors: InputError with
/// all paths that lead nowhere, each with a suggestion, and all values that are not YAML.
void apply_overrides(yaml::Node& root, const std::vector<Override>& overrides);

/// The names under `variants:` of a scenario, in order.
/// Errors: InputError when it is no map of maps.
std::vector<std::string> variant_names(const yaml::Node& root);

/// Takes `variants:` out of the scenario and puts the values of the one named `variant` where their
/// paths lead, as apply_overrides() does; empty: of none. Errors: InputError as above, and when
/// there is no such variant.
void apply_variant(yaml::Node& root, const std::string& variant);

/// Takes `sweep:` out of the scenario: null where there is none. What it says is for `tidemark
/// sweep` (sim/study/sweep/sweep_plan.h); a scenario runs as it stands.
yaml::Node take_sweep(yaml::Node& root);

}  // namespace tidemark
