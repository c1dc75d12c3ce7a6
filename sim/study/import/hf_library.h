#pragma once

#include <string>
#include <vector>

#include "sim/format/json_reader.h"
#include "sim/study/import/hf_import.h"

namespace tidemark {

/// Whether one of the folders has the sources of transformers.
bool has_transformers(const std::vector<std::string>& packages);

/// Makes a scenario of a config.json whose model is the class of transformers that `architectures`
/// names, made by the library itself from the configuration. Plain values of the configuration
/// become the model's `args`, so that sweeps can change them. What the model is fed follows from
/// the end of its class's name (docs/scenario.md, "From Hugging Face"). Errors: InputError for a
/// class whose inputs are not known, and what the library's own code raises.
HfImport import_from_transformers(const JsonValue& config, const std::string& name,
                                  const HfImportOptions& options);

}  // namespace tidemark
