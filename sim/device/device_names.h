#pragma once

#include <string_view>
#include <vector>

/// What people and programs call GPUs, beside the ids of configs/devices.
namespace tidemark {

/// Ids of the devices that a name may mean, in order: "3090", "3080ti", "A100 80GB", "NVIDIA
/// GeForce RTX 4090" as nvidia-smi prints it. Each word of it has to be one of the device's id,
/// name or aliases; words that makers put before it (NVIDIA, GeForce, Tesla) say nothing. A name
/// that is devices' own, word for word or but for the series (RTX, GTX), means those alone: several
/// where a card was sold with two sizes of memory. Cost: linear in the devices.
std::vector<std::string_view> devices_called(std::string_view name);

}  // namespace tidemark
