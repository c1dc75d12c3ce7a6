#include "sim/torch/source/model_source.h"

#include <catch2/catch.hpp>

#include "sim/base/problem.h"
#include "sim/graph/op_graph.h"
#include "tests/unit/torch/sink_log.h"

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::string_view kThree =
    "import torch\n"
    "a = torch.zeros(4, device='cuda')\n"
    "b = torch.zeros(4, device='cuda')\n"
    "c = torch.zeros(4, device='cuda')\n";

/// How many requests went to the sink in one chunk.
std::size_t at_once(std::string text, std::vector<std::pair<std::string, std::string>> files = {}) {
  torch::ModelSource source(program_of(std::move(text), std::move(files)), nullptr);
  Program program;
  SinkLog sink;
  source.run(program, sink);
  return sink.most_requests_at_once();
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

TEST_CASE("Code that handles no exception gives its requests many at a time") {
  CHECK(at_once(std::string(kThree)) == 3);
  CHECK(at_once("# except where noted\n'''try: ... except: ...'''\n" + std::string(kThree)) == 3);
  CHECK(at_once("try:\n    x = 1\nfinally:\n    y = 2\n" + std::string(kThree)) == 3);
}

TEST_CASE("Code that handles exceptions learns of each request's outcome at once") {
  const std::string handler = "try:\n    x = 1\nexcept RuntimeError:\n    pass\n";
  CHECK(at_once(handler + std::string(kThree)) == 1);
  CHECK(at_once("def f():\n    try:\n        pass\n    except:\n        pass\n" +
                std::string(kThree)) == 1);
}

TEST_CASE("An imported file that handles exceptions makes the program one that does") {
  CHECK(at_once("import helper\n" + std::string(kThree),
                {{"helper", "def f():\n    try:\n        pass\n    except:\n        pass\n"}}) ==
        1);
  CHECK(at_once("import helper\n" + std::string(kThree), {{"helper", "word = 'except'\n"}}) == 3);
}

TEST_CASE("A refusal of what was asked for before a file with a handler is no news to it") {
  // Two of the three fit; the handler's file is read after the third was asked for.
  torch::ModelSource source(
      program_of(std::string(kThree) + "import helper\n",
                 {{"helper", "try:\n    x = 1\nexcept RuntimeError:\n    pass\nprint('on')\n"}}),
      nullptr);
  Program program;
  SinkLog sink(40);
  source.run(program, sink);
  CHECK(source.ended_by_oom());
  CHECK(source.oom_message() == "CUDA out of memory.");
}

TEST_CASE("A refused request is an exception that the code can handle") {
  torch::ModelSource source(program_of("import torch\n"
                                       "try:\n"
                                       "    a = torch.zeros(1000, device='cuda')\n"
                                       "except torch.OutOfMemoryError:\n"
                                       "    a = torch.zeros(4, device='cuda')\n"),
                            nullptr);
  Program program;
  SinkLog sink(100);
  source.run(program, sink);
  CHECK_FALSE(source.ended_by_oom());
  CHECK(sink.lines(program) == std::vector<std::string>{"mark model", "alloc 4000", "alloc 16"});
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
