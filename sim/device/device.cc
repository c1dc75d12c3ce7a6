#include "sim/device/device.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/device/known_devices.h"
#include "sim/format/whole_file.h"

namespace tidemark {

Device load_device(std::string_view name_or_path, const std::string& folder, const SourceSpan& at,
                   const std::string& key_path) {
  if (name_or_path.find('/') != std::string_view::npos || name_or_path.ends_with(".yaml")) {
    const bool is_absolute = name_or_path.starts_with('/') || folder.empty();
    auto source = std::make_shared<SourceText>();
    source->name =
        is_absolute ? std::string(name_or_path) : fmt::format("{}/{}", folder, name_or_path);
    source->text = read_whole_file(source->name);
    return parse_device(source);
  }
  std::vector<std::string_view> known;
  for (const KnownDevice& device : known_devices()) {
    known.push_back(device.id);
    known.insert(known.end(), device.aliases.begin(), device.aliases.end());
    if (device.id == name_or_path || std::find(device.aliases.begin(), device.aliases.end(),
                                               name_or_path) != device.aliases.end()) {
      return device.make();
    }
  }
  std::string hint = did_you_mean(name_or_path, known);
  if (hint.empty()) hint = fmt::format("known are {}", fmt::join(device_ids(), ", "));
  throw InputError(
      Problem{at, key_path, fmt::format("unknown device '{}'", name_or_path), std::move(hint)});
}

std::vector<std::string_view> device_ids() {
  std::vector<std::string_view> ids;
  for (const KnownDevice& device : known_devices()) ids.push_back(device.id);
  return ids;
}

}  // namespace tidemark
