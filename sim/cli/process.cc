#include "sim/cli/process.h"

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/format/whole_file.h"

extern char** environ;

namespace tidemark::cli {

namespace {

namespace fs = std::filesystem;

/// Ours, with the changes. Kept sorted, so that a program sees the same order every time.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const auto& [name, value] : variables) {
    if (value.empty()) {
      all.erase(name);
    } else {
      all[name] = value;
    }
  }
  std::vector<std::string> entries;
  entries.reserve(all.size());
  for (const auto& [name, value] : all) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> found;
  found.reserve(texts.size() + 1);
  for (std::string& text : texts) found.push_back(text.data());
  found.push_back(nullptr);
  return found;
}

constexpr int kSignals = 128;

/// Of a child, once it has ended: kSignals and more when a signal ended it. std::nullopt: there is
/// no such child.
std::optional<int> exit_code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignals + WTERMSIG(status);
}

/// Errors: IoError where there is no folder for temporary files.
std::string temporary_name() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) {
    const char* given = std::getenv("TMPDIR");
    throw IoError(fmt::format("TMPDIR: {}: {}", given == nullptr ? "/tmp" : given,
                              "there is no such folder for temporary files"));
  }
  return (folder / "tidemark-XXXXXX").string();
}

std::atomic<int> noted_signal_ = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void note_signal(int signal) { noted_signal_ = signal; }

}  // namespace

std::vector<std::string> own_folders(std::string_view folder, std::string_view source_folder) {
  std::vector<std::string> folders;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error)
    folders.push_back((self.parent_path().parent_path() / "share" / "tidemark" / folder).string());
  folders.emplace_back(source_folder);
  return folders;
}

std::string script_path(std::string_view option, const char* variable, std::string_view folder,
                        std::string_view source_folder, std::string_view script) {
  std::vector<fs::path> folders;
  if (const char* given = std::getenv(variable); given != nullptr && *given != '\0') {
    folders.emplace_back(given);
  } else {
    for (std::string& each : own_folders(folder, source_folder))
      folders.emplace_back(std::move(each));
  }
  for (const fs::path& each : folders) {
    std::error_code error;
    if (fs::is_regular_file(each / script, error)) return (each / script).string();
  }
  throw IoError(std::string(option) + ": " + std::string(script) + " is not in " +
                folders.back().string() + "; set " + variable + " to the folder that holds it");
}

std::string python() {
  if (const char* given = std::getenv("TIDEMARK_PYTHON"); given != nullptr && *given != '\0')
    return given;
  // Debian's own comes first: it is the one that has Debian's matplotlib.
  return access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

TemporaryFile::TemporaryFile(std::string_view contents) : path_(temporary_name()) {
  const int file = mkstemp(path_.data());
  if (file < 0) throw IoError(path_ + ": " + std::generic_category().message(errno));
  close(file);
  write_whole_file(path_, contents);
}

TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }

InterruptsNoted::InterruptsNoted() {
  noted_signal_ = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // the second one ends the process
  for (std::size_t i = 0; i < kNoted.size(); ++i) sigaction(kNoted[i], &action, &before_[i]);
}

InterruptsNoted::~InterruptsNoted() {
  for (std::size_t i = 0; i < kNoted.size(); ++i) sigaction(kNoted[i], &before_[i], nullptr);
}

int InterruptsNoted::signal() { return noted_signal_; }

TemporaryFolder::TemporaryFolder() : path_(temporary_name()) {
  if (mkdtemp(path_.data()) == nullptr)
    throw IoError(path_ + ": " + std::generic_category().message(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

int run_process(std::vector<std::string> words,
                const std::map<std::string, std::string>& variables) {
  constexpr int kDoesNotStart = 127;
  std::vector<std::string> entries = environment_with(variables);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(entries);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t process = 0;
  const int failed = posix_spawnp(&process, arguments[0], nullptr, &attributes, arguments.data(),
                                  environment.data());
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return kDoesNotStart;
  return exit_code_of(process).value_or(kDoesNotStart);
}

std::optional<int> in_kept_child(const std::function<void(int signal)>& again) {
  constexpr int kChildren = 3;
  const pid_t parent = getpid();
  int code = 0;
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    if (child < 0) throw IoError("fork: " + std::generic_category().message(errno));
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) raise(SIGKILL);  // it died before it could take us with it
      return std::nullopt;
    }
    code = exit_code_of(child).value_or(kSignals);
    if (code <= kSignals) return code;
    if (i + 1 < kChildren) again(code - kSignals);
  }
  return code;
}

Rank rank_in_job() {
  const auto number = [](const char* variable) -> std::optional<int> {
    const char* text = std::getenv(variable);
    int value = 0;
    if (text == nullptr) return std::nullopt;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
    return error == std::errc() && *end == '\0' ? std::optional(value) : std::nullopt;
  };
  for (const auto& [rank, ranks] : {std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                                    std::pair("PMI_RANK", "PMI_SIZE")}) {
    const std::optional<int> ours = number(rank);
    const std::optional<int> all = number(ranks);
    if (ours && all) return {*ours, *all};
  }
  return {};
}

}  // namespace tidemark::cli
