#include "sim/study/advice/added_code.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "sim/lang/edit/blocks.h"

namespace tidemark {
namespace {

using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

bool is_import(const Stmt& statement) {
  return statement.kind == StmtKind::kImport || statement.kind == StmtKind::kImportFrom;
}

/// Whether `import a.b` stands before an offset, so that a.b can be named.
bool is_imported(const UserCode& code, std::string_view module, std::uint32_t before) {
  if (code.is_around(module)) return true;
  for (const Stmt* statement : code.body()) {
    if (statement->kind != StmtKind::kImport || statement->place.begin >= before) continue;
    for (const lang::ImportedName& each : static_cast<const lang::ImportStmt*>(statement)->names) {
      if (code.name(each.module) == module && !each.whole) return true;
    }
  }
  return false;
}

std::string_view text_of(std::string_view name) {
  const auto files = added_code_files();
  return std::find_if(files.begin(), files.end(),
                      [&](const AddedCode& file) { return file.name == name; })
      ->text;
}

/// Code behind the last import before an offset; std::nullopt: there is none, and it needs one.
std::optional<lang::Edit> code_before(const UserCode& code, std::uint32_t use,
                                      std::initializer_list<std::string_view> names,
                                      std::initializer_list<std::string_view> modules) {
  const Stmt* last = nullptr;
  for (const Stmt* statement : code.body()) {
    if (statement->place.begin >= use) break;
    if (is_import(*statement) && stands_alone(code, *statement)) last = statement;
  }
  if (last == nullptr && !code.has_names_around()) return std::nullopt;
  const std::uint32_t at = last == nullptr ? 0 : lines_of(code, *last, *last).end;
  std::string text;
  for (const std::string_view module : modules) {
    if (!is_imported(code, module, at)) text += fmt::format("import {}\n", module);
  }
  for (const std::string_view name : names) text += fmt::format("\n\n{}", text_of(name));
  return lang::Edit{{at, at}, text + "\n\n"};
}

}  // namespace

std::string added_code(std::initializer_list<std::string_view> names,
                       std::initializer_list<std::string_view> modules) {
  std::string text;
  for (const std::string_view module : modules) text += fmt::format("import {}\n", module);
  for (const std::string_view name : names)
    text += fmt::format("{}{}", text.empty() ? "" : "\n", text_of(name));
  return text;
}

std::vector<FileEdits> with_code(std::vector<FileEdits> all,
                                 std::initializer_list<std::string_view> names,
                                 std::initializer_list<std::string_view> modules) {
  for (FileEdits& each : all) {
    if (each.edits.empty()) continue;
    std::uint32_t use = each.edits.front().at.begin;
    for (const lang::Edit& edit : each.edits) use = std::min(use, edit.at.begin);
    const auto code = code_before(*each.file->code, use, names, modules);
    if (!code) return {};
    each.edits.insert(each.edits.begin(), *code);
  }
  return all;
}

}  // namespace tidemark
