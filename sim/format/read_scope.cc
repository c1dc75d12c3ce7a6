#include "sim/format/read_scope.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "sim/base/budget.h"
#include "sim/base/problem.h"
#include "sim/format/whole_file.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

/// Empty: there is no such place.
std::string canonical_of(const std::string& path) {
  // As std::filesystem::canonical() does it, without the paths that it makes in between.
  const std::unique_ptr<char, decltype(&std::free)> found(
      realpath(path.empty() ? "." : path.c_str(), nullptr), &std::free);
  if (found == nullptr) return {};
  std::string whole = found.get();
  while (whole.ends_with('/')) whole.pop_back();
  return whole;
}

bool lies_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string home_folder() {
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? std::string() : canonical_of(home);
}

}  // namespace

std::vector<std::string>& user_read_paths() {
  static std::vector<std::string> paths{TIDEMARK_SOURCE_CONFIGS};
  return paths;
}

void let_read(const std::string& path) {
  std::string whole = path.empty() ? std::string() : canonical_of(path);
  if (!whole.empty() && !lies_in(home_folder(), whole))
    user_read_paths().push_back(std::move(whole));
}

std::string project_of(const std::string& folder) {
  const std::string home = home_folder();
  for (std::string at = canonical_of(folder); !at.empty() && !lies_in(home, at);
       at.resize(at.rfind('/'))) {
    for (const std::string_view mark :
         {".git", "pyproject.toml", "setup.py", "setup.cfg", "scenario.schema.json"}) {
      struct stat status {};
      if (stat(fmt::format("{}/{}", at, mark).c_str(), &status) == 0) return at;
    }
  }
  return {};
}

namespace {

void add_root(const std::string& path, std::vector<std::string>& roots) {
  std::error_code error;
  std::string whole = canonical_of(path);
  // The root folder itself is written without its '/'.
  if (!whole.empty() || fs::equivalent(path, "/", error)) roots.push_back(std::move(whole));
}

/// Where user_read_paths() lie, found once: a run makes several scopes.
std::vector<std::string> user_roots() {
  static std::mutex mutex;
  static std::vector<std::string> paths;
  static std::vector<std::string> roots;
  const std::lock_guard lock(mutex);
  if (paths != user_read_paths()) {
    paths = user_read_paths();
    roots.clear();
    for (const std::string& path : paths) add_root(path, roots);
  }
  return roots;
}

}  // namespace

ReadScope::ReadScope(const std::vector<std::string>& own, const std::vector<std::string>& code) {
  for (const std::string& folder : own) add_root(folder.empty() ? "." : folder, roots_);
  for (const std::string& folder : code) add_root(folder.empty() ? "." : folder, code_roots_);
  for (std::string& root : user_roots()) roots_.push_back(std::move(root));
  const std::string working = canonical_of(".");
  if (!working.empty() && !lies_in(home_folder(), working)) roots_.push_back(working);
}

std::string ReadScope::refusal(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return "a path cannot have a NUL in it";
  const auto is_in = [](std::string_view place, const std::vector<std::string>& roots) {
    return std::any_of(roots.begin(), roots.end(),
                       [&](const std::string& root) { return lies_in(place, root); });
  };
  // Most are there, and may be read.
  if (const std::string found = canonical_of(path); !found.empty()) {
    struct stat status {};
    const bool is_there = stat(found.c_str(), &status) == 0;
    const bool is_folder = is_there && S_ISDIR(status.st_mode);
    const bool is_code = is_folder || found.ends_with(".py");
    if ((is_folder || (is_there && S_ISREG(status.st_mode))) &&
        (is_in(found, roots_) || (is_code && is_in(found, code_roots_))))
      return {};
  }
  std::error_code error;
  const std::string whole = fs::weakly_canonical(path.empty() ? "." : path, error).string();
  if (error) return fmt::format("'{}' cannot be followed: {}", path, error.message());
  const std::string absolute = fs::absolute(whole, error).lexically_normal().string();
  const fs::file_status status = fs::status(absolute, error);
  const bool is_code = fs::is_directory(status) || absolute.ends_with(".py");
  if (!is_in(absolute, roots_) && !(is_code && is_in(absolute, code_roots_))) {
    // Below /proc a target has the number of this process, which no message is to depend on.
    const bool is_link = fs::absolute(path, error).lexically_normal().string() != absolute &&
                         !lies_in(absolute, "/proc");
    return fmt::format(
        "'{}' {} what may be read here; 'tidemark --allow-read FOLDER COMMAND ...' lets it be read",
        path,
        is_link ? fmt::format("leads to '{}', outside of", absolute)
                : std::string("lies outside of"));
  }
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
    return fmt::format("'{}' is no regular file", path);
  return {};
}

std::string ReadScope::read(const std::string& path) const {
  const std::string reason = refusal(path);
  if (!reason.empty()) throw InputError(Problem{{}, {}, reason, {}});
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > budget().memory) {
    throw InputError(
        Problem{{},
                {},
                fmt::format("'{}' has {} bytes, more than the memory allowed", path, size),
                "'tidemark --max-memory SIZE COMMAND ...' gives it more"});
  }
  return read_whole_file(path);
}

}  // namespace tidemark
