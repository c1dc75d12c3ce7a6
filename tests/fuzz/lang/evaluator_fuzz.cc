#include <cstdint>
#include <memory>
#include <string>

#include "sim/lang/builtins/python.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/library/library.h"

using namespace tidemark;
using namespace tidemark::lang;

// Any program ends, by itself or with problems that can be printed, and leaves nothing behind.
// `probe`, which the programs of tests/golden/lifetimes hold their values by, is a list here.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Interp::Options options;
  options.limits.steps = 20000;
  options.limits.recursion = 60;
  options.imports.library = library::python();
  options.limits.sequence = 20000;
  Ref<Heap> heap;
  {
    Python interp(std::move(options));
    heap = Ref<Heap>(&interp.heap());
    try {
      interp.run(std::make_shared<const SourceText>(
                     SourceText{"fuzz.py", "probe = list\n" + std::string(data, data + size)}),
                 "__main__");
    } catch (const InputError& error) {
      if (error.problems().empty()) __builtin_trap();
      render_problems(error.problems());
    }
  }
  if (heap->tracked() != 0) __builtin_trap();
  return 0;
}
