#include "sim/run/rewrite.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/run/literals.h"
#include "sim/yaml/quoted.h"

namespace tidemark {
namespace {

/// Equal to whoever reads it: the order of keys and the way of quoting do not count, but plain text
/// is not quoted text (numbers, parameters).
bool is_same(const yaml::Node& a, const yaml::Node& b) {
  if (a.kind != b.kind || a.text != b.text || a.is_plain() != b.is_plain() ||
      a.items.size() != b.items.size() || a.entries.size() != b.entries.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!is_same(a.items[i], b.items[i])) return false;
  }
  return std::all_of(a.entries.begin(), a.entries.end(), [&](const yaml::Entry& entry) {
    const yaml::Node* other = b.find(entry.key);
    return other != nullptr && is_same(entry.value, *other);
  });
}

std::string key_text(const std::string& key) {
  return is_identifier(key) ? key : yaml::quoted(key);
}

/// On one line: {conf: "max_split_size_mb:128"}.
std::string flow_text(const yaml::Node& node) {
  std::string out;
  switch (node.kind) {
    case yaml::Node::Kind::kList:
      for (const yaml::Node& item : node.items) out += (out.empty() ? "" : ", ") + flow_text(item);
      return "[" + out + "]";
    case yaml::Node::Kind::kMap:
      for (const yaml::Entry& entry : node.entries)
        out += (out.empty() ? "" : ", ") + key_text(entry.key) + ": " + flow_text(entry.value);
      return "{" + out + "}";
    case yaml::Node::Kind::kNull:
    case yaml::Node::Kind::kScalar:
      return yaml::text(node);
  }
  return out;
}

/// A text of several lines as a block, each line after `indent` spaces; std::nullopt: a block
/// cannot hold it.
std::optional<std::string> block_text(const yaml::Node& node, std::size_t indent) {
  const std::string& text = node.text;
  const bool has_lines = node.is_text() && !node.is_plain() && text.find('\n') != std::string::npos;
  if (!has_lines || text.front() == ' ' || text.front() == '\n' || text.ends_with("\n\n"))
    return std::nullopt;
  std::string out = text.ends_with('\n') ? "|\n" : "|-\n";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) out += std::string(indent, ' ') + text.substr(begin, end - begin);
    out += '\n';
    begin = end + 1;
  }
  out.pop_back();
  return out;
}

std::string value_text(const yaml::Node& node, std::size_t indent) {
  return block_text(node, indent).value_or(flow_text(node));
}

/// The whole tree, a line a key; what lies deeper than two keys on one line.
std::string fresh_text(const yaml::Node& root) {
  std::string out;
  for (const yaml::Entry& entry : root.entries) {
    if (entry.value.kind != yaml::Node::Kind::kMap || entry.value.entries.empty()) {
      out += fmt::format("{}: {}\n", key_text(entry.key), value_text(entry.value, 2));
      continue;
    }
    out += key_text(entry.key) + ":\n";
    for (const yaml::Entry& inner : entry.value.entries)
      out += fmt::format("  {}: {}\n", key_text(inner.key), value_text(inner.value, 4));
  }
  return out;
}

