#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/format/read_scope.h"
#include "sim/lang/imports/host_view.h"
#include "sim/lang/imports/source_files.h"
#include "sim/run/edited_files.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// Where the model zoo, which is part of the program, lies for HostFiles.
constexpr std::string_view kZooFolder = "<zoo>";

/// The host's files as far as a simulated program may see them: those in a ReadScope of its own
/// folders and of those that hold code, and kZooFolder. A folder is listed once, a file read when
/// it is asked for. `edited` stand in for what is on the disk.
class HostFiles final : public lang::SourceFiles, public lang::HostView {
 public:
  explicit HostFiles(const std::vector<std::string>& own, const std::vector<std::string>& code = {},
                     EditedFilesPtr edited = {})
      : scope_(own, code), edited_(std::move(edited)) {}
  const std::vector<std::string>& list(const std::string& given) override;
  std::string closed(const std::string& given) override { return refusal(host_path(given)); }
  std::shared_ptr<const SourceText> read(const std::string& given) override;
  std::optional<std::uint64_t> size(const std::string& given) override;
  std::optional<std::string> begin(const std::string& given, std::uint64_t count) override;
  std::optional<std::string> text(const std::string& given) override;
  [[nodiscard]] std::string working_folder() const override;
  void note_module(const std::string& file) override { modules_.push_back(file); }

  /// Files that became modules, in the order of their imports.
  [[nodiscard]] const std::vector<std::string>& modules() const { return modules_; }

 private:
  /// Where a program's path is. A path from the root that is not seen there is looked for in the
  /// folder that Tidemark runs in.
  [[nodiscard]] std::string host_path(const std::string& path) const;
  /// Errors: InputError where the file may not be read.
  [[nodiscard]] bool is_file(const std::string& file) const;
  static std::vector<std::string> zoo_list(std::string_view folder);

  /// Of the path that was asked for last it is not worked out again.
  [[nodiscard]] const std::string& refusal(const std::string& path) const;
  /// Whether a path is one that ReadScope allows for sure: a folder, or one of Python's sources,
  /// that is no link and lies in a folder that may be looked into. Cost: one system call.
  [[nodiscard]] bool is_plainly_seen(const std::string& path) const;
  /// Whether a folder, "" of the root, may be looked into. It is worked out once.
  [[nodiscard]] bool is_open(const std::string& folder) const;
  /// Whether the list of the folder around says that there is no such folder.
  [[nodiscard]] bool is_listed_without(const std::string& folder) const;

  ReadScope scope_;
  mutable std::optional<std::pair<std::string, std::string>> refusal_;  ///< of a path
  mutable std::unordered_map<std::string, bool> open_folders_;
  /// The source that was plainly seen last, and its bytes.
  mutable std::optional<std::pair<std::string, std::uint64_t>> source_;
  EditedFilesPtr edited_;
  std::map<std::string, std::vector<std::string>> lists_;
  std::vector<std::string> modules_;
};

/// What was read of the folders of packages, by name.
std::vector<PackageUse> packages_read(HostFiles& files, const std::vector<std::string>& folders);

/// The files that became modules and lie in none of the folders of packages, lexically normal, in
/// the order of their imports.
std::vector<std::string> own_modules(const HostFiles& files,
                                     const std::vector<std::string>& packages);

/// Where packages are installed for a program of which nobody says it: the folders that
/// TIDEMARK_PACKAGES names (':' between them), else the site-packages of $VIRTUAL_ENV and of
/// $CONDA_PREFIX.
std::vector<std::string> installed_packages();

}  // namespace tidemark
