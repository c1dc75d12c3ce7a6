#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/ops/context.h"

namespace tidemark::ops {

struct None {
  friend bool operator==(None, None) = default;
};

/// One argument of an operator, brought from the model's code to what the signature asks for.
using Argument =
    std::variant<None, bool, std::int64_t, double, std::string, ScalarType, Device, MemoryFormat,
                 Tensor, TensorList, Dims, std::vector<double>, std::vector<std::int64_t>>;

/// The arguments of one call, in the order of the signature; defaults are filled in.
class Arguments {
 public:
  Arguments(Context& c, std::vector<Argument> values) : c_(c), values_(std::move(values)) {}

  [[nodiscard]] bool is_none(std::size_t i) const {
    return std::holds_alternative<None>(values_[i]);
  }
  /// A number that is not known is no tensor, though it is held as one.
  [[nodiscard]] bool is_tensor(std::size_t i) const {
    const auto* held = std::get_if<Tensor>(&values_[i]);
    return held != nullptr && !(held->defined() && (*held)->wrapped_number);
  }
  [[nodiscard]] const Tensor& tensor(std::size_t i) const { return std::get<Tensor>(values_[i]); }
  /// Undefined for None.
  [[nodiscard]] Tensor optional_tensor(std::size_t i) const {
    return is_none(i) ? Tensor() : tensor(i);
  }
  /// A tensor, or a Python number as the 0-dim host tensor that it becomes in an operator.
  [[nodiscard]] Tensor operand(std::size_t i) const;
  [[nodiscard]] const TensorList& tensors(std::size_t i) const {
    return std::get<TensorList>(values_[i]);
  }
  [[nodiscard]] std::int64_t integer(std::size_t i) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(std::size_t i) const;
  /// Bool, int or float; not a number (NaN) where it is not known.
  [[nodiscard]] double number(std::size_t i) const;
  [[nodiscard]] std::optional<double> optional_number(std::size_t i) const;
  [[nodiscard]] bool flag(std::size_t i) const { return std::get<bool>(values_[i]); }
  [[nodiscard]] std::optional<bool> optional_flag(std::size_t i) const;
  [[nodiscard]] const std::string& text(std::size_t i) const {
    return std::get<std::string>(values_[i]);
  }
  [[nodiscard]] const Dims& dims(std::size_t i) const { return std::get<Dims>(values_[i]); }
  [[nodiscard]] std::optional<Dims> optional_dims(std::size_t i) const;
  /// `int[N]`: one number stands for N equal ones.
  [[nodiscard]] Dims dims_of(std::size_t i, std::size_t count) const;
  [[nodiscard]] std::optional<ScalarType> dtype(std::size_t i) const;
  [[nodiscard]] std::optional<Device> device(std::size_t i) const;
  [[nodiscard]] std::optional<MemoryFormat> memory_format(std::size_t i) const;
  [[nodiscard]] const std::vector<std::int64_t>& sizes(std::size_t i) const {
    return std::get<std::vector<std::int64_t>>(values_[i]);
  }
  [[nodiscard]] const Argument& value(std::size_t i) const { return values_[i]; }
  [[nodiscard]] std::size_t count() const { return values_.size(); }
  [[nodiscard]] Context& context() const { return c_; }

 private:
  Context& c_;
  std::vector<Argument> values_;
};

/// What a call gives back: one tensor, a tuple or list of tensors, or a plain value.
struct OpResult {
  enum class Kind : std::uint8_t { kTensor, kTuple, kList, kValue };
  OpResult(Tensor tensor) : tensors{std::move(tensor)} {}  // NOLINT(google-explicit-constructor)
  static OpResult tuple(TensorList list) { return OpResult(Kind::kTuple, std::move(list)); }
  /// A named tuple: torch.return_types.NAME with the fields "values indices".
  static OpResult named(std::string_view name, std::string_view fields, TensorList list) {
    OpResult out(Kind::kTuple, std::move(list));
    out.name = name;
    out.fields = fields;
    return out;
  }
  static OpResult list(TensorList list) { return OpResult(Kind::kList, std::move(list)); }
  static OpResult plain(Argument value) {
    OpResult out(Kind::kValue, {});
    out.value = std::move(value);
    return out;
  }
  Kind kind = Kind::kTensor;
  TensorList tensors;
  Argument value;
  std::string_view name;    ///< of a named tuple; static text
  std::string_view fields;  ///< its fields, apart by a blank; static text

 private:
  OpResult(Kind k, TensorList list) : kind(k), tensors(std::move(list)) {}
};

/// One entry of the op table: the operator as users write it, and the function that does it. This
/// table is all that the rest of the program knows of an operator: argument binding, error texts
/// and docs/language.md come from it.
///
/// Signature: `name(TYPE name, TYPE name=default, *, TYPE name=default)`, types: Tensor, Tensor?
/// (or None), Tensor[], operand (tensor or number), number, int, int?, float, float?, bool, bool?,
/// str, dtype?, device?, memory_format?, int[] (ints, or one), int[]?, int[2] (one int or two),
/// float[]?, sizes[], place and place[] (ints that no size hangs on), any (ignored). `*size` of
/// int[] takes the remaining positional ints too (`x.view(2, 3)`). Several entries of one name are
/// overloads, tried in order.
struct OpDef {
  std::string_view signature;
  /// Where users find it, words separated by blanks: `torch` (torch.NAME), `F`
  /// (torch.nn.functional.NAME), `method` (x.NAME, the first parameter is x).
  std::string_view where;
  OpResult (*run)(Arguments& a);
  /// The sections that say so: "docs/rules/reductions.md#4", or "docs/rules/products.md#1, #2".
  std::string_view source;
  /// PyTorch's releases that have it so. Entries of one operator for others stand beside it.
  Releases releases{};
};

/// The families, one file each; a new family is added to the list in registry.cc.
std::span<const std::span<const OpDef>> op_families();

}  // namespace tidemark::ops