/// Changes a text where two trees of it differ.
class Editor {
 public:
  explicit Editor(const std::string& text) : text_(text) {
    lines_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') lines_.push_back(i + 1);
    }
  }

  /// std::nullopt: some difference has no place of its own.
  std::optional<std::string> edited(const yaml::Node& before, const yaml::Node& after) {
    compare(before, after, nullptr);
    if (is_lost_) return std::nullopt;
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string out;
    std::size_t from = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < from) return std::nullopt;
      out += text_.substr(from, edit.begin - from) + edit.text;
      from = edit.end;
    }
    return out + text_.substr(from);
  }

 private:
  struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
  };

  void compare(const yaml::Node& before, const yaml::Node& after, const yaml::Entry* entry) {
    if (is_same(before, after)) return;
    const bool are_maps = before.kind == yaml::Node::Kind::kMap && after.kind == before.kind;
    const bool keeps_keys =
        are_maps && std::all_of(before.entries.begin(), before.entries.end(),
                                [&](const yaml::Entry& e) { return after.find(e.key) != nullptr; });
    if (keeps_keys) {
      for (const yaml::Entry& each : after.entries) {
        const auto old = std::find_if(before.entries.begin(), before.entries.end(),
                                      [&](const yaml::Entry& e) { return e.key == each.key; });
        if (old != before.entries.end()) {
          compare(old->value, each.value, &*old);
        } else {
          insert(before, each);
        }
      }
      return;
    }
    const bool are_lists = before.kind == yaml::Node::Kind::kList && after.kind == before.kind &&
                           before.items.size() == after.items.size();
    if (are_lists) {
      for (std::size_t i = 0; i < before.items.size(); ++i)
        compare(before.items[i], after.items[i], nullptr);
      return;
    }
    replace(before, after, entry);
  }

  [[nodiscard]] std::size_t offset(std::uint32_t line, std::uint32_t column) const {
    if (line == 0 || line > lines_.size()) return text_.size();
    return std::min(text_.size(), lines_[line - 1] + column - 1);
  }
  [[nodiscard]] std::size_t offset(const SourceSpan& at) const {
    return offset(at.line, at.column);
  }
  [[nodiscard]] std::size_t line_end(std::uint32_t line) const {
    return line < lines_.size() ? lines_[line] - 1 : text_.size();
  }
  [[nodiscard]] char at(std::size_t position) const {
    return position < text_.size() ? text_[position] : '\0';
  }
  /// Spaces before the first character of a line; npos for a blank one.
  [[nodiscard]] std::size_t indent_of(std::uint32_t line) const {
    const std::size_t begin = offset(line, 1);
    const std::size_t first = text_.find_first_not_of(' ', begin);
    return first >= line_end(line) ? std::string::npos : first - begin;
  }

  /// Past the bracket that closes the one at `open`; npos: nowhere.
  [[nodiscard]] std::size_t past_bracket(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '"' || c == '\'') {
        const bool begins = std::string_view("[{,: \n").find(text_[i - 1]) != std::string::npos;
        if (begins) i = past_quote(i) - 1;
      } else if (c == '#' && std::isspace(static_cast<unsigned char>(text_[i - 1])) != 0) {
        i = std::min(text_.find('\n', i), text_.size());
      } else if (c == '[' || c == '{') {
        ++depth;
      } else if ((c == ']' || c == '}') && --depth == 0) {
        return i + 1;
      }
    }
    return std::string::npos;
  }
  [[nodiscard]] std::size_t past_quote(std::size_t open) const {
    const char quote = text_[open];
    for (std::size_t i = open + 1; i < text_.size(); ++i) {
      if (quote == '"' && text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        if (quote == '"' || at(i + 1) != quote) return i + 1;
        ++i;
      }
    }
    return text_.size();
  }
  /// Past the last line after `line` that lies at `indent` or deeper.
  [[nodiscard]] std::size_t past_block(std::uint32_t line, std::size_t indent) const {
    std::uint32_t last = line;
    for (std::uint32_t i = line + 1; i <= lines_.size(); ++i) {
      const std::size_t depth = indent_of(i);
      if (depth == std::string::npos) continue;
      if (depth < indent) break;
      last = i;
    }
    return line_end(last);
  }
  /// Past the value's last character; npos: not known.
  [[nodiscard]] std::size_t past(const yaml::Node& node) const {
    const std::size_t begin = offset(node.at);
    const char first = at(begin);
    if (first == '{' || first == '[') return past_bracket(begin);
    if (node.kind == yaml::Node::Kind::kNull) return std::string::npos;
    if (first == '|' || first == '>') {
      std::size_t indent = 0;
      while (at(lines_[node.at.line - 1] + indent) == ' ') ++indent;
      return past_block(node.at.line, indent + 1);
    }
    if (!node.is_text()) return past_block(node.at.line, node.at.column - 1);
    if (node.style == yaml::Node::Style::kQuoted) return past_quote(begin);
    return offset(node.at.end_line, node.at.end_column);
  }

  void replace(const yaml::Node& before, const yaml::Node& after, const yaml::Entry* entry) {
    std::size_t begin = offset(before.at);
    const std::size_t end = past(before);
    if (end == std::string::npos) {
      is_lost_ = true;
      return;
    }
    std::string text = flow_text(after);
    if (entry != nullptr) {
      const std::size_t key = offset(entry->key_at);
      const std::size_t line = lines_[entry->key_at.line - 1];
      // A map or list on the lines below its key: the value moves up.
      if (entry->key_at.line < before.at.line && at(begin) != '{' && at(begin) != '[') {
        begin = text_.find(':', key + entry->key.size()) + 1;
        text.insert(0, " ");
      }
      const bool is_first = text_.find_first_not_of(' ', line) == key;
      if (auto block = is_first ? block_text(after, entry->key_at.column + 1) : std::nullopt)
        text = std::move(*block);
    }
    edits_.push_back({begin, end, std::move(text)});
  }

  void insert(const yaml::Node& map, const yaml::Entry& entry) {
    const std::size_t begin = offset(map.at);
    if (at(begin) == '{') {
      const std::size_t end = past_bracket(begin);
      if (end == std::string::npos) {
        is_lost_ = true;
        return;
      }
      std::size_t last = end - 1;
      while (std::isspace(static_cast<unsigned char>(text_[last - 1])) != 0) --last;
      edits_.push_back({last, last,
                        fmt::format("{}{}: {}", map.entries.empty() ? "" : ", ",
                                    key_text(entry.key), flow_text(entry.value))});
      return;
    }
    if (map.entries.empty()) {
      is_lost_ = true;
      return;
    }
    // After the last key whose value ends on a line of its own, else before the first.
    const std::uint32_t column = map.entries.front().key_at.column;
    const std::string line = std::string(column - 1, ' ') + key_text(entry.key) + ": " +
                             value_text(entry.value, column + 1);
    for (auto each = map.entries.rbegin(); each != map.entries.rend(); ++each) {
      const char first = at(offset(each->value.at));
      const bool is_short =
          each->value.is_text() ? first != '|' && first != '>' : first == '{' || first == '[';
      const std::size_t end = is_short ? past(each->value) : std::string::npos;
      if (end == std::string::npos) continue;
      const std::size_t stop = std::min(text_.find('\n', end), text_.size());
      edits_.push_back({stop, stop, "\n" + line});
      return;
    }
    const std::size_t start = lines_[map.entries.front().key_at.line - 1];
    edits_.push_back({start, start, line + "\n"});
  }

  const std::string& text_;
  std::vector<std::size_t> lines_;  ///< where each begins
  std::vector<Edit> edits_;
  bool is_lost_ = false;
};

