#include "sim/run/import_files.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/problem.h"
#include "sim/run/zoo.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

std::string normal(std::string_view path) { return fs::path(path).lexically_normal().string(); }

/// "Pillow-Tools" and "pillow_tools" are one distribution.
std::string plain_name(std::string_view name) {
  std::string out;
  for (const char c : name)
    out +=
        c == '-' || c == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// The version that a folder's *.dist-info says of a package: by the distribution's name, or by the
/// list of what a distribution has at its top.
std::string version_of(HostFiles& files, const std::string& folder, const std::string& package) {
  constexpr std::string_view kEnd = ".dist-info/";
  std::string listed;
  for (const std::string& entry : files.list(folder)) {
    if (!entry.ends_with(kEnd)) continue;
    const std::string whole = entry.substr(0, entry.size() - kEnd.size());
    const std::size_t dash = whole.find('-');
    if (dash == std::string::npos) continue;
    std::string version = whole.substr(dash + 1);
    if (plain_name(whole.substr(0, dash)) == plain_name(package)) return version;
    const auto top = files.read(lang::path_in(folder, entry + "top_level.txt"));
    if (top != nullptr && ("\n" + top->text).find("\n" + package + "\n") != std::string::npos)
      listed = version;
  }
  return listed;
}

/// The text of a regular file, read at once; nullopt: it is larger than what is read so, zipped, or
/// not what it was.
std::optional<std::string> text_of_source(const std::string& path, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{16} << 20U;
  if (bytes > kMost) return std::nullopt;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return std::nullopt;
  std::string text(bytes + 1, '\0');
  const ssize_t count = read(file, text.data(), text.size());
  close(file);
  if (count < 0 || static_cast<std::uint64_t>(count) != bytes) return std::nullopt;
  text.resize(bytes);
  if (text.starts_with("\x1f\x8b")) return std::nullopt;
  return text;
}

std::vector<std::string> site_packages(const std::string& prefix) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(prefix + "/lib", error)) {
    const fs::path packages = entry.path() / "site-packages";
    if (entry.path().filename().string().starts_with("python") && fs::is_directory(packages, error))
      out.push_back(packages.string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<std::string> HostFiles::zoo_list(std::string_view folder) {
  std::set<std::string> names;
  std::string begin(folder.substr(kZooFolder.size()));
  if (!begin.empty()) begin = begin.substr(1) + "/";
  for (const ZooFile& file : zoo_files()) {
    if (!file.module.starts_with(begin)) continue;
    const std::string_view rest = file.module.substr(begin.size());
    const std::size_t slash = rest.find('/');
    names.insert(slash == std::string_view::npos ? std::string(rest) + ".py"
                                                 : std::string(rest.substr(0, slash + 1)));
  }
  return {names.begin(), names.end()};
}

const std::string& HostFiles::refusal(const std::string& path) const {
  if (!refusal_ || refusal_->first != path) {
    std::string why = is_plainly_seen(path) ? std::string() : scope_.refusal(path);
    refusal_.emplace(path, std::move(why));
  }
  return refusal_->second;
}

bool HostFiles::is_plainly_seen(const std::string& path) const {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0 || path.find('\0') != std::string::npos)
    return false;
  const std::string_view name = std::string_view(path).substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return false;
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return false;
  const bool is_source = S_ISREG(status.st_mode) && name.ends_with(".py");
  if (!(is_source || S_ISDIR(status.st_mode)) || !is_open(path.substr(0, slash))) return false;
  if (is_source) source_.emplace(path, static_cast<std::uint64_t>(status.st_size));
  return true;
}

bool HostFiles::is_open(const std::string& folder) const {
  const auto found = open_folders_.find(folder);
  if (found != open_folders_.end()) return found->second;
  std::error_code error;
  const bool is_open = (is_plainly_seen(folder) || scope_.refusal(folder).empty()) &&
                       fs::is_directory(folder, error);
  return open_folders_.emplace(folder, is_open).first->second;
}

bool HostFiles::is_listed_without(const std::string& folder) const {
  const std::size_t slash = folder.rfind('/');
  if (slash == std::string::npos || slash == 0) return false;
  const std::string name = folder.substr(slash + 1) + "/";
  const auto around = lists_.find(folder.substr(0, slash));
  if (around == lists_.end() || around->second.empty()) return false;
  if (name == "/" || name == "./" || name == "../") return false;
  return !std::binary_search(around->second.begin(), around->second.end(), name);
}

std::string HostFiles::host_path(const std::string& path) const {
  if (!path.starts_with('/') || refusal(path).empty()) return path;
  const std::size_t first = path.find_first_not_of('/');
  std::string inner = first == std::string::npos ? "." : path.substr(first);
  std::error_code error;
  return refusal(inner).empty() && fs::exists(inner, error) ? inner : path;
}

const std::vector<std::string>& HostFiles::list(const std::string& given) {
  if (const auto known = lists_.find(given); known != lists_.end()) return known->second;
  const std::string folder = host_path(given);
  const auto [found, is_new] = lists_.try_emplace(folder);
  std::vector<std::string>& names = found->second;
  if (!is_new || is_listed_without(folder)) return names;
  if (folder.starts_with(kZooFolder)) {
    names = zoo_list(folder);
  } else if (refusal(folder).empty()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
      const bool is_folder = entry.is_directory(error);
      names.push_back(entry.path().filename().string() + (is_folder ? "/" : ""));
    }
    std::sort(names.begin(), names.end());
  }
  return names;
}

