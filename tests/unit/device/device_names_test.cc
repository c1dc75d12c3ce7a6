#include "sim/device/device_names.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "sim/device/device.h"

namespace tidemark {
namespace {

using Ids = std::vector<std::string_view>;

TEST_CASE("every device is called by its own name and by its id") {
  for (const std::string_view id : device_ids()) {
    CHECK(devices_called(id) == Ids{id});
    CHECK(devices_called(load_device(id).spec.name) == Ids{id});
  }
}

TEST_CASE("a name that people say means the device that has all of its words") {
  CHECK(devices_called("3090") == Ids{"rtx-3090"});
  CHECK(devices_called("RTX4090") == Ids{"rtx-4090"});
  CHECK(devices_called("GeForce RTX 2080 Ti") == Ids{"rtx-2080-ti"});
  CHECK(devices_called("NVIDIA H100 SXM5 80 GB") == Ids{"h100-sxm-80gb"});
  CHECK(devices_called("Tesla T4 GPU") == Ids{"t4"});
  CHECK(devices_called("L4") == Ids{"l4"});
  CHECK(devices_called("A100 PCIe") == Ids{"a100-pcie-40gb", "a100-pcie-80gb"});
  CHECK(devices_called("nvidia").empty());
  CHECK(devices_called("Voodoo 2").empty());
}

TEST_CASE("a name that several devices have is refused with all of them") {
  CHECK(load_device("NVIDIA A100-SXM4-80GB").spec.id == "a100-sxm-80gb");
  CHECK_THROWS_WITH(load_device("A100 40GB PCIe or so"), Catch::Contains("unknown device"));
  CHECK_THROWS_WITH(load_device("A100"),
                    "error: 'A100' may be several devices; say which: a100-pcie-40gb, "
                    "a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb\n");
}

TEST_CASE("a cloud's machine is its GPUs") {
  const auto machines = cloud_machines();
  CHECK(std::is_sorted(machines.begin(), machines.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const CloudMachine& each : machines) CHECK(load_device(each.name).spec.id == each.device);
  REQUIRE(find_cloud_machine("Standard_ND96isr_H100_v5") != nullptr);
  CHECK(find_cloud_machine("Standard_ND96isr_H100_v5")->count == 8);
  CHECK(find_cloud_machine("p4d") == nullptr);
}

}  // namespace
}  // namespace tidemark
