#include "sim/run/scenario.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "sim/alloc/settings_parser.h"
#include "sim/base/problem.h"
#include "sim/base/routing.h"
#include "sim/device/cloud_machines.h"
#include "sim/device/device.h"
#include "sim/format/read_scope.h"
#include "sim/run/alternatives.h"
#include "sim/run/backends_reader.h"
#include "sim/run/declared_data.h"
#include "sim/run/import_files.h"
#include "sim/run/ops_reader.h"
#include "sim/run/overrides.h"
#include "sim/run/parsed_scenario.h"
#include "sim/run/ranks_reader.h"
#include "sim/run/scenario_fields.h"
#include "sim/run/script.h"
#include "sim/run/train_reader.h"
#include "sim/yaml/yaml_fields.h"

namespace tidemark {
namespace {

/// Names that the loop or the language gives a meaning; no parameter may hide them.
constexpr auto kReserved = std::to_array<std::string_view>(
    {"torch",    "nn",    "F",     "math",     "phase", "mark",   "model", "opt",    "scaler",
     "step",     "x",     "y",     "out",      "loss",  "and",    "as",    "assert", "async",
     "await",    "break", "class", "continue", "def",   "del",    "elif",  "else",   "except",
     "finally",  "for",   "from",  "global",   "if",    "import", "in",    "is",     "lambda",
     "nonlocal", "not",   "or",    "pass",     "raise", "return", "try",   "while",  "with",
     "yield",    "None",  "True",  "False"});

std::string joined_path(const std::string& folder, std::string_view path) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

class Reader {
 public:
  Reader(const yaml::Node& root, const SourceText& source, std::string folder)
      : source_(source),
        folder_(folder.empty() ? "." : std::move(folder)),
        scope_({folder_}),
        code_scope_(code_scope(folder_)),
        fields_(root, {}, problems_, kScenarioMap) {}

  Scenario read(EditedFilesPtr edited) {
    scenario_.edited = std::move(edited);
    if (!problems_.empty()) throw InputError(std::move(problems_));
    fields_.require("schema_version");
    fields_.integer("schema_version");
    scenario_.name = fields_.text("name").value_or("");
    scenario_.notes = fields_.text("notes").value_or("");
    scenario_.folder = folder_;
    read_device();
    read_ranks(fields_, scenario_, problems_);
    read_pytorch();
    read_allocator();
    const yaml::Node* backends = fields_.get("backends");
    if (backends != nullptr) read_backends(*backends, scenario_.backends, problems_);
    read_compile();
    read_assume();
    read_routing();
    read_params();
    read_declared_data(fields_, scenario_);
    if (const yaml::Node* ops = fields_.get("ops")) scenario_.ops = read_ops(*ops, problems_);
    read_packages();
    if (fields_.get("script") != nullptr) {
      read_script();
    } else {
      read_model();
      read_loop();
    }
    fields_.done();
    if (!problems_.empty()) throw InputError(in_order(std::move(problems_)));
    if (!scenario_.is_script) spell_out_train();
    return std::move(scenario_);
  }

 private:
  /// Problems of what `body` reads by itself join the others.
  void collect(const std::function<void()>& body) {
    try {
      body();
    } catch (const InputError& error) {
      problems_.insert(problems_.end(), error.problems().begin(), error.problems().end());
    }
  }

  /// As the file goes; what has no place in it comes last, each group in the order found.
  static std::vector<Problem> in_order(std::vector<Problem> problems) {
    const SourceText* first = problems.front().at.source.get();
    for (const Problem& problem : problems) {
      if (problem.at.line != 0) {
        first = problem.at.source.get();
        break;
      }
    }
    const auto key = [&](const Problem& problem) {
      const SourceText* source = problem.at.source.get();
      const bool is_inside =
          source != nullptr && problem.at.line != 0 && source->name == first->name;
      return is_inside ? problem.at.line + source->first_line : 0xffffffffU;
    };
    std::stable_sort(problems.begin(), problems.end(),
                     [&](const Problem& a, const Problem& b) { return key(a) < key(b); });
    return problems;
  }

