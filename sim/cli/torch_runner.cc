#include "sim/cli/torch_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "sim/base/problem.h"
#include "sim/cli/exit_code.h"
#include "sim/cli/process.h"
#include "sim/report/torch_job.h"
#include "sim/study/validate/validation.h"

namespace tidemark::cli {

namespace {

namespace fs = std::filesystem;

constexpr int kProgramRaised = 2;

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// A program, or the one of a folder; empty where there is neither.
std::string program_at(const std::string& path) {
  std::error_code error;
  if (path.empty()) return {};
  if (fs::is_regular_file(path, error)) return path;
  const std::string program = path + "/run";
  return fs::is_regular_file(program, error) ? program : std::string();
}

/// The release of environment.py where none is named.
constexpr std::string_view kMadeRelease = "2.11.0";

/// Where a PyTorch of that release is kept.
std::string torch_folder(std::string_view release) {
  return fmt::format("{}/torch-{}", cache_folder(), release);
}

std::string policy_of(const EventPolicy& policy) {
  return policy.kind == EventPolicy::Kind::kSimulated ? "sync" : event_policy_name(policy);
}

/// "2.11.0+cu130" is of 2.11.
bool is_release(const std::string& torch, Version version) {
  return torch.starts_with(to_string(version) + ".");
}

std::string runner_script(std::string_view script) {
  return script_path("--against torch", "TIDEMARK_VALIDATION", "validation",
                     TIDEMARK_SOURCE_VALIDATION, script);
}

/// Runs a runner of validation/torch. False: it sees no device.
bool runs(std::vector<std::string> words, std::map<std::string, std::string> variables,
          const std::string& name) {
  const std::string torch = words.front();
  variables["PYTORCH_ALLOC_CONF"] = "";
  variables["PYTHONHASHSEED"] = "0";
  const int code = run_process(std::move(words), variables);
  if (code == static_cast<int>(ExitCode::kNoDevice)) return false;
  if (code == 0) return true;
  throw InputError(Problem{{},
                           name,
                           code == kProgramRaised
                               ? "PyTorch raises an error, printed above"
                               : fmt::format("{} ended with exit code {}", torch, code),
                           {}});
}

}  // namespace

void refuse_other_release(const std::string& name, const MeasuredRun& run, Version version) {
  const std::string& torch = run.provenance.torch;
  if (torch.empty() || is_release(torch, version)) return;
  throw InputError(Problem{{},
                           name,
                           fmt::format("the scenario asks for PyTorch {}, the other side is of {}",
                                       to_string(version), torch),
                           "give --set pytorch=..., or set TIDEMARK_TORCH to another"});
}

void refuse_other_release(const std::string& name, const Snapshot& snapshot, Version version) {
  const Releases releases = releases_of(snapshot);
  if (releases.contain(version)) return;
  throw InputError(Problem{{},
                           name,
                           fmt::format("the scenario asks for PyTorch {}, the recording is of {}",
                                       to_string(version), to_string(releases)),
                           "give --set pytorch=..."});
}

std::string cache_folder() {
  if (std::string given = environment_value("TIDEMARK_CACHE"); !given.empty()) return given;
  if (const std::string given = environment_value("XDG_CACHE_HOME"); !given.empty())
    return given + "/tidemark";
  const std::string home = environment_value("HOME");
  if (home.empty()) throw IoError("no folder for caches: set TIDEMARK_CACHE");
  return home + "/.cache/tidemark";
}

std::string find_torch() {
  for (const char* name : {"TIDEMARK_TORCH", "TIDEMARK_ORACLE"}) {
    if (const std::string given = environment_value(name); !given.empty()) {
      std::string program = program_at(given);
      if (program.empty()) {
        throw IoError(fmt::format("{}: {} is no program and holds no 'run'", name, given));
      }
      return program;
    }
  }
  return program_at(torch_folder(kMadeRelease));
}

std::string make_torch(const std::string& release) {
  const std::string folder = torch_folder(release);
  if (std::string made = program_at(folder); !made.empty()) return made;
  const int code = run_process(
      {python(), runner_script("pretend/environment.py"), folder, "--torch", release}, {});
  if (code != 0) throw IoError(fmt::format("PyTorch {} could not be made in {}", release, folder));
  return program_at(folder);
}

std::map<std::string, std::string> pretend_variables(const DeviceSpec& device) {
  std::map<std::string, std::string> variables;
  const auto put = [&variables](const char* name, std::uint64_t value) {
    if (value > 0) variables[name] = fmt::format("{}", value);
  };
  variables["FAKECUDA_NAME"] = device.name;
  put("FAKECUDA_TOTAL_BYTES", device.total_bytes);
  variables["FAKECUDA_CONTEXT_BYTES"] = fmt::format("{}", device.context_bytes);
  put("FAKECUDA_CC", static_cast<std::uint64_t>(device.compute_capability));
  put("FAKECUDA_SM_COUNT", static_cast<std::uint64_t>(device.sm_count));
  put("FAKECUDA_THREADS_SM", static_cast<std::uint64_t>(device.max_threads_per_sm));
  put("FAKECUDA_SMEM_OPTIN", device.shared_memory_per_block_optin);
  put("FAKECUDA_L2_BYTES", device.l2_bytes);
  return variables;
}

std::map<std::string, std::string> scenario_variables(const Scenario& scenario) {
  std::map<std::string, std::string> variables = pretend_variables(scenario.device);
  variables["FAKECUDA_COUNT"] = fmt::format("{}", scenario.device_count);
  variables["FAKECUDA_OTHER_BYTES"] = fmt::format("{}", scenario.other_bytes);
  variables["FAKECUDA_EVENTS"] = policy_of(scenario.policy);
  return variables;
}

std::string find_harness() {
  if (std::string given = environment_value("TIDEMARK_CUDA"); !given.empty()) return given;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path beside = self.parent_path() / "tidemark-cuda";
  return fs::is_regular_file(beside, error) ? beside.string() : std::string();
}

std::optional<MeasuredRun> run_under_cuda(const std::string& harness,
                                          const std::map<std::string, std::string>& variables,
                                          const std::string& plan, const std::string& name,
                                          const std::string& folder) {
  const TemporaryFile file(plan);
  fs::create_directories(folder);
  const int code = run_process({harness, file.path(), "--out", folder}, variables);
  if (code == static_cast<int>(ExitCode::kNoDevice)) return std::nullopt;
  if (code != 0) {
    throw InputError(Problem{
        {}, name, fmt::format("{} ended with exit code {}: the device failed", harness, code), {}});
  }
  return read_measured_run(folder, name);
}

std::optional<std::vector<MeasuredRun>> run_under_torch(const std::string& torch,
                                                        const std::vector<TorchCase>& cases,
                                                        const std::string& folder) {
  // The pretend GPU reads its variables once, when PyTorch is loaded.
  std::map<std::map<std::string, std::string>, std::vector<std::size_t>> by_device;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::map<std::string, std::string> variables = scenario_variables(*cases[i].scenario);
    variables["FAKECUDA_CUDNN_WORKSPACE"] =
        fmt::format("{}", cases[i].scenario->backends.cudnn_workspace);
    by_device[std::move(variables)].push_back(i);
  }
  std::vector<MeasuredRun> measured(cases.size());
  for (const auto& [variables, indices] : by_device) {
    std::vector<std::unique_ptr<TemporaryFile>> jobs;
    std::vector<std::string> words{torch, runner_script("torch/run_scenario.py"), folder};
    std::string names;
    for (const std::size_t i : indices) {
      const TorchCase& each = cases[i];
      jobs.push_back(std::make_unique<TemporaryFile>(
          torch_job_json(*each.scenario, each.name, each.command, "all")));
      words.push_back(jobs.back()->path());
      names += (names.empty() ? "" : ", ") + each.name;
    }
    if (!runs(std::move(words), variables, names)) return std::nullopt;
    for (const std::size_t i : indices) {
      measured[i] = read_measured_run(folder, cases[i].name);
      if (cases[i].scenario->names_pytorch)
        refuse_other_release(cases[i].name, measured[i], cases[i].scenario->settings.version);
    }
  }
  return measured;
}

std::optional<MeasuredRun> play_under_torch(const std::string& torch, const std::string& trace,
                                            const DeviceSpec& device, const std::string& conf,
                                            const std::string& name, const std::string& folder) {
  std::map<std::string, std::string> variables = pretend_variables(device);
  variables["FAKECUDA_EVENTS"] = "sync";
  variables["PYTORCH_CUDA_ALLOC_CONF"] = conf;
  if (!runs({torch, runner_script("torch/play_trace.py"), trace, folder, name},
            std::move(variables), name)) {
    return std::nullopt;
  }
  return read_measured_run(folder, name);
}

}  // namespace tidemark::cli
