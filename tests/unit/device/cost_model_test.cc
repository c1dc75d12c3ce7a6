#include "sim/device/cost_model.h"

#include <catch2/catch.hpp>

namespace tidemark {
namespace {

/// 1 GB/s, 1 TFLOP/s in fp32, 8 in fp16: round numbers.
DeviceSpec device() {
  DeviceSpec spec;
  spec.memory_bytes_per_s = 1'000'000'000;
  spec.fp32_flops_per_s = 1'000'000'000'000;
  spec.fp16_flops_per_s = 8'000'000'000'000;
  return spec;
}

}  // namespace

TEST_CASE("a kernel lasts as long as the slower of its traffic and its arithmetic") {
  const CostModel model;
  // 850 MB at 1 GB/s x 0.85: 1 s. 1.56e12 operations at 1e12 x 0.78: 2 s.
  CHECK(
      kernel_ns(model, device(), {0, 850'000'000, CostClass::kElementwise, CostPrecision::kFp32}) ==
      1'000'000'000);
  CHECK(kernel_ns(model, device(),
                  {1'560'000'000'000, 850'000'000, CostClass::kMatmul, CostPrecision::kFp32}) ==
        2'000'000'000);
  CHECK(kernel_ns(model, device(),
                  {1'560'000'000'000, 0, CostClass::kMatmul, CostPrecision::kFp16}) == 250'000'000);
  CHECK(kernel_ns(model, device(),
                  {500'000'000'000, 0, CostClass::kReduction, CostPrecision::kFp32}) ==
        1'000'000'000);
}

TEST_CASE("the smallest kernel takes its floor, and so does one on a device without figures") {
  const CostModel model;
  CHECK(kernel_ns(model, device(), {1, 1, CostClass::kElementwise, CostPrecision::kFp32}) ==
        model.kernel_floor_ns);
  CHECK(kernel_ns(model, DeviceSpec(),
                  {1U << 30U, 1U << 30U, CostClass::kMatmul, CostPrecision::kTf32}) ==
        model.kernel_floor_ns);
}

TEST_CASE("a precision without a figure runs at the fp32 rate, fp64 at half of it") {
  const CostModel model;
  const auto matmul = [&](CostPrecision precision) {
    return kernel_ns(model, device(), {780'000'000'000, 0, CostClass::kMatmul, precision});
  };
  CHECK(matmul(CostPrecision::kTf32) == 1'000'000'000);
  CHECK(matmul(CostPrecision::kBf16) == 1'000'000'000);
  CHECK(matmul(CostPrecision::kFp64) == 2'000'000'000);
}

TEST_CASE("products that are summed up in fp16 run at the card's own rate for them") {
  const CostModel model;
  DeviceSpec geforce = device();
  const Cost product{1'560'000'000'000, 0, CostClass::kMatmul, CostPrecision::kFp16Accumulated};
  CHECK(kernel_ns(model, geforce, product) == 250'000'000);  // no figure: as fp16
  geforce.fp16_accumulated_flops_per_s = 16'000'000'000'000;
  CHECK(kernel_ns(model, geforce, product) == 125'000'000);
}

TEST_CASE("a turned convolution moves its operands twice more, beside its own time") {
  const CostModel model;
  // 6e11 operations at 8e12 x 0.6: 125 ms. 85 MB at 1 GB/s x 0.85 are 100 ms, twice that 200 ms.
  Cost convolution{600'000'000'000, 85'000'000, CostClass::kConvolution, CostPrecision::kFp16};
  CHECK(kernel_ns(model, device(), convolution) == 125'000'000);
  convolution.is_turned = true;
  CHECK(kernel_ns(model, device(), convolution) == 325'000'000);
  // Without tensor cores for TF32 nothing is turned.
  convolution.precision = CostPrecision::kTf32;
  CHECK(kernel_ns(model, device(), convolution) == 1'000'000'000);
  DeviceSpec ampere = device();
  ampere.tf32_flops_per_s = 4'000'000'000'000;
  CHECK(kernel_ns(model, ampere, convolution) == 450'000'000);
}

TEST_CASE("copies to and from the host go over its link") {
  CostModel model;
  model.host_link_bytes_per_s = 2'000'000'000;
  CHECK(kernel_ns(model, device(),
                  {0, 2'000'000'000, CostClass::kCopyHostToDevice, CostPrecision::kFp32}) ==
        1'000'000'000);
  CHECK(kernel_ns(model, device(),
                  {0, 2'000'000'000, CostClass::kCopyDeviceToHost, CostPrecision::kFp32}) ==
        1'000'000'000);
  CHECK(kernel_ns(model, device(),
                  {0, 850'000'000, CostClass::kCopyDeviceToDevice, CostPrecision::kFp32}) ==
        1'000'000'000);
}

TEST_CASE("times beyond 64 bits of intermediate product are right") {
  const CostModel model;
  // 850 GB at 0.85 GB/s: 1000 s.
  CHECK(kernel_ns(model, device(),
                  {0, 850'000'000'000, CostClass::kElementwise, CostPrecision::kFp32}) ==
        1'000'000'000'000);
}

TEST_CASE("driver calls take a call's time and each page's") {
  const CostModel model;
  CHECK(driver_call_ns(model, DriverCall::kMalloc, 2 * kMiB) ==
        model.malloc_ns + model.malloc_page_ns);
  CHECK(driver_call_ns(model, DriverCall::kMalloc, 2 * kMiB + 1) ==
        model.malloc_ns + 2 * model.malloc_page_ns);
  CHECK(driver_call_ns(model, DriverCall::kFree, 20 * kMiB) ==
        model.free_ns + 10 * model.free_page_ns);
  CHECK(driver_call_ns(model, DriverCall::kMap, 2 * kMiB) == model.map_ns);
  CHECK(driver_call_ns(model, DriverCall::kUnmap, 2 * kMiB) == model.unmap_ns);
  CHECK(driver_call_ns(model, DriverCall::kReserve, kGiB) == model.reserve_ns);
}

}  // namespace tidemark
