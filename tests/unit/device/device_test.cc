#include "sim/device/device.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "sim/base/problem.h"

namespace tidemark {
namespace {

constexpr const char* kSmall =
    "schema_version: 1\n"
    "id: small\n"
    "name: Small\n"
    "compute_capability: \"8.6\"\n"
    "total_memory_bytes: 8GiB\n"
    "context_bytes: 100MiB\n"
    "sm_count: 28\n"
    "max_threads_per_sm: 1536\n"
    "smem_optin_bytes: 101376\n"
    "l2_bytes: 3145728\n"
    "bandwidth_bytes_per_s: 360000000000\n"
    "peak_flops: {fp32: 12700000000000, fp16: 25500000000000}\n";

Device parse(const std::string& text) {
  return parse_device(std::make_shared<SourceText>(SourceText{"small.yaml", text}));
}

std::string problems_of(const std::string& text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

}  // namespace

TEST_CASE("every device of the program is whole, and its names are its own") {
  std::set<std::string> names;
  for (const std::string_view id : device_ids()) {
    CAPTURE(std::string(id));
    const Device device = load_device(id);
    CHECK(device.spec.id == id);
    CHECK(device.spec.total_bytes > device.spec.context_bytes);
    CHECK(device.spec.memory_bytes_per_s > 0);
    CHECK(device.spec.fp32_flops_per_s > 0);
    CHECK(device.spec.compute_capability >= 60);
    CHECK_FALSE(device.sources.empty());
    REQUIRE(device.confidence.size() == 3);
    static const std::set<std::string> kBases = {
        "verified", "mib-verified", "verified-by-nvml", "sibling", "rule", "unverified", "guess"};
    CHECK(kBases.contains(device.confidence[0].second));
    // NVML's total is the larger one: the driver's own share counts.
    if (device.nvidia_smi_bytes != 0) CHECK(device.nvidia_smi_bytes > device.spec.total_bytes);
    CHECK(device.spec.total_bytes * 10 >
          static_cast<Bytes>(device.marketing_gb) * 1'000'000'000 * 9);
    CHECK(names.insert(device.spec.id).second);
    for (const std::string& alias : device.aliases) {
      CHECK(names.insert(alias).second);
      CHECK(load_device(alias).spec.id == id);
    }
  }
}

TEST_CASE("the H100's figures are those of its file") {
  const DeviceSpec spec = load_device("h100").spec;
  CHECK(spec.id == "h100-sxm-80gb");
  CHECK(spec.name == "NVIDIA H100 80GB HBM3");
  CHECK(spec.total_bytes == 85'017'755'648);
  CHECK(spec.context_bytes == 132 * 2048 * 2 * kKiB);
  CHECK(spec.compute_capability == 90);
  CHECK(spec.shared_memory_per_block_optin == 227 * kKiB);
  CHECK(spec.shared_memory_per_sm == 228 * kKiB);
  CHECK(spec.bf16_flops_per_s == 989'000'000'000'000);
  CHECK(load_device("t4").spec.tf32_flops_per_s == 0);
}

TEST_CASE("an unknown device is refused, with the nearest name or with all") {
  CHECK_THROWS_WITH(load_device("h1000"), "error: unknown device 'h1000'; did you mean 'h100'?\n");
  CHECK_THROWS_WITH(load_device("quantum"), Catch::Contains("`tidemark devices` lists the"));
}

TEST_CASE("a device file of one's own is read by its path") {
  const std::string path =
      (std::filesystem::temp_directory_path() / "tidemark-device-test.yaml").string();
  std::ofstream(path) << kSmall;
  CHECK(load_device(path).spec.total_bytes == 8 * kGiB);
  const std::size_t slash = path.rfind('/');
  const std::string folder = path.substr(0, slash);
  const ReadScope scope({folder});
  CHECK(load_device("./" + path.substr(slash + 1), scope, folder, {}, "device").spec.id == "small");
  CHECK_THROWS_WITH(load_device("/etc/device.yaml", scope, folder, {}, "device"),
                    Catch::Contains("device: '/etc/device.yaml' lies outside of what may be read"));
  std::remove(path.c_str());
  CHECK_THROWS_AS(load_device(path), std::runtime_error);
}

TEST_CASE("all that is wrong in a device file is told at once") {
  CHECK(problems_of(kSmall) == "none");
  CHECK(
      problems_of("id: x\nl2_bytes: 1 apple\nname: [a]\ncompute_capability: nine\n") ==
      "small.yaml:1:1: error: 'schema_version' is missing\n    id: x\n    ^\n"
      "small.yaml:1:1: error: 'total_memory_bytes' is missing\n    id: x\n    ^\n"
      "small.yaml:1:1: error: 'context_bytes' is missing\n    id: x\n    ^\n"
      "small.yaml:1:1: error: 'sm_count' is missing\n    id: x\n    ^\n"
      "small.yaml:1:1: error: 'max_threads_per_sm' is missing\n    id: x\n    ^\n"
      "small.yaml:1:1: error: 'bandwidth_bytes_per_s' is missing\n    id: x\n    ^\n"
      "small.yaml:3:7: error: name: expected text, found a list\n    name: [a]\n          ^\n"
      "small.yaml:4:21: error: compute_capability: expected a version like \"9.0\", found 'nine'\n"
      "    compute_capability: nine\n                        ^~~~\n"
      "small.yaml:2:11: error: l2_bytes: expected an amount of memory (\"24GiB\", \"512MiB\", or "
      "whole bytes), found '1 apple'\n    l2_bytes: 1 apple\n              ^~~~~~~\n");
  CHECK(problems_of(replaced(kSmall, "fp16", "fp61")) ==
        "small.yaml:12:36: error: peak_flops: unknown key 'fp61'; did you mean 'fp16'?\n"
        "    peak_flops: {fp32: 12700000000000, fp61: 25500000000000}\n"
        "                                       ^~~~\n");
  CHECK(problems_of(replaced(kSmall, "100MiB", "8GiB")) ==
        "small.yaml:6:16: error: context_bytes: must be less than total_memory_bytes, 8589934592, "
        "found 8589934592\n"
        "    context_bytes: 8GiB\n                   ^~~~\n");
}

}  // namespace tidemark
