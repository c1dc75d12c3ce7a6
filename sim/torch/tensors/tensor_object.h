#pragma once

#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// torch.Tensor and nn.Parameter as the language sees them.
class TensorObject final : public lang::HostObject {
 public:
  TensorObject(Session& session, Ref<lang::ClassObject> type, ops::Tensor value);
  ~TensorObject() override;
  static bool is(const lang::Object& o) { return o.host_kind() == kTensorKind; }

  [[nodiscard]] Session& session() const { return session_; }

  lang::Value unary(lang::Interp& interp, lang::UnaryOp op) override;
  lang::Value binary(lang::Interp& interp, lang::BinaryOp op, const lang::Value& other,
                     bool reflected) override;
  lang::Value inplace(lang::Interp& interp, lang::BinaryOp op, const lang::Value& other) override;
  lang::Value compare(lang::Interp& interp, lang::CompareOp op, const lang::Value& other) override;
  lang::Value get_item(lang::Interp& interp, const lang::Value& key) override;
  bool set_item(lang::Interp& interp, const lang::Value& key, const lang::Value& value) override;
  std::optional<std::int64_t> length(lang::Interp& interp) override;
  lang::Value iterate(lang::Interp& interp) override;
  std::optional<bool> contains(lang::Interp& interp, const lang::Value& item) override;
  bool truth(lang::Interp& interp) override;
  std::optional<std::uint64_t> hash(lang::Interp& interp) override;
  std::string repr(lang::Interp& interp) override;
  std::string format(lang::Interp& interp, std::string_view spec) override;
  lang::Value deep_copy(lang::Interp& interp, lang::DeepCopies& copies) override;

  ops::Tensor tensor;
  Ref<ops::Node> accumulator;  ///< of a leaf with hooks, which it keeps as long as it lives

 private:
  bool is_whole_of_parts() const;
  ops::Tensor copy_storage(const lang::DeepCopies& copies);
  Session& session_;
};

/// x[key] and x[key] = value. Source: torch's python_variable_indexing;
/// docs/rules/shapes.md#1, docs/rules/indexing.md#2.
ops::Tensor get_item(Session& session, const ops::Tensor& self, const lang::Value& key);
void set_item(Session& session, const ops::Tensor& self, const lang::Value& key,
              const lang::Value& value);

/// Adds register_hook, register_post_accumulate_grad_hook and retain_grad to torch.Tensor.
void add_tensor_hooks(Session& session);
/// Hooks of a leaf are the tensor's own: an accumulator made anew, for another type or device, runs
/// them as the one before it did. Source: torch's AutogradMeta.
void hand_on_hooks(TensorObject& leaf);

/// Adds torch.Tensor's own methods and properties (those that are no operators).
void add_tensor_class(Session& session);

}  // namespace tidemark::torch
