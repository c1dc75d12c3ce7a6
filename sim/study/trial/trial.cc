#include "sim/study/trial/trial.h"

#include <filesystem>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/run/run.h"

namespace tidemark {

ScenarioSource open_scenario(const std::string& path, std::vector<Override> overrides,
                             std::string variant) {
  std::shared_ptr<const SourceText> text = scenario_text(path);
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty() || path == "-") folder = ".";
  return {std::move(text), std::move(folder), std::move(overrides), std::move(variant)};
}

Scenario read_scenario(const ScenarioSource& source) {
  return parse_scenario(source.text, source.folder, source.overrides, source.variant,
                        source.edited);
}

yaml::Node read_tree(const ScenarioSource& source) {
  yaml::Node root = yaml::parse(source.text);
  apply_variant(root, source.variant);
  take_sweep(root);
  apply_overrides(root, source.overrides);
  return root;
}

ScenarioSource overridden(const ScenarioSource& source, const std::vector<Override>& more) {
  ScenarioSource out = source;
  out.overrides.insert(out.overrides.end(), more.begin(), more.end());
  return out;
}

ScenarioSource with_room(const ScenarioSource& source) {
  return overridden(source, {{"device.total", std::to_string(kRoomyBytes)}});
}

Trial try_scenario(const ScenarioSource& source, bool keep_events, bool keep_times) {
  Trial trial;
  try {
    RunOptions options;
    options.keep_events = keep_events;
    options.keep_live = keep_events;
    options.keep_times = keep_times;
    options.leave_out_repeats = true;
    trial.result = run(read_scenario(source), options);
  } catch (const InputError& error) {
    trial.error = error.problems().front().message;
    return trial;
  } catch (const IoError& error) {
    trial.error = error.what();
    return trial;
  }
  static_cast<Verdict&>(trial) = verdict_of(trial.result);
  trial.end_ns = keep_times ? trial.result.end_ns : 0;
  return trial;
}

Bytes headroom_bytes(Bytes total, std::uint32_t ppm) {
  return static_cast<Bytes>(static_cast<Wide>(total) * ppm / 1'000'000U);
}

}  // namespace tidemark
