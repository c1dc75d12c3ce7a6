#include "sim/device/kernel_times.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "sim/base/problem.h"

namespace tidemark {
namespace {

constexpr std::string_view kHeader = "kind,precision,flops,bytes,op,by,ns\n";

/// 1 TB/s, 100 TFLOP/s in bf16, 50 in tf32, 10 in fp32.
DeviceSpec device() {
  DeviceSpec spec;
  spec.memory_bytes_per_s = 1'000'000'000'000;
  spec.fp32_flops_per_s = 10'000'000'000'000;
  spec.tf32_flops_per_s = 50'000'000'000'000;
  spec.bf16_flops_per_s = 100'000'000'000'000;
  return spec;
}

/// A product of so many microseconds at the peak of bf16, done at a share of it.
std::string product(int us, double share, std::string_view by = "cublas") {
  return fmt::format("matmul,bf16,{},1000,mm,{},{}\n",
                     std::uint64_t{100'000'000} * static_cast<std::uint64_t>(us), by,
                     static_cast<std::int64_t>(us * 1000 / share));
}

ClassShares shares(const std::string& rows) {
  return shares_of(read_kernel_times(std::string(kHeader) + rows, "t.kernels.csv"), device());
}

}  // namespace

TEST_CASE("kernels of a known share give that share") {
  const ClassShares found = shares(product(40, 0.8) + product(400, 0.8) + product(4000, 0.8));
  REQUIRE(found.by_class.size() == 1);
  CHECK(found.by_class[0].kind == CostClass::kMatmul);
  CHECK(found.by_class[0].count == 3);
  CHECK(found.by_class[0].share.value == Approx(800));
  CHECK(found.by_class[0].share.low == Approx(800));
  CHECK(found.by_size.size() == 3);
  CHECK(found.refused.empty());
}

TEST_CASE("one wrong kernel of six changes nothing, and is named") {
  std::string rows;
  for (const int us : {40, 60, 80, 100, 120}) rows += product(us, 0.6);
  const ClassShares slow = shares(rows + product(100, 0.05));
  CHECK(slow.by_class[0].share.value == Approx(600));
  REQUIRE(slow.refused.size() == 1);
  CHECK(slow.refused[0] == "mm in 2000000 ns is 12.0 times slower than the others of its class");
  const ClassShares fast = shares(rows + product(100, 1.38));
  CHECK(fast.by_class[0].share.value == Approx(600));
  REQUIRE(fast.refused.size() == 1);
  CHECK(fast.refused[0] == "mm in 72463 ns is 1.4 times as fast as the card's peak");
}

TEST_CASE("precisions are measured against their own peak") {
  const ClassShares found = shares(
      "matmul,tf32,5000000000,1000,mm,cublas,200000\nmatmul,fp32,1000000000,1000,mm,cublas,"
      "200000\n");
  CHECK(found.by_class[0].share.low == Approx(500));
  CHECK(found.by_class[0].share.high == Approx(500));
}

TEST_CASE("products of cuBLASLt count as those of cuBLAS") {
  CHECK(shares(product(400, 0.8, "cublaslt")).by_class.size() == 1);
}

TEST_CASE("stand-ins, short kernels and what waits for memory do not count") {
  CHECK(shares(product(400, 0.8, "kernel")).by_class.empty());
  CHECK(shares(product(400, 0.8, "\"cublas, square\"")).by_class.empty());
  CHECK(shares("matmul,bf16,100000000,1000,mm,cublas,4000\n").by_class.empty());
  CHECK(shares("matmul,bf16,100000000,900000000,mm,cublas,1000000\n").by_class.empty());
  const ClassShares traffic = shares("elementwise,fp32,0,900000000,add,pytorch,1000000\n");
  CHECK(traffic.by_class[0].share.value == Approx(900));
}

TEST_CASE("a wrong table is told with its line") {
  const auto wrong = [](const std::string& text) {
    try {
      read_kernel_times(text, "t.kernels.csv");
    } catch (const InputError& error) {
      return error.problems().front().path + ": " + error.problems().front().message;
    }
    return std::string();
  };
  CHECK(wrong("kind,precision\nmatmul,bf16\n") == "t.kernels.csv:1: has no column 'flops'");
  CHECK(wrong(std::string(kHeader) + "matmull,bf16,1,1,mm,cublas,5\n") ==
        "t.kernels.csv:2: 'matmull' is no known kind");
  CHECK(wrong(std::string(kHeader) + "matmul,bf16,1,1,mm,cublas,5.5\n") ==
        "t.kernels.csv:2: '5.5' is no ns");
  CHECK(read_kernel_times(std::string(kHeader) + "matmul,bf16,1,2,\"a,\"\"b\",cublas,5\n", "t")[0]
            .op == "a,\"b");
}

}  // namespace tidemark