  void read_device() {
    if (fields_.get("device") == nullptr && fields_.get("script") != nullptr) {
      problems_.push_back({{},
                           source_.name,
                           "a script needs a device to run on",
                           "give --device, h100-sxm-80gb for example"});
      return;
    }
    fields_.require("device");
    const yaml::Node* node = fields_.get("device");
    scenario_.device_count = fields_.integer("device_count").value_or(1);
    if (node == nullptr) return;
    if (node->is_text()) {
      collect([&] {
        scenario_.device = load_device(node->text, scope_, folder_, node->at, "device").spec;
      });
      if (const CloudMachine* machine = find_cloud_machine(node->text);
          machine != nullptr && fields_.get("device_count") == nullptr)
        scenario_.device_count = machine->count;
      return;
    }
    yaml::Fields map(*node, "device", problems_, kDeviceMap);
    map.require_all();
    const yaml::Node* name = map.get("name");
    if (name != nullptr && name->is_text()) {
      collect([&] {
        scenario_.device = load_device(name->text, scope_, folder_, name->at, "device.name").spec;
      });
    } else if (name != nullptr) {
      map.report(*name, "name", fmt::format("expected text, found {}", describe(*name)));
    }
    DeviceSpec& spec = scenario_.device;
    spec.total_bytes = map.bytes("total").value_or(spec.total_bytes);
    spec.context_bytes = map.bytes("context").value_or(spec.context_bytes);
    scenario_.other_bytes = map.bytes("other").value_or(0);
    map.done();
    constexpr Bytes kLargest = Bytes{1} << 50;
    if (spec.total_bytes > kLargest) {
      map.report(*map.get("total"), "total",
                 fmt::format("must be {} or less, found {}", kLargest, spec.total_bytes));
    } else if (spec.total_bytes < spec.context_bytes ||
               spec.total_bytes - spec.context_bytes < scenario_.other_bytes) {
      problems_.push_back(
          {node->at,
           "device",
           fmt::format("{} bytes in all, but context and other processes take {}", spec.total_bytes,
                       spec.context_bytes + scenario_.other_bytes),
           {}});
    }
  }

  void check_parallel() {
    if (!scenario_.train || !scenario_.train->parallel || scenario_.rank) return;
    const yaml::Node* train = fields_.get("train");
    problems_.push_back({train->at, "train.parallel",
                         "shares a model among ranks, and there are none",
                         "give ranks: {world: 8}"});
  }

  /// Runs `read`; the place of a problem is that of `node`.
  template <class Read>
  void collect_at(const yaml::Node& node, Read&& read) {
    try {
      read();
    } catch (const InputError& error) {
      for (Problem problem : error.problems()) {
        problem.at = node.at;
        problems_.push_back(std::move(problem));
      }
    }
  }

  void read_pytorch() {
    const yaml::Node* node = fields_.get("pytorch");
    scenario_.names_pytorch = node != nullptr;
    if (node == nullptr) return;
    const auto read_version = [&](const yaml::Node& at, const char* path) {
      collect_at(at, [&] { scenario_.wheel = pypi_wheel(parse_version(path, at.text)); });
    };
    if (node->is_text()) {
      read_version(*node, "pytorch");
      return;
    }
    yaml::Fields map(*node, "pytorch", problems_, kPytorchMap);
    if (const yaml::Node* version = map.get("version")) read_version(*version, "pytorch.version");
    if (const yaml::Node* cuda = map.get("cuda")) {
      collect_at(*cuda,
                 [&] { scenario_.wheel.cuda = parse_cuda_version("pytorch.cuda", cuda->text); });
    }
    map.done();
  }

  void read_allocator() {
    const Version version = scenario_.wheel.pytorch;
    scenario_.settings.version = version;
    const yaml::Node* node = fields_.get("allocator");
    if (node == nullptr) return;
    yaml::Fields map(*node, "allocator", problems_, kAllocatorMap);
    const yaml::Node* conf = map.get("conf");
    if (conf != nullptr && conf->is_text()) {
      collect([&] {
        ParsedSettings parsed = parse_settings(embedded_source(*conf), version);
        scenario_.settings = std::move(parsed.settings);
        scenario_.warnings = std::move(parsed.warnings);
      });
    } else if (conf != nullptr) {
      map.report(*conf, "conf", fmt::format("expected text, found {}", describe(*conf)));
    }
    scenario_.memory_fraction = map.number("memory_fraction");
    if (const auto backend = map.choice("backend")) {
      scenario_.settings.backend = static_cast<Backend>(*backend);
    }
    if (const auto text = map.text("event_policy")) {
      if (const auto policy = parse_event_policy(*text)) {
        scenario_.policy = *policy;
      } else {
        map.report(*map.get("event_policy"), "event_policy",
                   fmt::format("expected sync, ready, lag:N or simulated, found '{}'", *text));
      }
    }
    map.done();
  }

  void read_compile() {
    const std::optional<std::size_t> mode = fields_.choice("compile");
    if (mode) scenario_.compile = static_cast<torch::CompileMode>(*mode);
  }

