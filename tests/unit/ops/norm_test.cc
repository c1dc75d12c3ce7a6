#include "sim/ops/norm_ops.h"

#include "sim/ops/batch_norm_ops.h"
#include "tests/support/operator_rig.h"

namespace tidemark::ops {
namespace {

using test::OperatorRig;

std::string batch_norm_events(OperatorRig& rig, ScalarType dtype, MemoryFormat format) {
  const Tensor x = rig.leaf({8, 64, 56, 56}, dtype, true, format);
  const Tensor w = rig.leaf({64}, dtype);
  const Tensor b = rig.leaf({64}, dtype);
  const Tensor mean = rig.leaf({64}, dtype, false);
  const Tensor var = rig.leaf({64}, dtype, false);
  return rig.run(
      [&] { return TensorList{batch_norm(rig.context(), x, w, b, mean, var, true, 0.1, 1e-5)}; },
      {x, w, b});
}

TEST_CASE("Batch norm through cuDNN keeps mean and variance in the weight's type") {
  OperatorRig rig;
  CHECK(batch_norm_events(rig, ScalarType::kFloat32, MemoryFormat::kContiguous) ==
        "forward +6422528 +256 +256\n"
        "grad +6422528\n"
        "backward +6422528 +256 +256 -256 -256\n"
        "drop_incoming -6422528\n"
        "drop_out -6422528\n"
        "drop_grads -6422528 -256 -256\n");
}

TEST_CASE(
    "Batch norm of bf16 in channels_last stages its sums and makes the input's gradient last") {
  OperatorRig rig;
  CHECK(batch_norm_events(rig, ScalarType::kBFloat16, MemoryFormat::kChannelsLast) ==
        "forward +3211264 +256 +256 +100352 +8 -8 -100352\n"
        "grad +3211264\n"
        "backward +256 +256 +128 +128 +50176 +8 -8 -50176 +3211264 -256 -256 -256 -256\n"
        "drop_incoming -3211264\n"
        "drop_out -3211264\n"
        "drop_grads -3211264 -128 -128\n");
}

TEST_CASE("Layer norm of very many rows sums the gradients of its weights in blocks") {
  OperatorRig rig;
  const Tensor x = rig.leaf({65537, 64});
  const Tensor w = rig.leaf({64});
  CHECK(rig.run([&] { return TensorList{layer_norm(rig.context(), x, {64}, w, Tensor(), 1e-5)}; },
                {x, w}) ==
        "forward +16777472 +262148 +262148\n"
        "grad +16777472\n"
        "backward +16777472 +256 +524544 +256 +278528 +4 -4 -278528 -256 -524544 -262148 -262148\n"
        "drop_incoming -16777472\n"
        "drop_out -16777472\n"
        "drop_grads -16777472 -256\n");
}

TEST_CASE("RMS norm keeps one value a row") {
  OperatorRig rig;
  const Tensor x = rig.leaf({1024, 512}, ScalarType::kBFloat16);
  const Tensor w = rig.leaf({512}, ScalarType::kBFloat16);
  CHECK(rig.run([&] { return TensorList{rms_norm(rig.context(), x, {512}, w)}; }, {x, w})
            .starts_with("forward +1048576 +4096\n"));
}

TEST_CASE("A normalised shape that is not the input's end is refused with both shapes") {
  OperatorRig rig;
  const Tensor x = rig.leaf({8, 100});
  CHECK_THROWS_WITH(layer_norm(rig.context(), x, {64}, Tensor(), Tensor(), 1e-5),
                    "Given normalized_shape=[64], expected input with shape [*, 64], but got input "
                    "of size[8, 100]");
}

TEST_CASE("Group norm refuses channels that the groups do not divide") {
  OperatorRig rig;
  const Tensor x = rig.leaf({8, 10, 4, 4});
  CHECK_THROWS_WITH(group_norm(rig.context(), x, 4, Tensor(), Tensor(), 1e-5),
                    Catch::Contains("divisible by num_groups") && Catch::Contains("[8, 10, 4, 4]"));
}

}  // namespace
}  // namespace tidemark::ops
