#include <algorithm>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/completion_values.h"
#include "sim/cli/program.h"

namespace tidemark::cli {

namespace {

/// What a shell offers for a value.
struct Offer {
  enum class Kind : std::uint8_t { kNothing, kFiles, kFolders, kWords, kAsked };
  Kind kind = Kind::kNothing;
  std::vector<std::string_view> words;
  std::string_view option = {};  ///< of kAsked: the program is asked when the value is typed
};

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  names.reserve(commands().size());
  for (const auto& command : commands()) names.push_back(command->spec().name);
  return names;
}

/// `stands_for`: what stands for the value in help.
Offer offer_for(std::string_view stands_for) {
  using Kind = Offer::Kind;
  if (std::vector<std::string_view> choices = choices_of(stands_for); !choices.empty())
    return {Kind::kWords, std::move(choices)};
  if (stands_for == "FILE") return {Kind::kFiles, {}};
  if (stands_for == "FOLDER") return {Kind::kFolders, {}};
  if (stands_for == "ID") return {Kind::kWords, device_names_to_offer()};
  return {};
}

Offer offer_for(const OptionSpec& option) {
  for (const std::string_view asked : {"set", "over", "variant", "model"}) {
    const bool is_it = option.name == asked || (option.name.starts_with(asked) &&
                                                option.name.substr(asked.size(), 1) == "-");
    if (is_it && option.value != "ID") return {Offer::Kind::kAsked, {}, asked};
  }
  return offer_for(option.value);
}

/// Arguments are files but where their name says otherwise.
Offer offer_for(const ArgumentSpec& argument) {
  if (argument.name == "COMMAND" && !argument.repeats)
    return {Offer::Kind::kWords, command_names()};
  if (argument.name == "PART") return {};
  Offer offer = offer_for(argument.name);
  return offer.kind == Offer::Kind::kNothing ? Offer{Offer::Kind::kFiles, {}} : offer;
}

/// The words and files that may stand where no option does.
Offer offer_for_arguments(const CommandSpec& spec) {
  Offer all;
  for (const ArgumentSpec& argument : spec.arguments) {
    const Offer offer = offer_for(argument);
    all.words.insert(all.words.end(), offer.words.begin(), offer.words.end());
    if (all.kind != Offer::Kind::kFiles) all.kind = offer.kind;
  }
  return all;
}

/// `text` with a backslash before each of `special`.
std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// In single quotes, for bash and zsh.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out + "'";
}

/// What the scripts begin with.
std::string first_lines(std::string_view shell, std::string_view how) {
  return fmt::format("# Completion of tidemark {} for {}, made by `tidemark completion {}`. {}\n",
                     version(), shell, shell, how);
}

std::string bash_offer(const Offer& offer) {
  std::string out;
  if (offer.kind == Offer::Kind::kFiles) out += "what=files ";
  if (offer.kind == Offer::Kind::kFolders) out += "what=folders ";
  if (offer.kind == Offer::Kind::kAsked) out += fmt::format("what=asked option={} ", offer.option);
  if (!offer.words.empty()) out += "words=" + in_quotes(joined(offer.words, " ")) + " ";
  return out.empty() ? "what=nothing " : out;
}

