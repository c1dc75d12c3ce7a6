#include "sim/torch/source/model_source.h"

#include <catch2/catch.hpp>

#include "sim/base/problem.h"
#include "sim/graph/op_graph.h"
#include "tests/unit/torch/sink_log.h"

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// What a program does on a device of 100 bytes.
struct Ran {
  std::string printed;
  std::vector<std::string> lines;
  bool ended_by_oom = false;
};
Ran ran(std::string text, std::vector<std::pair<std::string, std::string>> files = {}) {
  Ran out;
  torch::ModelSource source(program_of("import torch\n" + std::move(text), std::move(files)),
                            [&](std::string_view written) { out.printed += written; });
  Program program;
  SinkLog sink(100);
  source.run(program, sink);
  out.lines = sink.lines(program);
  out.ended_by_oom = source.ended_by_oom();
  return out;
}

std::string problem_of(std::string text) {
  torch::ModelSource source(program_of(std::move(text)), nullptr);
  Program program;
  SinkLog sink;
  try {
    source.run(program, sink);
  } catch (const InputError& error) {
    const Problem& problem = error.problems().front();
    return problem.message + " | " + problem.hint;
  }
  return {};
}

}  // namespace

TEST_CASE("A refused request is an exception that the code can handle") {
  const Ran done =
      ran("try:\n"
          "    a = torch.zeros(1000, device='cuda')\n"
          "except torch.OutOfMemoryError:\n"
          "    a = torch.zeros(4, device='cuda')\n");
  CHECK_FALSE(done.ended_by_oom);
  CHECK(done.lines == std::vector<std::string>{"mark model", "alloc 4000", "alloc 16"});
}

TEST_CASE("A refused request is handled wherever the program handles it") {
  const std::string huge = "    a = torch.zeros(1000, device='cuda')\n";
  const std::string after = "print('on')\n";
  CHECK(
      ran("import contextlib\nwith contextlib.suppress(RuntimeError):\n" + huge + after).printed ==
      "on\n");
  CHECK(ran("class Guard:\n"
            "    def __enter__(self):\n        pass\n"
            "    def __exit__(self, *error):\n        return True\n"
            "with Guard():\n" +
            huge + after)
            .printed == "on\n");
  CHECK(ran("import helper\ndef f():\n" + huge + "helper.tries(f)\n" + after,
            {{"helper", "def tries(f):\n    try:\n        f()\n    except:\n        pass\n"}})
            .printed == "on\n");
}

TEST_CASE("What a program does on its way out of an unhandled refusal is done") {
  const Ran done =
      ran("b = torch.zeros(4, device='cuda')\n"
          "print('before')\n"
          "def f():\n"
          "    kept = torch.zeros(2, device='cuda')\n"
          "    try:\n"
          "        a = torch.zeros(1000, device='cuda')\n"
          "        print('not reached')\n"
          "    finally:\n"
          "        global b\n"
          "        del b\n"
          "        print('finally')\n"
          "f()\n"
          "print('not reached')\n");
  CHECK(done.ended_by_oom);
  CHECK(done.printed == "before\nfinally\n");
  // What the frames hold is there until the process ends.
  CHECK(done.lines ==
        std::vector<std::string>{"mark model", "alloc 16", "alloc 8", "alloc 4000", "free 16"});
}

TEST_CASE("An error raised from a refusal is one by which memory ended the program") {
  const std::string handler =
      "try:\n"
      "    a = torch.zeros(1000, device='cuda')\n"
      "except RuntimeError as error:\n";
  CHECK(ran(handler + "    raise RuntimeError('too large a batch') from error\n").ended_by_oom);
  CHECK(problem_of("try:\n    1 / 0\nexcept ZeroDivisionError as error:\n"
                   "    raise RuntimeError('no memory') from error\n") ==
        "RuntimeError: no memory | caused by ZeroDivisionError: division by zero at "
        "program.py:2:5");
}

TEST_CASE("A name that torch lacks comes with a way out; one that other objects lack does not") {
  CHECK(problem_of("import torch\ntorch.no_such_thing\n").find("declare it as a custom op") !=
        std::string::npos);
  CHECK(problem_of("import torch\ntorch.zeros(1).no_such_thing()\n")
            .find("declare it as a custom op") != std::string::npos);
  CHECK(problem_of("import torch\ntorch.nn.functional.no_such_thing\n")
            .find("declare it as a custom op") != std::string::npos);
  const std::string plain = problem_of("class Tensor:\n    pass\nTensor().no_such_thing\n");
  CHECK(plain.find("'Tensor' object has no attribute 'no_such_thing'") != std::string::npos);
  CHECK(plain.find("custom op") == std::string::npos);
}

TEST_CASE("An index that is not there is Python's IndexError, whatever operator finds it") {
  const auto caught = [](const std::string& expression) {
    std::string printed;
    torch::ModelSource source(
        program_of("import torch\nx = torch.zeros(2, 3)\ntry:\n    " + expression +
                   "\nexcept IndexError:\n    print('index')\nexcept RuntimeError:\n"
                   "    print('runtime')\n"),
        [&](std::string_view text) { printed += text; });
    Program program;
    SinkLog sink;
    source.run(program, sink);
    return printed;
  };
  CHECK(caught("x.sum(dim=2)") == "index\n");
  CHECK(caught("x.select(0, 5)") == "index\n");
  CHECK(caught("x[0, 0, 0]") == "index\n");
  CHECK(caught("x + torch.zeros(5)") == "runtime\n");
  // Words alone are no index error.
  CHECK(caught("raise RuntimeError('Dimension out of range')") == "runtime\n");
}
