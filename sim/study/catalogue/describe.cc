#include "sim/study/catalogue/describe.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/run/literals.h"
#include "sim/run/run.h"

namespace tidemark {
namespace {

/// The events of a model's first call and of what follows it until the next.
struct Window {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;  ///< of the call
  std::uint32_t last = 0;
};

std::optional<Window> window_of(const DeviceResult& device, std::size_t model) {
  std::optional<Window> window;
  const std::string begins = torch::call_begins(model);
  const std::string ends = torch::call_ends(model);
  bool has_ended = false;
  for (const MeasuredPoint& point : device.points) {
    if (point.name == begins && !window) {
      window = Window{point.event, static_cast<std::uint32_t>(device.events.size()),
                      static_cast<std::uint32_t>(device.events.size())};
    } else if (point.name == ends && window && !has_ended) {
      window->end = point.event;
      has_ended = true;
    } else if (point.name == begins && has_ended) {
      window->last = point.event;
      break;
    }
  }
  return window;
}

class Accounts {
 public:
  Accounts(ModelDescription& model, const RunResult& result)
      : model_(model), result_(result), temporaries_(model.layers.size(), 0) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      const torch::WatchedModule& module = model.layers[i].module;
      by_path_.emplace(module.path, i);
      open.resize(std::min<std::size_t>(open.size(), module.depth));
      parents_.push_back(open.empty() ? i : open.back());
      open.push_back(i);
    }
  }

  void run(const Window& window) {
    const DeviceResult& device = result_.devices.front();
    std::map<RequestId, Request> live;
    for (std::uint32_t i = window.begin; i < window.last; ++i) {
      if (i == window.end) keep(live);
      const Event& event = device.events[i];
      if (event.action == Action::kFreeRequested) {
        const auto at = live.find(event.id);
        if (at == live.end()) continue;
        if (category(event.id) == Category::kTemporary) change(at->second, false);
        live.erase(at);
        continue;
      }
      if (event.action != Action::kAlloc) continue;
      const std::optional<std::size_t> layer = layer_of(device.labels[i], i < window.end);
      if (!layer) continue;
      const Request request{*layer, event.bytes};
      if (category(event.id) == Category::kTemporary) change(request, true);
      if (category(event.id) == Category::kWorkspace) add(request, &Layer::workspace_bytes);
      live.emplace(event.id, request);
    }
    if (window.end >= window.last) keep(live);
  }

 private:
  struct Request {
    std::size_t layer;
    Bytes bytes;
  };

  [[nodiscard]] Category category(RequestId id) const {
    const auto& categories = result_.program.categories;
    return id < categories.size() ? categories[id] : Category::kUnknown;
  }
  /// Calls `body` with the layer and all that it is part of.
  template <class F>
  void upwards(std::size_t layer, F&& body) {
    for (;; layer = parents_[layer]) {
      body(layer);
      if (parents_[layer] == layer) return;
    }
  }
  void change(const Request& request, bool more) {
    upwards(request.layer, [&](std::size_t layer) {
      Bytes& now = temporaries_[layer];
      now = more ? now + request.bytes : now - request.bytes;
      Bytes& peak = model_.layers[layer].temporaries_peak_bytes;
      peak = std::max(peak, now);
    });
  }
  void add(const Request& request, Bytes Layer::*field) {
    upwards(request.layer,
            [&](std::size_t layer) { model_.layers[layer].*field += request.bytes; });
  }
  void keep(const std::map<RequestId, Request>& live) {
    for (const auto& [id, request] : live) {
      if (category(id) == Category::kActivation) add(request, &Layer::saved_bytes);
    }
  }
  /// The deepest layer whose path a label has. Within the call what has none is the model's own.
  std::optional<std::size_t> layer_of(LabelId label, bool is_in_call) {
    const std::string_view text = result_.program.labels.text(label);
    const std::size_t colon = text.find(": ");
    if (colon != std::string_view::npos) {
      for (std::string_view path = text.substr(0, colon);;) {
        const auto found = by_path_.find(path);
        if (found != by_path_.end()) return found->second;
        const std::size_t dot = path.rfind('.');
        if (dot == std::string_view::npos) break;
        path = path.substr(0, dot);
      }
    }
    return is_in_call ? std::optional<std::size_t>(0) : std::nullopt;
  }

  ModelDescription& model_;
  const RunResult& result_;
  std::vector<Bytes> temporaries_;
  std::map<std::string, std::size_t, std::less<>> by_path_;
  std::vector<std::size_t> parents_;
};

/// "64,3,32,32" or "8,128:long" as an expression that makes the tensor.
std::string input_expression(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string shape = text.substr(0, colon);
  const std::string dtype = colon == std::string::npos ? "float32" : text.substr(colon + 1);
  const bool is_shape = !shape.empty() &&
                        std::all_of(shape.begin(), shape.end(),
                                    [](char c) { return (c >= '0' && c <= '9') || c == ','; }) &&
                        shape.front() != ',' && shape.back() != ',' &&
                        shape.find(",,") == std::string::npos;
  if (!is_shape || !is_identifier(dtype)) {
    throw InputError(Problem{{},
                             "--input",
                             fmt::format("expected a shape, found '{}'", text),
                             "64,3,32,32 or, with a dtype, 8,128:long"});
  }
  return fmt::format("torch.zeros({}, dtype=torch.{})", shape, dtype);
}