std::string bash_script() {
  std::string out =
      first_lines("bash", "Source it, or install it as bash-completion/completions/tidemark.");
  out += R"bash(_tidemark() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= what= words=
  local option= key=
  # Words are cut at '=' too: --format=te is three of them, --set device=rtx four.
  local equals=0
  if [[ $current == '=' ]]; then
    current=
    equals=$COMP_CWORD
  elif [[ $previous == '=' ]]; then
    equals=$((COMP_CWORD - 1))
  fi
  if ((equals > 0)); then
    previous=${COMP_WORDS[equals - 1]}
    if [[ $previous != -* ]]; then
      key=$previous=
      previous=${COMP_WORDS[equals - 2]}
      [[ $previous == '=' ]] && previous=${COMP_WORDS[equals - 3]}
    fi
  fi
  local first=1
  while [[ ${COMP_WORDS[first]} == --max-* ]]; do
    ((first += 2))
    [[ ${COMP_WORDS[first - 1]} == '=' ]] && ((first += 1))
  done
  ((COMP_CWORD > first)) && command=${COMP_WORDS[first]}
  case $command in
)bash";
  std::vector<std::string> first;
  for (const std::string_view name : command_names()) first.emplace_back(name);
  for (const OptionSpec& option : program_options())
    first.push_back(fmt::format("--{}", option.name));
  out += fmt::format("    '') words={} ;;\n", in_quotes(fmt::format("{}", fmt::join(first, " "))));
  for (const auto& command : commands()) {
    const CommandSpec spec = command->spec();
    out += fmt::format("    {})\n      case $previous in\n", spec.name);
    // Options that offer the same share a line.
    std::vector<std::pair<std::string, std::string>> lines;
    std::vector<std::string> names{"--help"};
    for (const OptionSpec& option : spec.options) {
      std::string name = fmt::format("--{}", option.name);
      names.push_back(name);
      if (option.value.empty()) continue;
      if (option.letter != 0) name += fmt::format(" | -{}", option.letter);
      const std::string offer = bash_offer(offer_for(option));
      const auto same = std::find_if(lines.begin(), lines.end(),
                                     [&](const auto& line) { return line.second == offer; });
      if (same == lines.end()) {
        lines.emplace_back(std::move(name), offer);
      } else {
        same->first += " | " + name;
      }
    }
    for (const auto& [options, offer] : lines)
      out += fmt::format("        {}) {};;\n", options, offer);
    out += fmt::format(
        "        *)\n          if [[ $current == -* ]]; then\n            words={}\n          "
        "else\n"
        "            {}\n          fi\n          ;;\n      esac\n      ;;\n",
        in_quotes(fmt::format("{}", fmt::join(names, " "))), bash_offer(offer_for_arguments(spec)));
  }
  out += R"bash(  esac
  COMPREPLY=()
  if [[ $what == asked ]]; then
    local file= each
    for each in "${COMP_WORDS[@]:first + 1}"; do
      [[ -z $file && -f $each ]] && file=$each
    done
    # One a line: a variant's name may have spaces.
    while IFS= read -r each; do
      each=${each#"$key"}
      [[ $each == "${current//\\/}"* ]] && COMPREPLY+=("${each// /\\ }")
    done < <("${COMP_WORDS[0]}" completion values --of "$option" --in "$file" --so-far "$key${current//\\/}" 2>/dev/null)
    # A key goes on with its value.
    [[ $option == set && -z $key ]] && compopt -o nospace 2>/dev/null
  fi
  case $what in
    files) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    folders) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
  esac
  # Slashes behind folders, and names quoted; there is no completion under way where a test calls this.
  [[ $what == files || $what == folders ]] && compopt -o filenames 2>/dev/null
  local word
  for word in $words; do
    [[ $word == "$current"* ]] && COMPREPLY+=("$word")
  done
  return 0
}
complete -F _tidemark tidemark
)bash";
  return out;
}

/// ":FILE:_files", what follows the description of an option or an argument.
std::string zsh_action(std::string_view stands_for, const Offer& offer) {
  std::string action = ":" + escaped(stands_for, ":\\") + ":";
  switch (offer.kind) {
    case Offer::Kind::kNothing:
      return action + " ";
    case Offer::Kind::kFiles:
      return action + "_files";
    case Offer::Kind::kFolders:
      return action + "_files -/";
    case Offer::Kind::kWords:
      return action + "(" + joined(offer.words, " ") + ")";
    case Offer::Kind::kAsked:
      return action + fmt::format(" _tidemark_values {}", offer.option);
  }
  return action;
}

std::string zsh_option(const OptionSpec& option, const std::string& name) {
  std::string spec = option.repeats ? "*" : "";
  spec += name + (option.value.empty() ? "" : name.starts_with("--") ? "=" : "+");
  spec += "[" + escaped(option.help, "[]:\\") + "]";
  if (!option.value.empty()) spec += zsh_action(option.value, offer_for(option));
  return in_quotes(spec);
}

std::string zsh_script() {
  std::string out = "#compdef tidemark\n";
  out += first_lines("zsh", "Install it as _tidemark in a folder of $fpath, or source it.");
  out += R"zsh(# The program is asked: what it offers depends on the scenario of the line.
_tidemark_values() {
  local each file
  for each in $words; do [[ -z $file && -f $each ]] && file=$each; done
  local -a offered
  offered=(${(f)"$(${_tidemark_program:-tidemark} completion values --of $1 --in "$file" --so-far "$PREFIX" 2>/dev/null)"})
  if [[ $1 == set && $PREFIX != *=* ]]; then compadd -S '' -- $offered; else compadd -- $offered; fi
}
)zsh";
  out += "_tidemark() {\n  local context state line\n  local -a listed\n  listed=(\n";
  for (const auto& command : commands()) {
    const CommandSpec spec = command->spec();
    out += "    " + in_quotes(fmt::format("{}:{}", spec.name, escaped(spec.summary, ":\\"))) + "\n";
  }
  out += "  )\n  _arguments -C";
  for (const OptionSpec& option : program_options())
    out += " " + zsh_option(option, fmt::format("--{}", option.name));
  out += R"zsh( '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command listed ;;
    argument)
      case $words[1] in
)zsh";
  for (const auto& command : commands()) {
    const CommandSpec spec = command->spec();
    out +=
        fmt::format("        {})\n          _arguments '--help[explain this command]'", spec.name);
    for (const OptionSpec& option : spec.options) {
      out += " \\\n            " + zsh_option(option, fmt::format("--{}", option.name));
      if (option.letter != 0)
        out += " \\\n            " + zsh_option(option, fmt::format("-{}", option.letter));
    }
    std::size_t place = 0;
    for (const ArgumentSpec& argument : spec.arguments) {
      ++place;
      out += " \\\n            " +
             in_quotes((argument.repeats ? std::string("*") : std::to_string(place)) +
                       zsh_action(argument.name, offer_for(argument)));
    }
    out += "\n          ;;\n";
  }
  out += R"zsh(      esac
      ;;
  esac
}
if [[ ${funcstack[1]-} == _tidemark ]]; then
  _tidemark "$@"
