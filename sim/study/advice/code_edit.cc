#include "sim/study/advice/code_edit.h"

#include <cctype>

#include "sim/run/literals.h"

namespace tidemark {

bool has_own_loop(const Scenario& scenario) {
  return !scenario.train && !scenario.is_script && scenario.loop;
}

Override loop_with(const Scenario& scenario, std::size_t begin, std::size_t end,
                   std::string_view replacement) {
  std::string after = scenario.loop->text;
  after.replace(begin, end - begin, replacement);
  return {"loop", quoted_literal(after)};
}

std::size_t closing_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[' || text[at] == '{') ++depth;
    if ((text[at] == ')' || text[at] == ']' || text[at] == '}') && --depth == 0) return at;
  }
  return std::string_view::npos;
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace tidemark
