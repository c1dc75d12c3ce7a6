#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/registry.h"
#include "sim/torch/host_values.h"
#include "sim/torch/session.h"

namespace tidemark::torch {

/// The overloads of one operator as one callable of the language.
class BoundOp {
 public:
  BoundOp(Session& session, std::string_view name, std::vector<const ops::OpDef*> defs)
      : session_(session), name_(name), defs_(std::move(defs)) {}
  /// Brings the arguments to a signature, runs the operator, gives its result. The first overload
  /// that fits is taken. Errors: TypeError with every signature when none fits; as
  /// Session::guarded.
  lang::Value call(lang::CallArgs& args);
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  enum class Type : std::uint8_t {
    kTensor,
    kTensorList,
    kOperand,
    kNumber,
    kInt,
    kFloat,
    kBool,
    kText,
    kDType,
    kDevice,
    kMemoryFormat,
    kInts,
    kFloats,
    kAny,
  };
  struct Parameter {
    lang::Name name{};
    Type type = Type::kAny;
    bool optional = false;  ///< None is allowed
    bool keyword_only = false;
    bool rest = false;                  ///< takes the remaining positional numbers
    std::vector<lang::Name> spellings;  ///< other names of it
    std::optional<ops::Argument> fallback;
  };
  struct Overload {
    const ops::OpDef* def;
    std::vector<Parameter> parameters;
    bool takes_tensors;  ///< any number of them, as arguments of their own
  };
  bool bind(const Overload& overload, lang::CallArgs& args, std::vector<ops::Argument>& out,
            std::string* why) const;
  [[nodiscard]] bool python_type(const lang::Value& value, ops::Argument& out) const;
  bool convert(const Parameter& parameter, const lang::Value& value, ops::Argument& out) const;
  /// Reads the signatures, at the first call. Requires: well-formed ones (InternalError otherwise:
  /// the text is ours).
  void parse();
  Parameter parse_parameter(std::string_view text) const;
  static ops::Argument parse_default(std::string_view text);

  Session& session_;
  std::string name_;
  std::vector<const ops::OpDef*> defs_;
  std::vector<Overload> overloads_;  ///< of defs_, once parsed
  HostRule host_rule_;               ///< once parsed
};

/// The whole op table by where users find it. Names are looked up when first used.
class OpTable {
 public:
  /// Cost: linear in the op table.
  explicit OpTable(Session& session);
  /// The callable for torch.NAME, F.NAME or x.NAME; Empty when there is none. `where`: "torch",
  /// "F", "method".
  lang::Value find(std::string_view where, std::string_view name);
  /// All names of one place, sorted.
  [[nodiscard]] std::vector<std::string_view> list(std::string_view where) const;

 private:
  struct Entry {
    std::vector<const ops::OpDef*> defs;
    lang::Value made;
  };
  using Names = std::unordered_map<std::string_view, Entry>;
  [[nodiscard]] const Names& names_of(std::string_view where) const;

  Session& session_;
  Names torch_;
  Names functional_;
  Names methods_;
};

/// What an operator gave, as a value.
lang::Value to_value(Session& session, ops::OpResult result);

}  // namespace tidemark::torch
