#pragma once

#include <span>
#include <string_view>

namespace tidemark::lang {

/// A module of the language's library that is written in the language.
struct LibraryFile {
  std::string_view module;
  std::string_view text;
};

/// All of them. They are parsed when they are first imported.
std::span<const LibraryFile> library_files();

}  // namespace tidemark::lang
