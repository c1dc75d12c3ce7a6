#include "sim/study/advice/user_files.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/format/whole_file.h"
#include "sim/run/literals.h"
#include "sim/run/yaml_path.h"
#include "sim/study/advice/code_edit.h"

namespace tidemark {
namespace {

using lang::Edit;
using lang::Expr;
using lang::ExprKind;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

std::string line_at(std::string_view text, std::size_t at) {
  const std::size_t from = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  std::string_view line = text.substr(from, text.find('\n', at) - from);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line);
}

bool is_import(const Stmt& statement) {
  return statement.kind == StmtKind::kImport || statement.kind == StmtKind::kImportFrom;
}

}  // namespace

std::vector<UserFile> user_files(const ScenarioSource& source, const Scenario& scenario) {
  std::vector<UserFile> files;
  const auto add = [&](const std::string& given) {
    const std::string path = std::filesystem::path(given).lexically_normal().string();
    for (const UserFile& file : files) {
      if (file.path == path) return;
    }
    auto text = std::make_shared<SourceText>(SourceText{path, {}});
    const std::string* edited = edited_text(source.edited, path);
    try {
      text->text = edited != nullptr ? *edited : read_whole_file(path);
    } catch (const IoError&) {
      return;
    }
    auto code = std::make_unique<UserCode>(std::move(text));
    if (!code->has_syntax_errors()) files.push_back({path, {}, 1, std::move(code)});
  };
  const auto add_value = [&](const std::shared_ptr<const SourceText>& text, std::string key,
                             UserCode::Imports around) {
    auto code = std::make_unique<UserCode>(text, std::move(around));
    if (!code->has_syntax_errors())
      files.push_back({text->name, std::move(key), text->first_line, std::move(code)});
  };
  if (scenario.is_script) {
    if (scenario.loop) add(scenario.loop->name);
  } else {
    if (has_own_loop(scenario)) add_value(scenario.loop, "loop", names_around_loop(scenario));
    const yaml::Node root = read_tree(source);
    if (scenario.model.source && find_path(root, "model.file") != nullptr) {
      add(scenario.model.source->name);
    } else if (scenario.model.source && find_path(root, "model.code") != nullptr) {
      add_value(scenario.model.source, "model.code", {});
    }
  }
  for (const std::string& path : source.imported) add(path);
  return files;
}

std::string place_text(const UserFile& file, std::uint32_t at) {
  const std::string& text = file.code->text();
  const auto line = std::count(text.begin(), text.begin() + at, '\n') + file.first_line;
  return fmt::format("{}:{}", std::filesystem::path(file.path).filename().string(), line);
}

std::optional<Change> edit_files(std::vector<FileEdits> edits, std::string text) {
  std::erase_if(edits, [](const FileEdits& each) { return each.edits.empty(); });
  if (edits.empty()) return std::nullopt;
  Change change;
  std::size_t count = 0;
  for (FileEdits& each : edits) {
    const std::string& before = each.file->code->text();
    count += each.edits.size();
    const Edit first = each.edits.front();
    std::string after = edited(before, std::move(each.edits));
    if (change.text.empty() && text.empty()) {
      change.text = fmt::format("{}: {}  ->  {}", place_text(*each.file, first.at.begin),
                                line_at(before, first.at.begin), line_at(after, first.at.begin));
    }
    if (each.file->key.empty()) {
      change.files[each.file->path] = std::move(after);
    } else {
      change.overrides.push_back({each.file->key, quoted_literal(after)});
    }
  }
  if (!text.empty()) {
    change.text = std::move(text);
  } else if (count > 1) {
    change.text += fmt::format("; and {} more", count - 1);
  }
  return change;
}

std::vector<Edit> with_import(const UserCode& code, std::string_view module) {
  if (code.is_around(module)) return {};
  const Stmt* before = nullptr;
  for (const Stmt* statement : code.body()) {
    if (statement->kind == StmtKind::kImport) {
      for (const lang::ImportedName& each :
           static_cast<const lang::ImportStmt*>(statement)->names) {
        if (code.name(each.module) == module && !each.whole) return {};
      }
    }
    if (is_import(*statement) && stands_alone(code, *statement)) before = statement;
    if (!is_import(*statement) && before != nullptr) break;
  }
  if (before == nullptr && !code.has_names_around()) return {};
  const std::uint32_t at = before == nullptr ? 0 : lines_of(code, *before, *before).end;
  return {{{at, at}, fmt::format("import {}\n", module)}};
}

std::vector<PathCall> calls_of(const UserCode& code) {
  std::vector<PathCall> calls;
  for (const Expr* node : code.expressions()) {
    if (node->kind != ExprKind::kCall) continue;
    const auto* call = static_cast<const lang::CallExpr*>(node);
    calls.push_back({call, code.path(*call->callee)});
  }
  return calls;
}

bool any_mentions(const std::vector<UserFile>& files, std::string_view name) {
  return std::any_of(files.begin(), files.end(),
                     [&](const UserFile& file) { return file.code->mentions(name); });
}

}  // namespace tidemark
