#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/ops/context.h"

namespace tidemark::torch {

/// Looks on while operators run, and may give results that were kept in place of new memory
/// (selective checkpointing). An operator lasts until the next one begins.
class OperatorWatch {
 public:
  OperatorWatch() = default;
  OperatorWatch(const OperatorWatch&) = delete;
  OperatorWatch& operator=(const OperatorWatch&) = delete;
  virtual ~OperatorWatch() = default;
  virtual void begins(std::string_view op, const std::vector<const ops::Tensor*>& inputs) = 0;
  /// The operator under way has ended, before the next one begins.
  virtual void ends() = 0;
  /// Memory for a request of the operator under way, of which the asker becomes an owner; kNoMemory
  /// for what is not wanted, since nothing is computed. nullopt: it is asked for as always.
  virtual std::optional<ops::RequestNumber> answer(Bytes bytes) = 0;
  /// Nothing is computed: no kernel runs.
  [[nodiscard]] virtual bool is_answering() const = 0;
  /// The operator under way saves memory for backward: it is a result, whoever drops it first.
  virtual void saves(ops::RequestNumber request) = 0;
  virtual void made(ops::RequestNumber request, Bytes bytes) = 0;
  virtual void released(ops::RequestNumber request) = 0;
};

/// While one lives, operators belong to the one that a watch saw last. PyTorch's dispatch modes see
/// an operator on DTensors, not those on parts that it is made of.
class Unseen {
 public:
  explicit Unseen(std::uint32_t& count, bool is_meant = true) : count_(count), is_meant_(is_meant) {
    if (is_meant_) ++count_;
  }
  ~Unseen() {
    if (is_meant_) --count_;
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  std::uint32_t& count_;
  bool is_meant_;
};

}  // namespace tidemark::torch
