#include "sim/torch/autograd/gradient_streams.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/operator_rig.h"

using namespace tidemark;
using torch::GradientStreams;
using torch::StreamOf;

namespace {

constexpr ops::Device kGpu{0};

/// Writes down what crosses streams: events recorded and waited for, and uses of memory.
struct Log final : ops::Memory, ops::Recorder {
  std::vector<std::string> lines;
  std::uint32_t events = 0;
  ops::RequestNumber requests = 0;

  ops::RequestNumber allocate(Bytes /*bytes*/, ops::Device /*device*/,
                              std::uint16_t /*stream*/) override {
    return requests++;
  }
  void release(ops::RequestNumber /*request*/) override {}
  void set_role(ops::RequestNumber /*request*/, ops::Role /*role*/) override {}
  void use(ops::RequestNumber request, ops::Device /*device*/, std::uint16_t stream) override {
    lines.push_back(fmt::format("use {} on {}", request, stream));
  }
  std::uint32_t add_op(std::string_view /*name*/, std::uint32_t /*module_label*/,
                       const std::vector<const ops::Tensor*>& /*inputs*/,
                       ops::Node* /*node*/) override {
    return 0;
  }
  void set_label(std::uint32_t /*module_label*/, std::string_view /*op*/) override {}
  void launch(ops::Device /*device*/, std::uint64_t /*flops*/, std::uint64_t /*bytes_moved*/,
              ops::KernelClass /*kind*/, ops::ScalarType /*precision*/) override {}
  std::uint32_t record(ops::Device /*device*/, std::uint16_t stream) override {
    lines.push_back(fmt::format("record {} on {}", events, stream));
    return events++;
  }
  void wait(std::uint32_t event, ops::Device /*device*/, std::uint16_t stream) override {
    lines.push_back(fmt::format("{} waits for {}", stream, event));
  }
};

struct Rig {
  Log log;
  DeviceSpec spec = test::h100();
  ops::Context c{log, log, spec};
  GradientStreams streams;
  ops::TensorList slots = ops::TensorList(1);

  ops::Tensor gradient() { return c.empty({4}, ops::ScalarType::kFloat32, kGpu); }
  /// A gradient from `producer` for a node on `consumer`. Sums write down their stream.
  void store(std::uint16_t producer, std::uint16_t consumer) {
    streams.store(c, 0, slots[0], gradient(), StreamOf{kGpu, producer}, StreamOf{kGpu, consumer},
                  [&](ops::Tensor& /*stored*/, ops::Tensor&& /*incoming*/) {
                    log.lines.push_back(fmt::format("sum on {}", c.stream(kGpu)));
                  });
  }
  void run(std::uint16_t consumer) { streams.before_run(c, slots, StreamOf{kGpu, consumer}); }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("On one stream gradients pass without events") {
  Rig rig;
  rig.store(1, 1);
  rig.store(1, 1);
  rig.run(1);
  CHECK(rig.log.lines == Lines{"sum on 1"});
}

TEST_CASE("A gradient from another stream is used on the node's, which waits for it") {
  Rig rig;
  rig.store(1, 2);
  CHECK(rig.log.lines == Lines{"use 0 on 2", "record 0 on 1"});
  rig.log.lines.clear();
  rig.run(2);
  CHECK(rig.log.lines == Lines{"2 waits for 0", "use 0 on 2"});
}

TEST_CASE("Gradients of two streams are summed on the node's own") {
  Rig rig;
  rig.store(1, 2);
  rig.log.lines.clear();
  rig.store(3, 2);
  // The second waits for its producer; the first, which stream 1 made, for its event of before.
  CHECK(rig.log.lines == Lines{"record 1 on 3", "2 waits for 1", "use 1 on 2", "2 waits for 0",
                               "use 0 on 2", "sum on 2"});
  rig.log.lines.clear();
  rig.run(2);
  CHECK(rig.log.lines.empty());
}

TEST_CASE("A sum leaves the current stream as it was") {
  Rig rig;
  rig.c.set_stream(kGpu, 5);
  rig.store(2, 2);
  rig.store(2, 2);
  CHECK(rig.log.lines == Lines{"sum on 2"});
  CHECK(rig.c.stream(kGpu) == 5);
}

TEST_CASE("A node on the host waits for nothing") {
  Rig rig;
  rig.store(1, 2);
  rig.log.lines.clear();
  rig.streams.before_run(rig.c, rig.slots, std::nullopt);
  CHECK(rig.log.lines.empty());
}

TEST_CASE("A backward pass runs on default streams and gives the caller's back, which wait") {
  Rig rig;
  rig.c.set_stream(kGpu, 7);
  {
    torch::CallerStreams caller(rig.c, false);
    CHECK(rig.c.stream(kGpu) == 0);
    caller.leaf(StreamOf{kGpu, 3});
    caller.leaf(StreamOf{kGpu, 3});
    caller.leaf(StreamOf{kGpu, 7});
    caller.finish();
    CHECK(rig.c.stream(kGpu) == 7);
  }
  CHECK(rig.log.lines == Lines{"record 0 on 3", "7 waits for 0"});
}
