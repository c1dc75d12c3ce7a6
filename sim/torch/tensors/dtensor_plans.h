#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// What operators on DTensors do that have been worked out once: views, products of two matrices,
/// and without gradients what goes element by element, of operands that lie as they are wanted. The
/// library's rules work them out (torch.distributed.tensor) and say so; what is asked again, of
/// operands that lie as those did, is done here. Source: PyTorch keeps what it found in the same
/// way, torch.distributed.tensor._sharding_prop.
class DTensorPlans {
 public:
  explicit DTensorPlans(Session& session) : session_(session) {}

  /// What an operator gives; Empty: it is not known. `op`: what programs know it as.
  lang::Value run(const lang::Value& op, std::span<const lang::Value> arguments);

  /// The gradient's way back through a view: a method of the gradient and its arguments.
  struct WayBack {
    lang::Name method{};
    std::vector<lang::Value> arguments;
  };
  /// What `op` did with the arguments: a view of the first, of this rank's part the operator of the
  /// same arguments, or where `is_reshaped` another shape. `label`, `node`: of the operator and its
  /// node, of texts that live as long.
  void keep_view(const lang::Value& op, std::span<const lang::Value> arguments,
                 const lang::Value& result, std::string_view label, std::string_view node,
                 bool is_reshaped, WayBack back);
  /// The same of a product of two matrices, and which of them lie column by column.
  void keep_product(const lang::Value& op, std::span<const lang::Value> arguments,
                    const lang::Value& result, bool is_left_by_column, bool is_right_by_column);
  /// The same of an operator without gradients that runs on parts as they lie.
  void keep_elementwise(const lang::Value& op, std::span<const lang::Value> arguments,
                        const lang::Value& result);
  /// arrived(gradient, spec): a gradient that does not say how it lies; sum_to(gradient, shape).
  void set_helpers(lang::Value arrived, lang::Value sum_to) {
    arrived_ = std::move(arrived);
    sum_to_ = std::move(sum_to);
  }

 private:
  using Key = std::vector<std::int64_t>;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::span<const std::int64_t> key) const;
    std::size_t operator()(const Key& key) const { return (*this)(std::span(key)); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::span<const std::int64_t> a, std::span<const std::int64_t> b) const;
  };
  enum class Kind : std::uint8_t { kView, kProduct, kElementwise };
  struct Plan : RefCounted<Plan> {
    std::vector<lang::Value> named;  // whose addresses are in the key
    Ref<ops::Spread> made;           // how the result lies
    std::string_view label;
    std::string_view node;
    Kind kind = Kind::kView;
    bool is_first = false;  // it gives its first argument, which it wrote into
    bool is_reshaped = false;
    bool is_column[2] = {false, false};  // of a product's operands
    lang::Value local_shape;             // of a view that is reshaped
    WayBack back;
    ops::Dims sizes;  // of the first operand, the whole
  };

  /// What is asked, as numbers; false: it is nothing that is kept.
  bool write_key(const lang::Value& op, std::span<const lang::Value> arguments);
  bool write(const lang::Value& value);
  Ref<Plan> new_plan(const lang::Value& op, std::span<const lang::Value> arguments,
                     const lang::Value& result);
  lang::Value on_parts(const Plan& plan, const lang::Value& op,
                       std::span<const lang::Value> arguments);
  lang::Value with_gradient(const Ref<Plan>& plan, const lang::Value& op,
                            std::span<const lang::Value> arguments);
  void run_back(const Plan& plan, ops::Backward& b);
  ops::Tensor fitting(const lang::Value& gradient, const ops::Dims& sizes);
  lang::Value product_gradient(const Plan& plan, bool is_right, const lang::Value& grad,
                               const lang::Value& other);

  /// A program's own numbers are part of what is asked: no more are kept.
  static constexpr std::size_t kMost = 1U << 16U;
  Session& session_;
  std::unordered_map<Key, Ref<Plan>, Hash, Equal> plans_;
  Key asked_;
  lang::Value arrived_;
  lang::Value sum_to_;
  lang::Value reshape_;
  lang::Value mm_;
};

}  // namespace tidemark::torch
