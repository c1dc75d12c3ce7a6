#include "sim/ops/pooling_ops.h"

#include "sim/ops/resampling_ops.h"
#include "tests/support/operator_rig.h"

namespace tidemark::ops {
namespace {

using test::OperatorRig;

PoolOptions window(std::int64_t size) {
  return {{size, size}, {size, size}, {0, 0}, {1, 1}, false};
}

TEST_CASE("Max pooling keeps eight bytes of index for every output") {
  OperatorRig rig;
  const Tensor x = rig.leaf({8, 64, 56, 56});
  CHECK(rig.run([&] { return TensorList{max_pool(rig.context(), x, window(2)).first}; }, {x}) ==
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
              return TensorList{adaptive_avg_pool(rig.context(), x, {1, 1})};
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
  const UnfoldOptions o{{3, 3}, {1, 1}, {1, 1}, {1, 1}};
  CHECK(rig.run([&] { return TensorList{unfold(rig.context(), x, o)}; }, {x}) ==
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
      max_pool(rig.context(), x, window(4)),
      "Given input size: (64x3x3). Calculated output size: (64x0x0). Output size is too small");
}

}  // namespace
}  // namespace tidemark::ops
