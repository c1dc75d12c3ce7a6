#include "sim/lang/imports/source_files.h"

#include "sim/lang/imports/host_view.h"

#include <algorithm>
#include <set>

namespace tidemark::lang {

std::string SourceFiles::closed(const std::string& /*folder*/) { return {}; }
void SourceFiles::note_module(const std::string& /*file*/) {}

std::string path_in(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && path.back() != '/') path += '/';
  return path += name;
}

TextFiles::TextFiles(const std::map<std::string, std::string>& texts) {
  std::map<std::string, std::set<std::string>> names;
  for (const auto& [path, text] : texts) {
    texts_[path] = std::make_shared<const SourceText>(SourceText{path, text});
    std::string entry = path;
    for (std::size_t slash = entry.rfind('/');; slash = entry.rfind('/')) {
      const bool is_at_top = slash == std::string::npos;
      const std::string folder = is_at_top ? std::string() : entry.substr(0, slash);
      const std::string name = is_at_top ? entry : entry.substr(slash + 1);
      names[folder].insert(entry == path ? name : name + "/");
      if (is_at_top) break;
      entry = folder;
    }
  }
  for (const auto& [folder, own] : names) folders_[folder].assign(own.begin(), own.end());
}

const std::vector<std::string>& TextFiles::list(const std::string& folder) {
  static const std::vector<std::string> kNone;
  const auto found = folders_.find(folder);
  return found == folders_.end() ? kNone : found->second;
}

std::optional<std::uint64_t> TextFiles::size(const std::string& file) {
  const auto found = texts_.find(file);
  if (found == texts_.end()) return std::nullopt;
  return found->second->text.size();
}

std::shared_ptr<const SourceText> TextFiles::read(const std::string& file) {
  const auto found = texts_.find(file);
  return found == texts_.end() ? nullptr : found->second;
}

namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::binary_search(names.begin(), names.end(), name);
}

/// The file of machine code that is the module: NAME.so, NAME.abi3.so, NAME.cpython-311-....so.
const std::string* compiled(const std::vector<std::string>& names, std::string_view name) {
  const std::string begin = std::string(name) + ".";
  for (auto each = std::lower_bound(names.begin(), names.end(), begin);
       each != names.end() && each->starts_with(begin); ++each) {
    if (each->ends_with(".so") || each->ends_with(".pyd")) return &*each;
  }
  return nullptr;
}

}  // namespace

ModulePlace find_module(SourceFiles& files, const std::vector<std::string>& path,
                        std::string_view name) {
  const std::string as_folder = std::string(name) + "/";
  const std::string as_file = std::string(name) + ".py";
  std::vector<std::string> portions;
  for (const std::string& folder : path) {
    const std::vector<std::string>& names = files.list(folder);
    if (names.empty()) continue;
    const std::string inner = path_in(folder, name);
    const bool is_folder = has(names, as_folder);
    if (is_folder && has(files.list(inner), "__init__.py"))
      return {ModulePlace::Kind::kPackage, path_in(inner, "__init__.py"), {inner}};
    if (const std::string* library = compiled(names, name))
      return {ModulePlace::Kind::kCompiled, path_in(folder, *library), {}};
    if (has(names, as_file)) return {ModulePlace::Kind::kModule, path_in(folder, as_file), {}};
    if (is_folder) portions.push_back(inner);
  }
  if (portions.empty()) return {};
  return {ModulePlace::Kind::kFolders, {}, std::move(portions)};
}

std::string whole_path(const SourceFiles* files, const std::string& file) {
  const auto* const host = dynamic_cast<const HostView*>(files);
  if (host == nullptr || file.starts_with('/') || file.starts_with('<')) return file;
  return path_in(host->working_folder(), file);
}

}  // namespace tidemark::lang
