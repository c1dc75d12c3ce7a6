#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/base/problem.h"
#include "sim/cli/program.h"

namespace tidemark::cli {

namespace po = boost::program_options;

namespace {

Problem usage_problem(std::string path, std::string message, std::string hint = {}) {
  return Problem{{}, std::move(path), std::move(message), std::move(hint)};
}

/// Those options of the table that the words name; the others would be described for nothing.
po::options_description describe(const CommandSpec& spec, const std::vector<std::string>& words) {
  po::options_description described;
  const auto is_named = [&](std::string_view option) {
    return std::ranges::any_of(words, [&](std::string_view word) {
      if (!word.starts_with("--") || !word.substr(2).starts_with(option)) return false;
      return word.size() == option.size() + 2 || word[option.size() + 2] == '=';
    });
  };
  for (const OptionSpec& option : spec.options) {
    if (!is_named(option.name)) continue;
    const std::string name(option.name);
    if (option.value.empty()) {
      described.add_options()(name.c_str(), "");
    } else {
      described.add_options()(name.c_str(), po::value<std::vector<std::string>>(), "");
    }
  }
  return described;
}

/// Collects what was given, and every problem with it.
class Reader {
 public:
  explicit Reader(const CommandSpec& spec) : spec_(spec) {
    for (const OptionSpec& option : spec.options) names_.push_back(option.name);
  }

  void option(const po::basic_option<char>& parsed) {
    skips_value_ = false;
    const OptionSpec* found = find(parsed.string_key);
    const std::string path = "--" + parsed.string_key;
    if (parsed.unregistered || found == nullptr) {
      unknown(parsed.original_tokens.empty() ? path : parsed.original_tokens.front());
      return;
    }
    std::vector<std::string>& values = given[parsed.string_key];
    const bool again = !values.empty();
    if (found->value.empty()) {
      if (!parsed.value.empty()) add(path, "takes no value");
      if (again) add(path, "given twice");
      values.emplace_back();
      return;
    }
    if (again && !found->repeats) add(path, "given twice");
    const std::string& value = parsed.value.front();
    check_choice(path, found->value, value);
    values.push_back(value);
  }

  void positional_word(const std::string& word) {
    if (std::exchange(skips_value_, false)) return;
    const std::vector<ArgumentSpec>& table = spec_.arguments;
    const bool room = positional.size() < table.size() || (!table.empty() && table.back().repeats);
    if (room) {
      check_choice("", table[std::min(positional.size(), table.size() - 1)].name, word);
      positional.push_back(word);
    } else {
      add("", "unexpected argument '" + word + "'",
          word.find('=') == std::string::npos || !knows("set")
              ? std::string()
              : "did you mean '--set " + word + "'?");
    }
  }

  void unknown(const std::string& token) {
    const std::string name = token.substr(0, token.find('='));
    std::string bare = name;
    bare.erase(0, bare.find_first_not_of('-'));
    const std::string_view near = nearest_name(bare, names_);
    std::string hint;
    if (!near.empty()) {
      hint = "did you mean '--" + std::string(near) + "'?";
    } else if (name.starts_with("--") && knows("set")) {
      hint = "keys of the scenario are given as --set " + bare + "=VALUE";
    }
    // The next word is the value of the option that was meant, not an argument too many.
    skips_value_ = name == token && !hint.empty() && (near.empty() || !find(near)->value.empty());
    add("", "unknown option '" + name + "'", std::move(hint));
  }

  void finish() {
    for (std::size_t i = positional.size(); i < spec_.arguments.size(); ++i) {
      const ArgumentSpec& missing = spec_.arguments[i];
      if (missing.required) add("", "missing argument " + std::string(missing.name));
    }
    if (!problems_.empty()) throw InputError(std::move(problems_));
  }

  std::vector<std::string> positional;
  std::map<std::string, std::vector<std::string>, std::less<>> given;

