#include "sim/run/script.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace tidemark {
namespace {

/// Where a constant stands.
struct ConstantLine {
  std::string_view name;
  std::size_t value = 0;  ///< where the value begins and ends in the script's text
  std::size_t end = 0;
};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The end of the value that begins at `at`: of its line, before a comment. npos when the value
/// goes on in the next line.
std::size_t value_end(std::string_view text, std::size_t at) {
  int depth = 0;
  char quote = 0;
  for (; at < text.size() && text[at] != '\n'; ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == '\\') ++at;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      if (text.substr(at, 3) == std::string(3, c)) return std::string_view::npos;
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == '#') {
      break;
    } else if (c == '\\' || c == ';') {
      return std::string_view::npos;
    }
  }
  if (depth != 0 || quote != 0) return std::string_view::npos;
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t' || text[at - 1] == '\r')) --at;
  return at;
}

std::vector<ConstantLine> constant_lines(std::string_view text) {
  std::vector<ConstantLine> lines;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    std::size_t at = begin;
    while (at < text.size() && is_name_character(text[at])) ++at;
    const std::string_view name = text.substr(begin, at - begin);
    while (at < text.size() && text[at] == ' ') ++at;
    if (at < text.size() && text[at] == ':') {
      while (at < text.size() && text[at] != '=' && text[at] != '\n') ++at;
    }
    const bool assigns = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                         at + 1 < text.size() && text[at] == '=' && text[at + 1] != '=';
    if (assigns) {
      ++at;
      while (at < text.size() && text[at] == ' ') ++at;
      const std::size_t end = value_end(text, at);
      if (end != std::string_view::npos) lines.push_back({name, at, end});
    }
    if (text.find('\n', begin) == std::string_view::npos) break;
  }
  return lines;
}

}  // namespace

bool is_script_path(std::string_view path) { return path.ends_with(".py"); }

std::vector<ScriptConstant> script_constants(std::string_view script) {
  const std::vector<ConstantLine> lines = constant_lines(script);
  std::vector<ScriptConstant> constants;
  constants.reserve(lines.size());
  for (const ConstantLine& line : lines)
    constants.push_back({line.name, script.substr(line.value, line.end - line.value)});
  return constants;
}

std::string scenario_of_script(std::string_view path) {
  std::string quoted;
  for (const char c : path) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return fmt::format("schema_version: 1\nscript: \"{}\"\n", quoted);
}

std::shared_ptr<const SourceText> with_constants(std::shared_ptr<const SourceText> script,
                                                 const std::vector<Parameter>& constants,
                                                 std::vector<Problem>& problems) {
  if (constants.empty()) return script;
  auto changed = std::make_shared<SourceText>(*script);
  for (const Parameter& constant : constants) {
    const std::vector<ConstantLine> lines = constant_lines(changed->text);
    const auto line = std::find_if(lines.begin(), lines.end(),
                                   [&](const ConstantLine& l) { return l.name == constant.name; });
    if (line == lines.end()) {
      std::vector<std::string_view> names;
      names.reserve(lines.size());
      for (const ConstantLine& l : lines) names.push_back(l.name);
      problems.push_back(
          {{},
           "params." + constant.name,
           fmt::format("{} has no line '{} = ...' at its left margin", script->name, constant.name),
           did_you_mean(constant.name, names)});
      continue;
    }
    changed->text.replace(line->value, line->end - line->value, constant.value);
  }
  return changed;
}

}  // namespace tidemark
