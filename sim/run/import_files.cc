#include "sim/run/import_files.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

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
  if (!refusal_ || refusal_->first != path) refusal_.emplace(path, scope_.refusal(path));
  return refusal_->second;
}

std::string HostFiles::host_path(const std::string& path) const {
  if (!path.starts_with('/') || refusal(path).empty()) return path;
  const std::size_t first = path.find_first_not_of('/');
  std::string inner = first == std::string::npos ? "." : path.substr(first);
  std::error_code error;
  return refusal(inner).empty() && fs::exists(inner, error) ? inner : path;
}

const std::vector<std::string>& HostFiles::list(const std::string& given) {
  const std::string folder = host_path(given);
  const auto [found, is_new] = lists_.try_emplace(folder);
  std::vector<std::string>& names = found->second;
  if (!is_new) return names;
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
  std::error_code error;
  return fs::is_regular_file(file, error);
}

std::optional<std::uint64_t> HostFiles::size(const std::string& given) {
  const std::string file = host_path(given);
  if (file.starts_with(kZooFolder) || !is_file(file)) return std::nullopt;
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
  return std::make_shared<const SourceText>(SourceText{std::move(name), scope_.read(file)});
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
