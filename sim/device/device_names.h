#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// What people and programs call GPUs, beside the ids of configs/devices.
namespace tidemark {

/// A machine that a cloud rents.
struct CloudMachine {
  std::string_view name;    ///< "p4d.24xlarge", in lower case
  std::string_view device;  ///< an id of configs/devices
  std::int64_t count;       ///< GPUs in it; of a MIG slice or a part of a card: none is listed
};

/// All of them, sorted by name. Source: the clouds' own lists of machine types.
std::span<const CloudMachine> cloud_machines();
/// nullptr: no such machine. Case does not matter.
const CloudMachine* find_cloud_machine(std::string_view name);

/// Ids of the devices that a name may mean, in order: "3090", "A100 80GB", "NVIDIA GeForce RTX
/// 4090" as nvidia-smi prints it. Each word of it has to be one of the device's id, name or
/// aliases; words that makers put before it (NVIDIA, GeForce, Tesla) say nothing. A name that is a
/// device's own, word for word, means that one alone. Cost: linear in the devices.
std::vector<std::string_view> devices_called(std::string_view name);

}  // namespace tidemark
