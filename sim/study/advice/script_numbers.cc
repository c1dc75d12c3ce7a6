#include "sim/study/advice/script_numbers.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/study/advice/quantity.h"
#include "sim/study/advice/remedy.h"
#include "sim/study/advice/user_files.h"
#include "sim/yaml/quoted.h"

namespace tidemark {
namespace {

using lang::CallExpr;
using lang::ConstantExpr;
using lang::Expr;
using lang::ExprKind;
using lang::Literal;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

/// What writes a number for a name, the one that counts first.
enum class Kind : std::uint8_t { kOption, kArgument, kAssigned, kEntry, kDefault };

struct Number {
  Kind kind = Kind::kOption;
  std::string name;  ///< of an option with its dashes
  std::int64_t value = 0;
  const UserFile* file = nullptr;
  const Expr* literal = nullptr;
};

const ConstantExpr* constant_of(const Expr* node, Literal::Kind kind) {
  if (node == nullptr || node->kind != ExprKind::kConstant) return nullptr;
  const auto* constant = static_cast<const ConstantExpr*>(node);
  return constant->literal.kind == kind ? constant : nullptr;
}

/// "--batch-size" and "Batch_Size" as "batch_size".
std::string plain(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string out(word);
  for (char& c : out) {
    c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// All numbers of a file that have a name.
class Collector {
 public:
  explicit Collector(const UserFile& file) : file_(file), code_(*file.code) {}

  std::vector<Number> all() {
    for (const Expr* node : code_.expressions()) {
      if (node->kind == ExprKind::kCall) of_call(*static_cast<const CallExpr*>(node));
      if (node->kind == ExprKind::kDict) of_dict(*static_cast<const lang::DictExpr*>(node));
    }
    for (const Stmt* statement : code_.statements()) of_statement(*statement);
    return std::move(numbers_);
  }

 private:
  void add(Kind kind, std::string name, const Expr* value) {
    const ConstantExpr* constant = constant_of(value, Literal::Kind::kInt);
    if (constant == nullptr) return;
    numbers_.push_back({kind, std::move(name), constant->literal.integer(), &file_, value});
  }
  [[nodiscard]] std::string text_of(const ConstantExpr& constant) const {
    return std::string(code_.name(constant.literal.text()));
  }

  void of_call(const CallExpr& call) {
    const bool is_option =
        call.callee->kind == ExprKind::kAttribute &&
        code_.name(static_cast<const lang::AttributeExpr*>(call.callee)->name) == "add_argument";
    if (!is_option) {
      for (const lang::Keyword& keyword : call.keywords) {
        if (!keyword.spread)
          add(Kind::kArgument, std::string(code_.name(keyword.name)), keyword.value);
      }
      return;
    }
    const Expr* fallback = keyword_of(code_, call, "default");
    for (const Expr* given : call.arguments) {
      const ConstantExpr* name = constant_of(given, Literal::Kind::kText);
      if (name != nullptr && text_of(*name).starts_with('-'))
        add(Kind::kOption, text_of(*name), fallback);
    }
  }

  void of_dict(const lang::DictExpr& dict) {
    for (std::size_t i = 0; i < dict.keys.size; ++i) {
      if (const ConstantExpr* key = constant_of(dict.keys[i], Literal::Kind::kText))
        add(Kind::kEntry, text_of(*key), dict.values[i]);
    }
  }

  void of_target(const Expr& target, const Expr* value) {
    if (target.kind == ExprKind::kName)
      add(Kind::kAssigned, std::string(code_.name(static_cast<const lang::NameExpr&>(target).name)),
          value);
    if (target.kind == ExprKind::kAttribute)
      add(Kind::kAssigned,
          std::string(code_.name(static_cast<const lang::AttributeExpr&>(target).name)), value);
  }

  void of_statement(const Stmt& statement) {
    if (statement.kind == StmtKind::kAssign) {
      const auto& assigned = static_cast<const lang::AssignStmt&>(statement);
      for (const Expr* target : assigned.targets) of_target(*target, assigned.value);
    } else if (statement.kind == StmtKind::kAnnotated) {
      const auto& annotated = static_cast<const lang::AnnotatedStmt&>(statement);
      of_target(*annotated.target, annotated.value);
    } else if (statement.kind == StmtKind::kFunction) {
      const auto& function = *static_cast<const lang::FunctionStmt&>(statement).function;
      for (const auto* list :
           {&function.parameters->positional, &function.parameters->keyword_only}) {
        for (const lang::Parameter& parameter : *list)
          add(Kind::kDefault, std::string(code_.name(parameter.name->name)), parameter.fallback);
      }
    }
  }

  const UserFile& file_;
  const UserCode& code_;
  std::vector<Number> numbers_;
};

/// The script's files, read once, with what they say.
struct Script {
  ScenarioSource source;
  Scenario scenario;
  std::vector<UserFile> files;
  std::vector<Number> numbers;

  explicit Script(ScenarioSource of) : source(std::move(of)), scenario(read_scenario(source)) {
    files = user_files(source, scenario);
    for (const UserFile& file : files) {
      for (Number& number : Collector(file).all()) numbers.push_back(std::move(number));
    }
  }
};
using ScriptPtr = std::shared_ptr<const Script>;

/// The same words with another number at `at`, or one more option.
ScenarioSource with_words(const ScenarioSource& source, std::vector<std::string> words) {
  std::string list;
  for (const std::string& word : words)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", yaml::quoted(word));
  return overridden(source, {{"script.args", fmt::format("[{}]", list)}});
}

/// An option that the script is given: "--batch-size 4" or "--batch-size=4".
std::optional<Varied> given_option(const ScriptPtr& script, std::string_view name) {
  const std::vector<std::string>& words = script->scenario.script_args;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with('-')) continue;
    const std::size_t equals = word.find('=');
    const std::string key(word.substr(0, equals));
    if (plain(key) != name) continue;
    const bool is_one_word = equals != std::string_view::npos;
    if (!is_one_word && i + 1 >= words.size()) continue;
    const auto value =
        number_in(is_one_word ? word.substr(equals + 1) : std::string_view(words[i + 1]));
    if (!value) continue;
    const std::size_t at = is_one_word ? i : i + 1;
    const std::string before = is_one_word ? key + "=" : std::string();
    return Varied{key, *value, [script, at, before](std::int64_t number) {
                    std::vector<std::string> changed = script->scenario.script_args;
                    changed[at] = before + std::to_string(number);
                    return with_words(script->source, std::move(changed));
                  }};
  }
  return std::nullopt;
}

Varied other_default(const ScriptPtr& script, const Number& number) {
  return {number.name, number.value, [script, name = number.name](std::int64_t value) {
            std::vector<std::string> words = script->scenario.script_args;
            words.push_back(name);
            words.push_back(std::to_string(value));
            return with_words(script->source, std::move(words));
          }};
}

/// Other numbers in the place of these.
Varied other_literals(const ScriptPtr& script, const std::vector<const Number*>& numbers) {
  const Number& first = *numbers.front();
  std::string shown = first.name.empty() ? std::string() : first.name + " at ";
  shown += place_text(*first.file, first.literal->place.begin);
  if (numbers.size() > 1) shown += fmt::format(" and {} more", numbers.size() - 1);
  return {std::move(shown), first.value, [script, numbers](std::int64_t value) {
            std::vector<FileEdits> edits;
            for (const UserFile& file : script->files) {
              FileEdits own{&file, {}};
              for (const Number* number : numbers) {
                if (number->file == &file)
                  own.edits.push_back({number->literal->place, std::to_string(value)});
              }
              edits.push_back(std::move(own));
            }
            const std::optional<Change> change = edit_files(std::move(edits));
            return changed(script->source, *change);
          }};
}

std::optional<Varied> by_name(const ScriptPtr& script, std::string_view word,
                              std::string_view option) {
  const std::string name = plain(word);
  if (auto given = given_option(script, name)) return given;
  std::vector<const Number*> found;
  for (const Number& number : script->numbers) {
    if (plain(number.name) != name) continue;
    if (!found.empty() && number.kind > found.front()->kind) continue;
    if (!found.empty() && number.kind < found.front()->kind) found.clear();
    found.push_back(&number);
  }
  if (found.empty()) return std::nullopt;
  if (found.front()->kind == Kind::kOption) return other_default(script, *found.front());
  const bool is_one = std::ranges::all_of(
      found, [&](const Number* number) { return number->value == found.front()->value; });
  if (is_one) return other_literals(script, found);
  std::string places;
  for (const Number* number : found)
    places += fmt::format("{}{} at {}", places.empty() ? "" : ", ", number->value,
                          place_text(*number->file, number->literal->place.begin));
  throw InputError(
      Problem{{},
              fmt::format("{} {}", option, word),
              fmt::format("the script has several: {}", places),
              fmt::format("name the place: {} {}", option,
                          place_text(*found.front()->file, found.front()->literal->place.begin))});
}

/// The one integer of a line, "gen.py:9".
std::optional<Varied> by_place(const ScriptPtr& script, std::string_view word,
                               std::string_view option) {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || !number_in(word.substr(colon + 1))) return std::nullopt;
  std::vector<Number> found;
  for (const UserFile& file : script->files) {
    for (const Expr* node : file.code->expressions()) {
      const ConstantExpr* constant = constant_of(node, Literal::Kind::kInt);
      if (constant == nullptr) continue;
      const std::string place = place_text(file, node->place.begin);
      const std::string line = place.substr(place.rfind(':'));
      if (place == word || file.path + line == word)
        found.push_back({Kind::kArgument, {}, constant->literal.integer(), &file, node});
    }
  }
  if (found.size() == 1) {
    const auto kept = std::make_shared<const Number>(found.front());
    Varied varied = other_literals(script, {kept.get()});
    varied.with = [kept, with = std::move(varied.with)](std::int64_t value) { return with(value); };
    return varied;
  }
  if (found.empty()) return std::nullopt;
  throw InputError(Problem{{},
                           fmt::format("{} {}", option, word),
                           fmt::format("{} integers are written there", found.size()),
                           "give the number a name, and name that"});
}

}  // namespace

