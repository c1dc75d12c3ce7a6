#include "sim/format/read_scope.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/budget.h"
#include "sim/base/problem.h"
#include "sim/format/whole_file.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

/// Empty: there is no such place.
std::string canonical_of(const std::string& path) {
  std::error_code error;
  std::string whole = fs::canonical(path.empty() ? "." : path, error).string();
  if (error) return {};
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
  static std::vector<std::string> paths;
  return paths;
}

ReadScope::ReadScope(const std::vector<std::string>& own) {
  const auto add = [this](const std::string& path) {
    std::error_code error;
    std::string whole = canonical_of(path);
    // The root folder itself is written without its '/'.
    if (!whole.empty() || fs::equivalent(path, "/", error)) roots_.push_back(std::move(whole));
  };
  for (const std::string& folder : own) add(folder.empty() ? "." : folder);
  for (const std::string& path : user_read_paths()) add(path);
  const std::string working = canonical_of(".");
  if (!working.empty() && !lies_in(home_folder(), working)) roots_.push_back(working);
}

std::string ReadScope::refusal(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return "a path cannot have a NUL in it";
  std::error_code error;
  const std::string whole = fs::weakly_canonical(path.empty() ? "." : path, error).string();
  if (error) return fmt::format("'{}' cannot be followed: {}", path, error.message());
  const std::string absolute = fs::absolute(whole, error).lexically_normal().string();
  const bool is_inside = std::any_of(roots_.begin(), roots_.end(), [&](const std::string& root) {
    return lies_in(absolute, root);
  });
  if (!is_inside) {
    const bool is_link = fs::absolute(path, error).lexically_normal().string() != absolute;
    return fmt::format(
        "'{}' {} what may be read here; 'tidemark --allow-read FOLDER COMMAND ...' lets it be read",
        path,
        is_link ? fmt::format("leads to '{}', outside of", absolute)
                : std::string("lies outside of"));
  }
  const fs::file_status status = fs::status(absolute, error);
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
