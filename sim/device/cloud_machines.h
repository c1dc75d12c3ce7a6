#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Machines that clouds rent, as names for the GPUs in them.
namespace tidemark {

struct CloudMachine {
  std::string_view name;    ///< "p4d.24xlarge", in lower case
  std::string_view device;  ///< an id of configs/devices
  std::int64_t count;       ///< GPUs in it; of a MIG slice or a part of a card: none is listed
};

/// All of them, sorted by name. Source: the clouds' own lists of machine types.
std::span<const CloudMachine> cloud_machines();
/// nullptr: no such machine. Case does not matter, nor do "Standard_" and "ml." before it.
const CloudMachine* find_cloud_machine(std::string_view name);
/// Names of the machines whose own name begins with these words: of "colab" colab-a100, colab-t4
/// and so on; of "p4d" p4d.24xlarge, and not p4de.24xlarge. In order.
std::vector<std::string_view> cloud_machines_called(std::string_view name);

}  // namespace tidemark
