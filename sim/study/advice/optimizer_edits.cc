#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/study/advice/added_code.h"
#include "sim/study/advice/call_edits.h"
#include "sim/study/advice/code_edit.h"
#include "sim/study/advice/script_edits.h"
#include "sim/study/advice/user_files.h"

namespace tidemark::script_edits {
namespace {

using lang::CallExpr;
using lang::Edit;
using lang::Expr;
using lang::ExprKind;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

/// `optimizer = torch.optim.AdamW(model.parameters(), ...)`, and what else the file says of it.
struct OwnOptimizer {
  const Stmt* made = nullptr;
  const CallExpr* call = nullptr;
  std::string_view name;
  std::string_view parameters;          ///< "model.parameters()"
  std::vector<const Stmt*> statements;  ///< its steps, and where it empties gradients
  bool has_step = false;                ///< beside a backward pass
};

/// The call that a statement is; null: it is another.
const CallExpr* call_in(const Stmt& statement) {
  if (statement.kind != StmtKind::kExpr) return nullptr;
  const Expr* value = static_cast<const lang::ExprStmt&>(statement).value;
  return value->kind == ExprKind::kCall ? static_cast<const CallExpr*>(value) : nullptr;
}

/// The method's name where a statement calls one of what stands as `object`.
std::string_view method_of(const UserCode& code, const Stmt& statement, std::string_view object) {
  const CallExpr* call = call_in(statement);
  if (call == nullptr || call->callee->kind != ExprKind::kAttribute) return {};
  const auto* callee = static_cast<const lang::AttributeExpr*>(call->callee);
  return code.text(*callee->object) == object ? code.name(callee->name) : std::string_view();
}

bool has_backward(const UserCode& code, const lang::Block& block) {
  return std::any_of(block.body.begin(), block.body.end(), [&](const Stmt* statement) {
    const CallExpr* call = call_in(*statement);
    return call != nullptr && callee_name(code, *call) == "backward";
  });
}

/// The optimizer that a statement makes of all parameters of one model.
std::optional<OwnOptimizer> made_by(const UserCode& code, const Stmt& statement) {
  if (statement.kind != StmtKind::kAssign || !stands_alone(code, statement)) return std::nullopt;
  const auto& assigned = static_cast<const lang::AssignStmt&>(statement);
  if (assigned.targets.size != 1 || assigned.targets[0]->kind != ExprKind::kName ||
      assigned.value->kind != ExprKind::kCall)
    return std::nullopt;
  const auto* call = static_cast<const CallExpr*>(assigned.value);
  if (!code.path(*call->callee).starts_with("torch.optim.") || call->arguments.empty() ||
      call->spread)
    return std::nullopt;
  const Expr* first = call->arguments[0];
  if (first->kind != ExprKind::kCall ||
      callee_name(code, *static_cast<const CallExpr*>(first)) != "parameters")
    return std::nullopt;
  return OwnOptimizer{&statement,        call, code.text(*assigned.targets[0]),
                      code.text(*first), {},   false};
}

/// Whether the file does nothing with it but steps, each right where its backward pass is, and
/// empty gradients.
bool complete(const UserCode& code, const std::vector<lang::Block>& blocks, OwnOptimizer& own) {
  std::size_t uses = 0;
  for (const lang::Block& block : blocks) {
    for (const Stmt* statement : block.body) {
      const std::string_view method = method_of(code, *statement, own.name);
      if (method.empty()) continue;
      const bool is_step = method == "step" && call_in(*statement)->arguments.empty();
      if (!is_step && method != "zero_grad") return false;
      if (!stands_alone(code, *statement)) return false;
      if (is_step && (own.has_step || !has_backward(code, block))) return false;
      own.has_step = own.has_step || is_step;
      own.statements.push_back(statement);
      ++uses;
    }
  }
  const auto mentions =
      std::count_if(code.expressions().begin(), code.expressions().end(), [&](const Expr* node) {
        return node->kind == ExprKind::kName && code.text(*node) == own.name;
      });
  return own.has_step && static_cast<std::size_t>(mentions) == uses + 1;
}

/// An optimizer for each parameter, which steps as soon as its gradient is there.
std::string in_backward(const UserCode& code, const OwnOptimizer& own) {
  const std::string indent = indent_of(code, *own.made);
  const Expr& first = *own.call->arguments[0];
  std::string one(code.text(*own.call));
  const std::size_t at = code.extent(first).begin - code.extent(*own.call).begin;
  one.replace(at, own.parameters.size(), "[own_weight]");
  return fmt::format(
      "{0}{1} = {{own_weight: {2} for own_weight in {3} if own_weight.requires_grad}}\n"
      "\n\n"
      "{0}def step_in_backward(own_weight):\n"
      "{0}    {1}[own_weight].step()\n"
      "{0}    {1}[own_weight].zero_grad()\n"
      "\n\n"
      "{0}for own_weight in {1}:\n"
      "{0}    own_weight.register_post_accumulate_grad_hook(step_in_backward)\n",
      indent, own.name, one, own.parameters);
}

bool leaves_open(const UserCode& code, const CallExpr& call) {
  return keyword_of(code, call, "fused") == nullptr &&
         keyword_of(code, call, "foreach") == nullptr &&
         std::none_of(call.keywords.begin(), call.keywords.end(),
                      [](const lang::Keyword& keyword) { return keyword.spread; });
}

bool is_adam(std::string_view path) {
  constexpr std::string_view kPaths[] = {"torch.optim.Adam", "torch.optim.AdamW",
                                         "torch.optim.adam.Adam", "torch.optim.adamw.AdamW"};
  return is_one_of(path, kPaths);
}

/// Another class in the place of Adam and AdamW, and the arguments of these names. `where` takes
/// the places.
std::vector<FileEdits> adam_replaced(const std::vector<UserFile>& files, std::string_view by,
                                     std::span<const std::string_view> kept, std::string& where) {
  return edits_of_calls(
      files, [&](const UserFile& file, const CallExpr& call, const std::string& path) {
        const UserCode& code = *file.code;
        if (!is_adam(path) || call.arguments.empty() || call.spread) return std::vector<Edit>();
        where += fmt::format("{}{}", where.empty() ? "" : ", ", place_text(file, call.place.begin));
        std::string text = fmt::format("{}({}", by, code.text(*call.arguments[0]));
        if (call.arguments.size > 1) text += fmt::format(", lr={}", code.text(*call.arguments[1]));
        for (const std::string_view name : kept) {
          const Expr* value = keyword_of(code, call, name);
          if (value != nullptr) text += fmt::format(", {}={}", name, code.text(*value));
        }
        return std::vector<Edit>{{call.place, text + ")"}};
      });
}

bool asks_for_parameters(const UserCode& code, const Expr& argument) {
  return argument.kind == ExprKind::kCall &&
         callee_name(code, static_cast<const CallExpr&>(argument)) == "parameters";
}

}  // namespace

Edited give_optimizers(const ScenarioSource& source, const Scenario& scenario,
                       std::span<const std::string_view> names, std::string_view argument) {
  const std::vector<UserFile> files = user_files(source, scenario);
  std::string where;
  std::vector<FileEdits> edits = edits_of_calls(
      files, [&](const UserFile& file, const CallExpr& call, const std::string& path) {
        const std::string name = path.substr(path.rfind('.') + 1);
        const bool is_it = path.starts_with("torch.optim.") && is_one_of(name, names);
        if (!is_it || !leaves_open(*file.code, call)) return std::vector<Edit>();
        where += fmt::format("{}{} at {}", where.empty() ? "" : ", ", name,
                             place_text(file, call.place.begin));
        return with_argument(*file.code, call, argument);
      });
  return edit_files(std::move(edits), fmt::format("{} for {}", argument, where));
}

Edited other_optimizer(const ScenarioSource& source, const Scenario& scenario,
                       std::string_view name, std::string_view note) {
  constexpr std::string_view kKept[] = {"lr", "weight_decay"};
  const std::vector<UserFile> files = user_files(source, scenario);
  std::string where;
  std::vector<FileEdits> edits =
      adam_replaced(files, fmt::format("torch.optim.{}", name), kKept, where);
  for (FileEdits& each : edits) {
    if (each.edits.empty()) continue;
    for (Edit& edit : with_import(*each.file->code, "torch")) each.edits.push_back(std::move(edit));
  }
  return edit_files(std::move(edits), fmt::format("{} at {}: {}", name, where, note));
}

Edited eight_bit_adam(const ScenarioSource& source, const Scenario& scenario) {
  constexpr std::string_view kKept[] = {"lr", "betas", "eps", "weight_decay"};
  const std::vector<UserFile> files = user_files(source, scenario);
  if (any_mentions(files, "EightBitAdam")) return std::nullopt;
  std::string where;
  std::vector<FileEdits> edits = adam_replaced(files, "EightBitAdam", kKept, where);
  return edit_files(with_code(std::move(edits), {"eight_bit_adam"}),
                    fmt::format("Adam's state in eight bits at {}", where));
}

Edited optimizer_on_host(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  for (const std::string_view word : {"on_host", "GradScaler", "step_in_backward"}) {
    if (any_mentions(files, word)) return std::nullopt;
  }
  std::string where;
  std::vector<FileEdits> edits = edits_of_calls(
      files, [&](const UserFile& file, const CallExpr& call, const std::string& path) {
        const UserCode& code = *file.code;
        const bool is_it = path.starts_with("torch.optim.") && !call.arguments.empty() &&
                           asks_for_parameters(code, *call.arguments[0]);
        if (!is_it) return std::vector<Edit>();
        where += fmt::format("{}{}", where.empty() ? "" : ", ", place_text(file, call.place.begin));
        return std::vector<Edit>{
            {code.extent(*call.callee), fmt::format("on_host({})", code.text(*call.callee))}};
      });
  return edit_files(with_code(std::move(edits), {"on_host"}),
                    fmt::format("the optimizer and its state on the host at {}", where));
}

Edited step_in_backward(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  // What looks at all gradients together, or adds up those of several passes.
  for (const std::string_view word :
       {"clip_grad_norm_", "clip_grad_value_", "GradScaler", "step_in_backward", "accumulate",
        "register_post_accumulate_grad_hook", "retain_graph", "Trainer", "own_weight"}) {
    if (any_mentions(files, word)) return std::nullopt;
  }
  for (const UserFile& file : files) {
    const UserCode& code = *file.code;
    const std::vector<lang::Block> blocks = lang::blocks_of(code);
    for (const Stmt* statement : code.statements()) {
      std::optional<OwnOptimizer> own = made_by(code, *statement);
      if (!own || !complete(code, blocks, *own)) continue;
      std::vector<Edit> edits{{lines_of(code, *own->made, *own->made), in_backward(code, *own)}};
      for (const Stmt* gone : own->statements) {
        const bool is_alone =
            std::any_of(blocks.begin(), blocks.end(), [&](const lang::Block& block) {
              return std::all_of(block.body.begin(), block.body.end(),
                                 [&](const Stmt* each) {
                                   return std::ranges::count(own->statements, each) > 0;
                                 }) &&
                     std::ranges::count(block.body, gone) > 0;
            });
        edits.push_back(
            {lines_of(code, *gone, *gone),
             is_alone ? fmt::format("{}pass\n", indent_of(code, *gone)) : std::string()});
      }
      return edit_files({{&file, std::move(edits)}},
                        fmt::format("each weight's step in backward, of {} at {}", own->name,
                                    place_text(file, own->made->place.begin)));
    }
  }
  return std::nullopt;
}

}  // namespace tidemark::script_edits
