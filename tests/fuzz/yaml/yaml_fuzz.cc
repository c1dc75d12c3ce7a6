#include <cstdint>
#include <memory>
#include <string>

#include "sim/yaml/yaml.h"

using namespace tidemark;

// Any bytes are a document or an InputError, and its problems can be printed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  try {
    const auto source = std::make_shared<const SourceText>(SourceText{"fuzz.yaml", text});
    yaml::describe(yaml::parse(source));
  } catch (const InputError& error) {
    if (error.problems().empty()) __builtin_trap();
    render_problems(error.problems());
  }
  return 0;
}