  void read_assume() {
    const yaml::Node* node = fields_.get("assume");
    if (node == nullptr) return;
    const auto add = [&](const yaml::Node& each) {
      if (!each.is_text())
        return fields_.report(each, "assume",
                              fmt::format("expected text, found {}", describe(each)));
      collect([&] {
        ways_of({each.text});
        scenario_.assume.push_back(each.text);
      });
    };
    if (node->kind != yaml::Node::Kind::kList) return add(*node);
    for (const yaml::Node& item : node->items) add(item);
  }

  /// It joins what is assumed: each of its ends is a way.
  void read_routing() {
    const std::optional<std::string> text = fields_.text("routing");
    if (!text) return;
    collect([&] {
      std::string how = *text;
      const std::string path = (std::filesystem::path(folder_) / how).string();
      if (!names_distribution(how) && std::filesystem::is_regular_file(path))
        how = shares_text(how, scope_.read(path));
      parse_routing(how);
      scenario_.assume.push_back("routing=" + how);
    });
  }

  void read_params() {
    const yaml::Node* node = fields_.get("params");
    if (node == nullptr) return;
    const yaml::Fields map(*node, "params", problems_);
    for (const yaml::Entry& entry : node->entries) {
      if (!is_identifier(entry.key)) {
        problems_.push_back({entry.key_at, "params", fmt::format("'{}' is no name", entry.key),
                             "letters, digits and '_', no digit first"});
        continue;
      }
      if (std::find(kReserved.begin(), kReserved.end(), entry.key) != kReserved.end()) {
        problems_.push_back({entry.key_at,
                             "params",
                             fmt::format("the name '{}' has a meaning already", entry.key),
                             {}});
        continue;
      }
      Parameter parameter{entry.key, literal_of(entry.value, scenario_.params),
                          yaml::integer(entry.value)};
      if (const Parameter* other = named_parameter(entry.value, scenario_.params))
        parameter.integer = other->integer;
      scenario_.params.push_back(std::move(parameter));
    }
  }

  /// A whole program: its own model, data and loop.
  void read_script() {
    for (const std::string_view key : {"model", "layers", "train", "loop"}) {
      if (const yaml::Node* node = fields_.get(key))
        fields_.report(*node, key, "cannot stand beside script");
    }
    scenario_.is_script = true;
    const yaml::Node& node = *fields_.get("script");
    const yaml::Node* file = &node;
    if (!node.is_text()) {
      yaml::Fields map(node, "script", problems_, kScriptMap);
      map.require_all();
      file = map.text("file") ? map.get("file") : nullptr;
      if (const yaml::Node* args = map.get("args")) scenario_.script_args = texts_of(*args);
      scenario_.script_steps =
          static_cast<std::uint32_t>(map.integer("steps", 1, kMostSteps).value_or(0));
      if (const yaml::Node* until = map.get("until")) read_until(map, *until);
      if (const yaml::Node* env = map.get("env")) {
        for (const yaml::Entry& entry : env->entries) {
          scenario_.script_env.emplace_back(entry.key, entry.value.text);
          take_conf(entry);
        }
      }
      map.done();
    }
    if (file == nullptr) return;
    std::shared_ptr<const SourceText> source = file_named(*file, "script");
    scenario_.model.import_folders.push_back(folder_of(source->name));
    scenario_.loop = with_constants(std::move(source), scenario_.params, problems_);
  }

  void read_until(yaml::Fields& script, const yaml::Node& node) {
    const std::optional<Nanoseconds> until = parse_duration(node.text);
    if (until) {
      scenario_.script_until_ns = *until;
    } else if (node.is_text()) {
      script.report(node, "until", "expected a time with its unit, found '" + node.text + "'",
                    "as in 90s: ns, us, ms, s, min or h");
    }
  }

  /// PYTORCH_ALLOC_CONF of a script's environment, where `allocator.conf` does not say another.
  void take_conf(const yaml::Entry& variable) {
    const bool is_conf =
        variable.key == "PYTORCH_ALLOC_CONF" || variable.key == "PYTORCH_CUDA_ALLOC_CONF";
    if (!is_conf || !scenario_.settings.text.empty() || !variable.value.is_text()) return;
    collect([&] {
      const Backend backend = scenario_.settings.backend;
      scenario_.settings =
          parse_settings(embedded_source(variable.value), scenario_.wheel.pytorch).settings;
      if (backend != Backend::kNative) scenario_.settings.backend = backend;
    });
  }

  static ReadScope code_scope(const std::string& folder) {
    const std::string project = project_of(folder);
    return ReadScope({folder}, project.empty() ? std::vector<std::string>() : std::vector{project});
  }

