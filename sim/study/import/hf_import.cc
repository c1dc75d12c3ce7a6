#include "sim/study/import/hf_import.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "sim/format/json_reader.h"
#include "sim/run/literals.h"
#include "sim/run/zoo.h"
#include "sim/study/import/hf_library.h"
#include "sim/study/import/hf_texts.h"

namespace tidemark {
namespace {

using Kind = JsonValue::Kind;

/// A key of config.json and the argument that it becomes.
struct Key {
  std::string_view key;
  std::string_view argument;
  std::string_view fallback = {};  ///< where the key is not there; empty: the model's own default
  bool required = false;
};

/// A key that must have one of these values (as JSON writes them), or not be there.
struct Condition {
  std::string_view key;
  std::string_view values;  ///< apart by blanks
  std::string_view hint;
};

enum class Feed : std::uint8_t { kTokens, kTokensAlone, kImages, kImagesAlone };

struct ModelClass {
  std::string_view name;
  Feed feed;
};

struct Family {
  std::string_view type;    ///< model_type
  std::string_view module;  ///< of the zoo
  std::span<const ModelClass> classes;
  std::span<const Key> keys;
  std::span<const Condition> conditions;
};

constexpr std::array kGpt2Keys = std::to_array<Key>({
    {"vocab_size", "vocab_size"},
    {"n_positions", "n_positions"},
    {"max_position_embeddings", "n_positions"},
    {"n_embd", "n_embd"},
    {"hidden_size", "n_embd"},
    {"n_layer", "n_layer"},
    {"num_hidden_layers", "n_layer"},
    {"n_head", "n_head"},
    {"num_attention_heads", "n_head"},
    {"n_inner", "n_inner"},
    {"activation_function", "activation_function"},
    {"resid_pdrop", "resid_pdrop"},
    {"embd_pdrop", "embd_pdrop"},
    {"attn_pdrop", "attn_pdrop"},
    {"layer_norm_epsilon", "layer_norm_epsilon"},
    {"tie_word_embeddings", "tie_word_embeddings"},
});
constexpr std::array kGpt2Conditions = std::to_array<Condition>({
    {"activation_function", "gelu gelu_new relu silu tanh", ""},
    {"add_cross_attention", "false", "cross-attention is not modelled"},
});

/// Of all three decoders; their own follow.
constexpr Key kVocabulary{"vocab_size", "vocab_size", {}, true};
constexpr Key kHidden{"hidden_size", "hidden_size", {}, true};
constexpr Key kIntermediate{"intermediate_size", "intermediate_size", {}, true};
constexpr Key kLayers{"num_hidden_layers", "num_hidden_layers", {}, true};
constexpr Key kHeads{"num_attention_heads", "num_attention_heads", {}, true};
constexpr Key kHeadSize{"head_dim", "head_dim"};
constexpr Key kActivation{"hidden_act", "hidden_act"};
constexpr Key kEpsilon{"rms_norm_eps", "rms_norm_eps"};
constexpr Key kTheta{"rope_theta", "rope_theta"};
constexpr Key kDropout{"attention_dropout", "attention_dropout"};
constexpr Key kPadding{"pad_token_id", "pad_token_id"};
constexpr Key kTied{"tie_word_embeddings", "tie_word_embeddings"};

constexpr std::array kLlamaKeys{kVocabulary,
                                kHidden,
                                kIntermediate,
                                kLayers,
                                kHeads,
                                kHeadSize,
                                kActivation,
                                kEpsilon,
                                kTheta,
                                kDropout,
                                kPadding,
                                kTied,
                                Key{"num_key_value_heads", "num_key_value_heads"},
                                Key{"attention_bias", "attention_bias"},
                                Key{"mlp_bias", "mlp_bias"}};
constexpr std::array kMistralKeys{kVocabulary,
                                  kHidden,
                                  kIntermediate,
                                  kLayers,
                                  kHeads,
                                  kHeadSize,
                                  kActivation,
                                  kEpsilon,
                                  kTheta,
                                  kDropout,
                                  kPadding,
                                  kTied,
                                  Key{"num_key_value_heads", "num_key_value_heads", "8"}};
constexpr std::array kQwen2Keys{kVocabulary,
                                kHidden,
                                kIntermediate,
                                kLayers,
                                kHeads,
                                kHeadSize,
                                kActivation,
                                kEpsilon,
                                kTheta,
                                kDropout,
                                kPadding,
                                kTied,
                                Key{"num_key_value_heads", "num_key_value_heads", "32"}};
constexpr std::array kDecoderConditions = std::to_array<Condition>(
    {{"hidden_act", "silu gelu relu", ""},
     {"pretraining_tp", "1", "weights in slices are not modelled"},
     {"use_sliding_window", "false", "the mask of a sliding window is not modelled"}});

constexpr std::array kBertKeys = std::to_array<Key>({
    {"vocab_size", "vocab_size"},
    {"hidden_size", "hidden_size"},
    {"num_hidden_layers", "num_hidden_layers"},
    {"num_attention_heads", "num_attention_heads"},
    {"intermediate_size", "intermediate_size"},
    {"hidden_act", "hidden_act"},
    {"hidden_dropout_prob", "hidden_dropout_prob"},
    {"attention_probs_dropout_prob", "attention_probs_dropout_prob"},
    {"max_position_embeddings", "max_position_embeddings"},
    {"type_vocab_size", "type_vocab_size"},
    {"layer_norm_eps", "layer_norm_eps"},
    {"pad_token_id", "pad_token_id"},
});
constexpr std::array kBertConditions = std::to_array<Condition>(
    {{"hidden_act", "gelu relu silu", ""},
     {"is_decoder", "false", "BERT as a decoder is not modelled"},
     {"add_cross_attention", "false", "cross-attention is not modelled"},
     {"chunk_size_feed_forward", "0", "a feed-forward layer in chunks is not modelled"},
     {"tie_word_embeddings", "true",
      "give the decoder's weight a parameter of its own in the model's file"},
     {"position_embedding_type", "absolute", "other positions are not modelled"}});

constexpr std::array kVitKeys = std::to_array<Key>({
    {"image_size", "image_size"},
    {"patch_size", "patch_size"},
    {"num_channels", "num_channels"},
    {"hidden_size", "hidden_size"},
    {"num_hidden_layers", "num_hidden_layers"},
    {"num_attention_heads", "num_attention_heads"},
    {"intermediate_size", "intermediate_size"},
    {"hidden_act", "hidden_act"},
    {"hidden_dropout_prob", "hidden_dropout_prob"},
    {"attention_probs_dropout_prob", "attention_probs_dropout_prob"},
    {"layer_norm_eps", "layer_norm_eps"},
    {"qkv_bias", "qkv_bias"},
    {"pooler_output_size", "pooler_output_size"},
    {"pooler_act", "pooler_act"},
});
constexpr std::array kVitConditions = std::to_array<Condition>(
    {{"hidden_act", "gelu relu silu tanh", ""}, {"pooler_act", "tanh gelu relu silu", ""}});

constexpr std::array kGpt2Classes{ModelClass{"GPT2LMHeadModel", Feed::kTokens}};
constexpr std::array kLlamaClasses{ModelClass{"LlamaForCausalLM", Feed::kTokens}};
constexpr std::array kMistralClasses{ModelClass{"MistralForCausalLM", Feed::kTokens}};
constexpr std::array kQwen2Classes{ModelClass{"Qwen2ForCausalLM", Feed::kTokens}};
constexpr std::array kBertClasses{ModelClass{"BertForMaskedLM", Feed::kTokens},
                                  ModelClass{"BertModel", Feed::kTokensAlone}};
constexpr std::array kVitClasses{ModelClass{"ViTForImageClassification", Feed::kImages},
                                 ModelClass{"ViTModel", Feed::kImagesAlone}};

constexpr Family kFamilies[] = {
    {"gpt2", "hf/gpt2", kGpt2Classes, kGpt2Keys, kGpt2Conditions},
    {"llama", "hf/llama", kLlamaClasses, kLlamaKeys, kDecoderConditions},
    {"mistral", "hf/llama", kMistralClasses, kMistralKeys, kDecoderConditions},
    {"qwen2", "hf/llama", kQwen2Classes, kQwen2Keys, kDecoderConditions},
    {"bert", "hf/bert", kBertClasses, kBertKeys, kBertConditions},
    {"vit", "hf/vit", kVitClasses, kVitKeys, kVitConditions}};

/// What changes no memory of training, or is read elsewhere.
constexpr std::string_view kWithoutEffect[] = {"model_type",
                                               "architectures",
                                               "_name_or_path",
                                               "transformers_version",
                                               "bos_token_id",
                                               "eos_token_id",
                                               "sep_token_id",
                                               "cls_token_id",
                                               "initializer_range",
                                               "initializer_factor",
                                               "use_cache",
                                               "task_specific_params",
                                               "summary_activation",
                                               "summary_first_dropout",
                                               "summary_proj_to_labels",
                                               "summary_type",
                                               "summary_use_proj",
                                               "n_ctx",
                                               "scale_attn_weights",
                                               "scale_attn_by_inverse_layer_idx",
                                               "reorder_and_upcast_attn",
                                               "id2label",
                                               "label2id",
                                               "num_labels",
                                               "max_position_embeddings",
                                               "max_window_layers",
                                               "gradient_checkpointing",
                                               "classifier_dropout",
                                               "problem_type",
                                               "encoder_stride",
                                               "layer_types",
                                               "output_attentions",
                                               "output_hidden_states",
                                               "return_dict",
                                               "rope_scaling",
                                               "rope_parameters",
                                               "sliding_window"};

class Importer {
 public:
  Importer(const JsonValue& config, std::string name, const HfImportOptions& options)
      : config_(config), name_(std::move(name)), options_(options) {}

