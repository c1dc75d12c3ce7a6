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
std::span<const LibraryFile> library_system_files();    // time, random, sys, ...
std::span<const LibraryFile> library_script_files();    // argparse, logging
std::span<const LibraryFile> library_file_files();      // os, io, pathlib, shutil, ...
std::span<const LibraryFile> library_regex_files();     // re
std::span<const LibraryFile> library_around_files();    // statistics, traceback, threading, ...
std::span<const LibraryFile> library_class_files();     // collections, enum
std::span<const LibraryFile> library_typing_files();    // typing, collections.abc
std::span<const LibraryFile> library_module_files();    // json, types, datetime, pathlib, ...

/// Modules of Python's whose import does nothing and whose use is refused by name: scripts import
/// more than they need.
std::span<const std::string_view> modules_outside();

}  // namespace tidemark::lang
