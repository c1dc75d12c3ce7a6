#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "sim/lang/builtins/python.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/library/library.h"
#include "tests/fuzz/lang/reentrant_program.h"

using namespace tidemark;
using namespace tidemark::lang;

// Whatever special methods do to the containers at hand, a program ends by itself or with problems
// that can be printed, and leaves nothing behind. TIDEMARK_FUZZ_SHOW=1 prints the programs.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = reentrant_program({data, size});
  if (std::getenv("TIDEMARK_FUZZ_SHOW") != nullptr) std::printf("%s\n", text.c_str());
  Interp::Options options;
  options.imports.library = library::python();
  options.limits.steps = 20000;
  options.limits.recursion = 60;
  options.limits.sequence = 20000;
  Ref<Heap> heap;
  {
    Python interp(std::move(options));
    heap = Ref<Heap>(&interp.heap());
    try {
      interp.run(std::make_shared<const SourceText>(SourceText{"fuzz.py", text}), "__main__");
    } catch (const UncaughtException& error) {
      render_problems(error.problems());
    } catch (const InputError& error) {
      // A syntax error would be the writer's.
      if (error.problems().empty()) __builtin_trap();
      if (error.problems().front().message.find("expected") == 0) __builtin_trap();
      render_problems(error.problems());
    }
  }
  if (heap->tracked() != 0) __builtin_trap();
  return 0;
}
