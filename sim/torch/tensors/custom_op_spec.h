#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/source.h"

namespace tidemark::torch {

/// An expression of the model language that says one thing about a custom op.
struct CustomExpression {
  std::shared_ptr<const SourceText> source;  ///< null: not given
  SourceSpan at;                             ///< where messages point
  std::string path;                          ///< "ops.flash_attn_func.forward[0].shape"
  [[nodiscard]] bool given() const { return static_cast<bool>(source); }
};

/// One step of a custom op: a tensor is made, or dropped.
struct CustomStep {
  enum class Kind : std::uint8_t {
    kShape,       ///< new, of `shape`, `dtype` and `device`
    kLike,        ///< new, as torch.empty_like(`of`) makes it; `dtype` may differ
    kContiguous,  ///< `of` itself where it is contiguous, else a contiguous copy
    kBytes,       ///< that many raw bytes
    kFree,        ///< `name` is dropped
  };
  Kind kind = Kind::kShape;
  std::string name;
  std::string of;
  CustomExpression shape;
  CustomExpression dtype;
  CustomExpression device;  ///< not given: that of the first tensor argument
  CustomExpression bytes;
  CustomExpression when;  ///< the step is left out where this is false
  bool keep = false;      ///< kBytes: one workspace a device and stream, kept from its first use on
  SourceSpan at;
  std::string path;
};

/// What a user declares of an operator that is not modelled. docs/scenario.md, "Custom ops".
/// Requires of whoever fills it: names in `returns`, `saves`, `gradients` and steps exist.
struct CustomOpSpec {
  std::string name;  ///< by which code finds it: "flash_attn.flash_attn_func", "torch.ops.ns.name"
  SourceSpan at;
  std::string path;
  CustomExpression function;  ///< given: the op is this function of the model language, no more
  std::string parameters;     ///< as Python writes them: "q, k, v, causal=False"
  std::vector<std::string> parameter_names;
  std::vector<std::pair<std::string, CustomExpression>> let;  ///< named values, in order
  std::vector<CustomStep> forward;
  std::vector<CustomStep> backward;
  bool has_backward = false;
  std::vector<std::string> returns;  ///< "": None in that place
  bool returns_tuple = false;
  std::vector<std::string> saves;  ///< in order of release
  std::vector<std::string> without_gradient;
  std::vector<std::pair<std::string, std::string>> gradients;  ///< parameter, and what holds it
};

}  // namespace tidemark::torch
