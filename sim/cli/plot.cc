#include "sim/cli/plot.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "sim/base/problem.h"
#include "sim/cli/command.h"
#include "sim/cli/process.h"
#include "sim/format/whole_file.h"

namespace tidemark::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTimelineScript = "timeline.py";
constexpr std::string_view kParquetScript = "to_parquet.py";

std::string plot_script(std::string_view option, std::string_view script) {
  return script_path(option, "TIDEMARK_PLOTS", "plots", TIDEMARK_SOURCE_PLOTS, script);
}

/// Runs a script that writes a file, which appears complete or not at all: it is told another name
/// beside `path`, and what it wrote there is renamed. Returns as run_process().
int run_into(const std::string& path, std::vector<std::string> words) {
  const bool direct = !is_regular_or_new(path);
  const fs::path place(path);
  const std::string target =
      direct
          ? path
          : (place.parent_path() / (place.stem().string() + ".part" + place.extension().string()))
                .string();
  words.insert(words.end(), {"-o", target});
  const int code = run_process(std::move(words));
  if (direct) return code;
  std::error_code error;
  if (code == 0) {
    fs::rename(target, path, error);
  } else {
    fs::remove(target, error);
  }
  if (code == 0 && error) throw IoError(path + ": " + error.message());
  return code;
}

/// Runs a script on data that it reads from a file. Returns as run_process(). Errors: IoError when
/// there is no Python.
int run_script(std::string_view option, std::string_view name, std::string_view data,
               const std::string& path, std::vector<std::string> words = {}) {
  const std::string script = plot_script(option, name);
  const SignalsHeld until_tidied;
  const TemporaryFile file(data);
  const std::string interpreter = python();
  words.insert(words.begin(), {interpreter, script, file.path()});
  const int code = run_into(path, std::move(words));
  if (code == 127) {
    throw IoError(std::string(option) + ": cannot start " + interpreter + "; it needs Python 3");
  }
  return code;
}

}  // namespace

void check_plot_name(const std::string& path) {
  for (const std::string_view ending : {".png", ".svg", ".pdf"}) {
    if (path.ends_with(ending)) return;
  }
  usage_error("--plot", "expected a name that ends in .png, .svg or .pdf, found '" + path + "'");
}

void draw_timeline(std::string_view timeline_json, std::string_view host_json,
                   const std::string& title, const std::string& path) {
  const SignalsHeld until_tidied;
  std::vector<std::string> words{"--title", title};
  std::optional<TemporaryFile> host;
  if (!host_json.empty()) {
    host.emplace(host_json);
    words.insert(words.end(), {"--host", host->path()});
  }
  const int code = run_script("--plot", kTimelineScript, timeline_json, path, std::move(words));
  if (code == 0) return;
  if (code == 1) {
    throw IoError("--plot: " + plot_script("--plot", kTimelineScript) +
                  " failed; it needs matplotlib (Debian: python3-matplotlib)");
  }
  throw IoError("--plot: " + path + " was not drawn");
}

void write_parquet(std::string_view table_json, const std::string& path) {
  const int code = run_script("--format", kParquetScript, table_json, path);
  if (code != 0) {
    throw IoError("--format parquet: " + path +
                  " was not written; it needs pyarrow: python3 -m venv ENV && ENV/bin/pip install "
                  "pyarrow, then TIDEMARK_PYTHON=ENV/bin/python");
  }
}

}  // namespace tidemark::cli
