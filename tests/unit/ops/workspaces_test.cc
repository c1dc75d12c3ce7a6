#include <catch2/catch.hpp>

#include "sim/ops/context.h"
#include "tests/support/operator_rig.h"

namespace tidemark::ops {
namespace {

std::size_t count_of(const Context& context) {
  std::size_t count = 0;
  context.for_each_workspace([&](const Tensor&) { ++count; });
  return count;
}

TEST_CASE("cuBLAS's workspace is kept until it is cleared, and taken anew by the next product") {
  constexpr Device kCuda{0};
  test::RecordingMemory memory;
  test::GraphRecorder recorder;
  const DeviceSpec device = test::h100();
  constexpr std::int64_t kBytes = 32 * 1024 * 1024;
  Context context(memory, recorder, device);
  context.set_pytorch(pypi_wheel({2, 11}));  // 2.15 gives it back after every product
  context.cublas_workspace(kCuda);
  context.cublas_workspace(kCuda);
  CHECK(memory.take() == std::vector<std::int64_t>{kBytes});
  context.clear_cublas_workspaces();
  CHECK(memory.take() == std::vector<std::int64_t>{-kBytes});
  CHECK(count_of(context) == 0);
  context.cublas_workspace(kCuda);
  CHECK(memory.take() == std::vector<std::int64_t>{kBytes});
  CHECK(count_of(context) == 1);
}

}  // namespace
}  // namespace tidemark::ops