  /// The text of a file of code that the scenario names.
  std::shared_ptr<const SourceText> file_named(const yaml::Node& name, const std::string& key) {
    auto source = std::make_shared<SourceText>();
    source->name = joined_path(folder_, name.text);
    refuse_outside(code_scope_, name, key, source->name);
    const std::string* edited = edited_text(scenario_.edited, source->name);
    try {
      source->text = edited != nullptr ? *edited : code_scope_.read(source->name);
    } catch (const IoError& error) {
      throw InputError(Problem{name.at, key, error.what(),
                               "a path goes from the folder of the file that names it"});
    }
    return source;
  }
  static void refuse_outside(const ReadScope& scope, const yaml::Node& name, const std::string& key,
                             const std::string& path) {
    std::string reason = scope.refusal(path);
    if (!reason.empty()) throw InputError(Problem{name.at, key, std::move(reason), {}});
  }

  /// A folder of packages that the scenario names.
  std::string folder_named(const yaml::Node& name, const std::string& key) {
    std::string path = joined_path(folder_, name.text);
    refuse_outside(scope_, name, key, path);
    if (!std::filesystem::is_directory(path))
      throw InputError(Problem{name.at, key, "'" + name.text + "' is no folder", {}});
    return path;
  }

  /// The texts of a list of scalars; others are told by the table of keys.
  static std::vector<std::string> texts_of(const yaml::Node& list) {
    std::vector<std::string> out;
    if (list.is_text()) out.push_back(list.text);
    for (const yaml::Node& item : list.items) out.push_back(item.text);
    return out;
  }

  void read_packages() {
    const yaml::Node* node = fields_.get("packages");
    if (node == nullptr) {
      scenario_.packages = installed_packages();
      return;
    }
    if (node->is_text()) scenario_.packages.push_back(folder_named(*node, "packages"));
    for (const yaml::Node& item : node->items)
      scenario_.packages.push_back(folder_named(item, "packages"));
  }

  void read_model() {
    const yaml::Node* model = fields_.get("model");
    const yaml::Node* layers = fields_.get("layers");
    if (model != nullptr && layers != nullptr)
      fields_.report(*layers, "layers", "cannot stand beside model");
    if (model == nullptr && layers == nullptr && fields_.get("loop") == nullptr)
      fields_.require("model");
    if (layers != nullptr) {
      read_layers(*layers);
    } else if (model != nullptr) {
      read_model_map(*model);
    } else {
      scenario_.model.import_folders = {folder_};
    }
  }

  void read_layers(const yaml::Node& node) {
    if (node.kind != yaml::Node::Kind::kList || node.items.empty()) {
      fields_.report(
          node, "layers",
          fmt::format("expected a list of modules, found {}",
                      node.items.empty() && node.kind == yaml::Node::Kind::kList ? "an empty one"
                                                                                 : describe(node)));
      return;
    }
    std::vector<std::string> layers;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const yaml::Node& item = node.items[i];
      const std::string path = fmt::format("layers[{}]", i);
      if (!item.is_text()) {
        problems_.push_back(
            {item.at,
             path,
             fmt::format("expected a module like Linear(784, 512), found {}", describe(item)),
             {}});
        continue;
      }
      check_expression(item, path, problems_);
      const std::string_view head = std::string_view(item.text).substr(0, item.text.find('('));
      layers.push_back(is_identifier(head) ? "nn." + item.text : item.text);
    }
    scenario_.model.expression = fmt::format("nn.Sequential({})", fmt::join(layers, ", "));
    scenario_.model.import_folders = {folder_};
  }

  void read_model_map(const yaml::Node& node) {
    yaml::Fields map(node, "model", problems_, kModelMap);
    ModelSpec& model = scenario_.model;
    const yaml::Node* file = map.text("file") ? map.get("file") : nullptr;
    const yaml::Node* code = map.get("code");
    if (file != nullptr && code != nullptr) map.report(*code, "code", "cannot stand beside file");
    if (file == nullptr && code == nullptr && node.kind == yaml::Node::Kind::kMap) {
      problems_.push_back({node.at, "model", "the model's text is missing", "give file or code"});
    }
    if (file != nullptr) {
      collect([&] {
        model.source = file_named(*file, "model.file");
        model.import_folders.push_back(folder_of(model.source->name));
      });
    } else if (code != nullptr) {
      if (code->is_text()) model.source = embedded_source(*code);
      if (!code->is_text())
        map.report(*code, "code", fmt::format("expected text, found {}", describe(*code)));
      model.import_folders.push_back(folder_);
    }
    if (const yaml::Node* path = map.get("path")) read_import_path(map, *path);
    read_callable(map);
    map.done();
  }

