#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/device_spec.h"
#include "sim/graph/op_graph.h"
#include "sim/ops/context.h"
#include "sim/ops/registry.h"

namespace tidemark::test {

/// A device with an H100's numbers.
DeviceSpec h100();

/// Writes down every request and release as signed bytes.
class RecordingMemory final : public ops::Memory {
 public:
  ops::RequestNumber allocate(Bytes bytes, ops::Device device, std::uint16_t stream) override;
  void release(ops::RequestNumber request) override;
  void set_role(ops::RequestNumber /*request*/, ops::Role /*role*/) override {}

  /// Signed bytes since the last call.
  std::vector<std::int64_t> take() { return std::exchange(events_, {}); }

 private:
  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> events_;
};

/// Keeps the computation graph and no labels.
class GraphRecorder final : public ops::Recorder {
 public:
  std::uint32_t add_op(std::string_view name, std::uint32_t module_label,
                       const std::vector<const ops::Tensor*>& inputs, ops::Node* node) override;
  void set_label(std::uint32_t /*module_label*/, std::string_view /*op*/) override {}
  void launch(ops::Device /*device*/, std::uint64_t /*flops*/, std::uint64_t /*bytes_moved*/,
              ops::KernelClass /*kind*/, ops::ScalarType /*precision*/) override {}
  [[nodiscard]] const graph::OpGraph& graph() const { return graph_; }

 private:
  graph::OpGraph graph_;
};

/// Runs operators without a model, by the rules of PyTorch 2.11: the steps by which the recorded
/// operator goldens were made.
class OperatorRig {
 public:
  explicit OperatorRig(DeviceSpec device = h100())
      : device_(std::move(device)), context_(memory_, recorder_, device_) {
    context_.set_pytorch(pypi_wheel({2, 11}));
  }

  [[nodiscard]] ops::Context& context() { return context_; }
  /// A leaf on the GPU. Made outside the recording.
  ops::Tensor leaf(const ops::Dims& sizes, ops::ScalarType dtype = ops::ScalarType::kFloat32,
                   bool requires_grad = true,
                   ops::MemoryFormat format = ops::MemoryFormat::kContiguous);

  /// Calls the operator of the table whose signature begins so: "max_pool2d(". Give every argument.
  ops::TensorList call(std::string_view signature, std::vector<ops::Argument> arguments);

  /// Runs `forward`, gives every output a gradient of ones, runs backward, drops the incoming
  /// gradients, the outputs and the leaves' gradients. One line a phase that has events: "forward
  /// +4096 -512".
  std::string run(const std::function<ops::TensorList()>& forward,
                  const std::vector<ops::Tensor>& leaves);
  /// The same after a first run, which pays for workspaces.
  std::string run_warm(const std::function<ops::TensorList()>& forward,
                       const std::vector<ops::Tensor>& leaves) {
    run(forward, leaves);
    return run(forward, leaves);
  }

 private:
  RecordingMemory memory_;
  GraphRecorder recorder_;
  DeviceSpec device_;
  ops::Context context_;
};

}  // namespace tidemark::test