  HfImport run() {
    if (config_.kind != Kind::kObject)
      fail(config_.at, {}, "expected an object: a config.json", {});
    const Family& family = find_family();
    const ModelClass& model = find_class(family);
    check_conditions(family);
    read_rope();
    read_arguments(family, model);
    note_unknown(family);
    precision_ = precision_of();
    if (!problems_.empty()) throw InputError(std::move(problems_));
    const ModelText text = model_text(family, model);
    HfImport out;
    out.type = model.name;
    out.model_text = text.text;
    out.notes = std::move(notes_);
    out.parameters = parameters_of(text, name_, {});
    out.scenario = scenario(family, model, text, out);
    return out;
  }

 private:
  [[noreturn]] static void fail(const SourceSpan& at, std::string path, std::string message,
                                std::string hint) {
    throw InputError(Problem{at, std::move(path), std::move(message), std::move(hint)});
  }
  void report(const JsonValue& value, std::string_view key, std::string message,
              std::string hint = {}) {
    problems_.push_back({value.at, std::string(key), std::move(message), std::move(hint)});
  }
  /// The value; nullptr: not there, or null.
  [[nodiscard]] const JsonValue* find(std::string_view key) const {
    const JsonValue* value = config_.find(key);
    return value == nullptr || value->kind == Kind::kNull ? nullptr : value;
  }
  static std::string joined(std::span<const ModelClass> classes) {
    std::string out;
    for (const ModelClass& one : classes) out += (out.empty() ? "" : ", ") + std::string(one.name);
    return out;
  }

