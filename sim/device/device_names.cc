#include "sim/device/device_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>

#include "sim/device/known_devices.h"

namespace tidemark {
namespace {

constexpr CloudMachine kMachines[] = {
    {"a2-highgpu-1g", "a100-sxm-40gb", 1},
    {"a2-highgpu-2g", "a100-sxm-40gb", 2},
    {"a2-highgpu-4g", "a100-sxm-40gb", 4},
    {"a2-highgpu-8g", "a100-sxm-40gb", 8},
    {"a2-megagpu-16g", "a100-sxm-40gb", 16},
    {"a2-ultragpu-1g", "a100-sxm-80gb", 1},
    {"a2-ultragpu-2g", "a100-sxm-80gb", 2},
    {"a2-ultragpu-4g", "a100-sxm-80gb", 4},
    {"a2-ultragpu-8g", "a100-sxm-80gb", 8},
    {"a3-edgegpu-8g", "h100-sxm-80gb", 8},
    {"a3-highgpu-1g", "h100-sxm-80gb", 1},
    {"a3-highgpu-2g", "h100-sxm-80gb", 2},
    {"a3-highgpu-4g", "h100-sxm-80gb", 4},
    {"a3-highgpu-8g", "h100-sxm-80gb", 8},
    {"a3-megagpu-8g", "h100-sxm-80gb", 8},
    {"a3-ultragpu-8g", "h200-sxm-141gb", 8},
    {"a4-highgpu-8g", "b200", 8},
    {"colab-a100", "a100-sxm-40gb", 1},
    {"colab-l4", "l4", 1},
    {"colab-t4", "t4", 1},
    {"g2-standard-12", "l4", 1},
    {"g2-standard-16", "l4", 1},
    {"g2-standard-24", "l4", 2},
    {"g2-standard-32", "l4", 1},
    {"g2-standard-4", "l4", 1},
    {"g2-standard-48", "l4", 4},
    {"g2-standard-8", "l4", 1},
    {"g2-standard-96", "l4", 8},
    {"g4dn.12xlarge", "t4", 4},
    {"g4dn.16xlarge", "t4", 1},
    {"g4dn.2xlarge", "t4", 1},
    {"g4dn.4xlarge", "t4", 1},
    {"g4dn.8xlarge", "t4", 1},
    {"g4dn.metal", "t4", 8},
    {"g4dn.xlarge", "t4", 1},
    {"g5.12xlarge", "a10g", 4},
    {"g5.16xlarge", "a10g", 1},
    {"g5.24xlarge", "a10g", 4},
    {"g5.2xlarge", "a10g", 1},
    {"g5.48xlarge", "a10g", 8},
    {"g5.4xlarge", "a10g", 1},
    {"g5.8xlarge", "a10g", 1},
    {"g5.xlarge", "a10g", 1},
    {"g6.12xlarge", "l4", 4},
    {"g6.16xlarge", "l4", 1},
    {"g6.24xlarge", "l4", 4},
    {"g6.2xlarge", "l4", 1},
    {"g6.48xlarge", "l4", 8},
    {"g6.4xlarge", "l4", 1},
    {"g6.8xlarge", "l4", 1},
    {"g6.xlarge", "l4", 1},
    {"g6e.12xlarge", "l40s", 4},
    {"g6e.16xlarge", "l40s", 1},
    {"g6e.24xlarge", "l40s", 4},
    {"g6e.2xlarge", "l40s", 1},
    {"g6e.48xlarge", "l40s", 8},
    {"g6e.4xlarge", "l40s", 1},
    {"g6e.8xlarge", "l40s", 1},
    {"g6e.xlarge", "l40s", 1},
    {"kaggle-p100", "p100-pcie-16gb", 1},
    {"kaggle-t4x2", "t4", 2},
    {"p3.16xlarge", "v100-sxm2-16gb", 8},
    {"p3.2xlarge", "v100-sxm2-16gb", 1},
    {"p3.8xlarge", "v100-sxm2-16gb", 4},
    {"p3dn.24xlarge", "v100-sxm2-32gb", 8},
    {"p4d.24xlarge", "a100-sxm-40gb", 8},
    {"p4de.24xlarge", "a100-sxm-80gb", 8},
    {"p5.48xlarge", "h100-sxm-80gb", 8},
    {"p5.4xlarge", "h100-sxm-80gb", 1},
    {"p5e.48xlarge", "h200-sxm-141gb", 8},
    {"p5en.48xlarge", "h200-sxm-141gb", 8},
    {"p6-b200.48xlarge", "b200", 8},
    {"p6-b300.48xlarge", "b300", 8},
    {"standard_nc12s_v3", "v100-sxm2-16gb", 2},
    {"standard_nc16as_t4_v3", "t4", 1},
    {"standard_nc24ads_a100_v4", "a100-pcie-80gb", 1},
    {"standard_nc24s_v3", "v100-sxm2-16gb", 4},
    {"standard_nc40ads_h100_v5", "h100-nvl-94gb", 1},
    {"standard_nc48ads_a100_v4", "a100-pcie-80gb", 2},
    {"standard_nc4as_t4_v3", "t4", 1},
    {"standard_nc64as_t4_v3", "t4", 4},
    {"standard_nc6s_v3", "v100-sxm2-16gb", 1},
    {"standard_nc80adis_h100_v5", "h100-nvl-94gb", 2},
    {"standard_nc8as_t4_v3", "t4", 1},
    {"standard_nc96ads_a100_v4", "a100-pcie-80gb", 4},
    {"standard_nd40rs_v2", "v100-sxm2-32gb", 8},
    {"standard_nd96amsr_a100_v4", "a100-sxm-80gb", 8},
    {"standard_nd96asr_v4", "a100-sxm-40gb", 8},
    {"standard_nd96isr_h100_v5", "h100-sxm-80gb", 8},
    {"standard_nd96isr_h200_v5", "h200-sxm-141gb", 8},
    {"standard_nv36ads_a10_v5", "a10", 1},
    {"standard_nv72ads_a10_v5", "a10", 2},
};

/// What stands before or behind a name and tells no device from another.
constexpr std::array<std::string_view, 10> kSaysNothing = {
    "nvidia",   "geforce", "tesla",    "quadro",     "amd",
    "instinct", "gpu",     "graphics", "generation", "device"};

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The words that tell: "NVIDIA A100-SXM4-80GB" has a100, sxm and 80gb.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> out;
  std::string word;
  const auto end_word = [&] {
    // "80 GB" is "80gb"; SXM4 and SXM5 are the same plug for a name.
    if (word == "gb" && !out.empty() && is_number(out.back())) {
      out.back() += word;
    } else if (word.size() == 4 && word.starts_with("sxm")) {
      out.push_back("sxm");
    } else if (!word.empty() &&
               std::find(kSaysNothing.begin(), kSaysNothing.end(), word) == kSaysNothing.end()) {
      out.push_back(word);
    }
    word.clear();
  };
  for (const char c : lower(name)) {
    const bool is_part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_part) word += c;
    if (!is_part) end_word();
    // "rtx4090" is two words.
    if (word == "rtx" || word == "gtx") end_word();
  }
  end_word();
  return out;
}

}  // namespace

std::span<const CloudMachine> cloud_machines() { return kMachines; }

const CloudMachine* find_cloud_machine(std::string_view name) {
  const std::string wanted = lower(name);
  const auto* found = std::find_if(std::begin(kMachines), std::end(kMachines),
                                   [&](const CloudMachine& each) { return each.name == wanted; });
  return found == std::end(kMachines) ? nullptr : found;
}

std::vector<std::string_view> devices_called(std::string_view name) {
  const std::vector<std::string> wanted = words_of(name);
  if (wanted.empty()) return {};
  std::vector<std::string_view> out;
  for (const KnownDevice& known : known_devices()) {
    const Device device = known.make();
    std::vector<std::string> names(known.aliases.begin(), known.aliases.end());
    names.emplace_back(known.id);
    names.push_back(device.spec.name);
    std::set<std::string> words;
    for (const std::string& each : names) {
      const std::vector<std::string> own = words_of(each);
      if (own == wanted) return {known.id};
      words.insert(own.begin(), own.end());
    }
    if (std::all_of(wanted.begin(), wanted.end(),
                    [&](const std::string& word) { return words.contains(word); }))
      out.push_back(known.id);
  }
  return out;
}

}  // namespace tidemark
