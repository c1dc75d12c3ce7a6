#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/registry.h"
#include "sim/torch/session.h"

namespace tidemark::torch {

/// The overloads of one operator as one callable of the language.
class BoundOp {
 public:
  BoundOp(Session& session, std::string_view name) : session_(session), name_(name) {}
  /// Requires: a well-formed signature (InternalError otherwise: the text is ours).
  void add(const ops::OpDef& def);
  /// Brings the arguments to a signature, runs the operator, gives its result. The first overload that fits is taken.
  /// Errors: TypeError with every signature when none fits; as Session::guarded.
  lang::Value call(lang::CallArgs& args) const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  enum class Type : std::uint8_t {
    kTensor, kTensorList, kOperand, kNumber, kInt, kFloat, kBool, kText, kDType, kDevice, kMemoryFormat, kInts,
    kFloats, kAny,
  };
  struct Parameter {
    lang::Name name{};
    Type type = Type::kAny;
    bool optional = false;      ///< None is allowed
    bool keyword_only = false;
    bool rest = false;          ///< takes the remaining positional numbers
    std::optional<ops::Argument> fallback;
  };
  struct Overload {
    const ops::OpDef* def;
    std::vector<Parameter> parameters;
  };
  bool bind(const Overload& overload, lang::CallArgs& args, std::vector<ops::Argument>& out,
            std::string* why) const;
  bool convert(const Parameter& parameter, const lang::Value& value, ops::Argument& out) const;
  Parameter parse_parameter(std::string_view text) const;
  static ops::Argument parse_default(std::string_view text);

  Session& session_;
  std::string name_;
  std::vector<Overload> overloads_;
};

/// The whole op table by where users find it. Names are looked up when first used.
class OpTable {
 public:
  explicit OpTable(Session& session) : session_(session) {}
  /// The callable for torch.NAME, F.NAME or x.NAME; Empty when there is none. `where`: "torch", "F", "method".
  lang::Value find(std::string_view where, std::string_view name);
  /// All names of one place, sorted.
  std::vector<std::string_view> list(std::string_view where) const;

 private:
  Session& session_;
  std::unordered_map<std::string, lang::Value> made_;
};

/// What an operator gave, as a value.
lang::Value to_value(Session& session, ops::OpResult result);

}  // namespace tidemark::torch
