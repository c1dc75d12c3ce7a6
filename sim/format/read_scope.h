#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark {

/// Files and folders that the user lets scenarios and programs read, wherever these lie; at first
/// the folder of scenarios and models that the sources come with. The program sets them once,
/// before it reads any; every thread reads them.
std::vector<std::string>& user_read_paths();

/// Adds what `path` names to user_read_paths(), a relative one from the working folder: an argument
/// that a user gives a script names what the script is to read. Nothing is added where nothing is
/// there, nor the root, the home folder or one above it.
void let_read(const std::string& path);

/// The project that a folder lies in: the nearest folder, itself or above it, that holds .git,
/// pyproject.toml, setup.py, setup.cfg or the schema of scenarios (as the folder of scenarios and
/// models does that comes with the program); never the home folder or one above it. Empty: none.
std::string project_of(const std::string& folder);

/// What a stranger's file may have read: regular files in its own folders, in the working folder
/// unless that is the home folder or one above it, and in user_read_paths(). Links are followed
/// first: where one leads decides. Of folders that hold code, Python's sources (.py) and the names
/// of what is there may be read as well. Nothing else is opened.
class ReadScope {
 public:
  /// `own`, and `code`, which holds code: folders; "" is the working folder, relative ones begin in
  /// it. What is not there is in no scope.
  explicit ReadScope(const std::vector<std::string>& own,
                     const std::vector<std::string>& code = {});

  /// Why `path` may not be looked at, and what helps; empty: it may, or there is no such thing
  /// within the scope.
  [[nodiscard]] std::string refusal(const std::string& path) const;
  /// A regular file's text. Errors: InputError where refusal() or its size says so, IoError where
  /// the system does.
  [[nodiscard]] std::string read(const std::string& path) const;

 private:
  // Canonical, without a '/' at the end.
  std::vector<std::string> roots_;
  std::vector<std::string> code_roots_;
};

}  // namespace tidemark
