#pragma once

#include <span>
#include <string_view>

namespace tidemark {

/// A file of configs/models/, part of the program.
struct ZooFile {
  std::string_view module;  ///< "gpt2", "hf/gpt2"
  std::string_view text;
};

/// All of them, by name.
std::span<const ZooFile> zoo_files();

/// The text of a module ("hf/llama"); empty: there is none.
inline std::string_view zoo_text(std::string_view module) {
  for (const ZooFile& file : zoo_files()) {
    if (file.module == module) return file.text;
  }
  return {};
}

}  // namespace tidemark
