#include "sim/device/device.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/device/cloud_machines.h"
#include "sim/device/device_names.h"
#include "sim/device/known_devices.h"
#include "sim/format/whole_file.h"

namespace tidemark {
namespace {

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".yaml");
}

Device known_device(std::string_view name, const SourceSpan& at, const std::string& key_path) {
  std::vector<std::string_view> known;
  for (const KnownDevice& device : known_devices()) {
    known.push_back(device.id);
    known.insert(known.end(), device.aliases.begin(), device.aliases.end());
    if (device.id == name ||
        std::find(device.aliases.begin(), device.aliases.end(), name) != device.aliases.end()) {
      return device.make();
    }
  }
  if (const CloudMachine* machine = find_cloud_machine(name))
    return known_device(machine->device, at, key_path);
  const std::vector<std::string_view> meant = devices_called(name);
  if (meant.size() == 1) return known_device(meant.front(), at, key_path);
  if (meant.size() > 1) {
    throw InputError(Problem{at, key_path, fmt::format("'{}' may be several devices", name),
                             fmt::format("say which: {}", fmt::join(meant, ", "))});
  }
  std::string hint = did_you_mean(name, known);
  if (const std::vector<std::string_view> machines = cloud_machines_called(name); !machines.empty())
    hint = fmt::format("say which machine: {}", fmt::join(machines, ", "));
  if (hint.empty())
    hint = fmt::format("`tidemark devices` lists the {} that are known", known_devices().size());
  throw InputError(
      Problem{at, key_path, fmt::format("unknown device '{}'", name), std::move(hint)});
}

}  // namespace

Device load_device(std::string_view name_or_path) {
  if (!is_path(name_or_path)) return known_device(name_or_path, {}, {});
  const std::string path(name_or_path);
  return parse_device(
      std::make_shared<const SourceText>(SourceText{path, read_whole_file(path, kMostOfYaml)}));
}

Device load_device(std::string_view name_or_path, const ReadScope& scope, const std::string& folder,
                   const SourceSpan& at, const std::string& key_path) {
  if (!is_path(name_or_path)) return known_device(name_or_path, at, key_path);
  const bool is_absolute = name_or_path.starts_with('/') || folder.empty();
  const std::string path =
      is_absolute ? std::string(name_or_path) : fmt::format("{}/{}", folder, name_or_path);
  if (std::string reason = scope.refusal(path); !reason.empty())
    throw InputError(Problem{at, key_path, std::move(reason), {}});
  return parse_device(std::make_shared<const SourceText>(SourceText{path, scope.read(path)}));
}

std::vector<std::string_view> device_ids() {
  std::vector<std::string_view> ids;
  for (const KnownDevice& device : known_devices()) ids.push_back(device.id);
  return ids;
}

}  // namespace tidemark
