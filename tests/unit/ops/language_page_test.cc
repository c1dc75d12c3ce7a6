#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "sim/base/wheel.h"
#include "sim/ops/registry.h"

using namespace tidemark;

namespace {

constexpr std::string_view kBegin = "<!-- ops: begin (generated from the op table) -->\n";
constexpr std::string_view kEnd = "<!-- ops: end -->";

/// The op table as a page: one line an entry, by name. Names that begin with _ are for torch's own
/// modules.
std::string operators_page() {
  std::multimap<std::string, const ops::OpDef*> by_name;
  for (const auto& family : ops::op_families()) {
    for (const ops::OpDef& def : family) {
      if (def.signature.front() == '_' || !def.releases.contain(kDefaultWheel.pytorch)) continue;
      by_name.emplace(std::string(def.signature), &def);
    }
  }
  std::string out =
      "Where: `torch` is torch.NAME, `F` torch.nn.functional.NAME, `method` x.NAME. Types: "
      "`operand` is a\n"
      "tensor or a number, `?` allows None, `*` takes the remaining positional numbers too. An "
      "argument\n"
      "that is not here is refused.\n\n"
      "| operator | where |\n| --- | --- |\n";
  for (const auto& [signature, def] : by_name)
    out += fmt::format("| `{}` | {} |\n", signature, def->where);
  return out;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the page of the language lists every operator of the op table") {
  // TIDEMARK_APPROVE=1 writes the page anew.
  const std::string path = std::string(TIDEMARK_SOURCE_DIR) + "/docs/language.md";
  std::string page = read(path);
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::string expected =
      page.substr(0, begin + kBegin.size()) + operators_page() + page.substr(end);
  if (std::getenv("TIDEMARK_APPROVE") != nullptr) {
    std::ofstream(path) << expected;
    page = expected;
  }
  CHECK(page == expected);
}
