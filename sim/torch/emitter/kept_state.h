#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/ops/memory.h"
#include "sim/ops/tensor.h"
#include "sim/program/source.h"

namespace tidemark::torch {

/// Finds what a model keeps from one of its calls for the next where no gradient is asked for: the
/// keys and values of generation, recurrent states.
///
/// A call is one of a module that no other calls, with gradients switched off. What counts:
///
/// - made while a module below the model ran, or made from that outside; read in a later call while
///   the same module runs, or one around it;
/// - made by `cat`, where `cat` reads it in a later call of the same module;
/// - there before the call, and written in part while a module runs;
/// - what `cat` makes of any of these.
class KeptState {
 public:
  explicit KeptState(Program& program) : program_(program) {}

  /// Whether a call was made, and none that asks for gradients since.
  [[nodiscard]] bool is_watching() const { return call_ != 0; }
  /// A model is called, whose label is `model`. Requires: no call goes on.
  void begin_call(std::uint32_t model);
  void end_call() { is_called_ = false; }
  /// A model is called for gradients: nothing is kept from the calls before.
  void forget();

  /// An operator begins, filed under a text. / Memory is made, as number `request`: the operator's
  /// where it is filed under the same text. / It has written into a tensor. Requires:
  /// is_watching().
  void begins(std::string_view op, std::string_view filed_under, std::uint32_t module_label,
              const std::vector<const ops::Tensor*>& inputs);
  void made(ops::RequestNumber request, std::uint32_t module_label, std::string_view filed_under);
  void writes(const ops::Tensor& tensor, std::uint32_t module_label);

  /// Where a request was made, for a digest of the program's state; 0: nobody watched.
  [[nodiscard]] std::uint32_t maker(ops::RequestNumber request) const {
    return request < made_.size() ? made_[request].module : 0;
  }

 private:
  struct Made {
    std::uint32_t module = 0;  ///< label of the module that ran, or that its inputs are of; 0: none
    std::uint32_t call = 0;    ///< that went on, or was the last
    bool by_cat = false;
  };
  [[nodiscard]] const Made* known(ops::RequestNumber request) const;
  [[nodiscard]] bool is_kept(ops::RequestNumber request) const;
  void keep(ops::RequestNumber request);
  /// Whether a module, as a label, is `other` or has it below itself.
  [[nodiscard]] bool holds(std::uint32_t module, std::uint32_t other) const;
  void reads(ops::RequestNumber request, std::uint32_t module_label);
  void end_operator();

  Program& program_;
  std::vector<Made> made_;   ///< by request
  std::uint32_t model_ = 0;  ///< label of the model called now, or last
  std::uint32_t call_ = 0;   ///< number of the call that goes on, or of the last; 0: none
  bool is_called_ = false;
  // ---- the operator under way
  std::string_view op_;
  std::string_view filed_under_;  ///< static: its address stands for it
  Made from_;                     ///< of its first input that has a maker
  bool makes_kept_ = false;       ///< it is cat, of what is kept
};

}  // namespace tidemark::torch
