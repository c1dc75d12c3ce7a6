#pragma once

#include <span>
#include <string_view>

namespace tidemark::lang {

/// A module of the language's library that is written in the language.
struct LibraryFile {
  std::string_view module;
  std::string_view text;
};

/// All of them; they are parsed when they are first imported.
std::span<const LibraryFile> library_files();
std::span<const LibraryFile> library_function_files();  // itertools, functools, operator
std::span<const LibraryFile> library_system_files();    // time, random, os, argparse, ...

}  // namespace tidemark::lang