  void read_import_path(yaml::Fields& map, const yaml::Node& path) {
    const auto add = [&](const yaml::Node& node) {
      if (node.is_text()) {
        std::string folder = joined_path(folder_, node.text);
        collect([&] { refuse_outside(code_scope_, node, "model.path", folder); });
        scenario_.model.import_folders.push_back(std::move(folder));
      } else {
        map.report(node, "path", fmt::format("expected a folder, found {}", describe(node)));
      }
    };
    if (path.kind != yaml::Node::Kind::kList) return add(path);
    for (const yaml::Node& item : path.items) add(item);
  }

  void read_callable(yaml::Fields& map) {
    const yaml::Node* type = map.get("class");
    const yaml::Node* function = map.get("function");
    const yaml::Node* callee = type != nullptr ? type : function;
    if (type != nullptr && function != nullptr)
      map.report(*function, "function", "cannot stand beside class");
    if (callee == nullptr && fields_.get("loop") != nullptr) return;  // the loop makes its own
    if (callee == nullptr) {
      problems_.push_back(
          {map.node().at, "model", "what makes the model is missing", "give class or function"});
      return;
    }
    const std::string_view key = type != nullptr ? "class" : "function";
    if (!callee->is_text()) {
      map.report(*callee, key, fmt::format("expected a name, found {}", describe(*callee)));
      return;
    }
    check_expression(*callee, map.path_of(key), problems_);
    std::vector<std::string> arguments;
    if (const yaml::Node* args = map.get("args")) {
      if (args->is_text()) {
        map.report(*args, "args",
                   fmt::format("expected a map or a list, found {}", describe(*args)));
      }
      for (const yaml::Node& item : args->items)
        arguments.push_back(literal_of(item, scenario_.params));
      for (const yaml::Entry& entry : args->entries) {
        if (!is_identifier(entry.key)) {
          problems_.push_back({entry.key_at,
                               "model.args",
                               fmt::format("'{}' is no argument's name", entry.key),
                               {}});
        }
        arguments.push_back(
            fmt::format("{}={}", entry.key, literal_of(entry.value, scenario_.params)));
      }
    }
    scenario_.model.expression = fmt::format("{}({})", callee->text, fmt::join(arguments, ", "));
  }

  void read_loop() {
    const yaml::Node* train = fields_.get("train");
    const yaml::Node* loop = fields_.get("loop");
    if (train != nullptr && loop != nullptr)
      fields_.report(*loop, "loop", "cannot stand beside train");
    if (train == nullptr && loop == nullptr && !fields_.is_misspelt("train") &&
        !fields_.is_misspelt("loop")) {
      problems_.push_back({fields_.node().at, {}, "the loop is missing", "give train or loop"});
    }
    if (train != nullptr) {
      scenario_.train = read_train(*train, scenario_.params, problems_);
      check_parallel();
    } else if (loop != nullptr && loop->is_text()) {
      scenario_.loop = embedded_source(*loop);
    } else if (loop != nullptr) {
      fields_.report(*loop, "loop", fmt::format("expected text, found {}", describe(*loop)));
    }
  }

  void spell_out_train() {
    const auto generated = [&](std::string_view what, std::string text) {
      return std::make_shared<const SourceText>(
          SourceText{fmt::format("{} ({})", source_.name, what), std::move(text)});
    };
    if (scenario_.train) {
      scenario_.loop =
          generated("train", train_to_loop(*scenario_.train, scenario_.model.expression));
    } else if (!scenario_.model.expression.empty()) {
      scenario_.model.setup = generated("model", model_prologue(scenario_.model.expression));
    }
  }

  const SourceText& source_;
  std::string folder_;
  ReadScope scope_;
  ReadScope code_scope_;  ///< with the Python sources of the project around it
  std::vector<Problem> problems_;
  yaml::Fields fields_;
  Scenario scenario_;
};

}  // namespace

Scenario parse_scenario(std::shared_ptr<const SourceText> text, const std::string& folder,
                        const std::vector<Override>& overrides, const std::string& variant,
                        EditedFilesPtr edited) {
  return parse_scenario(yaml::parse(text), *text, folder, overrides, variant, std::move(edited));
}

Scenario parse_scenario(yaml::Node root, const SourceText& text, const std::string& folder,
                        const std::vector<Override>& overrides, const std::string& variant,
                        EditedFilesPtr edited) {
  apply_variant(root, variant);
  take_sweep(root);
  apply_overrides(root, overrides);
  return Reader(root, text, folder).read(std::move(edited));
}

}  // namespace tidemark
