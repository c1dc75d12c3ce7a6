#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alloc/settings.h"
#include "sim/base/device_spec.h"
#include "sim/base/problem.h"
#include "sim/base/rank.h"
#include "sim/base/sim_time.h"
#include "sim/base/source.h"
#include "sim/base/wheel.h"
#include "sim/ops/context.h"
#include "sim/run/edited_files.h"
#include "sim/run/event_policy.h"
#include "sim/run/literals.h"
#include "sim/run/overrides.h"
#include "sim/run/train_loop.h"
#include "sim/torch/tensors/compiled_code.h"
#include "sim/torch/tensors/custom_op_spec.h"

namespace tidemark {

/// Where the model comes from. Its text and the loop's share one namespace.
struct ModelSpec {
  std::shared_ptr<const SourceText> source;  ///< of `file:` or `code:`; null for a list of layers
  /// Where `import` looks, in order; the file's own folder first.
  std::vector<std::string> import_folders;
  bool sees_zoo = false;   ///< `import` finds the program's own model zoo, after the folders
  std::string expression;  ///< what makes the model: "SimpleConv(image=32, inplace=False)"
  /// Run before a loop of the user's own: makes the model; else null.
  std::shared_ptr<const SourceText> setup;
};

/// All that a scenario says, read and checked. Either `train` or `loop` is there, or a script,
/// which is then the loop. Source: docs/scenario.md has each key.
struct Scenario {
  std::string name;
  std::string notes;
  std::string folder;  ///< whose files the scenario's code may read; "": the working folder
  DeviceSpec device;
  std::int64_t device_count = 1;  ///< GPUs of that kind, each with an allocator of its own; 1 to 64
  /// The process that the program is, of a job of several (`ranks:`). `device_count` is then that
  /// of its machine.
  std::optional<Rank> rank;
  RankChoice rank_choice = RankChoice::kOne;  ///< of a job, the ranks that run() looks at
  Bytes other_bytes = 0;                      ///< taken on the device by other processes
  Wheel wheel = kDefaultWheel;                ///< the PyTorch that runs it
  bool names_pytorch = false;                 ///< the scenario says which; else it is the default
  AllocatorSettings settings;                 ///< its release is the wheel's
  std::optional<double> memory_fraction;
  EventPolicy policy;
  ops::Backends backends;
  torch::CompileMode compile = torch::CompileMode::kModel;
  std::vector<Parameter> params;
  ModelSpec model;
  std::vector<torch::CustomOpSpec> ops;  ///< operators that the user declares
  std::vector<std::string> packages;     ///< folders of installed packages, where imports look too
  std::vector<std::string> script_args;  ///< sys.argv[1:] of a script
  std::vector<std::pair<std::string, std::string>> script_env;  ///< os.environ of it
  std::uint32_t script_steps = 0;   ///< its optimizers' steps after which it is ended; 0: never
  Nanoseconds script_until_ns = 0;  ///< the moment at which it is ended; 0: never
  std::vector<std::string> assume;  ///< of values that are not known: "train.py:12=true"
  EditedFilesPtr edited;            ///< taken for files of the user's; null: none
  bool is_script = false;           ///< `loop` is a whole program, with nothing before it
  std::optional<TrainSpec> train;
  std::shared_ptr<const SourceText> loop;  ///< the user's own, or `train` spelled out
  std::vector<Problem> warnings;  ///< accepted, but without the effect that they seem to ask for
};

/// Reads a scenario. `text->name` is printed before each problem; relative paths in it are looked
/// up from `folder`. Strict: unknown and repeated keys, values of another type or out of range are
/// errors. `variant`: the named one of `variants:`, put in before the overrides; empty: the file as
/// it stands. `edited`: read in place of a script's own files. Errors: InputError with all problems
/// found; IoError when a file that it names cannot be read.
Scenario parse_scenario(std::shared_ptr<const SourceText> text, const std::string& folder,
                        const std::vector<Override>& overrides = {},
                        const std::string& variant = {}, EditedFilesPtr edited = {});
/// The text of a scenario file ("-": of standard input); of one that ends in ".py", a script, the
/// scenario that runs it. Errors: IoError when the file cannot be read.
std::shared_ptr<const SourceText> scenario_text(const std::string& path);
/// Errors: IoError when the file cannot be read, else as above.
Scenario load_scenario(const std::string& path, const std::vector<Override>& overrides = {},
                       const std::string& variant = {});

/// The names of the scenario's variants, in order. Errors: as load_scenario().
std::vector<std::string> load_variant_names(const std::string& path);

}  // namespace tidemark