elif (( ${+functions[compdef]} )); then
  compdef _tidemark tidemark
fi
)zsh";
  return out;
}

std::string fish_quoted(std::string_view text) { return "'" + escaped(text, "'\\") + "'"; }

std::string fish_offer(const Offer& offer) {
  switch (offer.kind) {
    case Offer::Kind::kNothing:
      return " -x";
    case Offer::Kind::kFiles:
      return " -r -F";
    case Offer::Kind::kFolders:
      return " -x -a '(__fish_complete_directories)'";
    case Offer::Kind::kWords:
      return " -x -a " + fish_quoted(joined(offer.words, " "));
    case Offer::Kind::kAsked:
      return fmt::format(" -x -a '(__tidemark_values {})'", offer.option);
  }
  return {};
}

std::string fish_script() {
  std::string out =
      first_lines("fish", "Install it as fish/vendor_completions.d/tidemark.fish, or source it.");
  out += R"fish(# The program is asked: what it offers depends on the scenario of the line.
function __tidemark_values
  set -l typed (commandline -opc)
  set -l file ''
  for each in $typed[2..-1]
    if test -z "$file" -a -f "$each"
      set file $each
    end
  end
  $typed[1] completion values --of $argv[1] --in "$file" --so-far (commandline -ct) 2>/dev/null
end
)fish";
  out += "complete -c tidemark -f\n";
  for (const OptionSpec& option : program_options())
    out += fmt::format("complete -c tidemark -n __fish_use_subcommand -l {}{} -d {}\n", option.name,
                       option.value.empty() ? "" : " -x", fish_quoted(option.help));
  for (const auto& command : commands()) {
    const CommandSpec spec = command->spec();
    out += fmt::format("complete -c tidemark -n __fish_use_subcommand -a {} -d {}\n", spec.name,
                       fish_quoted(spec.summary));
    const std::string begin =
        fmt::format("complete -c tidemark -n '__fish_seen_subcommand_from {}'", spec.name);
    out += begin + " -l help -d 'explain this command'\n";
    for (const OptionSpec& option : spec.options) {
      out += fmt::format("{} -l {}", begin, option.name);
      if (option.letter != 0) out += fmt::format(" -s {}", option.letter);
      if (!option.value.empty()) out += fish_offer(offer_for(option));
      out += " -d " + fish_quoted(option.help) + "\n";
    }
    const Offer offer = offer_for_arguments(spec);
    if (offer.kind == Offer::Kind::kFiles) out += begin + " -F\n";
    if (!offer.words.empty()) out += begin + " -a " + fish_quoted(joined(offer.words, " ")) + "\n";
  }
  return out;
}

class CompletionCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {"completion",
            "print a script that completes command lines in a shell",
            "Commands, options, the values of those that have a choice, devices and files; keys, "
            "values, variants and parameters of the scenario on the line. An installed tidemark "
            "has its scripts where the shells look for them. The scripts ask for `values`.",
            {{"bash|zsh|fish|values", "the shell"}},
            {{"of", "set|over|variant|model|device", "values: the option that is typed", "set"},
             {"in", "FILE", "values: the scenario", ""},
             {"so-far", "TEXT", "values: what is typed of it", ""}},
            {{"tidemark completion bash >~/.local/share/bash-completion/completions/tidemark",
              "for bash; or source it"},
             {"tidemark completion zsh >~/.zfunc/_tidemark", "a folder of $fpath"},
             {"tidemark completion fish >~/.config/fish/completions/tidemark.fish", "for fish"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    const std::string& shell = args.positional()[0];
    if (shell == "values") {
      for (const std::string& each :
           values_to_offer({args.value("of"), args.value("in"), args.value("so-far")}))
        out.print("{}\n", each);
      return ExitCode::kDone;
    }
    out.write(shell == "bash" ? bash_script() : shell == "zsh" ? zsh_script() : fish_script());
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace tidemark::cli
