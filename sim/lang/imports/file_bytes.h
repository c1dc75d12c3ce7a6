#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tidemark::lang {

/// Files whose bytes may be looked at, beside their texts (SourceFiles).
class FileBytes {
 public:
  virtual ~FileBytes() = default;
  /// The first `count` bytes of a file, fewer where it has fewer; nullopt: there is no such file.
  /// Errors: InputError, without a place, where it may not be read. Cost: the bytes that are read.
  virtual std::optional<std::string> begin(const std::string& file, std::uint64_t count) = 0;

 protected:
  FileBytes() = default;
  FileBytes(const FileBytes&) = default;
  FileBytes& operator=(const FileBytes&) = default;
};

}  // namespace tidemark::lang
