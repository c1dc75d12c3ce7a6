#include <array>

#include "sim/study/advice/added_code.h"
#include "sim/study/advice/call_edits.h"
#include "sim/study/advice/script_edits.h"

namespace tidemark::script_edits {
namespace {

using lang::CallExpr;
using lang::Edit;
using lang::Keyword;
using lang::UserCode;

bool gives_only(const UserCode& code, const CallExpr& call,
                std::span<const std::string_view> names) {
  return !call.spread &&
         std::all_of(call.keywords.begin(), call.keywords.end(), [&](const Keyword& keyword) {
           return !keyword.spread && is_one_of(code.name(keyword.name), names);
         });
}

}  // namespace

Edited chunked_loss(const ScenarioSource& source, const Scenario& scenario) {
  constexpr std::array<std::string_view, 1> kNames{"ignore_index"};
  const std::vector<UserFile> files = user_files(source, scenario);
  if (any_mentions(files, "ChunkedCrossEntropy")) return std::nullopt;
  std::vector<FileEdits> edits = edits_of_calls(
      files, [&](const UserFile& file, const CallExpr& call, const std::string& path) {
        const UserCode& code = *file.code;
        const bool is_call = path == "torch.nn.functional.cross_entropy";
        const bool is_module = path == "torch.nn.CrossEntropyLoss";
        const bool has_arguments = call.arguments.size == (is_call ? 2U : 0U);
        if ((!is_call && !is_module) || !has_arguments || !gives_only(code, call, kNames))
          return std::vector<Edit>();
        return std::vector<Edit>{
            {code.extent(*call.callee), is_call ? "chunked_cross_entropy" : "ChunkedLoss"}};
      });
  return edit_files(with_code(std::move(edits), {"chunked_loss"}),
                    "the loss and its gradient, a few rows of the logits at a time");
}

}  // namespace tidemark::script_edits
