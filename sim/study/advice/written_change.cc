#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/format/whole_file.h"
#include "sim/run/literals.h"
#include "sim/run/rewrite.h"
#include "sim/study/advice/advice.h"

namespace tidemark {

std::vector<ChangedFile> changed_files(const ScenarioSource& source, const Change& change) {
  std::vector<ChangedFile> out;
  const Scenario now = read_scenario(source);
  const ScenarioSource applied = changed(source, change);
  if (now.is_script) {
    const Scenario then = read_scenario(applied);
    if (then.loop->text != now.loop->text)
      out.push_back({now.loop->name, now.loop->text, then.loop->text});
  } else {
    std::string text = rewritten_scenario(source.text, applied.overrides, source.variant,
                                          source.folder, source.folder);
    if (text != source.text->text)
      out.push_back({source.text->name, source.text->text, std::move(text)});
  }
  for (const auto& [path, text] : change.files) {
    if (!now.is_script || path != now.loop->name)
      out.push_back({path, read_whole_file(path), text});
  }
  return out;
}

std::string outside_text(const Change& change) {
  constexpr std::string_view kSetting = "allocator.conf";
  std::string out;
  for (const Override& one : change.overrides) {
    if (one.path.starts_with("params.")) continue;
    std::string value = one.value;
    std::erase(value, '"');
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ",
                       one.path == kSetting ? "PYTORCH_ALLOC_CONF" : one.path, value);
  }
  return out;
}

namespace {

[[noreturn]] void refuse_write(std::string message, std::string hint) {
  throw InputError(Problem{{}, "--write", std::move(message), std::move(hint)});
}

}  // namespace

std::string applied_script(const ScenarioSource& source, const AdvisedChange& change,
                           const std::string& comment, const std::string& new_path) {
  const std::vector<ChangedFile> files = changed_files(source, change.change);
  const Scenario now = read_scenario(source);
  const std::string hint = "--diff prints a patch of all that changes";
  if (files.empty())
    refuse_write("the change is none of the script's text: " + outside_text(change.change), hint);
  if (files.size() > 1 || files.front().path != now.loop->name)
    refuse_write("the change is one of " + files.back().path + ", too", hint);
  std::string text = files.front().after;
  std::size_t at = 0;
  if (text.starts_with("#!")) at = std::min(text.find('\n'), text.size() - 1) + 1;
  text.insert(at, comment);
  // Run as it will lie there, before anything is written.
  ScenarioSource there = changed(source, change.change);
  const std::string path = std::filesystem::path(new_path).lexically_normal().string();
  const std::string folder = std::filesystem::path(path).parent_path().string();
  there.folder = folder.empty() ? "." : folder;
  there.overrides.push_back(
      {"script.file", quoted_literal(std::filesystem::path(path).filename().string())});
  std::erase_if(there.overrides, [](const Override& o) { return o.path.starts_with("params."); });
  there.edited = std::make_shared<const EditedFiles>(EditedFiles{{path, text}});
  const Trial trial = try_scenario(there);
  if (!trial.error.empty())
    refuse_write("the script cannot be run from there: " + trial.error,
                 fmt::format("write it beside the script, in {}", source.folder));
  return text;
}

WrittenScenario applied_scenario(const ScenarioSource& source, const AdvisedChange& change,
                                 const std::string& comment, const std::string& new_path) {
  const std::filesystem::path path = std::filesystem::path(new_path).lexically_normal();
  const std::string new_folder = path.has_parent_path() ? path.parent_path().string() : ".";
  ScenarioSource applied = changed(source, change.change);
  WrittenScenario out;
  EditedFiles files;
  if (!change.change.files.empty()) {
    const Scenario now = read_scenario(source);
    const auto& [edited, text] = *change.change.files.begin();
    if (now.is_script)
      refuse_write("a scenario cannot hold the script's new text", "write to a name with .py");
    if (change.change.files.size() > 1 || !now.model.source || edited != now.model.source->name)
      refuse_write("the change is one of " + change.change.files.rbegin()->first + ", too",
                   "--diff prints a patch of all that changes");
    out.model_path = std::filesystem::path(path).replace_extension(".py").string();
    out.model_text = comment + text;
    files[std::filesystem::path(out.model_path).lexically_normal().string()] = out.model_text;
    std::error_code none;
    const bool is_own = std::filesystem::equivalent(out.model_path, edited, none);
    if (!is_own && std::filesystem::exists(out.model_path, none) &&
        !read_whole_file(out.model_path).starts_with(comment.substr(0, comment.find(':'))))
      refuse_write("the changed model would lie in " + out.model_path + ", which is there already",
                   "write to another name");
    applied.overrides.push_back(
        {"model.file",
         quoted_literal(std::filesystem::absolute(out.model_path)
                            .lexically_normal()
                            .lexically_relative(
                                std::filesystem::absolute(source.folder).lexically_normal() / "")
                            .string())});
  }
  out.text = comment + rewritten_scenario(source.text, applied.overrides, source.variant,
                                          source.folder, new_folder);
  const Trial trial = try_scenario(
      {std::make_shared<const SourceText>(SourceText{"the changed scenario", out.text}),
       new_folder,
       {},
       {},
       std::make_shared<const EditedFiles>(std::move(files))});
  if (trial.error.empty() && trial.peak_reserved == change.standing.peak_reserved) return out;
  throw InputError(Problem{{},
                           "--write",
                           trial.error.empty()
                               ? "the scenario does something else when it is read from there"
                               : "the scenario cannot be run from there: " + trial.error,
                           fmt::format("write it beside the scenario, in {}", source.folder)});
}

}  // namespace tidemark
