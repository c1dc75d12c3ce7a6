#include "sim/torch/emitter/emitter.h"

#include <catch2/catch.hpp>

#include "tests/unit/torch/sink_log.h"

using namespace tidemark;
using namespace tidemark::test;
using torch::Emitter;

namespace {

constexpr ops::Device kGpu{0};

}  // namespace

TEST_CASE("Requests and releases reach the sink in the order in which they were made") {
  Program program;
  SinkLog sink;
  Emitter emitter(program, sink);
  const ops::RequestNumber a = emitter.allocate(100, kGpu, 0);
  emitter.begin_phase("forward 0");
  const ops::RequestNumber b = emitter.allocate(200, kGpu, 0);
  emitter.release(a);
  emitter.release(b);
  CHECK(sink.chunks.size() == 2);
  emitter.flush();
  CHECK(sink.lines(program) == std::vector<std::string>{"alloc 100", "mark forward 0", "alloc 200",
                                                        "free 100", "free 200"});
}

TEST_CASE("A label is the module's path and the operator, each text once") {
  Program program;
  SinkLog sink;
  Emitter emitter(program, sink);
  emitter.set_label(emitter.module_label("layers.0"), "relu");
  emitter.allocate(1, kGpu, 0);
  emitter.allocate(2, kGpu, 0);
  emitter.set_label(0, "relu");
  emitter.allocate(3, kGpu, 0);
  emitter.flush();
  const auto label = [&](std::size_t i) { return sink.chunks[i].front().label; };
  CHECK(program.labels.text(label(0)) == "layers.0: relu");
  CHECK(label(0) == label(1));
  CHECK(program.labels.text(label(2)) == "relu");
}

TEST_CASE("A request keeps the highest role that it was given") {
  Program program;
  SinkLog sink;
  Emitter emitter(program, sink);
  const ops::RequestNumber a = emitter.allocate(1, kGpu, 0);
  CHECK(program.categories[a] == Category::kTemporary);
  emitter.set_role(a, ops::Role::kParameter);
  emitter.set_role(a, ops::Role::kActivation);
  CHECK(program.categories[a] == Category::kParameter);
}

TEST_CASE("A request is answered before the next, and a refusal is an outcome") {
  Program program;
  SinkLog sink(150);
  Emitter emitter(program, sink);
  const ops::RequestNumber a = emitter.allocate(100, kGpu, 0);
  CHECK(sink.chunks.size() == 1);
  CHECK_THROWS_AS(emitter.allocate(100, kGpu, 0), ops::OutOfMemory);
  CHECK(emitter.amounts().refused == 1);
  emitter.release(a);
  emitter.allocate(120, kGpu, 0);
  CHECK(sink.lines(program) ==
        std::vector<std::string>{"alloc 100", "alloc 100", "free 100", "alloc 120"});
}

TEST_CASE("Nothing is emitted once the program has ended") {
  Program program;
  SinkLog sink(150);
  Emitter emitter(program, sink);
  const ops::RequestNumber a = emitter.allocate(100, kGpu, 0);
  emitter.stop();
  emitter.release(a);
  emitter.allocate(1, kGpu, 0);
  emitter.flush();
  CHECK(sink.lines(program) == std::vector<std::string>{"alloc 100"});
}
