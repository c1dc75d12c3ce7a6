#include "sim/device/device_names.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "sim/device/cloud_machines.h"
#include "sim/device/device.h"

namespace tidemark {
namespace {

using Ids = std::vector<std::string_view>;

TEST_CASE("every device is called by its own name and by its id") {
  for (const std::string_view id : device_ids()) {
    CAPTURE(std::string(id));
    const Ids by_id = devices_called(id);
    CHECK(std::find(by_id.begin(), by_id.end(), id) != by_id.end());
    CHECK(load_device(id).spec.id == id);
    // nvidia-smi prints one name for cards with memory of two sizes: all that are called so.
    Ids so_called;
    for (const std::string_view each : device_ids())
      if (load_device(each).spec.name == load_device(id).spec.name) so_called.push_back(each);
    CHECK(devices_called(load_device(id).spec.name) == so_called);
  }
}

TEST_CASE("a name that people say means the device that has all of its words") {
  CHECK(devices_called("3090") == Ids{"rtx-3090"});
  CHECK(devices_called("RTX4090") == Ids{"rtx-4090"});
  CHECK(devices_called("4090") == Ids{"rtx-4090"});
  CHECK(devices_called("4090 laptop") == Ids{"rtx-4090-laptop"});
  CHECK(devices_called("RTX 4090 Mobile") == Ids{"rtx-4090-laptop"});
  CHECK(devices_called("3080ti") == Ids{"rtx-3080-ti"});
  CHECK(devices_called("1080 Ti") == Ids{"gtx-1080-ti"});
  CHECK(devices_called("GTX 3090").empty());
  CHECK(devices_called("a100 80g sxm") == Ids{"a100-sxm-80gb"});
  CHECK(devices_called("Quadro A6000") == Ids{"rtx-a6000"});
  CHECK(devices_called("Quadro RTX 6000") == Ids{"quadro-rtx-6000"});
  CHECK(devices_called("NVIDIA GeForce RTX 4060 Ti") == Ids{"rtx-4060-ti-16gb", "rtx-4060-ti-8gb"});
  CHECK(devices_called("3080") == Ids{"rtx-3080", "rtx-3080-12gb"});
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
                    "a100-pcie-80gb, a100-sxm-40gb, a100-sxm-64gb, a100-sxm-80gb\n");
}

TEST_CASE("a cloud's machine is its GPUs") {
  const auto machines = cloud_machines();
  CHECK(std::is_sorted(machines.begin(), machines.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const CloudMachine& each : machines) CHECK(load_device(each.name).spec.id == each.device);
  REQUIRE(find_cloud_machine("Standard_ND96isr_H100_v5") != nullptr);
  REQUIRE(find_cloud_machine("Colab T4") != nullptr);
  CHECK(find_cloud_machine("Colab T4")->device == "t4");
  CHECK(find_cloud_machine("Standard_ND96isr_H100_v5")->count == 8);
  CHECK(find_cloud_machine("ND96asr_v4") == find_cloud_machine("standard_nd96asr_v4"));
  CHECK(find_cloud_machine("ml.p4d.24xlarge") == find_cloud_machine("p4d.24xlarge"));
  CHECK(find_cloud_machine("p4d") == nullptr);
  CHECK(cloud_machines_called("p4d") == Ids{"p4d.24xlarge"});
  CHECK(cloud_machines_called("kaggle") == Ids{"kaggle-l4x4", "kaggle-p100", "kaggle-t4x2"});
  CHECK(cloud_machines_called("").empty());
  CHECK_THROWS_WITH(load_device("Kaggle"),
                    "error: unknown device 'Kaggle'; say which machine: kaggle-l4x4, kaggle-p100, "
                    "kaggle-t4x2\n");
}

}  // namespace
}  // namespace tidemark
