#pragma once

#include <vector>

#include "sim/lang/runtime/object_writer.h"
#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// Writes a session's state: the program's objects, tensors and what autograd keeps of them, the
/// switches, caches and workspaces.
class TensorWriter final : public lang::ObjectWriter {
 public:
  TensorWriter(Session& session, StateImage& image)
      : ObjectWriter(session.interp, image), session_(session) {}

  void write_session();

  /// The numbers that are known of a storage decide nothing unless the program looks at them: they
  /// are no part of the image.
  struct KnownNumbers {
    const ops::Storage* storage;
    StateImage::Digest digest;
    bool is_random;
  };
  /// In the order in which the image mentions the storages.
  [[nodiscard]] const std::vector<KnownNumbers>& known_numbers() const { return known_numbers_; }

 protected:
  void host_object(const lang::Instance& object) override;
  void host_thing(const void* what, std::uint8_t kind) override;

 private:
  enum Thing : std::uint8_t { kTensor, kStorage, kNode, kVersion };
  void tensor(const ops::TensorImpl* impl) { thing(impl, kTensor); }
  void dims(const ops::Dims& dims);
  void thread(const ops::Thread& thread);
  void write_tensor(const ops::TensorImpl& impl);
  void write_storage(const ops::Storage& storage);
  void write_node(const ops::Node& node);

  Session& session_;
  StateImage numbers_;
  std::vector<KnownNumbers> known_numbers_;
};

}  // namespace tidemark::torch
