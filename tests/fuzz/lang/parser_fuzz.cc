#include <cstdint>
#include <memory>
#include <string>

#include "sim/lang/runtime/interp.h"
#include "sim/lang/syntax/parser.h"

using namespace tidemark;
using namespace tidemark::lang;

// Any bytes parse or have problems with places inside the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source =
      std::make_shared<const SourceText>(SourceText{"fuzz.py", std::string(data, data + size)});
  Names names;
  Ref<Heap> heap = make_ref<Heap>();
  std::vector<Problem> problems;
  const std::shared_ptr<SyntaxTree> tree = parse_module(source, names, problems);
  if (problems.empty()) {
    const Ref<Module> module = make_ref<Module>(*heap, "fuzz");
    resolve(
        *tree, names, [&](Name name) { return module->slot(name); }, problems);
  }
  for (const Problem& problem : problems) {
    if (problem.message.empty() || problem.at.line == 0) __builtin_trap();
  }
  render_problems(problems);
  return 0;
}