  const Family& find_family() const {
    const JsonValue* type = find("model_type");
    std::vector<std::string_view> known;
    for (const Family& family : kFamilies) {
      if (type != nullptr && type->text == family.type) return family;
      known.push_back(family.type);
    }
    if (type == nullptr) fail(config_.at, {}, "'model_type' is missing", "is this a config.json?");
    fail(type->at, "model_type", fmt::format("the family '{}' is not known", type->text),
         fmt::format("known are {}; with transformers' sources (--packages) every one is",
                     fmt::join(known, ", ")));
  }

  const ModelClass& find_class(const Family& family) const {
    std::string wanted = options_.type;
    SourceSpan at;
    const JsonValue* architectures = find("architectures");
    if (wanted.empty() && architectures != nullptr && !architectures->items.empty()) {
      wanted = architectures->items.front().text;
      at = architectures->at;
    }
    if (wanted.empty()) return family.classes.front();
    for (const ModelClass& one : family.classes) {
      if (one.name == wanted) return one;
    }
    fail(at, options_.type.empty() ? "architectures" : "--class",
         fmt::format("the class '{}' is not modelled", wanted),
         fmt::format("--class takes {}", joined(family.classes)));
  }

  static std::string plain(const JsonValue& value) {
    switch (value.kind) {
      case Kind::kBoolean:
        return value.boolean ? "true" : "false";
      case Kind::kInteger:
        return std::to_string(value.integer);
      case Kind::kText:
        return value.text;
      default:
        return "another value";
    }
  }
  void check_conditions(const Family& family) {
    for (const Condition& condition : family.conditions) {
      const JsonValue* value = find(condition.key);
      if (value == nullptr) continue;
      const std::string found = plain(*value);
      const std::string padded = fmt::format(" {} ", condition.values);
      if (padded.find(fmt::format(" {} ", found)) != std::string::npos) continue;
      report(*value, condition.key,
             fmt::format("'{}' is not modelled; known: {}", found, condition.values),
             std::string(condition.hint));
    }
  }

