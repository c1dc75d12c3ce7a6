#include "sim/ops/registry.h"
#include "tests/support/operator_rig.h"

namespace tidemark::ops {
namespace {

using test::OperatorRig;

/// A window of size x size that moves by its own size.
TensorList max_pool2d(OperatorRig& rig, const Tensor& x, std::int64_t size) {
  return rig.call("max_pool2d(",
                  {x, Dims{size, size}, Dims{size, size}, Dims{0, 0}, Dims{1, 1}, false, false});
}

TEST_CASE("Max pooling keeps eight bytes of index for every output") {
  OperatorRig rig;
  const Tensor x = rig.leaf({8, 64, 56, 56});
  CHECK(rig.run([&] { return max_pool2d(rig, x, 2); }, {x}) ==
        "forward +1605632 +3211264\n"
        "grad +1605632\n"
        "backward +6422528 -3211264\n"
        "drop_incoming -1605632\n"
        "drop_out -1605632\n"
        "drop_grads -6422528\n");
}

TEST_CASE("Adaptive pooling to one value is a mean and keeps nothing") {
  OperatorRig rig;
  const Tensor x = rig.leaf({8, 64, 56, 56});
  CHECK(rig.run(
            [&] {
              return rig.call("adaptive_avg_pool2d(", {x, Dims{1, 1}});
            },
            {x}) ==
        "forward +2048\n"
        "grad +2048\n"
        "backward +6422528\n"
        "drop_incoming -2048\n"
        "drop_out -2048\n"
        "drop_grads -6422528\n");
}

TEST_CASE("The gradient of unfold keeps the memory of the columns it is summed from") {
  OperatorRig rig;
  const Tensor x = rig.leaf({4, 16, 32, 32});
  const Dims ones{1, 1};
  CHECK(rig.run(
            [&] {
              return rig.call("unfold(Tensor input, int[2]", {x, Dims{3, 3}, ones, ones, ones});
            },
            {x}) ==
        "forward +262144 +2359296 -262144\n"
        "grad +2359296\n"
        "backward +2359296\n"
        "drop_incoming -2359296\n"
        "drop_out -2359296\n"
        "drop_grads -2359296\n");
}

TEST_CASE("A window larger than its input is refused with both sizes") {
  OperatorRig rig;
  const Tensor x = rig.leaf({8, 64, 3, 3});
  CHECK_THROWS_WITH(
      max_pool2d(rig, x, 4),
      "Given input size: (64x3x3). Calculated output size: (64x0x0). Output size is too small");
}

}  // namespace
}  // namespace tidemark::ops
