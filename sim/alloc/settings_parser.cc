#include "sim/alloc/settings_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/alloc/knob_values.h"
#include "sim/alloc/settings_reader.h"

namespace tidemark {

namespace {

constexpr std::string_view kLargeSegmentKey = "large_segment_size_mb";

const Knob* find_knob(std::string_view key) {
  for (const Knob& knob : knobs()) {
    if (knob.info.key == key) return &knob;
  }
  return nullptr;
}

std::string unknown_key_hint(std::string_view key, Version version) {
  if (const Knob* later = find_knob(key); later != nullptr) {
    return fmt::format("PyTorch {}.{} is the first to know it; this is {}.{}",
                       later->info.since.major, later->info.since.minor, version.major,
                       version.minor);
  }
  const std::string_view start = key.substr(0, key.find_first_of("=;"));
  if (start.size() < key.size() && find_knob(start) != nullptr) {
    return fmt::format("write '{}:{}'", start, key.substr(start.size() + 1));
  }
  std::vector<std::string_view> names;
  for (const Knob& knob : knobs()) {
    if (knob.info.since <= version) names.push_back(knob.info.key);
  }
  // White space is dropped inside words, so that "expandable_segments True" arrives as one.
  for (const std::string_view name : names) {
    if (key.starts_with(name) && key.size() > name.size()) {
      return fmt::format("write '{}:{}'", name, key.substr(name.size()));
    }
  }
  return did_you_mean(key, names);
}

[[noreturn]] void refuse_key(const SettingsReader& reader, const std::string& key) {
  const bool separator = key == "," || key == ":" || key == "[" || key == "]";
  reader.refuse(
      reader.version() >= Version{2, 10}
          ? fmt::format("Unrecognized key '{}' in CUDA allocator config.", key)
          : fmt::format("Unrecognized CachingAllocator option: {}", key),
      separator ? "expected a setting's name here" : unknown_key_hint(key, reader.version()));
}

/// One "KEY:VALUE" and the separator behind it.
const Knob& read_entry(SettingsReader& reader, KnobValues& values) {
  const std::string key = reader.begin_entry();
  const Knob* const knob = find_knob(key);
  if (knob == nullptr || knob->info.since > reader.version()) refuse_key(reader, key);
  reader.separator(':');
  knob->read(reader, values);
  if (!reader.at_end()) reader.separator(',');
  return *knob;
}

/// The other sizes are checked against this one, wherever it stands.
void read_large_segment_first(SettingsReader& reader, KnobValues& values) {
  const Knob* const knob = find_knob(kLargeSegmentKey);
  if (reader.version() < knob->info.since) return;
  while (!reader.at_end()) {
    if (reader.begin_entry() != kLargeSegmentKey) continue;
    try {
      reader.separator(':');
      knob->read(reader, values);
    } catch (const SettingsReader::Refusal&) {
      break;  // told when its turn comes
    }
  }
  reader.seek(0);
}

}  // namespace

ParsedSettings parse_settings(std::shared_ptr<const SourceText> conf, Version version) {
  ParsedSettings parsed;
  AllocatorSettings& settings = parsed.settings;
  settings.version = version;
  settings.text = conf->text;
  SettingsReader reader(std::move(conf), version);
  KnobValues values;
  read_large_segment_first(reader, values);
  values.max_non_split_rounding_bytes = values.large_segment_bytes;
  std::vector<Problem> problems;
  std::vector<std::string_view> native_only;
  while (!reader.at_end()) {
    try {
      const Knob& knob = read_entry(reader, values);
      if (knob.native_only) native_only.push_back(knob.info.key);
    } catch (SettingsReader::Refusal& refusal) {
      problems.push_back(std::move(refusal.problem));
      reader.skip_entry();
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  settings.backend = reader.backend();
  settings.knobs = std::make_shared<const KnobValues>(values);
  parsed.warnings = std::move(reader.warnings());
  if (settings.backend == Backend::kCudaMallocAsync) {
    for (const std::string_view key : native_only) {
      Problem warning;
      warning.path = key;
      warning.message = "backend:cudaMallocAsync ignores it";
      parsed.warnings.push_back(std::move(warning));
    }
  }
  return parsed;
}

ParsedSettings parse_settings(std::string_view name, std::string_view conf, Version version) {
  return parse_settings(
      std::make_shared<const SourceText>(SourceText{std::string(name), std::string(conf)}),
      version);
}

std::span<const SettingInfo> known_settings() {
  static const std::vector<SettingInfo> kInfos = [] {
    std::vector<SettingInfo> infos;
    for (const Knob& knob : knobs()) infos.push_back(knob.info);
    return infos;
  }();
  return kInfos;
}

}  // namespace tidemark
