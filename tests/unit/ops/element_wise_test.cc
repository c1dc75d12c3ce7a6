#include "sim/ops/activation_ops.h"
#include "sim/ops/pointwise_ops.h"
#include "tests/support/operator_rig.h"

namespace tidemark::ops {
namespace {

using test::OperatorRig;

TEST_CASE("An operator whose gradient needs the result keeps no copy of the input") {
  OperatorRig rig;
  const Tensor x = rig.leaf({64, 1024});
  CHECK(rig.run([&] { return TensorList{unary(rig.context(), "sqrt", x)}; }, {x}) ==
        "forward +262144\ngrad +262144\nbackward +262144 +262144 -262144\ndrop_incoming "
        "-262144\ndrop_out -262144\n"
        "drop_grads -262144\n");
}

TEST_CASE("An operator in place clones the input that its gradient needs") {
  OperatorRig rig;
  const Tensor x = rig.leaf({8, 16});
  const std::string events = rig.run(
      [&] {
        Context& c = rig.context();
        return TensorList{unary_(c, "square", mul(c, x, number_tensor(c)))};
      },
      {x});
  CHECK(events.find("forward +512 +512") != std::string::npos);
}

TEST_CASE("A product saves a side only when the other side's gradient is wanted") {
  OperatorRig rig;
  const Tensor a = rig.leaf({8, 16});
  const Tensor b = rig.leaf({8, 16}, ScalarType::kFloat32, false);
  const Tensor out = mul(rig.context(), a, b);
  REQUIRE(out->grad_fn);
  CHECK(out->grad_fn->saved.size() == 1);
  CHECK(out->grad_fn->saved[0].tensor->storage == b->storage);
}

TEST_CASE("The broadcast side of a product is summed after both gradients exist") {
  OperatorRig rig;
  const Tensor a = rig.leaf({64, 1024});
  const Tensor b = rig.leaf({1024});
  const std::string events = rig.run([&] { return TensorList{mul(rig.context(), a, b)}; }, {a, b});
  CHECK(events.find("backward +262144 +262144 +4096 -262144") != std::string::npos);
}

TEST_CASE("Integers divided are float32, and compared are bool") {
  OperatorRig rig;
  const Tensor i = rig.leaf({10}, ScalarType::kInt64, false);
  Context& c = rig.context();
  CHECK(div(c, i, number_tensor(c, ScalarType::kInt64)).dtype() == ScalarType::kFloat32);
  CHECK(binary(c, "eq", i, i).dtype() == ScalarType::kBool);
}

TEST_CASE("An operator in place refuses to change the shape of its tensor") {
  OperatorRig rig;
  const Tensor a = rig.leaf({1, 16}, ScalarType::kFloat32, false);
  const Tensor b = rig.leaf({8, 16}, ScalarType::kFloat32, false);
  CHECK_THROWS_WITH(add_(rig.context(), a, b),
                    "output with shape [1, 16] doesn't match the broadcast shape [8, 16]");
}

TEST_CASE("Shapes that do not broadcast are named with both shapes") {
  OperatorRig rig;
  const Tensor a = rig.leaf({3}, ScalarType::kFloat32, false);
  const Tensor b = rig.leaf({4}, ScalarType::kFloat32, false);
  CHECK_THROWS_WITH(add(rig.context(), a, b),
                    "The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
                    "dimension 0; shapes [3] and [4]");
}

TEST_CASE("Dropout of nothing gives back its input, of everything a product with zero") {
  OperatorRig rig;
  const Tensor x = rig.leaf({64, 1024});
  CHECK(dropout(rig.context(), x, 0, true) == x);
  CHECK(dropout(rig.context(), x, 0.5, false) == x);
  CHECK(rig.run([&] { return TensorList{dropout(rig.context(), x, 1, true)}; }, {x})
            .starts_with("forward +4 +262144\n"));
}

TEST_CASE("Dropout makes its mask before its output") {
  OperatorRig rig;
  const Tensor x = rig.leaf({64, 1024});
  CHECK(rig.run([&] { return TensorList{dropout(rig.context(), x, 0.1, true)}; }, {x})
            .starts_with("forward +65536 +262144\n"));
  CHECK_THROWS_WITH(dropout(rig.context(), x, 1.5, true),
                    "dropout probability has to be between 0 and 1, but got 1.5");
}

}  // namespace
}  // namespace tidemark::ops
