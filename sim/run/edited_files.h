#pragma once

#include <map>
#include <memory>
#include <string>

namespace tidemark {

/// Files of the user's as they would be after an edit: whole texts by path, lexically normal. A
/// program run with them reads these and not what is on the disk.
using EditedFiles = std::map<std::string, std::string>;
using EditedFilesPtr = std::shared_ptr<const EditedFiles>;

/// The text that a file has there; null: it is as it lies on the disk.
inline const std::string* edited_text(const EditedFilesPtr& files, const std::string& path) {
  if (files == nullptr) return nullptr;
  const auto found = files->find(path);
  return found == files->end() ? nullptr : &found->second;
}

}  // namespace tidemark
