#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/lang/edit/blocks.h"
#include "sim/study/advice/remedy.h"

namespace tidemark {

/// A text of the user's that a program is made of.
struct UserFile {
  std::string path;      ///< lexically normal
  std::string key = {};  ///< of the scenario that holds it: "loop"; empty: a file's whole text
  std::uint32_t first_line = 1;  ///< in the file
  std::unique_ptr<lang::UserCode> code;
};

/// The texts of a program: the script itself, as it is before values of constants are put in; or a
/// scenario's own loop and its model's text. Then the files that are imported and that lie in no
/// folder of packages. Each is as the source's edits have it. What has syntax errors is left out.
std::vector<UserFile> user_files(const ScenarioSource& source, const Scenario& scenario);

/// Edits of one of them.
struct FileEdits {
  const UserFile* file = nullptr;
  std::vector<lang::Edit> edits;
};
/// "train.py:12"
std::string place_text(const UserFile& file, std::uint32_t at);
/// The change that all edits make; std::nullopt: there are none. An empty `text` tells the first of
/// them: "train.py:12: BEFORE  ->  AFTER", and how many more there are.
std::optional<Change> edit_files(std::vector<FileEdits> edits, std::string text = {});

/// A line at the top of a file, with its imports; empty where it is there already, or where the
/// text is no file's and needs none.
std::vector<lang::Edit> with_import(const lang::UserCode& code, std::string_view module);

/// A call with the dotted name of what it calls.
struct PathCall {
  const lang::CallExpr* call = nullptr;
  std::string path;
};
std::vector<PathCall> calls_of(const lang::UserCode& code);

/// Whether any file uses that name in its code.
bool any_mentions(const std::vector<UserFile>& files, std::string_view name);

}  // namespace tidemark
