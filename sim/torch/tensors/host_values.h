#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/ops/registry.h"
#include "sim/torch/tensors/tensor_object.h"

/// Programs compute small numbers on the host to configure themselves: rates, widths, lengths.
/// Where the numbers of a tensor are known (it was made of them), those of what is computed from it
/// are, too. A tensor's object holds them, by place in the storage; what looks into the same
/// storage shares them, and whoever writes there without a rule forgets them.
namespace tidemark::torch {

/// Larger tensors' numbers are not kept.
inline constexpr std::int64_t kMostHostValues = 1024;
using HostValues = std::vector<double>;

/// In the order of the elements; nullopt: not known.
std::optional<HostValues> known_values(const ops::Tensor& tensor);
/// The number at `index` elements past the first in the storage; 0 where it is not known.
double host_value(const ops::Tensor& tensor, std::int64_t index);
/// Notes the numbers of a tensor that has its storage to itself, rounded to its type. Where it has
/// not, or where numbers of the type are not kept (16 bits, complex), they are forgotten.
void note_values(TensorObject& object, const HostValues& values);
void forget_values(const ops::Tensor& tensor);
/// Where `result` (or an item of it) is a tensor that looks into the storage of `from`, it shares
/// what is known of it.
void share_values(const ops::Tensor& from, const lang::Value& result);

/// Numbers with a shape.
struct HostNumbers {
  ops::Dims sizes;
  HostValues values;
};

/// How an operator's numbers come of those of its arguments.
struct HostRule {
  const struct HostRow* row = nullptr;  ///< null: not known
  bool writes = false;                  ///< over its first argument
  bool makes_like = false;              ///< looks at no numbers
};
HostRule host_rule(std::string_view op);

/// One call of an operator: made before it runs, since it may write over its arguments.
class HostArithmetic {
 public:
  HostArithmetic(const HostRule& rule, const ops::Arguments& arguments, std::size_t count);
  /// Notes what is known of the result.
  void note(const lang::Value& result) const;

 private:
  std::vector<ops::Tensor> known_;  ///< arguments whose numbers are known
  std::optional<HostNumbers> made_;
  bool writes_ = false;
};

}  // namespace tidemark::torch
