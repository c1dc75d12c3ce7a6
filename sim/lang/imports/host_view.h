#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/lang/imports/source_files.h"

namespace tidemark::lang {

/// What a program may see of the machine beside texts (SourceFiles): bytes of files, and where it
/// runs.
class HostView {
 public:
  virtual ~HostView() = default;
  /// The first `count` bytes of a file, fewer where it has fewer; nullopt: there is no such file.
  /// Errors: InputError, without a place, where it may not be read. Cost: the bytes that are read.
  virtual std::optional<std::string> begin(const std::string& file, std::uint64_t count) = 0;
  /// A file's text, as SourceFiles::read gives it, for who keeps the text alone. Errors: the same.
  virtual std::optional<std::string> text(const std::string& file) = 0;
  /// The folder that relative paths begin in, from the root.
  [[nodiscard]] virtual std::string working_folder() const = 0;

 protected:
  HostView() = default;
  HostView(const HostView&) = default;
  HostView& operator=(const HostView&) = default;
};

/// A file's path from the root, as Python gives it in __file__; as it is where `files` are no
/// machine's.
std::string whole_path(const SourceFiles* files, const std::string& file);

}  // namespace tidemark::lang
