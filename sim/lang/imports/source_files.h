#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/source.h"

/// Where imports are read from, and how a module's file is found there.
namespace tidemark::lang {

/// The files that a program may see, in folders. Paths are of '/'; "" is the folder that relative
/// paths begin in.
class SourceFiles {
 public:
  virtual ~SourceFiles() = default;
  /// What a folder has, sorted, the names of folders ending in '/'. Empty: there is no such folder,
  /// or none that may be looked into. Good as long as this.
  virtual const std::vector<std::string>& list(const std::string& folder) = 0;
  /// Why a folder may not be looked into; empty: it may. Default: any may.
  virtual std::string closed(const std::string& folder);
  /// nullptr: there is no such file. Errors: InputError, without a place, where it may not be read.
  virtual std::shared_ptr<const SourceText> read(const std::string& file) = 0;
  /// How many bytes a file has; nullopt: there is no such file. Errors: as read().
  virtual std::optional<std::uint64_t> size(const std::string& file) = 0;
  /// Is told of each file that becomes a module. Default: nothing is done with it.
  virtual void note_module(const std::string& file);

 protected:
  SourceFiles() = default;
  SourceFiles(const SourceFiles&) = default;
  SourceFiles& operator=(const SourceFiles&) = default;
};

/// Files that are held in memory: texts by their paths.
class TextFiles final : public SourceFiles {
 public:
  explicit TextFiles(const std::map<std::string, std::string>& texts);
  const std::vector<std::string>& list(const std::string& folder) override;
  std::shared_ptr<const SourceText> read(const std::string& file) override;
  std::optional<std::uint64_t> size(const std::string& file) override;

 private:
  std::map<std::string, std::shared_ptr<const SourceText>> texts_;
  std::map<std::string, std::vector<std::string>> folders_;
};

/// "folder/name"; of the folder "" the name alone.
std::string path_in(std::string_view folder, std::string_view name);

/// What a search for a module found.
struct ModulePlace {
  enum class Kind : std::uint8_t {
    kNowhere,
    kModule,    ///< a file
    kPackage,   ///< a folder with __init__.py
    kFolders,   ///< folders without one (Python's namespace packages)
    kCompiled,  ///< a library of machine code, which is never read
  };
  Kind kind = Kind::kNowhere;
  std::string file;                  ///< what is run, or has the machine code; empty of kFolders
  std::vector<std::string> folders;  ///< of a package: where its modules are looked for
};

/// Looks for the module `name` (without dots) in the folders in turn, as Python does.
ModulePlace find_module(SourceFiles& files, const std::vector<std::string>& path,
                        std::string_view name);

}  // namespace tidemark::lang
