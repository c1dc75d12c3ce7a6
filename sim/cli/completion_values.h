#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::cli {

/// What a shell asks about while an option's value is typed.
struct ValueQuestion {
  std::string_view option;  ///< "set", "over", "variant", "model" or "device"
  std::string scenario;     ///< the file on the command line; empty: none yet
  std::string_view so_far;  ///< what is typed of the value: "device=rtx"
};

/// What may stand there, whole values in order: "batch=", "device=rtx-3090" of --set; parameters of
/// --over. A scenario that cannot be read offers nothing of its own. Cost: reads the scenario's
/// text, runs nothing.
std::vector<std::string> values_to_offer(const ValueQuestion& question);

/// Ids and aliases of devices, and clouds' machines.
std::vector<std::string_view> device_names_to_offer();

}  // namespace tidemark::cli
