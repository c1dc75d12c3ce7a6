#include "sim/study/advice/code_edit.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/run/literals.h"

namespace tidemark {
namespace {

using lang::AssignStmt;
using lang::AttributeExpr;
using lang::AugAssignStmt;
using lang::BinaryExpr;
using lang::BinaryOp;
using lang::CallExpr;
using lang::Edit;
using lang::Expr;
using lang::ExprKind;
using lang::ExprStmt;
using lang::NameExpr;
using lang::SequenceExpr;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

bool is_same_name(const Expr& a, const Expr& b) {
  return a.kind == ExprKind::kName && b.kind == ExprKind::kName &&
         static_cast<const NameExpr&>(a).name == static_cast<const NameExpr&>(b).name;
}

/// The value of `x.append(VALUE)` and the like; nullptr: it is another expression.
const Expr* appended(const UserCode& code, const Expr& node) {
  if (node.kind != ExprKind::kCall) return nullptr;
  const auto& call = static_cast<const CallExpr&>(node);
  if (call.callee->kind != ExprKind::kAttribute) return nullptr;
  if (call.arguments.size != 1 || !call.keywords.empty()) return nullptr;
  const std::string_view method = code.name(static_cast<const AttributeExpr*>(call.callee)->name);
  const bool keeps = method == "append" || method == "appendleft" || method == "add";
  return keeps ? call.arguments[0] : nullptr;
}

const Expr* kept_by(const UserCode& code, const Stmt& statement) {
  switch (statement.kind) {
    case StmtKind::kExpr:
      return appended(code, *static_cast<const ExprStmt&>(statement).value);
    case StmtKind::kAugAssign: {
      const auto& grown = static_cast<const AugAssignStmt&>(statement);
      return grown.op == BinaryOp::kAdd ? grown.value : nullptr;
    }
    case StmtKind::kAssign: {
      const auto& assigned = static_cast<const AssignStmt&>(statement);
      if (assigned.targets.size != 1) return nullptr;
      const Expr& target = *assigned.targets[0];
      if (target.kind == ExprKind::kSubscript) return assigned.value;
      if (assigned.value->kind != ExprKind::kBinary) return nullptr;
      const auto& sum = static_cast<const BinaryExpr&>(*assigned.value);
      return sum.op == BinaryOp::kAdd && is_same_name(target, *sum.left) ? sum.right : nullptr;
    }
    default:
      return nullptr;
  }
}

std::string line_at(const std::string& text, std::size_t at) {
  const std::size_t from = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  std::string line = text.substr(from, text.find('\n', at) - from);
  line.erase(0, line.find_first_not_of(' '));
  return line;
}

const CallExpr* as_call(const Expr& node) {
  return node.kind == ExprKind::kCall ? &static_cast<const CallExpr&>(node) : nullptr;
}

}  // namespace

std::string_view callee_name(const UserCode& code, const CallExpr& call) {
  switch (call.callee->kind) {
    case ExprKind::kName:
      return code.name(static_cast<const NameExpr*>(call.callee)->name);
    case ExprKind::kAttribute:
      return code.name(static_cast<const AttributeExpr*>(call.callee)->name);
    default:
      return {};
  }
}

bool has_own_loop(const Scenario& scenario) {
  return !scenario.train && !scenario.is_script && scenario.loop;
}

UserCode::Imports names_around_loop(const Scenario& scenario) {
  UserCode::Imports names{{"torch", "torch"}, {"nn", "torch.nn"}, {"F", "torch.nn.functional"}};
  if (!scenario.model.expression.empty()) names["model"] = "model";
  if (scenario.model.source) {
    const UserCode code(scenario.model.source);
    for (const auto& [name, path] : code.imports()) names[name] = path;
  }
  return names;
}

Override loop_with(const Scenario& scenario, std::vector<Edit> edits) {
  return {"loop", quoted_literal(edited(scenario.loop->text, std::move(edits)))};
}

std::string shown_edit(const Scenario& scenario, const std::vector<Edit>& edits) {
  const std::string& text = scenario.loop->text;
  const std::string after = edited(text, edits);
  const std::uint32_t at = edits.front().at.begin;
  const auto line = std::count(text.begin(), text.begin() + at, '\n') + scenario.loop->first_line;
  return fmt::format("line {}: {}  ->  {}", line, line_at(text, at), line_at(after, at));
}

std::vector<const Expr*> kept_values(const UserCode& code) {
  std::vector<const Expr*> values;
  for (const Stmt* statement : code.statements()) {
    const Expr* value = kept_by(code, *statement);
    if (value == nullptr) continue;
    if (value->kind == ExprKind::kList) {
      const auto& items = static_cast<const SequenceExpr*>(value)->items;
      if (items.size == 1) value = items[0];
    }
    values.push_back(value);
  }
  return values;
}

bool may_hold_memory(const UserCode& code, const Expr& value) {
  using Kind = ExprKind;
  constexpr std::array kKinds{Kind::kName,  Kind::kAttribute, Kind::kCall,       Kind::kSubscript,
                              Kind::kUnary, Kind::kBinary,    Kind::kConditional};
  if (std::find(kKinds.begin(), kKinds.end(), value.kind) == kKinds.end()) return false;
  const bool is_choice =
      contains(value, [](const Expr& node) { return node.kind == Kind::kConditional; });
  const bool is_on_host = contains(value, [&](const Expr& node) {
    const CallExpr* call = as_call(node);
    if (call == nullptr) return false;
    const std::string_view name = callee_name(code, *call);
    return call->callee->kind == Kind::kAttribute ? name == "item" || name == "cpu"
                                                  : name == "float" || name == "int";
  });
  return is_choice || !is_on_host;
}

Edit to_host(const UserCode& code, const Expr& value) {
  const bool needs_brackets = value.kind == ExprKind::kUnary || value.kind == ExprKind::kBinary ||
                              value.kind == ExprKind::kConditional;
  const std::string text(code.text(value));
  return {code.extent(value), (needs_brackets ? "(" + text + ")" : text) + ".detach().cpu()"};
}

}  // namespace tidemark
