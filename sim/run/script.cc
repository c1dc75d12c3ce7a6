#include "sim/run/script.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/lang/edit/user_code.h"
#include "sim/yaml/quoted.h"

namespace tidemark {
namespace {

/// Where a constant stands in its script's text.
struct ConstantPlace {
  lang::Place name;
  lang::Place value;
};

std::vector<ConstantPlace> constant_places(const lang::UserCode& code) {
  std::vector<ConstantPlace> constants;
  const auto add = [&](const lang::Expr& target, const lang::Expr& value) {
    const lang::Place place = code.extent(value);
    const bool is_one_line = code.text(place).find('\n') == std::string_view::npos;
    if (target.kind == lang::ExprKind::kName && is_one_line)
      constants.push_back({target.place, place});
  };
  for (const lang::Stmt* statement : code.body()) {
    if (statement->kind == lang::StmtKind::kAssign) {
      const auto* assigned = static_cast<const lang::AssignStmt*>(statement);
      if (assigned->targets.size == 1) add(*assigned->targets[0], *assigned->value);
    } else if (statement->kind == lang::StmtKind::kAnnotated) {
      const auto* annotated = static_cast<const lang::AnnotatedStmt*>(statement);
      if (annotated->value != nullptr) add(*annotated->target, *annotated->value);
    }
  }
  return constants;
}

std::string_view part_of(const SourceText& script, lang::Place place) {
  return std::string_view(script.text).substr(place.begin, place.end - place.begin);
}

}  // namespace

bool is_script_path(std::string_view path) { return path.ends_with(".py"); }

std::vector<ScriptConstant> script_constants(const std::shared_ptr<const SourceText>& script) {
  std::vector<ScriptConstant> constants;
  for (const ConstantPlace& constant : constant_places(lang::UserCode(script)))
    constants.push_back({part_of(*script, constant.name), part_of(*script, constant.value)});
  return constants;
}

std::string scenario_of_script(std::string_view path) {
  return fmt::format("schema_version: 1\nscript: {}\n", yaml::quoted(path));
}

std::shared_ptr<const SourceText> with_constants(std::shared_ptr<const SourceText> script,
                                                 const std::vector<Parameter>& constants,
                                                 std::vector<Problem>& problems) {
  if (constants.empty()) return script;
  const lang::UserCode code(script);
  if (code.has_syntax_errors()) return script;
  const std::vector<ConstantPlace> places = constant_places(code);
  std::vector<lang::Edit> edits;
  for (const Parameter& constant : constants) {
    const auto found = std::find_if(places.begin(), places.end(), [&](const ConstantPlace& place) {
      return part_of(*script, place.name) == constant.name;
    });
    if (found != places.end()) {
      edits.push_back({found->value, constant.value});
      continue;
    }
    std::vector<std::string_view> names;
    names.reserve(places.size());
    for (const ConstantPlace& place : places) names.push_back(part_of(*script, place.name));
    problems.push_back(
        {{},
         "params." + constant.name,
         fmt::format("{} has no line '{} = ...' at its left margin", script->name, constant.name),
         did_you_mean(constant.name, names)});
  }
  auto changed = std::make_shared<SourceText>(*script);
  changed->text = edited(script->text, std::move(edits));
  return changed;
}

}  // namespace tidemark
