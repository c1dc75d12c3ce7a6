#include "sim/study/import/hf_library.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/run/literals.h"
#include "sim/study/import/hf_texts.h"
#include "sim/yaml/quoted.h"

namespace tidemark {
namespace {

using Kind = JsonValue::Kind;

enum class Input : std::uint8_t { kNone, kTokens, kLabel, kPixels, kPixelLabels };

/// What a class is fed, by the end of its name: transformers' own heads are named so.
struct Task {
  std::string_view ending;
  std::array<std::pair<std::string_view, Input>, 3> inputs;  ///< by the names of forward()
};

constexpr std::pair<std::string_view, Input> kNothing{"", Input::kNone};
constexpr std::pair<std::string_view, Input> kInputIds{"input_ids", Input::kTokens};
constexpr std::pair<std::string_view, Input> kPixelValues{"pixel_values", Input::kPixels};
constexpr std::array<std::pair<std::string_view, Input>, 3> kText{
    kInputIds, {"labels", Input::kTokens}, kNothing};

constexpr Task kTasks[] = {
    {"ForCausalLM", kText},
    {"LMHeadModel", kText},
    {"ForMaskedLM", kText},
    {"ForConditionalGeneration", kText},
    {"ForTokenClassification", kText},
    {"ForSequenceClassification", {kInputIds, {"labels", Input::kLabel}, kNothing}},
    {"ForQuestionAnswering",
     {kInputIds, {"start_positions", Input::kLabel}, {"end_positions", Input::kLabel}}},
    {"ForImageClassification", {kPixelValues, {"labels", Input::kLabel}, kNothing}},
    {"ForSemanticSegmentation", {kPixelValues, {"labels", Input::kPixelLabels}, kNothing}}};

/// A model without a head: only inputs, no loss.
constexpr Task kTextAlone{"Model", {kInputIds, kNothing, kNothing}};
constexpr Task kBothTexts{"Model", {kInputIds, {"decoder_input_ids", Input::kTokens}, kNothing}};
constexpr Task kImagesAlone{"Model", {kPixelValues, kNothing, kNothing}};

/// What says nothing of the model itself.
constexpr std::string_view kLeftOut[] = {"architectures", "transformers_version", "_name_or_path",
                                         "model_type", "auto_map"};

std::string python_literal(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kNull:
      return "None";
    case Kind::kBoolean:
      return value.boolean ? "True" : "False";
    case Kind::kInteger:
      return std::to_string(value.integer);
    case Kind::kUnsigned:
      return std::to_string(value.unsigned_integer);
    case Kind::kReal:
      return real_literal(value.real);
    case Kind::kText:
      return quoted_literal(value.text);
    case Kind::kArray: {
      std::string out = "[";
      for (const JsonValue& item : value.items)
        out += (out.size() == 1 ? "" : ", ") + python_literal(item);
      return out + "]";
    }
    case Kind::kObject: {
      std::string out = "{";
      for (const JsonMember& member : value.members) {
        out += fmt::format("{}{}: {}", out.size() == 1 ? "" : ", ", quoted_literal(member.key),
                           python_literal(member.value));
      }
      return out + "}";
    }
  }
  return "None";
}

class LibraryImporter {
 public:
  LibraryImporter(const JsonValue& config, const std::string& name, const HfImportOptions& options)
      : config_(config), name_(name), options_(options) {}

  HfImport run() {
    if (config_.kind != Kind::kObject)
      fail(config_.at, {}, "expected an object: a config.json", {});
    if (find("model_type") == nullptr || find("model_type")->kind != Kind::kText)
      fail(config_.at, {}, "'model_type' is missing", "is this a config.json?");
    find_type();
    find_task();
    const ModelText text = model_text();
    HfImport out;
    out.type = type_;
    out.model_text = text.text;
    out.parameters = parameters_of(text, name_, options_.packages);
    out.scenario = scenario(text, out);
    return out;
  }

 private:
  [[noreturn]] static void fail(const SourceSpan& at, std::string path, std::string message,
                                std::string hint) {
    throw InputError(Problem{at, std::move(path), std::move(message), std::move(hint)});
  }
  [[nodiscard]] const JsonValue* find(std::string_view key) const {
    const JsonValue* value = config_.find(key);
    return value == nullptr || value->kind == Kind::kNull ? nullptr : value;
  }
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key) const {
    const JsonValue* value = find(key);
    if (value == nullptr || value->kind != Kind::kInteger || value->integer <= 0) return {};
    return value->integer;
  }

  void find_type() {
    type_ = options_.type;
    const JsonValue* architectures = find("architectures");
    if (type_.empty() && architectures != nullptr && !architectures->items.empty()) {
      type_ = architectures->items.front().text;
      type_at_ = architectures->at;
    }
    if (type_.empty())
      fail(config_.at, {}, "'architectures' is missing", "name the model's class with --class");
    if (!is_identifier(type_))
      fail(type_at_, type_path(), fmt::format("'{}' is no name of a class", type_), {});
  }
  [[nodiscard]] std::string type_path() const {
    return options_.type.empty() ? "architectures" : "--class";
  }

