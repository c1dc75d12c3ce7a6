#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/advice/user_files.h"

namespace tidemark {

inline bool within(lang::Place inner, lang::Place outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

inline bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// An argument given by name: its value in place of the one that is there, or one more.
std::vector<lang::Edit> with_keyword(const lang::UserCode& code, const lang::CallExpr& call,
                                     std::string_view name, std::string_view value);

/// What to edit of a call of `path`; empty: nothing.
using CallEdits = std::function<std::vector<lang::Edit>(
    const UserFile& file, const lang::CallExpr& call, const std::string& path)>;
/// Edits of every call that `edit` says something of.
std::vector<FileEdits> edits_of_calls(const std::vector<UserFile>& files, const CallEdits& edit);

/// A setting of the Trainer's arguments, where the script has them and says nothing else of it.
std::optional<Change> trainer_setting(const std::vector<UserFile>& files, std::string_view name,
                                      std::string_view value);

}  // namespace tidemark