constexpr std::string_view kOwnText = "<describe>";
/// Lines of the text that scenario_of_model() makes.
constexpr std::uint32_t kDeviceLine = 2;
constexpr std::uint32_t kCallLine = 5;

constexpr std::string_view kCallOnce = R"python(
  def tensors_in(value):
      if isinstance(value, torch.Tensor):
          return [value]
      if isinstance(value, dict):
          value = list(value.values())
      if isinstance(value, (list, tuple)):
          return [t for item in value for t in tensors_in(item)]
      return []
  with phase("inputs 0"):
      inputs = [t.to("cuda") for t in inputs]
  with phase("forward 0"):
      out = model(*inputs)
  with phase("backward 0"):
      roots = [t for t in tensors_in(out) if t.requires_grad]
      if roots:
          torch.autograd.backward(roots, [torch.ones_like(t) for t in roots])
)python";

}  // namespace

namespace {

std::vector<ModelDescription> describe_models(const Scenario& scenario, std::string& printed) {
  std::vector<torch::WatchedModel> watched;
  RunOptions options;
  options.keep_live = false;
  options.keep_times = false;
  options.watched = &watched;
  const RunResult result = run(scenario, options);
  std::vector<ModelDescription> models;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    ModelDescription& model = models.emplace_back();
    for (torch::WatchedModule& module : watched[i].modules)
      model.layers.push_back({std::move(module), 0, 0, 0});
    const std::optional<Window> window = window_of(result.devices.front(), i);
    model.is_called = window.has_value();
    if (window) Accounts(model, result).run(*window);
  }
  printed = result.printed;
  return models;
}

}  // namespace

std::vector<ModelDescription> describe_models(const Scenario& scenario) {
  std::string printed;
  return describe_models(scenario, printed);
}

std::vector<ZooModel> describe_zoo() {
  static constexpr std::string_view kScenario =
      "schema_version: 1\ndevice: h100-sxm-80gb\n"
      "model: {code: 'from models import WORKLOADS'}\nloop: |\n"
      "  models = []\n"
      "  for name, entry in WORKLOADS.items():\n"
      "      models.append(entry.build())\n"
      "      torch._C.watch_model(models[-1])\n"
      "      print(name, *[f'{k}={v}' for k, v in entry.defaults.items()], sep='\\t')\n";
  Scenario scenario = parse_scenario(
      std::make_shared<const SourceText>(SourceText{"<zoo>", std::string(kScenario)}), ".");
  scenario.model.import_folders.clear();
  scenario.model.sees_zoo = true;
  std::string printed;
  std::vector<ModelDescription> models = describe_models(scenario, printed);
  std::vector<ZooModel> zoo;
  std::size_t begin = 0;
  for (ModelDescription& model : models) {
    const std::size_t end = printed.find('\n', begin);
    std::string line = printed.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t tab = std::min(line.find('\t'), line.size());
    ZooModel entry{line.substr(0, tab), line.substr(std::min(tab + 1, line.size())),
                   std::move(model)};
    for (std::size_t at = 0; (at = entry.arguments.find('\t', at)) != std::string::npos;)
      entry.arguments.replace(at, 1, ", ");
    zoo.push_back(std::move(entry));
  }
  return zoo;
}

std::shared_ptr<const SourceText> scenario_of_model(const ModelFile& model) {
  const std::string file = std::filesystem::absolute(model.path).lexically_normal().string();
  std::string text = fmt::format("schema_version: 1\ndevice: {}\nmodel: {{file: {}}}\nloop: |\n",
                                 quoted_literal(model.device), quoted_literal(file));
  text += fmt::format("  model = {}({})\n  torch._C.watch_model(model)\n", model.type,
                      fmt::join(model.arguments, ", "));
  if (!model.inputs.empty()) {
    std::vector<std::string> inputs;
    for (const std::string& input : model.inputs) inputs.push_back(input_expression(input));
    text +=
        fmt::format("  with phase(\"model\"):\n      model = model.to(\"cuda\")\n  inputs = [{}]",
                    fmt::join(inputs, ", "));
    text += kCallOnce;
  }
  return std::make_shared<const SourceText>(SourceText{std::string(kOwnText), std::move(text)});
}

std::vector<Problem> named_by_options(std::vector<Problem> problems) {
  for (Problem& problem : problems) {
    const SourceText* source = problem.at.source.get();
    if (source == nullptr || source->name != kOwnText) continue;
    const auto line = problem.at.line + source->first_line - 1;
    problem.path = line == kDeviceLine ? "--device" : line == kCallLine ? "--class" : "--input";
    problem.at = {};
  }
  return problems;
}

}  // namespace tidemark