Varied require_varied(const ScenarioSource& source, std::string_view option,
                      std::string_view word) {
  const std::size_t colon = word.rfind(':');
  const bool is_place =
      colon != std::string_view::npos && number_in(word.substr(colon + 1)).has_value();
  const bool is_script = read_scenario(source).is_script;
  const std::optional<Quantity> known =
      is_script && is_place ? std::nullopt : find_quantity(source, word);
  if (known) {
    return {known->path, known->value, [source, path = known->path](std::int64_t value) {
              return overridden(source, {{path, std::to_string(value)}});
            }};
  }
  if (is_script) {
    const std::vector<std::string_view> names = names_of_quantity(word);
    const auto find = [&](const ScriptPtr& script) -> std::optional<Varied> {
      if (auto varied = by_place(script, word, option)) return varied;
      for (const std::string_view name : names) {
        if (auto varied = by_name(script, name, option)) return varied;
      }
      return std::nullopt;
    };
    if (auto varied = find(std::make_shared<const Script>(source))) return *varied;
    // The files that it imports are known once it has run.
    ScenarioSource whole = source;
    whole.imported = try_scenario(source).result.own_files;
    const auto script = std::make_shared<const Script>(std::move(whole));
    if (script->files.size() > 1) {
      if (auto varied = find(script)) return *varied;
    }
    std::set<std::string> words;
    for (const Number& number : script->numbers) words.insert(plain(number.name));
    throw InputError(
        Problem{{},
                fmt::format("{} {}", option, word),
                "neither an option nor the code of the script has an integer of that name",
                did_you_mean(word, std::vector<std::string_view>(words.begin(), words.end()))});
  }
  const Quantity none = require_quantity(source, option, word);  // says why
  return {none.path, none.value, [source](std::int64_t) { return source; }};
}

}  // namespace tidemark
