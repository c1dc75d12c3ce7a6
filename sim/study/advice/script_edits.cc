#include "sim/study/advice/script_edits.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/study/advice/call_edits.h"
#include "sim/study/advice/code_edit.h"
#include "sim/study/advice/training_step.h"
#include "sim/study/advice/user_files.h"

namespace tidemark::script_edits {

using lang::AssignStmt;
using lang::CallExpr;
using lang::Edit;
using lang::Expr;
using lang::ExprKind;
using lang::Place;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

Edited set_to_none(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  return edit_files(edits_of_calls(
      files, [](const UserFile& file, const CallExpr& call, const std::string& /*path*/) {
        const UserCode& code = *file.code;
        const Expr* given = keyword_of(code, call, "set_to_none");
        if (given == nullptr || code.text(*given) != "False") return std::vector<Edit>();
        return std::vector<Edit>{{given->place, "True"}};
      }));
}

namespace {

/// The statement that keeps a value, and what is around it.
struct Keeping {
  const Stmt* statement = nullptr;
  const Stmt* innermost = nullptr;  ///< loop or function; null: the module
  const Stmt* function = nullptr;   ///< null: the module
};

Keeping keeping_of(const UserCode& code, const Expr& value) {
  Keeping out;
  // What lies around another comes before it.
  for (const Stmt* statement : code.statements()) {
    if (statement->place.begin > value.place.begin) break;
    const StmtKind kind = statement->kind;
    out.statement = statement;
    const bool is_loop = kind == StmtKind::kFor || kind == StmtKind::kWhile;
    if (!is_loop && kind != StmtKind::kFunction) continue;
    if (!within(value.place, lines_of(code, *statement, *statement))) continue;
    out.innermost = statement;
    if (!is_loop) out.function = statement;
  }
  return out;
}

/// What a statement keeps a value in: x of x.append(value), of x += value, of x[i] = value.
const Expr* kept_in(const Stmt& statement) {
  const Expr* target = nullptr;
  if (statement.kind == StmtKind::kAssign) {
    target = static_cast<const AssignStmt&>(statement).targets[0];
  } else if (statement.kind == StmtKind::kAugAssign) {
    target = static_cast<const lang::AugAssignStmt&>(statement).target;
  } else if (statement.kind == StmtKind::kExpr) {
    const Expr* call = static_cast<const lang::ExprStmt&>(statement).value;
    if (call->kind != ExprKind::kCall) return nullptr;
    const Expr* callee = static_cast<const CallExpr*>(call)->callee;
    if (callee->kind == ExprKind::kAttribute)
      target = static_cast<const lang::AttributeExpr*>(callee)->object;
  }
  while (target != nullptr && target->kind == ExprKind::kSubscript)
    target = static_cast<const lang::SubscriptExpr*>(target)->object;
  return target;
}

bool calls_within(const UserCode& code, Place lines, std::string_view name) {
  for (const PathCall& each : calls_of(code)) {
    if (within(each.call->place, lines) && callee_name(code, *each.call) == name) return true;
  }
  return false;
}

/// Whether a kept value outlives the turn that makes it, and no gradient comes back through it.
bool is_only_kept(const UserCode& code, const Expr& value, const std::vector<TrainingStep>& steps) {
  const Keeping keeping = keeping_of(code, value);
  const Expr* target = keeping.statement == nullptr ? nullptr : kept_in(*keeping.statement);
  if (target == nullptr || keeping.innermost == nullptr) return false;
  const bool is_call = keeping.statement->kind == StmtKind::kExpr;
  if (keeping.innermost->kind == StmtKind::kFunction && !is_call) return false;
  const std::string_view kept = code.text(*target);
  const auto reads = [&](Place lines) {
    return std::any_of(code.expressions().begin(), code.expressions().end(), [&](const Expr* node) {
      return within(node->place, lines) && node != target &&
             !within(node->place, keeping.statement->place) && code.text(*node) == kept;
    });
  };
  // A loss that is summed up, or terms of one.
  for (const TrainingStep& step : steps) {
    if (&*step.file->code != &code) continue;
    if (reads(lines_of(code, *step.body[step.first], *step.body[step.last]))) return false;
  }
  if (keeping.function == nullptr) return true;
  // What a function gives back may be learned from, unless it evaluates.
  const Place function = lines_of(code, *keeping.function, *keeping.function);
  if (calls_within(code, function, "eval")) return true;
  return std::none_of(code.statements().begin(), code.statements().end(), [&](const Stmt* one) {
    return one->kind == StmtKind::kReturn && within(one->place, function) && reads(one->place);
  });
}

}  // namespace

Edited keep_numbers(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  const std::vector<UserFile> files = user_files(source, scenario);
  const std::vector<TrainingStep> steps = training_steps(files);
  unsigned found = 0;
  for (const UserFile& file : files) {
    for (const Expr* value : kept_values(*file.code)) {
      if (!may_hold_memory(*file.code, *value)) continue;
      if (!is_only_kept(*file.code, *value, steps)) continue;
      if (++found != level) continue;
      return edit_files({{&file, {to_host(*file.code, *value)}}});
    }
  }
  return std::nullopt;
}

Edited autocast(const ScenarioSource& source, const Scenario& scenario, bool has_bfloat16) {
  const std::vector<UserFile> files = user_files(source, scenario);
  if (Edited own = trainer_setting(files, has_bfloat16 ? "bf16" : "fp16", "True")) return own;
  if (any_mentions(files, "autocast")) return std::nullopt;
  const std::string_view type = has_bfloat16 ? "bfloat16" : "float16";
  Edited change =
      edit_files(forwards_within(
                     files, fmt::format("torch.autocast(\"cuda\", dtype=torch.{})", type), "torch"),
                 fmt::format("forward under autocast to {}", type));
  return change;
}

Edited offload_activations(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  if (any_mentions(files, "save_on_cpu")) return std::nullopt;
  return edit_files(
      forwards_within(files, "torch.autograd.graph.save_on_cpu(pin_memory=True)", "torch"),
      "what forward saves lies on the host");
}

Edited micro_batches(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  const std::vector<UserFile> files = user_files(source, scenario);
  // A weight that steps in backward would step for each part.
  if (any_mentions(files, "register_post_accumulate_grad_hook")) return std::nullopt;
  const unsigned parts = 1U << level;
  return edit_files(
      step_in_parts(files, parts),
      fmt::format("each step in {} parts, gradients accumulated, for a loss that is a mean",
                  parts));
}

Edited smaller_batches(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  const std::vector<UserFile> files = user_files(source, scenario);
  std::string where;
  std::vector<FileEdits> edits = edits_of_calls(
      files, [&](const UserFile& file, const CallExpr& call, const std::string& path) {
        const UserCode& code = *file.code;
        const bool is_loader = path.ends_with("DataLoader") && path.starts_with("torch.");
        const Expr* batch = is_loader ? keyword_of(code, call, "batch_size") : nullptr;
        if (batch == nullptr && is_loader && call.arguments.size > 1) batch = call.arguments[1];
        if (batch == nullptr) return std::vector<Edit>();
        std::string smaller = fmt::format("max(1, {} // {})", code.text(*batch), 1U << level);
        if (batch->kind == ExprKind::kConstant) {
          const std::int64_t now = static_cast<const lang::ConstantExpr*>(batch)->literal.integer();
          if (now >> level < 1) return std::vector<Edit>();
          smaller = std::to_string(now >> level);
        } else if (batch->kind != ExprKind::kName && batch->kind != ExprKind::kAttribute) {
          smaller = fmt::format("max(1, ({}) // {})", code.text(*batch), 1U << level);
        }
        where += fmt::format("{}{}", where.empty() ? "" : ", ", place_text(file, call.place.begin));
        return std::vector<Edit>{{code.extent(*batch), std::move(smaller)}};
      });
  return edit_files(std::move(edits), fmt::format("batches of 1/{} at {}", 1U << level, where));
}

Edited pack_samples(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  if (any_mentions(files, "DataCollatorWithFlattening")) return std::nullopt;
  std::vector<FileEdits> edits = edits_of_calls(files, [](const UserFile& file,
                                                          const CallExpr& call,
                                                          const std::string& path) {
    const UserCode& code = *file.code;
    if (path == "trl.SFTConfig") return with_keyword(code, call, "packing", "True");
    const bool is_trainer = path.starts_with("transformers.") && path.ends_with("Trainer");
    const Expr* given = is_trainer ? keyword_of(code, call, "data_collator") : nullptr;
    if (given == nullptr) return std::vector<Edit>();
    return std::vector<Edit>{{code.extent(*given), "transformers.DataCollatorWithFlattening()"}};
  });
  for (FileEdits& each : edits) {
    if (each.edits.empty()) continue;
    for (Edit& edit : with_import(*each.file->code, "transformers"))
      each.edits.push_back(std::move(edit));
  }
  return edit_files(std::move(edits), "samples packed one behind another, without padding");
}

}  // namespace tidemark::script_edits