  void find_task() {
    const bool has_images = find("image_size") != nullptr || find("vision_config") != nullptr;
    const bool has_text = find("vocab_size") != nullptr;
    std::vector<std::string_view> known;
    for (const Task& task : kTasks) {
      known.push_back(task.ending);
      if (type_.ends_with(task.ending)) task_ = &task;
    }
    if (task_ == nullptr && type_.ends_with("Model") && has_text != has_images) {
      const JsonValue* both = find("is_encoder_decoder");
      const bool has_decoder = both != nullptr && both->boolean;
      task_ = has_images ? &kImagesAlone : has_decoder ? &kBothTexts : &kTextAlone;
    }
    const bool takes_images = task_ != nullptr && task_->inputs[0].second == Input::kPixels;
    if (task_ == nullptr || (has_images && !takes_images)) {
      fail(type_at_, type_path(), fmt::format("what a {} is fed is not known here", type_),
           fmt::format("known are classes that end in {} or Model, of texts or of images alone; "
                       "any other runs in a script or a `loop` of its own (docs/libraries.md)",
                       fmt::join(known, ", ")));
    }
  }

  [[nodiscard]] static bool is_argument(const JsonMember& member) {
    if (!is_identifier(member.key)) return false;
    const Kind kind = member.value.kind;
    return kind == Kind::kBoolean || kind == Kind::kInteger || kind == Kind::kReal ||
           kind == Kind::kText;
  }

  [[nodiscard]] std::string argument(const JsonValue& value) const {
    if (value.kind == Kind::kText) return yaml::quoted(value.text);
    if (value.kind == Kind::kBoolean) return value.boolean ? "true" : "false";
    return python_literal(value);
  }

  [[nodiscard]] ModelText model_text() const {
    ModelText out;
    out.type = "Training";
    std::string rest;
    std::string parameters;
    std::string passed;
    for (const JsonMember& member : config_.members) {
      if (std::find(std::begin(kLeftOut), std::end(kLeftOut), member.key) != std::end(kLeftOut))
        continue;
      if (is_argument(member)) {
        out.arguments += fmt::format("{}{}: {}", out.arguments.empty() ? "" : ", ", member.key,
                                     argument(member.value));
      } else {
        rest +=
            fmt::format("    {}: {},\n", quoted_literal(member.key), python_literal(member.value));
      }
    }
    for (const auto& [name, input] : task_->inputs) {
      if (input == Input::kNone) continue;
      parameters += fmt::format(", {}", name);
      passed += fmt::format("{}{}={}", passed.empty() ? "" : ", ", name, name);
    }
    out.text = fmt::format(
        R"(from torch import nn
from transformers import AutoConfig, {0}
{1}

class Training(nn.Module):
    def __init__(self, **values):
        super().__init__()
        config = AutoConfig.for_model({2}, {5}**values)
        self.model = {0}._from_config(config)

    def forward(self{3}):
        return self.model({4})
)",
        type_,
        rest.empty()
            ? ""
            : fmt::format("\n# What is no plain value of the configuration.\nCONFIG = {{\n{}}}\n",
                          rest),
        quoted_literal(find("model_type")->text), parameters, passed,
        rest.empty() ? "" : "**CONFIG, ");
    return out;
  }

  [[nodiscard]] std::string shape_of(Input input) const {
    const std::int64_t side = integer("image_size").value_or(224);
    switch (input) {
      case Input::kTokens:
        return "{shape: [seq_len], dtype: long}";
      case Input::kLabel:
        return "{shape: [], dtype: long}";
      case Input::kPixels:
        return fmt::format("{{shape: [{}, {}, {}]}}", integer("num_channels").value_or(3), side,
                           side);
      case Input::kPixelLabels:
        return fmt::format("{{shape: [{}, {}], dtype: long}}", side, side);
      case Input::kNone:
        break;
    }
    return {};
  }

  [[nodiscard]] std::string scenario(const ModelText& model, const HfImport& out) const {
    std::int64_t longest = 512;
    for (const std::string_view key : {"max_position_embeddings", "n_positions"}) {
      if (const auto length = integer(key)) longest = std::min<std::int64_t>(*length, 1024);
    }
    const bool is_text = task_->inputs[0].second == Input::kTokens;
    std::string inputs;
    for (const auto& [name, input] : task_->inputs) {
      if (input != Input::kNone) inputs += (inputs.empty() ? "" : ", ") + shape_of(input);
    }
    std::string text = fmt::format(
        "# {} of {}, {} parameters, as transformers makes it.\nschema_version: 1\nname: {}\n"
        "device: {}\nparams: {{batch_size: 8{}}}\n",
        type_, name_, out.parameters, type_, options_.device,
        is_text ? fmt::format(", seq_len: {}", longest) : "");
    text += model_key(model, options_.model_file);
    text += fmt::format("train:\n  steps: 3\n  batch: batch_size\n  inputs: [{}]\n", inputs);
    const bool has_loss = task_->ending != "Model";
    text += has_loss ? "  loss: out[0]\n  optimizer: AdamW(lr=1e-3)\n" : "  no_grad: true\n";
    return text;
  }

  const JsonValue& config_;
  const std::string& name_;
  const HfImportOptions& options_;
  std::string type_;
  SourceSpan type_at_;
  const Task* task_ = nullptr;
};

}  // namespace

bool has_transformers(const std::vector<std::string>& packages) {
  return std::any_of(packages.begin(), packages.end(), [](const std::string& folder) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(
        std::filesystem::path(folder) / "transformers" / "__init__.py", ignored);
  });
}

HfImport import_from_transformers(const JsonValue& config, const std::string& name,
                                  const HfImportOptions& options) {
  return LibraryImporter(config, name, options).run();
}

}  // namespace tidemark