bool HostFiles::is_file(const std::string& file) const {
  const std::string reason = refusal(file);
  if (!reason.empty()) throw InputError(Problem{{}, {}, reason, {}});
  if (source_ && source_->first == file) return true;
  std::error_code error;
  return fs::is_regular_file(file, error);
}

std::optional<std::uint64_t> HostFiles::size(const std::string& given) {
  const std::string file = host_path(given);
  if (file.starts_with(kZooFolder) || !is_file(file)) return std::nullopt;
  if (source_ && source_->first == file) return source_->second;
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  if (error) return std::nullopt;
  return bytes;
}

std::string HostFiles::working_folder() const {
  std::error_code error;
  const fs::path folder = fs::current_path(error);
  return error ? "/" : folder.string();
}

std::optional<std::string> HostFiles::begin(const std::string& given, std::uint64_t count) {
  const std::string file = host_path(given);
  if (file.starts_with(kZooFolder) || !is_file(file)) return std::nullopt;
  std::error_code error;
  const std::uint64_t held = fs::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) return std::nullopt;
  std::string out(std::min(count, held), '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(in.gcount()));
  return out;
}

std::optional<std::string> HostFiles::text(const std::string& given) {
  const std::string file = host_path(given);
  if (edited_ == nullptr && !file.starts_with(kZooFolder) && is_file(file) && source_ &&
      source_->first == file) {
    if (std::optional<std::string> own = text_of_source(file, source_->second)) return own;
  }
  const std::shared_ptr<const SourceText> whole = read(given);
  return whole == nullptr ? std::nullopt : std::optional(whole->text);
}

std::shared_ptr<const SourceText> HostFiles::read(const std::string& given) {
  const std::string file = host_path(given);
  if (file.starts_with(kZooFolder)) {
    const std::string name = file.substr(kZooFolder.size() + 1);
    const std::string_view text = zoo_text(std::string_view(name).substr(0, name.rfind('.')));
    if (text.empty()) return nullptr;
    return std::make_shared<const SourceText>(
        SourceText{"configs/models/" + name, std::string(text)});
  }
  if (!is_file(file)) return nullptr;
  std::string name = normal(file);
  if (const std::string* edited = edited_text(edited_, name))
    return std::make_shared<const SourceText>(SourceText{std::move(name), *edited});
  std::optional<std::string> text;
  if (source_ && source_->first == file) text = text_of_source(file, source_->second);
  if (!text) text = scope_.read(file);
  return std::make_shared<const SourceText>(SourceText{std::move(name), *std::move(text)});
}

std::vector<PackageUse> packages_read(HostFiles& files, const std::vector<std::string>& folders) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const std::string& file : files.modules()) {
    for (const std::string& folder : folders) {
      const std::string begin = lang::path_in(folder, "");
      if (!file.starts_with(begin)) continue;
      const std::string rest = file.substr(begin.size());
      ++counts[{rest.substr(0, rest.find_first_of("/.")), folder}];
      break;
    }
  }
  std::vector<PackageUse> out;
  out.reserve(counts.size());
  for (const auto& [where, count] : counts)
    out.push_back({where.first, version_of(files, where.second, where.first), count});
  return out;
}

std::vector<std::string> own_modules(const HostFiles& files,
                                     const std::vector<std::string>& packages) {
  std::vector<std::string> out;
  for (const std::string& file : files.modules()) {
    const bool is_other = file.starts_with(kZooFolder) ||
                          std::any_of(packages.begin(), packages.end(), [&](const auto& folder) {
                            return file.starts_with(lang::path_in(folder, ""));
                          });
    if (!is_other) out.push_back(normal(file));
  }
  return out;
}

std::vector<std::string> installed_packages() {
  std::vector<std::string> folders;
  if (const char* given = std::getenv("TIDEMARK_PACKAGES"); given != nullptr) {
    const std::string_view text = given;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(':', begin), text.size());
      if (end > begin) folders.emplace_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return folders;
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* prefix = std::getenv(variable);
    if (prefix == nullptr) continue;
    for (std::string& folder : site_packages(prefix)) folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace tidemark
