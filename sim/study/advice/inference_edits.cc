#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "sim/study/advice/call_edits.h"
#include "sim/study/advice/code_edit.h"
#include "sim/study/advice/script_edits.h"
#include "sim/study/advice/training_step.h"
#include "sim/study/advice/user_files.h"

namespace tidemark::script_edits {
namespace {

using lang::AttributeExpr;
using lang::CallExpr;
using lang::Edit;
using lang::Expr;
using lang::ExprKind;
using lang::FunctionStmt;
using lang::Name;
using lang::NameExpr;
using lang::Place;
using lang::Seq;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

/// Methods of modules that set them up and run nothing.
constexpr std::array<std::string_view, 16> kSetUp{
    "to",       "cuda",     "cpu",    "eval",          "train",      "half",
    "bfloat16", "float",    "double", "parameters",    "state_dict", "load_state_dict",
    "modules",  "children", "apply",  "requires_grad_"};

bool is_definition(const Stmt& statement) {
  const StmtKind kind = statement.kind;
  return kind == StmtKind::kImport || kind == StmtKind::kImportFrom ||
         kind == StmtKind::kFunction || kind == StmtKind::kClass;
}

/// Where a program without gradients runs its models.
class Inference {
 public:
  Inference(const UserFile& script, std::set<std::string> models)
      : code_(*script.code), models_(std::move(models)) {
    for (const Stmt* statement : code_.statements()) {
      if (statement->kind != StmtKind::kFunction) {
        if (is_definition(*statement)) continue;
        const std::set<Name> bound = names_used(*statement).bound;
        variables_.insert(bound.begin(), bound.end());
        continue;
      }
      const auto& function = static_cast<const FunctionStmt&>(*statement);
      for (const lang::Parameter& one : function.function->parameters->positional)
        variables_.insert(one.name->name);
      for (const lang::Parameter& one : function.function->parameters->keyword_only)
        variables_.insert(one.name->name);
    }
    for (const Stmt* statement : code_.body()) {
      if (statement->kind == StmtKind::kFunction)
        functions_.push_back(static_cast<const FunctionStmt*>(statement));
    }
    for (const FunctionStmt* one : functions_) variables_.erase(one->function->name);
    // A variable that is called like a function is a model.
    for (const Expr* node : code_.expressions()) {
      if (node->kind == ExprKind::kCall && is_variable(*static_cast<const CallExpr*>(node)->callee))
        models_.insert(std::string(code_.text(*static_cast<const CallExpr*>(node)->callee)));
    }
  }

  /// The edits; empty: nothing stands by itself.
  [[nodiscard]] std::vector<Edit> edits() const { return edits_in(code_.body()); }

 private:
  [[nodiscard]] bool is_variable(const Expr& node) const {
    if (node.kind != ExprKind::kName) return false;
    const Name name = static_cast<const NameExpr&>(node).name;
    const bool is_of_loop = code_.name(name) == "model" && code_.has_names_around();
    return variables_.count(name) > 0 || is_of_loop;
  }

  [[nodiscard]] const FunctionStmt* function_of(const CallExpr& call) const {
    if (call.callee->kind != ExprKind::kName) return nullptr;
    const Name name = static_cast<const NameExpr*>(call.callee)->name;
    const auto found = std::ranges::find_if(
        functions_, [&](const FunctionStmt* one) { return one->function->name == name; });
    return found == functions_.end() ? nullptr : *found;
  }

  [[nodiscard]] bool is_model(const Expr& node) const {
    return (node.kind == ExprKind::kName || node.kind == ExprKind::kAttribute) &&
           models_.count(std::string(code_.text(node))) > 0;
  }

  /// Whether a call runs a model: by itself, by a method, by a function that takes it or has it.
  bool runs(const CallExpr& call, std::set<const FunctionStmt*>& seen) const {
    if (is_model(*call.callee)) return true;
    if (call.callee->kind == ExprKind::kAttribute) {
      const auto& method = static_cast<const AttributeExpr&>(*call.callee);
      if (is_model(*method.object)) return !is_one_of(code_.name(method.name), kSetUp);
    }
    if (const FunctionStmt* called = function_of(call)) {
      if (!seen.insert(called).second) return false;
      return std::ranges::any_of(called->function->body,
                                 [&](const Stmt* one) { return runs(*one, seen); });
    }
    return false;
  }

  bool runs(const Stmt& statement, std::set<const FunctionStmt*>& seen) const {
    if (is_definition(statement)) return false;
    const Place place =
        stands_alone(code_, statement) ? lines_of(code_, statement, statement) : statement.place;
    return std::ranges::any_of(code_.expressions(), [&](const Expr* node) {
      return node->kind == ExprKind::kCall && within(node->place, place) &&
             runs(*static_cast<const CallExpr*>(node), seen);
    });
  }

