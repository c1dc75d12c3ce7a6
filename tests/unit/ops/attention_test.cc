#include "sim/ops/attention_ops.h"

#include "sim/ops/attention_backends.h"
#include "tests/support/operator_rig.h"

namespace tidemark::ops {
namespace {

using test::OperatorRig;

DeviceSpec with_capability(int capability) {
  DeviceSpec device = test::h100();
  device.compute_capability = capability;
  return device;
}

AttentionBackend chosen(int capability, ScalarType dtype, std::int64_t head_size = 64,
                        bool masked = false) {
  OperatorRig rig(with_capability(capability));
  const Tensor q = rig.leaf({2, 8, 256, head_size}, dtype);
  const Tensor mask = masked ? rig.leaf({2, 1, 256, 256}, dtype, false) : Tensor();
  return select_attention(rig.context(), {q, q, q, mask});
}

TEST_CASE("Half types take cuDNN's attention on Hopper and flash on Ampere") {
  CHECK(chosen(90, ScalarType::kBFloat16) == AttentionBackend::kCudnn);
  CHECK(chosen(80, ScalarType::kBFloat16) == AttentionBackend::kFlash);
}

TEST_CASE("A mask rules flash out, and fp32 takes the memory-efficient kernel") {
  CHECK(chosen(80, ScalarType::kBFloat16, 64, true) == AttentionBackend::kEfficient);
  CHECK(chosen(90, ScalarType::kFloat32) == AttentionBackend::kEfficient);
}

TEST_CASE("Head sizes that no kernel takes, and bf16 on a T4, are computed with plain operators") {
  CHECK(chosen(90, ScalarType::kFloat32, 30) == AttentionBackend::kMath);
  CHECK(chosen(75, ScalarType::kBFloat16) == AttentionBackend::kMath);
  CHECK(chosen(90, ScalarType::kFloat64) == AttentionBackend::kMath);
}

TEST_CASE("With every backend switched off there is no kernel") {
  OperatorRig rig;
  rig.context().backends.cudnn_sdp = rig.context().backends.flash_sdp = false;
  rig.context().backends.mem_efficient_sdp = rig.context().backends.math_sdp = false;
  const Tensor q = rig.leaf({2, 8, 256, 64});
  CHECK_THROWS_WITH(scaled_dot_product_attention(rig.context(), q, q, q, Tensor(), 0, false, false),
                    "No available kernel. Aborting execution.");
}

TEST_CASE("Flash attention cuts the keys only when there is too little work for the device") {
  OperatorRig rig;
  CHECK(flash_splits(rig.context(), 2, 8, 256, 256, 64) == 1);
  CHECK(flash_splits(rig.context(), 2, 8, 256, 256, 128) == 2);
  CHECK(flash_splits(rig.context(), 64, 16, 4096, 4096, 64) == 1);
}

TEST_CASE("The memory-efficient backward's workspace follows the device's tiles") {
  OperatorRig hopper;
  CHECK(efficient_workspace(hopper.context(), true, 2, 8, 256, 256, 64) == 1049600);
  CHECK(efficient_workspace(hopper.context(), true, 2, 8, 256, 256, 128) == 2097664);
  OperatorRig turing(with_capability(75));
  CHECK(efficient_workspace(turing.context(), false, 2, 8, 256, 256, 128) == 2099200);
}

TEST_CASE("The math path of half types computes in fp32 and keeps it") {
  OperatorRig rig;
  Context& c = rig.context();
  c.backends.cudnn_sdp = c.backends.flash_sdp = c.backends.mem_efficient_sdp = false;
  const Tensor q = rig.leaf({2, 8, 64, 64}, ScalarType::kBFloat16);
  const std::string events = rig.run_warm(
      [&] {
        return TensorList{scaled_dot_product_attention(c, q, q, q, Tensor(), 0, false, false)};
      },
      {q});
  CHECK(
      events.starts_with("forward +262144 +262144 +262144 +262144 +262144 +262144 +262144 +65536 "
                         "+1024 +4 -4 -1024 -65536"));
}

}  // namespace
}  // namespace tidemark::ops