  /// Positions that are scaled once have the same memory; those that follow the length do not.
  void read_rope() {
    for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
      const JsonValue* rope = find(key);
      if (rope == nullptr || rope->kind != Kind::kObject) continue;
      const JsonValue* type = rope->find("rope_type");
      if (type == nullptr) type = rope->find("type");
      if (const JsonValue* theta = rope->find("rope_theta")) theta_ = theta;
      if (type != nullptr && (type->text == "dynamic" || type->text == "longrope"))
        report(*type, key, fmt::format("'{}' positions are not modelled", type->text));
    }
  }

  void add(std::string_view argument, std::string literal) {
    for (const auto& [name, text] : arguments_) {
      if (name == argument) return;
    }
    arguments_.emplace_back(argument, std::move(literal));
  }

  void read_arguments(const Family& family, const ModelClass& model) {
    for (const Key& key : family.keys) {
      const JsonValue* value = find(key.key);
      if (value == nullptr && key.key == "rope_theta") value = theta_;
      if (value == nullptr) {
        if (key.required)
          problems_.push_back({config_.at, name_, fmt::format("'{}' is missing", key.key), {}});
        if (!key.fallback.empty()) add(key.argument, std::string(key.fallback));
        continue;
      }
      switch (value->kind) {
        case Kind::kBoolean:
          add(key.argument, value->boolean ? "true" : "false");
          break;
        case Kind::kInteger:
          add(key.argument, std::to_string(value->integer));
          break;
        case Kind::kReal:
          add(key.argument, real_literal(value->real));
          break;
        case Kind::kText:
          add(key.argument, value->text);
          break;
        default:
          report(*value, key.key, "expected a number, text, true or false");
      }
    }
    if (model.feed == Feed::kImages) {
      const JsonValue* labels = find("id2label");
      const JsonValue* count = find("num_labels");
      if (labels != nullptr) {
        add("num_labels", std::to_string(labels->members.size()));
      } else if (count != nullptr) {
        add("num_labels", std::to_string(count->integer));
      }
    }
  }

  /// The type that Hugging Face makes the weights in, as train.precision calls it; empty: its
  /// default, or none that is given. `dtype` is the later name of the key.
  [[nodiscard]] std::string_view precision_of() {
    constexpr std::pair<std::string_view, std::string_view> kTypes[]{
        {"float32", ""}, {"float64", "fp64"}, {"bfloat16", "bf16"}, {"float16", "fp16"}};
    const JsonValue* type = find("dtype");
    const std::string_view key = type == nullptr ? "torch_dtype" : "dtype";
    if (type == nullptr) type = find(key);
    if (type == nullptr) return {};
    for (const auto& [name, precision] : kTypes) {
      if (type->text == name) return precision;
    }
    report(*type, key, fmt::format("'{}' is no type that weights are made in here", type->text),
           "write float32, float64, bfloat16 or float16");
    return {};
  }

