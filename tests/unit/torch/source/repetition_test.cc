#include "sim/torch/source/repetition.h"

#include <catch2/catch.hpp>

#include "sim/graph/op_graph.h"
#include "tests/unit/torch/sink_log.h"

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// What the sink is told of turns that are left out.
std::vector<Repeat> repeats_of(std::string body, std::string before = {}) {
  torch::ModelProgram code =
      program_of("import torch\n" + before + "for i in range(100):\n" + std::move(body));
  code.leave_out_repeats = true;
  torch::ModelSource source(std::move(code), nullptr);
  Program program;
  SinkLog sink;
  source.run(program, sink);
  return sink.repeats;
}

}  // namespace

TEST_CASE("Turns that do what turns before them did are left out, up to the last") {
  const std::vector<Repeat> repeats = repeats_of("    x = torch.zeros(8, device='cuda')\n");
  REQUIRE(repeats.size() == 1);
  CHECK(repeats[0].variable == "i");
  CHECK(repeats[0].first == repeats[0].pattern_last + 1);
  const std::int64_t pattern = repeats[0].pattern_last - repeats[0].pattern_first + 1;
  CHECK(repeats[0].last - repeats[0].first + 1 ==
        static_cast<std::int64_t>(repeats[0].times) * pattern);
}

TEST_CASE("A turn that asks for nothing is not worth a look") {
  CHECK(repeats_of("    x = 1\n").empty());
}

TEST_CASE("A loop whose turns ask for memory by their number is executed whole") {
  CHECK(repeats_of("    x = torch.zeros(8 + i, device='cuda')\n").empty());
}

TEST_CASE("A turn that prints is executed") {
  CHECK(repeats_of("    x = torch.zeros(8, device='cuda')\n    print('turn')\n").empty());
}

TEST_CASE("What grows from turn to turn is no repetition") {
  CHECK(repeats_of("    kept.append(torch.zeros(8, device='cuda'))\n", "kept = []\n").empty());
}

TEST_CASE("A remainder of the number makes the pattern as long as its divisor") {
  const std::vector<Repeat> repeats = repeats_of(
      "    if i % 3 == 0:\n        x = torch.zeros(8, device='cuda')\n"
      "    else:\n        x = torch.zeros(16, device='cuda')\n");
  REQUIRE_FALSE(repeats.empty());
  CHECK((repeats[0].pattern_last - repeats[0].pattern_first + 1) % 3 == 0);
}
