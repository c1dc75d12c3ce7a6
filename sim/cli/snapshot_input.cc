#include "sim/cli/snapshot_input.h"

#include <fmt/format.h>

#include <filesystem>

#include "sim/cli/scenario_input.h"
#include "sim/format/whole_file.h"
#include "sim/study/replay/recording_range.h"
#include "sim/study/validate/validation.h"

namespace tidemark::cli {

namespace {

/// How far a long read of a snapshot is, on a terminal.
class ReadLine {
 public:
  explicit ReadLine(Output& err) : err_(err) {}

  /// Requires: called no more once the line is gone.
  [[nodiscard]] ReadProgress progress() {
    if (!err_.is_terminal()) return {};
    return [this](std::uint64_t bytes, std::uint32_t thousandths) {
      constexpr std::uint64_t kLong = std::uint64_t{64} << 20U;
      if (bytes < kLong || thousandths < shown_ + 10) return;
      shown_ = thousandths;
      err_.print("\rreading: {} %", thousandths / 10);
      err_.flush();
    };
  }
  void end() {
    if (shown_ > 0) err_.print("\r{:20}\r", "");
  }

 private:
  Output& err_;
  std::uint32_t shown_ = 0;
};

}  // namespace

RecordingBudget::RecordingBudget(std::string name)
    : name_(std::move(name)),
      watch_(
          [](void* self, bool is_urgent) {
            if (is_urgent) static_cast<const RecordingBudget*>(self)->refuse();
          },
          this) {
  return_large_memory();
}

void RecordingBudget::refuse() const {
  Problem problem;
  problem.at.source = std::make_shared<SourceText>(SourceText{name_, {}, 1, 0});
  problem.message = fmt::format("reading and playing it takes more than {} of the host's memory",
                                format_bytes(Bytes{budget().memory}));
  problem.hint = "'tidemark --max-memory SIZE COMMAND ...' gives it more";
  throw InputError(std::move(problem));
}

Snapshot load_snapshot(const std::string& path, Output& err) {
  ReadLine line(err);
  Snapshot snapshot = read_snapshot_file(path, line.progress());
  line.end();
  return snapshot;
}

ScenarioChoice scenario_choice(const Arguments& args) {
  return {script_overrides(args), args.value("variant")};
}

LoadedRecording load_recording(const std::string& path, const ScenarioChoice& choice, Output& err) {
  if (!looks_like_scenario(path) && (!choice.overrides.empty() || !choice.variant.empty())) {
    usage_error("--set, --variant, --device", "choose a scenario's run; '" + path + "' is none");
  }
  ReadLine line(err);
  LoadedRecording loaded = tidemark::load_recording(path, choice, line.progress());
  line.end();
  return loaded;
}

std::optional<ScenarioSource> program_of(const std::string& path, const ScenarioChoice& choice) {
  if (!looks_like_scenario(path)) return std::nullopt;
  return open_scenario(path, choice.overrides, choice.variant);
}

std::vector<std::string> other_release_notes(const Arguments& args, const Snapshot& snapshot) {
  if (!args.has("pytorch")) return {};
  const Version version = parse_version("--pytorch", args.value("pytorch"));
  const Releases releases = releases_of(snapshot);
  if (releases.contain(version)) return {};
  return {fmt::format("the recording is of PyTorch {}, and played under the allocator of {}",
                      to_string(releases), to_string(version))};
}

AgreementOptions recording_options(const Arguments& args, const Snapshot& snapshot) {
  AgreementOptions options;
  const auto gpu = args.number("gpu", 0, 127);
  options.device = gpu ? static_cast<std::uint8_t>(*gpu) : worst_device(snapshot);
  if (args.has("from"))
    options.from_event = recording_moment(snapshot, options.device, "--from", args.value("from"));
  if (args.has("to"))
    options.to_event = recording_moment(snapshot, options.device, "--to", args.value("to"));
  return options;
}

}  // namespace tidemark::cli
