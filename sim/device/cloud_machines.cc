#include "sim/device/cloud_machines.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

namespace tidemark {
namespace {

// By name. Sources: AWS's accelerated instances (p, g), Google's a2 to a4x and g2, g4, Azure's
// NC, ND and NV series, Oracle's GPU shapes, Lambda's instance types, the cards that Colab and
// Kaggle hand out, and NVIDIA's own machines. Parts of a GPU are not listed.
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
    {"a4x-highgpu-4g", "gb200", 4},
    {"bm.gpu.a10.4", "a10", 4},
    {"bm.gpu.a100-v2.8", "a100-sxm-80gb", 8},
    {"bm.gpu.b200.8", "b200", 8},
    {"bm.gpu.h100.8", "h100-sxm-80gb", 8},
    {"bm.gpu.h200.8", "h200-sxm-141gb", 8},
    {"bm.gpu.l40s.4", "l40s", 4},
    {"bm.gpu.mi300x.8", "mi300x", 8},
    {"bm.gpu2.2", "p100-sxm2-16gb", 2},
    {"bm.gpu3.8", "v100-sxm2-16gb", 8},
    {"bm.gpu4.8", "a100-sxm-40gb", 8},
    {"colab-a100", "a100-sxm-40gb", 1},
    {"colab-h100", "h100-sxm-80gb", 1},
    {"colab-l4", "l4", 1},
    {"colab-p100", "p100-pcie-16gb", 1},
    {"colab-t4", "t4", 1},
    {"colab-v100", "v100-sxm2-16gb", 1},
    {"dgx-2", "v100-sxm2-32gb", 16},
    {"dgx-a100", "a100-sxm-80gb", 8},
    {"dgx-b200", "b200", 8},
    {"dgx-b300", "b300", 8},
    {"dgx-h100", "h100-sxm-80gb", 8},
    {"dgx-h200", "h200-sxm-141gb", 8},
    {"g2-standard-12", "l4", 1},
    {"g2-standard-16", "l4", 1},
    {"g2-standard-24", "l4", 2},
    {"g2-standard-32", "l4", 1},
    {"g2-standard-4", "l4", 1},
    {"g2-standard-48", "l4", 4},
    {"g2-standard-8", "l4", 1},
    {"g2-standard-96", "l4", 8},
    {"g4-standard-192", "rtx-pro-6000-blackwell-server", 4},
    {"g4-standard-384", "rtx-pro-6000-blackwell-server", 8},
    {"g4-standard-48", "rtx-pro-6000-blackwell-server", 1},
    {"g4-standard-96", "rtx-pro-6000-blackwell-server", 2},
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
    {"g5g.16xlarge", "t4g", 2},
    {"g5g.2xlarge", "t4g", 1},
    {"g5g.4xlarge", "t4g", 1},
    {"g5g.8xlarge", "t4g", 1},
    {"g5g.metal", "t4g", 2},
    {"g5g.xlarge", "t4g", 1},
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
    {"g7e.12xlarge", "rtx-pro-6000-blackwell-server", 2},
    {"g7e.24xlarge", "rtx-pro-6000-blackwell-server", 4},
    {"g7e.2xlarge", "rtx-pro-6000-blackwell-server", 1},
    {"g7e.48xlarge", "rtx-pro-6000-blackwell-server", 8},
    {"g7e.4xlarge", "rtx-pro-6000-blackwell-server", 1},
    {"g7e.8xlarge", "rtx-pro-6000-blackwell-server", 1},
    {"gpu_1x_a10", "a10", 1},
    {"gpu_1x_a100", "a100-pcie-40gb", 1},
    {"gpu_1x_a100_sxm4", "a100-sxm-40gb", 1},
    {"gpu_1x_a6000", "rtx-a6000", 1},
    {"gpu_1x_b200_sxm6", "b200", 1},
    {"gpu_1x_gh200", "gh200-96gb", 1},
    {"gpu_1x_h100_pcie", "h100-pcie-80gb", 1},
    {"gpu_1x_h100_sxm5", "h100-sxm-80gb", 1},
    {"gpu_1x_rtx6000", "quadro-rtx-6000", 1},
    {"gpu_2x_a100", "a100-pcie-40gb", 2},
    {"gpu_2x_a6000", "rtx-a6000", 2},
    {"gpu_2x_h100_sxm5", "h100-sxm-80gb", 2},
    {"gpu_4x_a100", "a100-pcie-40gb", 4},
    {"gpu_4x_a6000", "rtx-a6000", 4},
    {"gpu_4x_h100_sxm5", "h100-sxm-80gb", 4},
    {"gpu_8x_a100", "a100-sxm-40gb", 8},
    {"gpu_8x_a100_80gb_sxm4", "a100-sxm-80gb", 8},
    {"gpu_8x_b200_sxm6", "b200", 8},
    {"gpu_8x_h100_sxm5", "h100-sxm-80gb", 8},
    {"gpu_8x_v100", "v100-sxm2-16gb", 8},
    {"gr6.4xlarge", "l4", 1},
    {"gr6.8xlarge", "l4", 1},
    {"kaggle-l4x4", "l4", 4},
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
    {"p6e-gb200.36xlarge", "gb200", 4},
    {"standard_nc12s_v2", "p100-pcie-16gb", 2},
    {"standard_nc12s_v3", "v100-pcie-16gb", 2},
    {"standard_nc16as_t4_v3", "t4", 1},
    {"standard_nc24ads_a100_v4", "a100-pcie-80gb", 1},
    {"standard_nc24rs_v2", "p100-pcie-16gb", 4},
    {"standard_nc24rs_v3", "v100-pcie-16gb", 4},
    {"standard_nc24s_v2", "p100-pcie-16gb", 4},
    {"standard_nc24s_v3", "v100-pcie-16gb", 4},
    {"standard_nc40ads_h100_v5", "h100-nvl-94gb", 1},
    {"standard_nc48ads_a100_v4", "a100-pcie-80gb", 2},
    {"standard_nc4as_t4_v3", "t4", 1},
    {"standard_nc64as_t4_v3", "t4", 4},
    {"standard_nc6s_v2", "p100-pcie-16gb", 1},
    {"standard_nc6s_v3", "v100-pcie-16gb", 1},
    {"standard_nc80adis_h100_v5", "h100-nvl-94gb", 2},
    {"standard_nc8as_t4_v3", "t4", 1},
    {"standard_nc96ads_a100_v4", "a100-pcie-80gb", 4},
    {"standard_nd128isr_ndr_gb200_v6", "gb200", 4},
    {"standard_nd12s", "p40", 2},
    {"standard_nd24rs", "p40", 4},
    {"standard_nd24s", "p40", 4},
    {"standard_nd40rs_v2", "v100-sxm2-32gb", 8},
    {"standard_nd6s", "p40", 1},
    {"standard_nd96amsr_a100_v4", "a100-sxm-80gb", 8},
    {"standard_nd96asr_v4", "a100-sxm-40gb", 8},
    {"standard_nd96isr_h100_v5", "h100-sxm-80gb", 8},
    {"standard_nd96isr_h200_v5", "h200-sxm-141gb", 8},
    {"standard_nd96isr_mi300x_v5", "mi300x", 8},
    {"standard_nv36ads_a10_v5", "a10", 1},
    {"standard_nv72ads_a10_v5", "a10", 2},
    {"vm.gpu.a10.1", "a10", 1},
    {"vm.gpu.a10.2", "a10", 2},
    {"vm.gpu2.1", "p100-sxm2-16gb", 1},
    {"vm.gpu3.1", "v100-sxm2-16gb", 1},
    {"vm.gpu3.2", "v100-sxm2-16gb", 2},
    {"vm.gpu3.4", "v100-sxm2-16gb", 4},
};

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// The name as the table has it: SageMaker's "ml." says nothing, Azure's "Standard_" is often left
/// out.
std::string without_prefix(std::string_view name) {
  std::string out = lower(name);
  for (const std::string_view prefix : {"ml.", "standard_"})
    if (out.starts_with(prefix)) out.erase(0, prefix.size());
  return out;
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::span<const CloudMachine> cloud_machines() { return kMachines; }

const CloudMachine* find_cloud_machine(std::string_view name) {
  std::string wanted = without_prefix(name);
  if (wanted.empty()) return nullptr;
  std::replace(wanted.begin(), wanted.end(), ' ', '-');  // "Colab T4"
  const auto is_called_so = [&](const CloudMachine& each) {
    // Every scenario asks whether its device is one of these: most are not, by their last letter.
    const bool may_be = each.name.size() >= wanted.size() &&
                        lower(each.name.substr(each.name.size() - 1)).front() == wanted.back();
    return may_be && without_prefix(each.name) == wanted;
  };
  const auto* found = std::find_if(std::begin(kMachines), std::end(kMachines), is_called_so);
  return found == std::end(kMachines) ? nullptr : found;
}

std::vector<std::string_view> cloud_machines_called(std::string_view name) {
  const std::string wanted = without_prefix(name);
  std::vector<std::string_view> out;
  if (wanted.empty()) return out;
  for (const CloudMachine& each : kMachines) {
    const std::string own = without_prefix(each.name);
    if (own.starts_with(wanted) &&
        (own.size() == wanted.size() || !is_letter_or_digit(own[wanted.size()])))
      out.push_back(each.name);
  }
  return out;
}

}  // namespace tidemark