 private:
  /// `kind`: what stands for the value in help.
  void check_choice(const std::string& path, std::string_view kind, const std::string& value) {
    const std::vector<std::string_view> choices = choices_of(kind);
    if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end())
      return;
    add(path, "expected one of " + joined(choices, ", ") + "; found '" + value + "'",
        did_you_mean(value, choices));
  }
  [[nodiscard]] bool knows(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] const OptionSpec* find(std::string_view name) const {
    const auto found = std::find_if(spec_.options.begin(), spec_.options.end(),
                                    [&](const OptionSpec& option) { return option.name == name; });
    return found == spec_.options.end() ? nullptr : &*found;
  }
  void add(std::string path, std::string message, std::string hint = {}) {
    problems_.push_back(usage_problem(std::move(path), std::move(message), std::move(hint)));
  }
  const CommandSpec& spec_;
  std::vector<std::string_view> names_;
  std::vector<Problem> problems_;
  bool skips_value_ = false;
};

/// "--format" -> "--format text|json|csv"
std::string option_usage(const CommandSpec& spec, const std::string& token) {
  for (const OptionSpec& option : spec.options) {
    if (token == "--" + std::string(option.name)) return token + " " + std::string(option.value);
  }
  return token;
}

/// "-o" becomes "--output" where the table has that letter.
std::vector<std::string> with_long_names(const CommandSpec& spec, std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word == "--") break;
    if (word.size() != 2 || word[0] != '-') continue;
    for (const OptionSpec& option : spec.options) {
      if (option.letter == word[1] && option.letter != 0) {
        word = "--" + std::string(option.name);
        break;
      }
    }
  }
  return words;
}

}  // namespace

std::vector<std::string_view> choices_of(std::string_view value) {
  std::vector<std::string_view> choices;
  if (value.find('|') == std::string_view::npos) return choices;
  while (true) {
    const std::size_t bar = value.find('|');
    choices.push_back(value.substr(0, bar));
    if (bar == std::string_view::npos) return choices;
    value.remove_prefix(bar + 1);
  }
}

std::string joined(const std::vector<std::string_view>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

void usage_error(std::string path, std::string message, std::string hint) {
  throw InputError(usage_problem(std::move(path), std::move(message), std::move(hint)));
}

Arguments Arguments::parse(const CommandSpec& spec, const std::vector<std::string>& given) {
  using po::command_line_style::style_t;
  Reader reader(spec);
  const std::vector<std::string> words = with_long_names(spec, given);
  const po::options_description described = describe(spec, words);
  try {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    po::command_line_parser parser(std::vector<std::string>(words.begin(), dashes));
    parser.options(described).allow_unregistered().style(static_cast<int>(
        style_t::allow_long | style_t::long_allow_next | style_t::long_allow_adjacent));
    for (const po::basic_option<char>& parsed : parser.run().options) {
      if (parsed.position_key < 0) {
        reader.option(parsed);
        continue;
      }
      for (const std::string& word : parsed.value) {
        // A single dash alone is an argument (standard input); anything longer is no option of any
        // table.
        if (word.size() > 1 && word.front() == '-') {
          reader.unknown(word);
        } else {
          reader.positional_word(word);
        }
      }
    }
    for (auto word = dashes; word != words.end(); ++word) {
      if (word != dashes) reader.positional_word(*word);
    }
  } catch (const po::invalid_command_line_syntax& e) {
    const bool missing = e.kind() == po::invalid_syntax::missing_parameter;
    usage_error(
        e.get_option_name(),
        missing ? "needs a value: " + option_usage(spec, e.get_option_name()) : "takes no value");
  } catch (const po::error& e) {
    usage_error("", e.what());
  }
  reader.finish();
  Arguments args;
  args.positional_ = std::move(reader.positional);
  args.given_ = std::move(reader.given);
  for (const OptionSpec& option : spec.options) {
    args.fallbacks_.emplace(option.name, option.fallback);
  }
  return args;
}

const std::string& Arguments::value(std::string_view option) const {
  if (const auto given = given_.find(option); given != given_.end() && !given->second.empty()) {
    return given->second.back();
  }
  const auto fallback = fallbacks_.find(option);
  TIDEMARK_CHECK(fallback != fallbacks_.end(), "no option " + std::string(option));
  return fallback->second;
}

const std::vector<std::string>& Arguments::values(std::string_view option) const {
  static const std::vector<std::string> kNone;
  const auto given = given_.find(option);
  return given == given_.end() ? kNone : given->second;
}

std::optional<std::uint64_t> Arguments::number(std::string_view option, std::uint64_t least,
                                               std::uint64_t most) const {
  const std::string& text = value(option);
  if (text.empty()) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    usage_error(
        "--" + std::string(option),
        fmt::format("expected a whole number from {} to {}, found '{}'", least, most, text));
  }
  return number;
}

std::optional<Bytes> Arguments::bytes(std::string_view option) const {
  const std::string& text = value(option);
  if (text.empty()) return std::nullopt;
  const std::optional<Bytes> parsed = parse_bytes(text);
  if (!parsed) {
    usage_error(
        "--" + std::string(option),
        "expected an amount of memory such as 80GiB, 512MiB or bytes, found '" + text + "'");
  }
  return parsed;
}

}  // namespace tidemark::cli
