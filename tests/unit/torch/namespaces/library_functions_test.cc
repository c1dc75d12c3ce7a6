#include <catch2/catch.hpp>

#include <string>

#include "tests/unit/torch/sink_log.h"

using namespace tidemark;
using namespace tidemark::test;

namespace {

struct Ran {
  std::string printed;
  std::vector<std::string> lines;
};
Ran ran(const std::string& text) {
  Ran out;
  torch::ModelSource source(program_of("import torch\n" + text),
                            [&](std::string_view written) { out.printed += written; });
  Program program;
  SinkLog sink;
  source.run(program, sink);
  out.lines = sink.lines(program);
  return out;
}

}  // namespace

TEST_CASE("combinations() gives as many rows as there are choices") {
  const std::string x = "x = torch.arange(7, device='cuda')\n";
  CHECK(ran(x + "print(*(len(torch.combinations(x, r)) for r in range(5)))\n").printed ==
        "0 7 21 35 35\n");
  CHECK(ran(x + "print(*(len(torch.combinations(x, r, True)) for r in (1, 2, 3)))\n").printed ==
        "7 28 84\n");
  CHECK(ran(x + "print(tuple(torch.combinations(x.cpu(), 3).shape))\n").printed == "(35, 3)\n");
}

TEST_CASE("combinations() asks for its mask, a choice a column, and the columns together") {
  const Ran done = ran("x = torch.zeros(4, device='cuda')\ny = torch.combinations(x)\n");
  // x; arange, mask, comparison (which goes, as the arange does); by column what masked_select
  // needs and 6 floats; 6 pairs, after which all but them go.
  REQUIRE(done.lines.size() > 8);
  CHECK(done.lines[1] == "alloc 16");
  CHECK(done.lines[2] == "alloc 32");
  CHECK(done.lines[3] == "alloc 16");
  CHECK(done.lines[4] == "alloc 16");
  CHECK(done.lines[5] == "free 16");
  CHECK(done.lines[6] == "free 32");
  const std::vector<std::string> end(done.lines.end() - 4, done.lines.end());
  CHECK(end == std::vector<std::string>{"alloc 48", "free 16", "free 24", "free 24"});
}
