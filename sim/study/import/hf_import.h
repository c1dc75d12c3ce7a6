#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/problem.h"

namespace tidemark {

/// What is asked for beside the configuration itself.
struct HfImportOptions {
  std::string type;  ///< the class to take; empty: the first of `architectures`
  std::string device = "h100-sxm-80gb";
  std::string model_file;  ///< the name under which the model's file lies beside the scenario;
                           ///< empty: its text stands in the scenario
  std::vector<std::string> packages;  ///< folders of packages; where one has transformers, the
                                      ///< model is that of the library
};

struct HfImport {
  std::string type;        ///< "LlamaForCausalLM"
  std::string scenario;    ///< YAML
  std::string model_text;  ///< of the model's file
  std::uint64_t parameters = 0;
  std::vector<Problem> notes;  ///< keys that are not known, and what to bear in mind
};

/// Makes a scenario of a Hugging Face config.json: of any family where transformers' sources are
/// there; else GPT-2, Llama, Mistral, Qwen2, BERT and ViT. `name` is for messages. Errors:
/// InputError for another family or class, a key that is missing or of another type, and for values
/// that change what runs in a way that is not modelled.
HfImport import_hf(const std::string& json, const std::string& name,
                   const HfImportOptions& options);

}  // namespace tidemark
