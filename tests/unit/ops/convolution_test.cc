#include "sim/ops/convolution_ops.h"

#include "sim/ops/shape_ops.h"
#include "tests/support/operator_rig.h"

namespace tidemark::ops {
namespace {

using test::OperatorRig;

ConvolutionOptions padded(std::int64_t padding, std::int64_t groups = 1) {
  ConvolutionOptions o;
  o.stride = {1, 1};
  o.padding = {padding, padding};
  o.dilation = {1, 1};
  o.output_padding = {0, 0};
  o.groups = groups;
  return o;
}

std::string run(OperatorRig& rig, const Dims& input, const Dims& weight,
                const ConvolutionOptions& o, ScalarType dtype = ScalarType::kFloat32,
                bool input_wants_gradient = true) {
  const Tensor x = rig.leaf(input, dtype, input_wants_gradient);
  const Tensor w = rig.leaf(weight, dtype);
  return rig.run_warm([&] { return TensorList{convolution(rig.context(), x, w, Tensor(), o, 2)}; },
                      {x, w});
}

TEST_CASE(
    "A convolution through cuDNN allocates its output, then the gradients of input and weight") {
  OperatorRig rig;
  CHECK(run(rig, {8, 16, 32, 32}, {32, 16, 3, 3}, padded(1)) ==
        "forward +1048576\n"
        "grad +1048576\n"
        "backward +524288 +18432\n"
        "drop_incoming -1048576\n"
        "drop_out -1048576\n"
        "drop_grads -524288 -18432\n");
}

TEST_CASE("An input that wants no gradient gets none") {
  OperatorRig rig;
  CHECK(run(rig, {8, 16, 32, 32}, {32, 16, 3, 3}, padded(1), ScalarType::kFloat32, false) ==
        "forward +1048576\n"
        "grad +1048576\n"
        "backward +18432\n"
        "drop_incoming -1048576\n"
        "drop_out -1048576\n"
        "drop_grads -18432\n");
}

TEST_CASE("A native depthwise convolution makes the weight's gradient first") {
  OperatorRig rig;
  CHECK(run(rig, {8, 16, 32, 32}, {16, 1, 3, 3}, padded(1, 16)) ==
        "forward +524288\n"
        "grad +524288\n"
        "backward +576 +524288\n"
        "drop_incoming -524288\n"
        "drop_out -524288\n"
        "drop_grads -524288 -576\n");
}

TEST_CASE(
    "Without cuDNN the patches of one sample stand beside the output for the length of the call") {
  OperatorRig rig;
  rig.context().backends.cudnn = false;
  CHECK(run(rig, {8, 16, 32, 32}, {32, 16, 3, 3}, padded(1)) ==
        "forward +1048576 +589824 -589824\n"
        "grad +1048576\n"
        "backward +524288 +589824 +18432 -589824\n"
        "drop_incoming -1048576\n"
        "drop_out -1048576\n"
        "drop_grads -524288 -18432\n");
}

TEST_CASE("bf16 convolutions of a T4 do not go through cuDNN") {
  DeviceSpec t4 = test::h100();
  t4.compute_capability = 75;
  OperatorRig rig(t4);
  CHECK(run(rig, {8, 16, 32, 32}, {32, 16, 3, 3}, padded(1), ScalarType::kBFloat16)
            .starts_with("forward +524288 +294912 -294912\n"));
}

TEST_CASE("Uneven 'same' padding pads the input first, and the padded input is what is kept") {
  OperatorRig rig;
  const Tensor x = rig.leaf({2, 4, 9, 9});
  const Tensor w = rig.leaf({8, 4, 4, 4});
  const std::string events = rig.run_warm(
      [&] {
        return TensorList{
            convolution_padded_by_name(rig.context(), x, w, Tensor(), padded(0), "same", 2)};
      },
      {x, w});
  CHECK(events ==
        "forward +3200 +5184\n"
        "grad +5184\n"
        "backward +3200 +2048 -3200 +2592 -3200\n"
        "drop_incoming -5184\n"
        "drop_out -5184\n"
        "drop_grads -2592 -2048\n");
}

TEST_CASE("Channels that do not fit the weight are told in PyTorch's words, with both shapes") {
  OperatorRig rig;
  const Tensor x = rig.leaf({8, 3, 32, 32});
  const Tensor w = rig.leaf({32, 16, 3, 3});
  CHECK_THROWS_WITH(convolution(rig.context(), x, w, Tensor(), padded(1), 2),
                    "Given groups=1, weight of size [32, 16, 3, 3], expected input[8, 3, 32, 32] "
                    "to have 16 channels, but got 3 channels instead");
}

}  // namespace
}  // namespace tidemark::ops
