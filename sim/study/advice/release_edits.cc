#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/study/advice/call_edits.h"
#include "sim/study/advice/code_edit.h"
#include "sim/study/advice/script_edits.h"
#include "sim/study/advice/training_step.h"

namespace tidemark::script_edits {
namespace {

using lang::AssignStmt;
using lang::Expr;
using lang::ExprKind;
using lang::Name;
using lang::Place;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

/// Whether the step's statements are those of a loop, under no condition.
bool is_turn(const TrainingStep& step) {
  if (step.around == nullptr) return false;
  if (step.around->kind == StmtKind::kFor)
    return static_cast<const lang::ForStmt*>(step.around)->body.data == step.body.data;
  return step.around->kind == StmtKind::kWhile &&
         static_cast<const lang::WhileStmt*>(step.around)->body.data == step.body.data;
}

/// Finds what a turn of a loop makes and does not need to its end.
class TurnNames {
 public:
  explicit TurnNames(const TrainingStep& step)
      : code_(*step.file->code),
        step_(step),
        loop_(lines_of(code_, *step.around, *step.around)),
        scope_(scope_of_loop()) {}

  /// Behind which statement of the block each can go.
  std::map<std::size_t, std::vector<Name>> last_uses() const {
    std::map<std::size_t, std::vector<Name>> out;
    std::set<Name> seen;
    for (std::size_t i = 0; i <= step_.last; ++i) {
      for (const Name name : bound_by(*step_.body[i])) {
        if (!seen.insert(name).second || !is_of_turn(name, *step_.body[i])) continue;
        std::size_t last = i;
        for (std::size_t at = i; at < step_.body.size; ++at) {
          if (mentions(name, lines_of(code_, *step_.body[at], *step_.body[at]))) last = at;
        }
        const StmtKind kind = step_.body[last]->kind;
        const bool leaves = kind == StmtKind::kReturn || kind == StmtKind::kBreak ||
                            kind == StmtKind::kContinue || kind == StmtKind::kDelete;
        if (!leaves && stands_alone(code_, *step_.body[last])) out[last].push_back(name);
      }
    }
    return out;
  }

 private:
  /// The lines of the function around the loop; the whole text: of none.
  Place scope_of_loop() const {
    Place scope{0, static_cast<std::uint32_t>(code_.text().size())};
    for (const Stmt* statement : code_.statements()) {
      if (statement->kind != StmtKind::kFunction || !stands_alone(code_, *statement)) continue;
      const Place lines = lines_of(code_, *statement, *statement);
      if (within(loop_, lines)) scope = lines;
    }
    return scope;
  }

  /// Names that a statement surely binds to what may be a tensor.
  std::vector<Name> bound_by(const Stmt& statement) const {
    std::vector<Name> out;
    if (statement.kind == StmtKind::kWith) {
      for (const Stmt* inner : static_cast<const lang::WithStmt&>(statement).body) {
        for (const Name name : bound_by(*inner)) out.push_back(name);
      }
    }
    if (statement.kind != StmtKind::kAssign) return out;
    const auto& assigned = static_cast<const AssignStmt&>(statement);
    if (assigned.value->kind != ExprKind::kTuple && !may_hold_memory(code_, *assigned.value))
      return out;
    for (const Expr* target : assigned.targets) {
      const bool is_tuple = target->kind == ExprKind::kTuple;
      if (target->kind == ExprKind::kName)
        out.push_back(static_cast<const lang::NameExpr*>(target)->name);
      if (!is_tuple) continue;
      for (const Expr* item : static_cast<const lang::SequenceExpr*>(target)->items) {
        if (item->kind == ExprKind::kName)
          out.push_back(static_cast<const lang::NameExpr*>(item)->name);
      }
    }
    return out;
  }

  bool mentions(Name name, Place lines) const {
    return std::any_of(code_.expressions().begin(), code_.expressions().end(),
                       [&](const Expr* node) {
                         return node->kind == ExprKind::kName && within(node->place, lines) &&
                                static_cast<const lang::NameExpr*>(node)->name == name;
                       });
  }

  /// Whether each turn makes it before it reads it, and nothing reads it after the loop.
  bool is_of_turn(Name name, const Stmt& made) const {
    const Place before{scope_.begin, loop_.begin};
    const Place behind{loop_.end, scope_.end};
    const Place of_turn{loop_.begin, lines_of(code_, made, made).begin};
    const Place value = made.kind == StmtKind::kAssign
                            ? static_cast<const AssignStmt&>(made).value->place
                            : Place{};
    // `x = x.cuda()` of what the loop binds anew.
    const bool is_own_value = value.end > value.begin && mentions(name, value);
    return !mentions(name, before) && !mentions(name, behind) &&
           (is_own_value || !mentions(name, of_turn));
  }

  const UserCode& code_;
  const TrainingStep& step_;
  Place loop_, scope_;
};

}  // namespace

Edited delete_early(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  std::vector<FileEdits> all;
  std::set<const lang::Stmt*> loops;
  std::string names;
  for (const TrainingStep& step : training_steps(files)) {
    // Two steps of one turn may share what one of them makes.
    if (!is_turn(step) || !loops.insert(step.around).second) continue;
    const UserCode& code = *step.file->code;
    FileEdits own{step.file, {}};
    for (const auto& [at, gone] : TurnNames(step).last_uses()) {
      std::string list;
      for (const Name name : gone)
        list += fmt::format("{}{}", list.empty() ? "" : ", ", code.name(name));
      const Stmt& last = *step.body[at];
      const std::uint32_t end = lines_of(code, last, last).end;
      own.edits.push_back({{end, end}, fmt::format("{}del {}\n", indent_of(code, last), list)});
      names += fmt::format("{}{}", names.empty() ? "" : ", ", list);
    }
    all.push_back(std::move(own));
  }
  return edit_files(std::move(all), fmt::format("del {} as soon as the step has used them", names));
}

}  // namespace tidemark::script_edits
