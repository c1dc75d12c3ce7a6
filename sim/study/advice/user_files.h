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

/// A file of the user's that a script is made of.
struct UserFile {
  std::string path;  ///< lexically normal
  std::unique_ptr<lang::UserCode> code;
};

/// The files of a script's program: the script itself, as it is before values of constants are put
/// in, then those that it imports and that lie in no folder of packages, each as the source's edits
/// have it. Files with syntax errors are left out. Empty: the scenario is no script.
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

/// A line at the top of a file, with its imports; empty where it is there already.
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
