// Writes the devices of the files that it is given as C++: device_compiler OUTPUT.cc FILE.yaml...
// A part of the build: a program that starts reads no device file. Wrong files end it with their
// problems.
#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/device/device.h"

namespace tidemark {
namespace {

/// A literal of C++. Every character that is not plain ASCII stands as three octal digits.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const bool is_plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?';
    if (is_plain) out += c;
    if (!is_plain) out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return out + '"';
}

std::string quoted(const std::pair<std::string, std::string>& pair) {
  return fmt::format("{{{}, {}}}", quoted(pair.first), quoted(pair.second));
}

std::string quoted(Bytes bytes) { return fmt::format("{}U", bytes); }

template <typename T>
std::string list(const std::vector<T>& items) {
  std::string out = "{";
  for (const T& item : items) out += (out.size() == 1 ? "" : ", ") + quoted(item);
  return out + "}";
}

/// The aggregate of a device, its members in the order of their declarations.
std::string initializer(const Device& device) {
  const DeviceSpec& spec = device.spec;
  std::string numbers;
  for (const std::uint64_t rate :
       {spec.memory_bytes_per_s, spec.fp32_flops_per_s, spec.tf32_flops_per_s,
        spec.fp16_flops_per_s, spec.bf16_flops_per_s, spec.fp64_flops_per_s, spec.fp8_flops_per_s,
        spec.fp16_accumulated_flops_per_s})
    numbers += fmt::format(", {}U", rate);
  return fmt::format(
      "{{{{{}, {}, {}U, {}U, {}, {}, {}, {}U, {}U, {}U{}}}, {}, {}, {}, {}U, {}, {}, {}, {}}}",
      quoted(spec.id), quoted(spec.name), spec.total_bytes, spec.context_bytes,
      spec.compute_capability, spec.sm_count, spec.max_threads_per_sm, spec.shared_memory_per_sm,
      spec.shared_memory_per_block_optin, spec.l2_bytes, numbers, list(device.aliases),
      device.marketing_gb, list(device.total_bytes_seen), device.nvidia_smi_bytes,
      quoted(device.context_basis), list(device.confidence), quoted(device.notes),
      list(device.sources));
}

Device read(const std::string& path) {
  auto source = std::make_shared<SourceText>();
  source->name = path;
  std::ifstream file(path, std::ios::binary);
  source->text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  Device device = parse_device(source);
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name != device.spec.id + ".yaml")
    throw InputError(
        Problem{{}, "id", fmt::format("{}: the id is '{}'", path, device.spec.id), {}});
  return device;
}

int compile(const std::string& output, const std::vector<std::string>& paths) {
  std::string code =
      "// Made from configs/devices/ by sim/device/device_compiler.cc.\n"
      "#include \"sim/device/known_devices.h\"\n\nnamespace tidemark {\nnamespace {\n\n";
  std::string rows;
  std::vector<Device> devices;
  devices.reserve(paths.size());
  for (const std::string& path : paths) devices.push_back(read(path));
  // By id: paths sort "gtx-1080-ti.yaml" before "gtx-1080.yaml".
  std::sort(devices.begin(), devices.end(),
            [](const Device& a, const Device& b) { return a.spec.id < b.spec.id; });
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = devices[i];
    code += fmt::format("constexpr std::string_view kAliases{}[] = {{{}}};\n", i,
                        list(device.aliases).substr(1, list(device.aliases).size() - 2) +
                            (device.aliases.empty() ? "\"\"" : ""));
    code += fmt::format("Device device{}() {{ return {}; }}\n", i, initializer(device));
    rows += fmt::format("    {{{}, {{kAliases{}, {}}}, device{}}},\n", quoted(device.spec.id), i,
                        device.aliases.size(), i);
  }
  code += fmt::format(
      "\nconstexpr KnownDevice kDevices[] = {{\n{}}};\n\n}}  // namespace\n\n"
      "std::span<const KnownDevice> known_devices() {{ return kDevices; }}\n\n"
      "}}  // namespace tidemark\n",
      rows);
  std::ofstream(output, std::ios::binary) << code;
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2) {
    fmt::print(stderr, "device_compiler OUTPUT.cc FILE.yaml...\n");
    return 2;
  }
  try {
    return tidemark::compile(arguments[0], {arguments.begin() + 1, arguments.end()});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
