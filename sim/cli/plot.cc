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
constexpr std::string_view kReportScript = "report.py";

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

}  // namespace

void check_plot_name(const std::string& path) {
  for (const std::string_view ending : {".png", ".svg", ".pdf"}) {
    if (path.ends_with(ending)) return;
  }
  usage_error("--plot", "expected a name that ends in .png, .svg or .pdf, found '" + path + "'");
}

void draw_timeline(std::string_view timeline_json, std::string_view host_json,
                   const std::string& title, const std::string& path) {
  const std::string script = plot_script("--plot", kTimelineScript);
  const SignalsHeld until_tidied;
  const TemporaryFile timeline(timeline_json);
  const std::string interpreter = python();
  std::vector<std::string> words{interpreter, script, timeline.path(), "--title", title};
  std::optional<TemporaryFile> host;
  if (!host_json.empty()) {
    host.emplace(host_json);
    words.insert(words.end(), {"--host", host->path()});
  }
  const int code = run_into(path, std::move(words));
  if (code == 0) return;
  if (code == 127) throw IoError("--plot: cannot start " + interpreter + "; it needs Python 3");
  if (code == 1) {
    throw IoError("--plot: " + script +
                  " failed; it needs matplotlib (Debian: python3-matplotlib)");
  }
  throw IoError("--plot: " + path + " was not drawn");
}

void write_html_report(std::string_view report_json, const std::string& path) {
  const std::string script = plot_script("report", kReportScript);
  const SignalsHeld until_tidied;
  const TemporaryFile report(report_json);
  const std::string interpreter = python();
  const int code = run_into(path, {interpreter, script, report.path()});
  if (code == 127) throw IoError("report: cannot start " + interpreter + "; it needs Python 3");
  if (code != 0) {
    throw IoError("report: " + path +
                  " was not written; it needs plotly: tools/setup gets it, or " + interpreter +
                  " -m pip install plotly (TIDEMARK_PYTHON names another Python)");
  }
}

}  // namespace tidemark::cli
