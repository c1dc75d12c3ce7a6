#include "sim/study/advice/call_edits.h"

#include <fmt/format.h>

namespace tidemark {

using lang::CallExpr;
using lang::Edit;
using lang::Expr;
using lang::UserCode;

std::vector<Edit> with_keyword(const UserCode& code, const CallExpr& call, std::string_view name,
                               std::string_view value) {
  if (const Expr* given = keyword_of(code, call, name))
    return {{code.extent(*given), std::string(value)}};
  return with_argument(code, call, fmt::format("{}={}", name, value));
}

std::vector<FileEdits> edits_of_calls(const std::vector<UserFile>& files, const CallEdits& edit) {
  std::vector<FileEdits> all;
  for (const UserFile& file : files) {
    FileEdits own{&file, {}};
    for (const PathCall& each : calls_of(*file.code)) {
      for (Edit& one : edit(file, *each.call, each.path)) own.edits.push_back(std::move(one));
    }
    all.push_back(std::move(own));
  }
  return all;
}

std::optional<Change> trainer_setting(const std::vector<UserFile>& files, std::string_view name,
                                      std::string_view value) {
  constexpr std::string_view kTrainingArguments[] = {"transformers.TrainingArguments",
                                                     "transformers.Seq2SeqTrainingArguments"};
  return edit_files(
      edits_of_calls(files,
                     [&](const UserFile& file, const CallExpr& call, const std::string& path) {
                       const UserCode& code = *file.code;
                       if (!is_one_of(path, kTrainingArguments)) return std::vector<Edit>();
                       const Expr* given = keyword_of(code, call, name);
                       if (given != nullptr && code.text(*given) == value)
                         return std::vector<Edit>();
                       return with_keyword(code, call, name, value);
                     }),
      fmt::format("{}={} of the trainer's arguments", name, value));
}

}  // namespace tidemark