/// `path` as it leads to the same file from another folder.
std::string led_from(const std::string& path, const std::string& folder,
                     const std::string& new_folder) {
  namespace fs = std::filesystem;
  if (fs::path(path).is_absolute()) return path;
  const fs::path there = (fs::absolute(folder) / path).lexically_normal();
  const fs::path from = fs::absolute(new_folder).lexically_normal();
  return there.lexically_proximate(from).string();
}

/// Makes every relative path of a scenario lead from another folder.
void move_paths(yaml::Node& root, const std::string& folder, const std::string& new_folder) {
  const auto move = [&](yaml::Node& node) {
    if (node.is_text()) node.text = led_from(node.text, folder, new_folder);
  };
  const auto move_device = [&](yaml::Node& node) {
    if (node.text.find('/') != std::string::npos || node.text.ends_with(".yaml")) move(node);
  };
  if (yaml::Node* device = root.find("device")) {
    yaml::Node* name = device->find("name");
    move_device(name == nullptr ? *device : *name);
  }
  if (yaml::Node* script = root.find("script")) move(*script);
  yaml::Node* model = root.find("model");
  if (model == nullptr) return;
  if (yaml::Node* file = model->find("file")) move(*file);
  if (yaml::Node* path = model->find("path")) {
    move(*path);
    for (yaml::Node& item : path->items) move(item);
  }
}

std::string leading_comments(const std::string& text) {
  std::size_t at = 0;
  while (at < text.size() && text[at] == '#')
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return text.substr(0, at);
}

}  // namespace

std::string rewritten_scenario(const std::shared_ptr<const SourceText>& text,
                               const std::vector<Override>& overrides, const std::string& variant,
                               const std::string& folder, const std::string& new_folder) {
  const yaml::Node before = yaml::parse(text);
  yaml::Node after = before;
  // Sections that a run does not read stay as they are.
  yaml::Node sections = before;
  apply_variant(after, variant);
  take_sweep(after);
  apply_overrides(after, overrides);
  for (const std::string_view key : {"variants", "sweep"}) {
    for (yaml::Entry& entry : sections.entries) {
      if (entry.key == key) after.entries.push_back(std::move(entry));
    }
  }
  namespace fs = std::filesystem;
  if (fs::absolute(folder).lexically_normal() / "" !=
      fs::absolute(new_folder).lexically_normal() / "")
    move_paths(after, folder, new_folder);
  if (auto edited = Editor(text->text).edited(before, after)) {
    try {
      const auto again = std::make_shared<const SourceText>(SourceText{text->name, *edited});
      if (is_same(yaml::parse(again), after)) return std::move(*edited);
    } catch (const InputError&) {
      // The text has a form that the editor does not know: written anew.
    }
  }
  return leading_comments(text->text) + fresh_text(after);
}

}  // namespace tidemark
