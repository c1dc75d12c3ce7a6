#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/ops/registry.h"
#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// What a parameter of an operator's signature (OpDef::signature) may be.
enum class ParameterType : std::uint8_t {
  kTensor,
  kTensorList,
  kOperand,  ///< a tensor or a number
  kNumber,
  kInt,
  kPlace,  ///< an integer that says where, never how much
  kFloat,
  kBool,
  kText,
  kDType,
  kDevice,
  kMemoryFormat,
  kInts,
  kPlaces,
  kFloats,
  kSizes,
  kParts,      ///< sizes that add up to a known one
  kGenerator,  ///< of random numbers; its number
  kAny,        ///< whatever it is: nothing depends on it
};

/// One parameter of a signature.
struct Parameter {
  lang::Name name{};
  ParameterType type = ParameterType::kAny;
  bool optional = false;  ///< None is allowed
  bool keyword_only = false;
  bool rest = false;                  ///< takes the remaining positional numbers or tensors
  std::vector<lang::Name> spellings;  ///< other names of it
  std::optional<ops::Argument> fallback;
  [[nodiscard]] bool is_called(lang::Name word) const;
};

/// The parameters of a signature, "sum(Tensor input, int[]? dim=None, *, dtype? dtype=None)".
/// Requires: a well-formed one (InternalError otherwise: the text is ours).
std::vector<Parameter> parse_parameters(lang::Interp& interp, std::string_view signature);

/// Whether a tensor of one integer may stand where an integer is asked for: PyTorch reads it.
enum class Integers : std::uint8_t { kPlain, kRead };

/// Makes an argument of `value`. Returns false where the parameter does not take it.
bool to_argument(Session& session, const Parameter& parameter, const lang::Value& value,
                 ops::Argument& out, Integers integers = Integers::kPlain);

/// A whole number, or a tensor of the host that holds one which is known; with Integers::kRead any
/// tensor of one integer. Errors: a refusal of an integer that is not known.
std::optional<std::int64_t> whole_number(Session& session, const lang::Value& given,
                                         Integers integers = Integers::kPlain);

}  // namespace tidemark::torch
