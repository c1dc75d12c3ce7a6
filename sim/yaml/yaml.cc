#include "sim/yaml/yaml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "sim/yaml/plain_reader.h"

namespace tidemark::yaml {
namespace {

/// Builds nodes from yaml-cpp's events: no tree of its own in between, and each key's place is
/// seen.
class Builder final : public YAML::EventHandler, public PlainSink {
 public:
  explicit Builder(std::shared_ptr<const SourceText> source) : source_(std::move(source)) {
    root_.at.source = source_;  // an empty file has no place inside it
  }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(node_at(mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(span(mark, 1), "an alias for an anchor that is not complete");
    count(weight(found->second), span(mark, 1));
    add(found->second, 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = node_at(mark);
    node.kind = Node::Kind::kScalar;
    node.text = value;
    if (tag == "!") {
      const char first = at(mark);
      node.style = first == '|' || first == '>' ? Node::Style::kBlock : Node::Style::kQuoted;
    }
    const bool is_null = node.style == Node::Style::kPlain && (value == "null" || value == "~");
    if (is_null) node.kind = Node::Kind::kNull;
    node.at = span(mark, written_length(node, mark));
    add(std::move(node), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open_top(mark, Node::Kind::kList, anchor, style == YAML::EmitterStyle::Flow);
  }
  void OnSequenceEnd() override { close_top(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open_top(mark, Node::Kind::kMap, anchor, style == YAML::EmitterStyle::Flow);
  }
  void OnMapEnd() override { close_top(); }

  void scalar(const PlainMark& at, std::string_view text, bool is_quoted) override {
    OnScalar(mark_of(at), is_quoted ? "!" : "?", YAML::NullAnchor, std::string(text));
  }
  void open(const PlainMark& at, bool is_map, bool is_flow) override {
    open_top(mark_of(at), is_map ? Node::Kind::kMap : Node::Kind::kList, YAML::NullAnchor, is_flow);
  }
  void close() override { close_top(); }

  Node take() {
    if (!problems_.empty()) throw InputError(std::move(problems_));
    return std::move(root_);
  }
  SourceSpan span(const YAML::Mark& mark, std::size_t length) const {
    SourceSpan result;
    result.source = source_;
    if (mark.is_null()) return result;
    result.line = result.end_line = static_cast<std::uint32_t>(mark.line) + 1;
    result.column = static_cast<std::uint32_t>(mark.column) + 1;
    result.end_column = result.column + static_cast<std::uint32_t>(length);
    return result;
  }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    bool is_flow = false;                                  ///< in brackets or braces
    std::optional<Node> key;                               ///< of a map: read, its value is next
    std::unordered_map<std::string, std::uint32_t> lines;  ///< of the keys so far
  };

  [[noreturn]] void fail(SourceSpan where, std::string message) {
    problems_.push_back({std::move(where), {}, std::move(message), {}});
    throw InputError(problems_);
  }
  Node node_at(const YAML::Mark& mark) const {
    Node node;
    node.at = span(mark, 1);
    return node;
  }
  char at(const YAML::Mark& mark) const {
    const auto position = static_cast<std::size_t>(mark.pos);
    return position < source_->text.size() ? source_->text[position] : '\0';
  }
  /// How many columns the scalar takes on its first line.
  std::size_t written_length(const Node& node, const YAML::Mark& mark) const {
    const auto begin = static_cast<std::size_t>(mark.pos);
    const std::string& text = source_->text;
    if (begin >= text.size()) return 1;
    const std::size_t line_end = std::min(text.find('\n', begin), text.size());
    if (node.style == Node::Style::kPlain) {
      return std::max<std::size_t>(1, std::min(node.text.size(), line_end - begin));
    }
    if (node.style == Node::Style::kBlock) return 1;
    const char quote = text[begin];
    for (std::size_t i = begin + 1; i < line_end; ++i) {
      if (quote == '"' && text[i] == '\\') {
        ++i;
      } else if (text[i] == quote) {
        if (quote == '\'' && i + 1 < line_end && text[i + 1] == quote) {
          ++i;
        } else {
          return i + 1 - begin;
        }
      }
    }
    return line_end - begin;
  }
  static std::size_t weight(const Node& node) {
    std::size_t nodes = 1;
    for (const Node& item : node.items) nodes += weight(item);
    for (const Entry& entry : node.entries) nodes += weight(entry.value);
    return nodes;
  }
  void count(std::size_t nodes, const SourceSpan& where) {
    nodes_ += nodes;
    if (nodes_ > kMaxNodes) fail(where, fmt::format("more than {} values", kMaxNodes));
  }
  static YAML::Mark mark_of(const PlainMark& at) {
    YAML::Mark mark;
    mark.pos = static_cast<int>(at.position);
    mark.line = static_cast<int>(at.line);
    mark.column = static_cast<int>(at.column);
    return mark;
  }
  void open_top(const YAML::Mark& mark, Node::Kind kind, YAML::anchor_t anchor, bool is_flow) {
    Open entry;
    entry.is_flow = is_flow;
    entry.node = node_at(mark);
    entry.node.kind = kind;
    entry.anchor = anchor;
    stack_.push_back(std::move(entry));
  }
  void close_top() {
    Open entry = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(entry.node), entry.anchor);
  }
  void add(Node node, YAML::anchor_t anchor) {
    count(1, node.at);
    if (anchor != 0) anchors_[anchor] = node;
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node.kind == Node::Kind::kList) {
      const bool goes_on = parent.is_flow && !parent.node.items.empty() &&
                           has_open_parenthesis(parent.node.items.back());
      if (goes_on && node.is_plain()) {
        append(parent.node.items.back(), node);
        return;
      }
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      if (node.kind == Node::Kind::kList || node.kind == Node::Kind::kMap) {
        fail(node.at, fmt::format("a key must be a word, found {}", describe(node)));
      }
      parent.key = std::move(node);
    } else {
      add_entry(parent, std::move(node));
    }
  }
  /// `Linear(784, 512)` in a flow list or map is one text, though YAML parts it at the comma.
  static bool has_open_parenthesis(const Node& node) {
    if (!node.is_plain()) return false;
    std::ptrdiff_t open = 0;
    for (const char c : node.text) open += c == '(' ? 1 : c == ')' ? -1 : 0;
    return open > 0;
  }
  static void append(Node& to, const Node& more) {
    to.text += ", " + more.text;
    to.at.end_line = more.at.end_line;
    to.at.end_column = more.at.end_column;
  }
  void add_entry(Open& parent, Node value) {
    const bool goes_on = parent.is_flow && value.kind == Node::Kind::kNull &&
                         !parent.node.entries.empty() &&
                         has_open_parenthesis(parent.node.entries.back().value);
    if (goes_on && parent.key->is_plain()) {
      append(parent.node.entries.back().value, *parent.key);
      parent.key.reset();
      return;
    }
    Entry entry;
    entry.key = std::move(parent.key->text);
    entry.key_at = parent.key->at;
    entry.value = std::move(value);
    parent.key.reset();
    const auto [earlier, is_new] = parent.lines.emplace(entry.key, entry.key_at.line);
    if (!is_new) {
      if (problems_.size() < InputError::kMaxProblems) {
        problems_.push_back(
            {entry.key_at,
             {},
             fmt::format("key '{}' is there already", entry.key),
             fmt::format("the first is in line {}", earlier->second + source_->first_line - 1)});
      }
      return;
    }
    parent.node.entries.push_back(std::move(entry));
  }

  std::shared_ptr<const SourceText> source_;
  std::vector<Open> stack_;
  std::unordered_map<YAML::anchor_t, Node> anchors_;
  std::vector<Problem> problems_;
  Node root_;
  std::size_t nodes_ = 0;
};

/// yaml-cpp's words, made to fit behind "error: ".
std::string lower_first(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z')
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

/// What mostly lies behind the parser's complaint.
std::string yaml_hint(std::string_view text, const YAML::Exception& error) {
  const auto position = static_cast<std::size_t>(std::max(error.mark.pos, 0));
  std::size_t begin = std::min(position, text.size());
  while (begin > 0 && text[begin - 1] != '\n') --begin;
  const std::size_t indented = text.find_first_not_of(" \t", begin);
  if (text.substr(begin, std::min(indented, text.size()) - begin).find('\t') !=
      std::string_view::npos)
    return "the line begins with a tab, and YAML is indented by spaces";
  if (error.msg == YAML::ErrorMsg::END_OF_MAP || error.msg == YAML::ErrorMsg::MAP_VALUE)
    return "expected 'key: value', indented as the lines about it";
  return {};
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

namespace {

/// Whether a text is a plain scalar of one word, as most overrides are: nothing in it means
/// anything to YAML.
bool is_one_word(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (text.empty() || !is_letter(text.front())) return false;
  if (text == "null" || text == "Null" || text == "NULL") return false;
  return std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || std::string_view(".()=/+").find(c) != std::string_view::npos;
  });
}

}  // namespace

Node parse(const std::shared_ptr<const SourceText>& source) {
  if (is_one_word(source->text)) {
    Builder builder(source);
    const YAML::Mark begin{};  // line 0, column 0
    builder.OnScalar(begin, "?", YAML::NullAnchor, source->text);
    return builder.take();
  }
  if (Builder plain(source); read_plain(source->text, plain)) return plain.take();
  return parse_whole(source);
}

Node parse_whole(const std::shared_ptr<const SourceText>& source) {
  Builder builder(source);
  std::istringstream input(source->text);
  try {
    YAML::Parser parser(input);
    parser.HandleNextDocument(builder);
    Builder second(source);
    if (parser.HandleNextDocument(second)) {
      throw InputError(Problem{second.take().at, {}, "a second document", "one file holds one"});
    }
  } catch (const YAML::Exception& error) {
    throw InputError(Problem{builder.span(error.mark, 1),
                             {},
                             "not YAML: " + lower_first(error.msg),
                             yaml_hint(source->text, error)});
  }
  return builder.take();
}

std::optional<std::int64_t> integer(const Node& node) {
  if (!node.is_plain()) return std::nullopt;
  std::string_view text = node.text;
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.starts_with("+"))
    return std::nullopt;
  return value;
}

std::optional<double> number(const Node& node) {
  if (!node.is_plain()) return std::nullopt;
  std::string_view text = node.text;
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
    return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<bool> boolean(const Node& node) {
  if (!node.is_plain()) return std::nullopt;
  if (node.text == "true" || node.text == "True" || node.text == "TRUE") return true;
  if (node.text == "false" || node.text == "False" || node.text == "FALSE") return false;
  return std::nullopt;
}

std::string describe(const Node& node) {
  constexpr std::size_t kShown = 40;
  switch (node.kind) {
    case Node::Kind::kList:
      return "a list";
    case Node::Kind::kMap:
      return "a map";
    case Node::Kind::kNull:
      return "nothing";
    case Node::Kind::kScalar:
      break;
  }
  if (node.style == Node::Style::kBlock) return "a text of several lines";
  if (node.text.size() <= kShown) return fmt::format("'{}'", node.text);
  return fmt::format("'{}...'", std::string_view(node.text).substr(0, kShown));
}

std::shared_ptr<const SourceText> embedded_source(const Node& node) {
  auto result = std::make_shared<SourceText>();
  const SourceText& outer = *node.at.source;
  result->name = outer.name;
  result->text = node.text;
  result->first_line = outer.first_line + node.at.line - 1;
  result->indent = outer.indent + node.at.column - 1;
  if (node.style == Node::Style::kQuoted) ++result->indent;
  if (node.style != Node::Style::kBlock) return result;
  // The text begins on the line below; its indentation is that of its first line that is not empty.
  ++result->first_line;
  std::istringstream lines(outer.text);
  std::string line;
  for (std::uint32_t i = 0; i < node.at.line; ++i) std::getline(lines, line);
  while (std::getline(lines, line)) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos) continue;
    result->indent = outer.indent + static_cast<std::uint32_t>(indent);
    break;
  }
  return result;
}

}  // namespace tidemark::yaml