  [[nodiscard]] std::vector<Edit> edits_in(const Seq<Stmt*>& body) const {
    std::optional<std::size_t> first;
    std::size_t last = 0;
    for (std::size_t i = 0; i < body.size; ++i) {
      std::set<const FunctionStmt*> seen;
      if (!runs(*body[i], seen)) continue;
      if (!first) first = i;
      last = i;
    }
    if (!first) {  // what comes behind the last definition
      for (std::size_t i = 0; i < body.size; ++i) {
        if (is_definition(*body[i])) first.reset();
        if (!is_definition(*body[i]) && !first) first = i;
      }
      if (!first) return {};
      last = body.size - 1;
    }
    if (*first == last && body[last]->kind == StmtKind::kIf) {
      const auto& branch = static_cast<const lang::IfStmt&>(*body[last]);
      if (branch.otherwise.empty()) return edits_in(branch.body);
    }
    if (*first == last) {
      if (const FunctionStmt* called = function_called_by(*body[last])) {
        const Place at = lines_of(code_, *called, *called);
        return {{{at.begin, at.begin},
                 fmt::format("{}@torch.inference_mode()\n", indent_of(code_, *called))}};
      }
    }
    for (std::size_t i = *first; i <= last; ++i) {
      if (!stands_alone(code_, *body[i])) return {};
    }
    const Place lines = lines_of(code_, *body[*first], *body[last]);
    std::vector<Edit> out = indented(code_, lines);
    out.insert(out.begin(),
               {{lines.begin, lines.begin},
                fmt::format("{}with torch.inference_mode():\n", indent_of(code_, *body[*first]))});
    return out;
  }

  /// f of `f(...)` and `x = f(...)`, where that is all the statement does and f can be decorated.
  [[nodiscard]] const FunctionStmt* function_called_by(const Stmt& statement) const {
    const Expr* value = statement.kind == StmtKind::kExpr
                            ? static_cast<const lang::ExprStmt&>(statement).value
                        : statement.kind == StmtKind::kAssign
                            ? static_cast<const lang::AssignStmt&>(statement).value
                            : nullptr;
    if (value == nullptr || value->kind != ExprKind::kCall) return nullptr;
    const FunctionStmt* called = function_of(static_cast<const CallExpr&>(*value));
    return called != nullptr && stands_alone(code_, *called) ? called : nullptr;
  }

  const UserCode& code_;
  std::set<std::string> models_;
  std::set<Name> variables_;
  std::vector<const FunctionStmt*> functions_;
};

/// Functions that set a model to evaluate and have no backward of their own.
Edited where_it_evaluates(const std::vector<UserFile>& files) {
  std::vector<FileEdits> all;
  for (const UserFile& file : files) {
    FileEdits own{&file, {}};
    const UserCode& code = *file.code;
    for (const Stmt* statement : code.statements()) {
      if (statement->kind != StmtKind::kFunction || !stands_alone(code, *statement)) continue;
      const Place lines = lines_of(code, *statement, *statement);
      bool evaluates = false;
      bool learns = false;
      for (const PathCall& each : calls_of(code)) {
        if (!within(each.call->place, lines)) continue;
        const std::string_view called = callee_name(code, *each.call);
        evaluates = evaluates || called == "eval";
        learns = learns || called == "backward";
      }
      if (!evaluates || learns) continue;
      own.edits.push_back({{lines.begin, lines.begin},
                           fmt::format("{}@torch.no_grad()\n", indent_of(code, *statement))});
    }
    if (!own.edits.empty()) {
      for (Edit& edit : with_import(code, "torch")) own.edits.push_back(std::move(edit));
    }
    all.push_back(std::move(own));
  }
  return edit_files(std::move(all), "no graph where a function evaluates");
}

}  // namespace

Edited no_gradients(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  for (const std::string_view name : {"no_grad", "inference_mode", "set_grad_enabled", "Trainer"}) {
    if (any_mentions(files, name)) return std::nullopt;
  }
  if (files.empty()) return std::nullopt;
  if (any_mentions(files, "backward") || any_mentions(files, "grad"))
    return where_it_evaluates(files);
  const UserFile& script = files.front();
  std::vector<Edit> edits = Inference(script, model_names(files)).edits();
  if (edits.empty()) return std::nullopt;
  for (Edit& edit : with_import(*script.code, "torch")) edits.push_back(std::move(edit));
  return edit_files({{&script, std::move(edits)}}, "no graph: nothing asks for gradients");
}

}  // namespace tidemark::script_edits
