#include "sim/alloc/settings_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <stdexcept>

#include "sim/base/check.h"

namespace tidemark {

std::vector<SettingsToken> settings_tokens(std::string_view conf, Version version) {
  const auto is_space = [version](char c) {
    if (version < kLenientSyntax) return c == ' ';
    return std::isspace(static_cast<unsigned char>(c)) != 0;
  };
  std::vector<SettingsToken> tokens;
  SettingsToken word;
  const auto end_word = [&] {
    if (!word.text.empty()) tokens.push_back(std::move(word));
    word = {};
  };
  for (std::size_t i = 0; i < conf.size(); ++i) {
    const char c = conf[i];
    if (c == ',' || c == ':' || c == '[' || c == ']') {
      end_word();
      tokens.push_back({std::string(1, c), i, i + 1});
    } else if (!is_space(c)) {
      if (word.text.empty()) word.begin = i;
      word.text += c;
      word.end = i + 1;
    }
  }
  end_word();
  return tokens;
}

SettingsReader::SettingsReader(std::shared_ptr<const SourceText> conf, Version version)
    : conf_(std::move(conf)), version_(version), tokens_(settings_tokens(conf_->text, version)) {}

const std::string& SettingsReader::begin_entry() {
  entry_ = next_;
  return tokens_[next_++].text;
}

void SettingsReader::separator(char wanted) {
  if (lenient()) {
    if (at_end()) refuse_missing();
    ++next_;
    return;
  }
  if (at_end() || tokens_[next_].text != std::string_view(&wanted, 1)) {
    if (!at_end()) ++next_;
    refuse(fmt::format("Error parsing CachingAllocator settings, expected {}", wanted));
  }
  ++next_;
}

const std::string& SettingsReader::word() {
  if (at_end()) refuse_missing();
  return tokens_[next_++].text;
}

std::uint64_t SettingsReader::whole_number() {
  const std::string& text = word();
  const char* const converter = lenient() ? "stoull" : "stoi";
  try {
    if (lenient()) return std::stoull(text);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::stoi(text)));
  } catch (const std::invalid_argument&) {
    refuse_number("a whole number", converter);
  } catch (const std::out_of_range&) {
    refuse_number("a number that fits", converter);
  }
}

double SettingsReader::fraction() {
  const std::string& text = word();
  try {
    return std::stod(text);
  } catch (const std::invalid_argument&) {
    refuse_number("a number", "stod");
  } catch (const std::out_of_range&) {
    refuse_number("a number that fits", "stod");
  }
}

bool SettingsReader::truth() {
  const std::string text = word();
  if (text == "True" || text == "False") return text == "True";
  std::string hint = did_you_mean(text, {"True", "False"});
  if (text.find(';') != std::string::npos) hint = "settings are separated by ','";
  if (lenient()) {
    refuse(fmt::format("Expected 'True' or 'False' at index {} in ConfigTokenizer but got '{}'",
                       next_ - 1, text),
           hint);
  }
  refuse(fmt::format("Expected a single True/False argument for {}", tokens_[entry_].text), hint);
}

bool SettingsReader::take_if(std::string_view text) {
  if (at_end() || peek() != text) return false;
  ++next_;
  return true;
}

void SettingsReader::skip_value() {
  if (word() != "[") return;
  while (word() != "]") {
  }
}

void SettingsReader::skip_entry() {
  int depth = 0;
  for (next_ = entry_; !at_end(); ++next_) {
    const std::string& text = peek();
    if (text == "[") ++depth;
    if (text == "]") depth = std::max(0, depth - 1);
    if (text == "," && depth == 0) {
      ++next_;
      return;
    }
  }
}

void SettingsReader::refuse(std::string message, std::string hint) const {
  throw Refusal{problem_at(next_ == 0 ? 0 : next_ - 1, std::move(message), std::move(hint))};
}

void SettingsReader::warn(std::string message) {
  warnings_.push_back(problem_at(next_ == 0 ? 0 : next_ - 1, std::move(message), {}));
}

void SettingsReader::refuse_missing() const {
  const std::string& key = tokens_[entry_].text;
  const std::string_view example = key == "expandable_segments" ? "True" : "VALUE";
  refuse(lenient() ? "the value is missing (PyTorch: Index out of bounds in ConfigTokenizer)"
                   : fmt::format("Error, expecting {} value", key),
         fmt::format("write '{}:{}'", key, example));
}

void SettingsReader::refuse_number(const char* kind, const char* converter) const {
  refuse(fmt::format("expected {}, found '{}' (PyTorch: RuntimeError: {})", kind,
                     tokens_[next_ - 1].text, converter));
}

Bytes SettingsReader::mebibytes(std::uint64_t number) {
  return std::min(number, std::numeric_limits<Bytes>::max() / kMiB) * kMiB;
}

Problem SettingsReader::problem_at(std::size_t token, std::string message, std::string hint) const {
  TIDEMARK_CHECK(token < tokens_.size(), "a problem needs a token");
  const auto place = [this](std::size_t offset) {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
    for (std::size_t i = 0; i < offset; ++i) {
      const bool ends = conf_->text[i] == '\n';
      line += ends ? 1 : 0;
      column = ends ? 1 : column + 1;
    }
    return std::pair(line, column);
  };
  const auto [line, column] = place(tokens_[token].begin);
  const auto [end_line, end_column] = place(tokens_[token].end);
  Problem problem;
  problem.at = SourceSpan{conf_, line, column, end_line, end_column};
  problem.path = token == entry_ ? std::string() : tokens_[entry_].text;
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  return problem;
}

}  // namespace tidemark
