#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark {

/// Files and folders that the user lets scenarios and programs read, wherever these lie. The
/// program sets them once, before it reads any; every thread reads them.
std::vector<std::string>& user_read_paths();

/// What a stranger's file may have read: regular files in its own folders, in the working folder
/// unless that is the home folder or one above it, and in user_read_paths(). Links are followed
/// first: where one leads decides. Nothing else is opened.
class ReadScope {
 public:
  /// `own`: folders; "" is the working folder, relative ones begin in it. What is not there is in
  /// no scope.
  explicit ReadScope(const std::vector<std::string>& own);

  /// Why `path` may not be looked at, and what helps; empty: it may, or there is no such thing
  /// within the scope.
  [[nodiscard]] std::string refusal(const std::string& path) const;
  /// A regular file's text. Errors: InputError where refusal() or its size says so, IoError where
  /// the system does.
  [[nodiscard]] std::string read(const std::string& path) const;

 private:
  std::vector<std::string> roots_;  ///< canonical, without a '/' at the end
};

}  // namespace tidemark
