#include "sim/cli/calibration_input.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "sim/base/problem.h"
#include "sim/cli/process.h"
#include "sim/format/whole_file.h"

namespace tidemark::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".yaml";

/// Where shared calibrations may lie.
std::vector<fs::path> shared_folders() {
  std::vector<fs::path> folders;
  for (const std::string& each : own_folders("configs", TIDEMARK_SOURCE_CONFIGS))
    folders.push_back(fs::path(each) / "calibrations");
  return folders;
}

std::set<std::string> shared_names() {
  std::set<std::string> names;
  for (const fs::path& folder : shared_folders()) {
    std::error_code error;
    for (const fs::directory_entry& each : fs::directory_iterator(folder, error)) {
      if (each.path().extension() == kEnding) names.insert(each.path().stem().string());
    }
  }
  return names;
}

/// Errors: IoError where there is none of that name.
std::string shared_file(const std::string& name) {
  std::error_code error;
  for (const fs::path& folder : shared_folders()) {
    const fs::path file = folder / (name + std::string(kEnding));
    if (fs::is_regular_file(file, error)) return file.string();
  }
  const std::set<std::string> names = shared_names();
  throw IoError(
      fmt::format("--calibration: '{}' is no file, and configs/calibrations has {}", name,
                  names.empty() ? "none yet" : fmt::format("{}", fmt::join(names, ", "))));
}

/// Who shares a calibration says when, on which driver and alone on the card it was measured.
void refuse_unknown_origin(const LoadedCalibration& loaded) {
  const Calibration& c = loaded.calibration;
  std::string missing;
  for (const auto& [key, value] : {std::pair("driver", &c.driver), std::pair("cuda", &c.cuda),
                                   std::pair("date", &c.date), std::pair("idle", &c.idle)}) {
    if (value->empty()) missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", key);
  }
  if (!missing.empty()) {
    throw InputError(Problem{{},
                             loaded.name,
                             fmt::format("a shared calibration needs {} in its receipt", missing),
                             "'tidemark calibrate' writes them"});
  }
  if (c.pretend) {
    throw InputError(Problem{{},
                             loaded.name,
                             "it was measured on the pretend GPU, and is shared as a card's",
                             "give such a file by its path"});
  }
}

}  // namespace

LoadedCalibration load_calibration(const std::string& given) {
  std::error_code error;
  const bool is_file =
      given.find('/') != std::string::npos || given.ends_with(kEnding) || fs::exists(given, error);
  const std::string file = is_file ? given : shared_file(given);
  LoadedCalibration loaded{file, parse_calibration(std::make_shared<const SourceText>(
                                     SourceText{file, read_whole_file(file, kMostOfYaml)}))};
  if (!is_file) refuse_unknown_origin(loaded);
  return loaded;
}

std::int64_t today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())
      .time_since_epoch()
      .count();
}

}  // namespace tidemark::cli
