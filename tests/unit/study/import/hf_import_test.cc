#include "sim/study/import/hf_import.h"

#include <string>

#include "sim/study/catalogue/describe.h"

namespace tidemark {
namespace {

std::string problems_of(const std::string& json, const std::string& type = {}) {
  try {
    HfImportOptions options;
    options.type = type;
    import_hf(json, "config.json", options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

std::uint64_t parameters(const std::string& json) {
  return import_hf(json, "config.json", {}).parameters;
}

}  // namespace

TEST_CASE("imported models have the parameters that Hugging Face publishes") {
  CHECK(
      parameters(R"({"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_embd": 768,
                       "n_layer": 12, "n_head": 12})") == 124'439'808);
  CHECK(parameters(R"({"model_type": "llama", "vocab_size": 32000, "hidden_size": 4096,
                       "intermediate_size": 11008, "num_hidden_layers": 32,
                       "num_attention_heads": 32, "num_key_value_heads": 32})") == 6'738'415'616);
  CHECK(parameters(R"({"model_type": "mistral", "vocab_size": 32000, "hidden_size": 4096,
                       "intermediate_size": 14336, "num_hidden_layers": 32,
                       "num_attention_heads": 32, "num_key_value_heads": 8})") == 7'241'732'096);
  CHECK(parameters(R"({"model_type": "qwen2", "vocab_size": 151936, "hidden_size": 896,
                       "intermediate_size": 4864, "num_hidden_layers": 24,
                       "num_attention_heads": 14, "num_key_value_heads": 2,
                       "tie_word_embeddings": true})") == 494'032'768);
  CHECK(parameters(R"({"model_type": "bert", "architectures": ["BertModel"]})") == 109'482'240);
  CHECK(parameters(R"({"model_type": "bert", "architectures": ["BertForMaskedLM"]})") ==
        109'514'298);
  CHECK(parameters(R"({"model_type": "vit", "architectures": ["ViTModel"]})") == 86'389'248);
  // Its classifier of two labels in place of the pooler.
  CHECK(parameters(R"({"model_type": "vit", "id2label": {"0": "cat", "1": "dog"}})") == 85'800'194);
}

TEST_CASE("an import says what it does not know") {
  const HfImport model = import_hf(R"({
  "model_type": "mistral", "architectures": ["MistralForCausalLM"], "vocab_size": 100,
  "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 8,
  "rms_norm_eps": 1e-05, "sliding_window": 4096, "use_cache": true,
  "colour": "red"
})",
                                   "config.json", {});
  REQUIRE(model.notes.size() == 2);
  CHECK(render_problem(model.notes[0]) ==
        "config.json:5:13: error: colour: not known, and left out\n"
        "      \"colour\": \"red\"\n                ^\n");
  CHECK(model.notes[1].path == "sliding_window");
  CHECK(model.scenario.find("  args: {vocab_size: 100, hidden_size: 64, intermediate_size: 128, "
                            "num_hidden_layers: 1, num_attention_heads: 8, rms_norm_eps: 1.0e-05, "
                            "num_key_value_heads: 8}\n") != std::string::npos);
}

TEST_CASE("what an import cannot take is refused with its place") {
  CHECK(problems_of("[]").find("expected an object: a config.json") != std::string::npos);
  CHECK(problems_of("{}").find("'model_type' is missing; is this a config.json?") !=
        std::string::npos);
  CHECK(problems_of(R"({"model_type": "mamba"})")
            .find("config.json:1:16: error: model_type: the family 'mamba' is not known; known are "
                  "gpt2, llama, mistral, qwen2, bert, vit; with transformers' sources "
                  "(--packages) every one is") != std::string::npos);
  CHECK(problems_of(R"({"model_type": "bert", "architectures": ["BertForPreTraining"]})")
            .find("architectures: the class 'BertForPreTraining' is not modelled; --class takes "
                  "BertForMaskedLM, BertModel") != std::string::npos);
  CHECK(problems_of(R"({"model_type": "vit"})", "ViTThing")
            .find("--class: the class 'ViTThing' is not modelled; --class takes "
                  "ViTForImageClassification, ViTModel") != std::string::npos);
  const std::string several = problems_of(
      R"({"model_type": "llama", "vocab_size": [], "hidden_act": "swish2", "rope_scaling": {"type": "dynamic"}})");
  CHECK(several.find("hidden_act: 'swish2' is not modelled; known: silu gelu relu") !=
        std::string::npos);
  CHECK(several.find("rope_scaling: 'dynamic' positions are not modelled") != std::string::npos);
  CHECK(several.find("vocab_size: expected a number, text, true or false") != std::string::npos);
  CHECK(several.find("'num_hidden_layers' is missing") != std::string::npos);
}

TEST_CASE("the zoo's models have the parameters of their papers") {
  std::size_t known = 0;
  for (const ZooModel& entry : describe_zoo()) {
    const std::uint64_t parameters = entry.model.layers.front().module.parameters;
    if (entry.name == "resnet18") known += parameters == 11'689'512 ? 1 : 0;
    if (entry.name == "resnet50") known += parameters == 25'557'032 ? 1 : 0;
    if (entry.name == "mobilenet_v2") known += parameters == 3'504'872 ? 1 : 0;
    if (entry.name == "densenet") known += parameters == 7'978'856 ? 1 : 0;
    if (entry.name == "simple_conv") {
      CHECK(entry.arguments == "image=32, side=32, inplace=False");
      CHECK(entry.model.layers.front().module.type == "SimpleConv");
    }
    CHECK(parameters > 0);
  }
  CHECK(known == 4);
}

}  // namespace tidemark
