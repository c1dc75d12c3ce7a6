#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/autocast.h"
#include "sim/ops/pointwise_rule.h"
#include "sim/ops/record_compiler/expression.h"

namespace tidemark::ops::records {

/// A parameter of a record's schema.
struct Parameter {
  enum class Kind : std::uint8_t { kTensor, kOperand, kNumber, kOther };
  Kind kind = Kind::kOther;
  [[nodiscard]] bool is_tensor() const { return kind == Kind::kTensor || kind == Kind::kOperand; }
  /// Its value may decide what a gradient does, once: the first of these.
  [[nodiscard]] bool decides() const { return kind == Kind::kNumber || type == "str"; }
  std::string type;  ///< as the op table has it: Tensor, operand, number, str
  std::string name;
  std::string rest;         ///< "=0.5": the default
  bool takes_rest = false;  ///< `*dims`: the positional arguments that are left, too
  /// What the older losses say instead of `reduction`: not for C++.
  [[nodiscard]] bool is_legacy() const { return name == "size_average" || name == "reduce"; }
  /// Taken from programs and looked at by nobody: not for C++.
  [[nodiscard]] bool is_ignored() const {
    return name.empty() || is_legacy() || type == "any" || type == "generator?";
  }
  /// How a loss is reduced.
  [[nodiscard]] bool is_reduction() const { return type == "str" && name == "reduction"; }
};

/// A gradient as a record has it.
struct WrittenGradient {
  std::string parameter;  ///< whose; kTogether: theirs, with commas between
  enum class When : std::uint8_t { kAlways, kInPlace, kOfGraph, kTogether };
  When when = When::kAlways;
  Expression value;
};

/// A C++ function that steps call by name.
struct Native {
  enum class Kind : std::uint8_t {
    kKernel,    ///< below autograd
    kOperator,  ///< records gradients of its own where they are recorded
    kPlain,     ///< of numbers and shapes: it takes no context
  };
  enum class Gives : std::uint8_t { kTensor, kList, kScratch, kNothing, kPlain };
  Kind kind = Kind::kKernel;
  Gives gives = Gives::kTensor;
  std::string name;
  std::vector<Parameter> parameters;
};

/// A record: what one operator does, read.
struct Record {
  enum class Kind : std::uint8_t {
    kPointwise,
    kExtern,   ///< C++ makes the results; the record has the gradients
    kOfGraph,  ///< C++ has the gradients; the record has them where they are recorded
    // These have the steps of `forward`, too, or name the C++ that does them.
    kReduction,
    kLoss,
    kView,
    kComposite,  ///< its steps are operators
    kCopy,
    kScan,
    kActivation,
    kIndex,
    kSort,
    kPool,
    kNorm,
    kProduct,
  };
  Kind kind = Kind::kPointwise;
  std::string name;      ///< "add.Tensor"
  std::string label;     ///< "add"
  std::string alias_of;  ///< the name of the record that this one is another name of
  std::vector<Parameter> parameters;
  std::vector<std::string> variants;  ///< torch, method
  enum class Functional : std::uint8_t { kNone, kPlain, kInPlace };
  Functional functional = Functional::kNone;  ///< in torch.nn.functional: with an inplace flag
  bool in_place = true;
  bool in_place_is_method = false;     ///< NAME_ is x.NAME_ alone
  std::vector<std::string> broadcast;  ///< tensors that are brought to one shape first
  bool casts_by_argument = false;      ///< autocast gives the dtype that the caller has not given
  std::optional<Expression> dispatch;  ///< the call of C++ that does the steps
  std::vector<std::string> results;    ///< of several: their names, if they have any
  bool gives_list = false;             ///< Tensor[]
  std::string first_unless;            ///< of several results the first alone, unless that flag
  bool writes_self = false;            ///< Tensor(a!): NAME_
  bool gathers = false;                ///< for the clock: it reads no more than it gives
  std::string check;                   ///< a C++ function that looks at the arguments first
  ResultKind result = ResultKind::kPromote;
  std::optional<CastPolicy> cast;
  bool contiguous = false;
  bool takes_complex = false;
  std::string node;
  std::vector<std::string> reads;
  std::vector<WrittenGradient> gradients;
  std::vector<Statement> checks;      ///< before the node is made
  std::vector<Statement> forward;     ///< what makes the result, the last one
  std::optional<Expression> numbers;  ///< a number of the result, of those of the arguments
  Releases releases;
  std::string source;  ///< the section of docs/rules
  std::string not_modelled;
  std::string file;
  std::uint32_t line = 0;
  std::string text;  ///< as it is written
  SourceSpan at;

  /// It has the steps of `forward`.
  [[nodiscard]] bool has_steps() const { return !forward.empty(); }
  /// The C++ function that it becomes: "var.correction" is var_correction.
  [[nodiscard]] std::string function() const;
  /// The C++ function that does its steps alone, below autograd.
  [[nodiscard]] std::string steps() const;
  /// It gives several tensors.
  [[nodiscard]] bool is_list() const { return gives_list || !results.empty(); }
  /// What gradients call the result of that number.
  [[nodiscard]] std::string result_name(std::size_t i) const;

  /// Indices of the parameters that are tensors.
  [[nodiscard]] std::vector<std::size_t> tensors() const;
  [[nodiscard]] const std::string& input(std::size_t i) const {
    return parameters[tensors()[i]].name;
  }
};

/// A function that gradients are written with.
struct Function {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<Statement> body;  ///< the last one is the result
};

struct Records {
  std::vector<Record> records;
  std::map<std::string, Function, std::less<>> functions;
  std::map<std::string, Native, std::less<>> natives;
};

/// "weight, bias" apart.
std::vector<std::string> names_in(std::string_view list);

/// Reads one file and adds what it has, aliases as records of their own. Errors: InputError with
/// everything that is wrong, and where.
void read_records(const std::shared_ptr<const SourceText>& source, Records& into);

}  // namespace tidemark::ops::records
