#include "sim/ops/recurrent_ops.h"

#include "sim/ops/contraction_ops.h"
#include "tests/support/operator_rig.h"

namespace tidemark::ops {
namespace {

using test::OperatorRig;

TEST_CASE("An LSTM cell makes two gate tensors, a workspace and both states") {
  OperatorRig rig;
  const Tensor x = rig.leaf({32, 128});
  const Tensor h = rig.leaf({32, 256});
  const Tensor cell = rig.leaf({32, 256});
  const CellParameters p{rig.leaf({1024, 128}), rig.leaf({1024, 256}), Tensor(), Tensor()};
  CHECK(rig.run_warm(
               [&] {
                 HiddenState next = recurrent_cell(rig.context(), CellKind::kLstm, x, {h, cell}, p);
                 return TensorList{std::get<0>(next)};
               },
               {x, h, cell, p.w_ih, p.w_hh})
            .starts_with("forward +131072 +131072 +131072 +32768 +32768\n"));
}

TEST_CASE("A layer of no steps is refused") {
  OperatorRig rig;
  rig.context().backends.cudnn = false;
  const Tensor x = rig.leaf({0, 2, 8});
  const Tensor h = rig.leaf({1, 2, 4}, ScalarType::kFloat32, false);
  const TensorList weights{rig.leaf({4, 8}), rig.leaf({4, 4})};
  RecurrentOptions o;
  o.kind = CellKind::kTanh;
  o.has_biases = false;
  CHECK_THROWS_WITH(recurrent(rig.context(), x, {h, Tensor()}, weights, o),
                    "Expected sequence length to be larger than 0 in RNN");
}

TEST_CASE("einsum copies operands whose dimensions do not merge, then multiplies") {
  OperatorRig rig;
  const Tensor a = rig.leaf({2, 64, 8, 32});
  const Tensor b = rig.leaf({2, 64, 8, 32});
  CHECK(rig.run_warm(
               [&] {
                 return TensorList{einsum(rig.context(), "bthd,bshd->bhts", {a, b})};
               },
               {a, b})
            .starts_with("forward +131072 +131072 +262144\n"));
}

TEST_CASE("einsum says what does not fit") {
  OperatorRig rig;
  const Tensor a = rig.leaf({4, 4});
  const Tensor b = rig.leaf({4, 3});
  CHECK_THROWS_WITH(
      einsum(rig.context(), "ii->i", {b}),
      "einsum(): subscript is repeated for operand 0 but the sizes don't match, 3 != 4");
  CHECK_THROWS_WITH(einsum(rig.context(), "ij,jk", {a}),
                    "einsum(): fewer operands were provided than specified in the equation");
}

}  // namespace
}  // namespace tidemark::ops
