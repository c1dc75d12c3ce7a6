#include <filesystem>

#include "sim/format/whole_file.h"
#include "sim/run/overrides.h"
#include "sim/run/scenario.h"
#include "sim/run/script.h"

/// Scenarios from files.
namespace tidemark {

namespace {

/// Standard input lies in the working folder.
std::string folder_of(const std::string& path) {
  if (path == "-") return ".";
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

std::shared_ptr<const SourceText> scenario_text(const std::string& path) {
  auto source = std::make_shared<SourceText>();
  source->name = path == "-" ? "<stdin>" : path;
  source->text = is_script_path(path)
                     ? scenario_of_script(std::filesystem::path(path).filename().string())
                     : read_whole_file(path, kMostOfYaml);
  return source;
}

Scenario load_scenario(const std::string& path, const std::vector<Override>& overrides,
                       const std::string& variant) {
  return parse_scenario(scenario_text(path), folder_of(path), overrides, variant);
}

std::vector<std::string> load_variant_names(const std::string& path) {
  return variant_names(yaml::parse(scenario_text(path)));
}

}  // namespace tidemark