  void note_unknown(const Family& family) {
    for (const JsonMember& member : config_.members) {
      if (member.key == "torch_dtype" || member.key == "dtype") continue;
      const auto is_key = [&](const Key& key) { return key.key == member.key; };
      const auto is_condition = [&](const Condition& c) { return c.key == member.key; };
      if (std::any_of(family.keys.begin(), family.keys.end(), is_key) ||
          std::any_of(family.conditions.begin(), family.conditions.end(), is_condition) ||
          std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), member.key) !=
              std::end(kWithoutEffect)) {
        continue;
      }
      notes_.push_back({member.value.at, member.key, "not known, and left out", {}});
    }
    const JsonValue* window = find("sliding_window");
    if (window != nullptr && family.type == "mistral") {
      notes_.push_back(
          {window->at, "sliding_window",
           fmt::format("sequences of {} tokens and more get a mask that is not modelled",
                       window->integer),
           "keep seq_len below it"});
    }
  }

  [[nodiscard]] ModelText model_text(const Family& family, const ModelClass& model) const {
    ModelText out{std::string(zoo_text(family.module)), std::string(model.name), {}};
    for (const auto& [name, value] : arguments_)
      out.arguments += fmt::format("{}{}: {}", out.arguments.empty() ? "" : ", ", name, value);
    return out;
  }

  [[nodiscard]] std::string scenario(const Family& family, const ModelClass& model,
                                     const ModelText& made, const HfImport& out) const {
    const bool is_text = model.feed == Feed::kTokens || model.feed == Feed::kTokensAlone;
    const bool has_loss = model.feed == Feed::kTokens || model.feed == Feed::kImages;
    const JsonValue* positions =
        find(family.type == "gpt2" ? "n_positions" : "max_position_embeddings");
    const std::int64_t longest = positions == nullptr ? 512 : positions->integer;
    std::string text =
        fmt::format("# {} of {}, {} parameters.\nschema_version: 1\nname: {}\ndevice: {}\n",
                    out.type, name_, out.parameters, out.type, options_.device);
    text += is_text ? fmt::format("params: {{batch_size: 8, seq_len: {}}}\n",
                                  std::min<std::int64_t>(longest, 1024))
                    : "params: {batch_size: 8}\n";
    text += model_key(made, options_.model_file);
    text += "train:\n  steps: 3\n  batch: batch_size\n";
    if (!precision_.empty()) text += fmt::format("  precision: {}\n", precision_);
    if (is_text) {
      const std::string_view tokens = "{shape: [seq_len], dtype: long}";
      text += has_loss ? fmt::format("  inputs: [{}, {}]\n", tokens, tokens)
                       : fmt::format("  inputs: [{}]\n", tokens);
    } else {
      const JsonValue* size = find("image_size");
      const JsonValue* channels = find("num_channels");
      const std::int64_t side = size == nullptr ? 224 : size->integer;
      text += fmt::format("  inputs: [{{shape: [{}, {}, {}]}}{}]\n",
                          channels == nullptr ? 3 : channels->integer, side, side,
                          has_loss ? ", {shape: [], dtype: long}" : "");
    }
    text += has_loss ? "  loss: out[0]\n  optimizer: AdamW(lr=1e-3)\n" : "  no_grad: true\n";
    return text;
  }

  const JsonValue& config_;
  const std::string name_;
  const HfImportOptions& options_;
  const JsonValue* theta_ = nullptr;
  std::string_view precision_;
  std::vector<std::pair<std::string, std::string>> arguments_;
  std::vector<Problem> problems_;
  std::vector<Problem> notes_;
};

}  // namespace

HfImport import_hf(const std::string& json, const std::string& name,
                   const HfImportOptions& options) {
  const JsonValue config = read_json(json, name);
  // A value knows its line and column; the text that they are of is here.
  const auto source = std::make_shared<const SourceText>(SourceText{name, json});
  const auto place = [&](std::vector<Problem> problems) {
    for (Problem& problem : problems) {
      if (problem.at.line != 0 && !problem.at.source) problem.at.source = source;
    }
    return problems;
  };
  try {
    HfImport out = has_transformers(options.packages)
                       ? import_from_transformers(config, name, options)
                       : Importer(config, name, options).run();
    out.notes = place(std::move(out.notes));
    return out;
  } catch (const InputError& error) {
    throw InputError(place(error.problems()));
  }
}

}  // namespace tidemark
