#include "sim/cli/plot.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "sim/base/problem.h"
#include "sim/cli/command.h"
#include "sim/format/whole_file.h"

extern char** environ;

namespace tidemark::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTimelineScript = "timeline.py";
constexpr std::string_view kReportScript = "report.py";

std::string script_path(std::string_view option, std::string_view script) {
  std::vector<fs::path> folders;
  if (const char* given = std::getenv("TIDEMARK_PLOTS"); given != nullptr && *given != '\0') {
    folders.emplace_back(given);
  } else {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (!error)
      folders.push_back(self.parent_path().parent_path() / "share" / "tidemark" / "plots");
    folders.emplace_back(TIDEMARK_SOURCE_PLOTS);
  }
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (fs::is_regular_file(folder / script, error)) return (folder / script).string();
  }
  throw IoError(std::string(option) + ": " + std::string(script) + " is not in " +
                folders.back().string() + "; set TIDEMARK_PLOTS to the folder that holds it");
}

std::string python() {
  if (const char* given = std::getenv("TIDEMARK_PYTHON"); given != nullptr && *given != '\0')
    return given;
  // Debian's own comes first: it is the one that has Debian's matplotlib.
  return access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

/// A file that goes away.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view contents)
      : path_((fs::temp_directory_path() / "tidemark-timeline-XXXXXX").string()) {
    const int file = mkstemp(path_.data());
    if (file < 0) throw IoError(path_ + ": " + std::generic_category().message(errno));
    close(file);
    write_whole_file(path_, contents);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Runs a program with standard output and error as ours, interrupts included even where ours are
/// held. Returns its exit code; 127 when it does not start.
int run_process(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t process = 0;
  const int failed =
      posix_spawnp(&process, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return 127;
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
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

void draw_timeline(std::string_view timeline_json, const std::string& title,
                   const std::string& path) {
  const std::string script = script_path("--plot", kTimelineScript);
  const SignalsHeld until_tidied;
  const TemporaryFile timeline(timeline_json);
  const std::string interpreter = python();
  const int code = run_into(path, {interpreter, script, timeline.path(), "--title", title});
  if (code == 0) return;
  if (code == 127) throw IoError("--plot: cannot start " + interpreter + "; it needs Python 3");
  if (code == 1) {
    throw IoError("--plot: " + script +
                  " failed; it needs matplotlib (Debian: python3-matplotlib)");
  }
  throw IoError("--plot: " + path + " was not drawn");
}

void write_html_report(std::string_view report_json, const std::string& path) {
  const std::string script = script_path("report", kReportScript);
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
