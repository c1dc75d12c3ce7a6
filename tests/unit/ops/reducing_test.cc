#include "sim/ops/cub.h"
#include "sim/ops/embedding_ops.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/softmax_ops.h"
#include "tests/support/operator_rig.h"

namespace tidemark::ops {
namespace {

using test::OperatorRig;

TEST_CASE("A sum split over thread blocks holds partial sums and semaphores while it runs") {
  OperatorRig rig;
  const Tensor x = rig.leaf({64, 32, 128});
  CHECK(rig.run(
               [&] {
                 return TensorList{sum(rig.context(), x, {0, 1}, false, {})};
               },
               {x})
            .starts_with("forward +512 +2097152 +4 -4 -2097152\n"));
}

TEST_CASE("Booleans are counted as int64, cast after the output is made") {
  OperatorRig rig;
  const Tensor x = rig.leaf({64, 32}, ScalarType::kBool, false);
  CHECK(rig.run([&] { return TensorList{sum(rig.context(), x, {1}, false, {})}; }, {})
            .starts_with("forward +512 +16384 -16384\n"));
}

TEST_CASE("The mean of integers is refused in PyTorch's words") {
  OperatorRig rig;
  const Tensor x = rig.leaf({4}, ScalarType::kInt64, false);
  CHECK_THROWS_WITH(mean(rig.context(), x, {}, false),
                    "mean(): could not infer output dtype. Input dtype must be either a floating "
                    "point or complex dtype. Got: int64");
}

TEST_CASE("The scalar of mse_loss keeps the storage of the full shape") {
  OperatorRig rig;
  const Tensor x = rig.leaf({64, 1024});
  const Tensor y = rig.leaf({64, 1024}, ScalarType::kFloat32, false);
  const Tensor loss = mse_loss(rig.context(), x, y, Reduction::kMean);
  CHECK(loss.dim() == 0);
  CHECK(loss->storage->bytes() == 262144);
}

TEST_CASE("Class indices for another number of samples are refused with both shapes") {
  OperatorRig rig;
  const Tensor x = rig.leaf({8, 10});
  const Tensor y = rig.leaf({7}, ScalarType::kInt64, false);
  CHECK_THROWS_WITH(
      cross_entropy(rig.context(), x, y, {}, Reduction::kMean, 0),
      "Expected input batch_size (8) to match target batch_size (7); shapes [8, 10] and [7]");
}

TEST_CASE("Few looked-up rows are added without sorting") {
  OperatorRig rig;
  const Tensor weight = rig.leaf({1000, 16});
  const Tensor few = rig.leaf({3072}, ScalarType::kInt64, false);
  const Tensor many = rig.leaf({3073}, ScalarType::kInt64, false);
  const auto backward_of = [&](const Tensor& i) {
    const std::string events =
        rig.run([&] { return TensorList{embedding(rig.context(), weight, i, {})}; }, {weight});
    const std::size_t from = events.find("backward");
    return events.substr(from, events.find('\n', from) - from);
  };
  CHECK(backward_of(few) == "backward +64000");
  CHECK(backward_of(many).starts_with("backward +24584 +24584 +24584 +"));
}

TEST_CASE("A mask selects nothing, since every value counts as zero") {
  OperatorRig rig;
  const Tensor x = rig.leaf({100, 4}, ScalarType::kFloat32, false);
  const Tensor mask = rig.leaf({100}, ScalarType::kBool, false);
  CHECK(index(rig.context(), x, {mask}).sizes() == Dims{0, 4});
  const Tensor wrong = rig.leaf({99}, ScalarType::kBool, false);
  CHECK_THROWS_WITH(index(rig.context(), x, {wrong}),
                    "The shape of the mask [99] at index 0 does not match the shape of the indexed "
                    "tensor [100, 4] at index 0");
}

TEST_CASE("A radix sort's temporaries follow the generation of the device and the toolkit") {
  OperatorRig hopper;
  CHECK(sort_bytes(hopper.context(), 2304, 8, 8, 64) == 1);
  CHECK(sort_bytes(hopper.context(), 4096, 8, 8, 64) == 83455);
  CHECK(sort_bytes(hopper.context(), 10000, 8, 8, 10) == 167935);
  DeviceSpec device = test::h100();
  device.compute_capability = 80;
  OperatorRig ampere(device);
  CHECK(sort_bytes(ampere.context(), 4096, 8, 8, 64) == 84479);
  hopper.context().set_pytorch(pypi_wheel({2, 4}));
  CHECK(sort_bytes(hopper.context(), 4096, 8, 8, 64) == 84479);
}

}  // namespace
}  // namespace tidemark::ops
