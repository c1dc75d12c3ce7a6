#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alloc/settings.h"
#include "sim/base/device_spec.h"
#include "sim/base/source.h"
#include "sim/ops/context.h"
#include "sim/run/event_policy.h"
#include "sim/run/train_loop.h"

namespace tidemark {

/// A named value that the model's arguments, the training loop and the code may use by its name.
struct Parameter {
  std::string name;
  std::string value;  ///< a literal of the model language
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// Where the model comes from. Its text and the loop's share one namespace.
struct ModelSpec {
  std::shared_ptr<const SourceText> source;  ///< of `file:` or `code:`; null for a list of layers
  std::vector<std::string> import_folders;   ///< where `import` looks, in order; the file's own folder first
  std::string expression;                    ///< what makes the model: "SimpleConv(image=32, inplace=False)"
  SourceSpan expression_at;                  ///< the place in the scenario that it is made of
};

/// All that a scenario says, read and checked. Either `train` or `loop` is there.
/// Source: docs/scenario.md has each key.
struct Scenario {
  std::string name;
  std::string notes;
  DeviceSpec device;
  Bytes other_bytes = 0;  ///< taken on the device by other processes
  AllocatorSettings settings;
  std::optional<double> memory_fraction;
  EventPolicy policy;
  ops::Backends backends;
  std::vector<Parameter> params;
  ModelSpec model;
  std::optional<TrainSpec> train;
  std::shared_ptr<const SourceText> loop;  ///< the user's own, or `train` spelled out
};

/// `PATH=VALUE` of --set: a dotted path of the scenario, or a parameter's name. VALUE is read as YAML.
struct Override {
  std::string path;
  std::string value;
  std::string text;  ///< as given, for messages
};
/// Errors: InputError when there is no '='.
Override parse_override(std::string_view text);

/// Reads a scenario. `text->name` is printed before each problem; relative paths in it are looked up from `folder`.
/// Strict: unknown and repeated keys, values of another type or out of range are errors.
/// Errors: InputError with all problems found; IoError when a file that it names cannot be read.
Scenario parse_scenario(std::shared_ptr<const SourceText> text, const std::string& folder,
                        const std::vector<Override>& overrides = {});
/// Errors: IoError when the file cannot be read, else as above.
Scenario load_scenario(const std::string& path, const std::vector<Override>& overrides = {});

}  // namespace tidemark
