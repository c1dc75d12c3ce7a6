#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/device_spec.h"
#include "sim/base/source.h"
#include "sim/format/read_scope.h"
#include "sim/yaml/yaml_form.h"

namespace tidemark {

/// A device with what is known of its figures. Fields as in configs/devices/README.md.
struct Device {
  DeviceSpec spec;
  std::vector<std::string> aliases;
  std::int64_t marketing_gb = 0;
  std::vector<Bytes> total_bytes_seen;  ///< other totals that drivers have reported
  Bytes nvidia_smi_bytes = 0;  ///< what nvidia-smi calls the total; 0: it does not know the device
  std::string context_basis;   ///< "measured", or "rule": SMs x threads per SM x 2 KiB
  std::vector<std::pair<std::string, std::string>> confidence;  ///< "total" -> "verified"
  std::string notes;
  std::vector<std::string> sources;
};

/// The keys of a device file.
extern const yaml::Map kDeviceFileMap;

/// Reads a device file. `source->name` is printed before each problem.
/// Errors: InputError with all problems.
Device parse_device(const std::shared_ptr<const SourceText>& source);

/// A device that the program knows, by id or alias, or a file of the user's: what has a '/' or ends
/// in ".yaml", joined to `folder`. `at`, `key_path`: where the name stands, for messages. Errors:
/// InputError for an unknown name, with a suggestion, or a wrong file; IoError for one that cannot
/// be read. Cost: a known device is data of the program, nothing is read.
Device load_device(std::string_view name_or_path);
/// As a file names it that may have read what is in `scope`. Errors: also InputError for a file
/// that is not.
Device load_device(std::string_view name_or_path, const ReadScope& scope, const std::string& folder,
                   const SourceSpan& at, const std::string& key_path);

/// Ids of all devices that the program knows, in order.
std::vector<std::string_view> device_ids();

}  // namespace tidemark
