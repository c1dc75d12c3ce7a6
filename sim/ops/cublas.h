#pragma once

#include <optional>
#include <string_view>

#include "sim/base/bytes.h"

namespace tidemark::ops {

/// What PyTorch is told of cuBLAS's workspaces by variables of the environment. What is not said is
/// the release's and the device's own. Source: docs/rules/products.md#4.3.
struct CublasSettings {
  std::optional<Bytes> workspace;     ///< CUBLAS_WORKSPACE_CONFIG
  std::optional<Bytes> lt_workspace;  ///< CUBLASLT_WORKSPACE_SIZE
  std::optional<bool> cache;          ///< TORCH_CUBLAS_WORKSPACE_CACHE
};

/// The bytes of ":4096:2:16:8", pairs of KiB and count; std::nullopt: PyTorch finds no pair.
std::optional<Bytes> read_workspace_config(std::string_view text);

/// Whether `name` is one of these variables.
bool is_cublas_variable(std::string_view name);
/// Takes a variable as PyTorch reads it; what it cannot read says nothing, as if it were not set.
/// Requires: is_cublas_variable(name).
void set_cublas_variable(CublasSettings& settings, std::string_view name, std::string_view value);

}  // namespace tidemark::ops
