#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/advice/user_files.h"

namespace tidemark {

/// A file of sim/study/advice/code, part of the program: Python that a remedy adds to a script.
struct AddedCode {
  std::string_view name;  ///< "low_rank"
  std::string_view text;
};

/// All of them, by name.
std::span<const AddedCode> added_code_files();

/// Such files one after the other, behind the imports that they need.
std::string added_code(std::initializer_list<std::string_view> names,
                       std::initializer_list<std::string_view> modules = {});

/// Puts such files into each script that is edited, behind its imports and before its first edit,
/// with the imports that they need. Empty: one has no import there, behind which they could go.
/// Requires: files of these names exist.
std::vector<FileEdits> with_code(std::vector<FileEdits> all,
                                 std::initializer_list<std::string_view> names,
                                 std::initializer_list<std::string_view> modules = {"torch"});

}  // namespace tidemark
