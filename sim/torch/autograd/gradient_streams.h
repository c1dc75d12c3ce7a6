#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/ops/context.h"

namespace tidemark::torch {

/// A stream of one device.
struct StreamOf {
  ops::Device device;
  std::uint16_t stream = 0;
  friend bool operator==(const StreamOf&, const StreamOf&) = default;
};

/// The stream that a node's backward function runs on: the current one, when the node was made, of
/// the device of its first output on a GPU; none where every output is on the host. Source: torch's
/// Node::stream.
std::optional<StreamOf> stream_of(const ops::Node& node);

/// Makes a stream the current one of its device while it lives.
class StreamGuard {
 public:
  StreamGuard(ops::Context& c, const std::optional<StreamOf>& to) : c_(c), device_(ops::kHost) {
    if (!to) return;
    device_ = to->device;
    before_ = c.stream(device_);
    c.set_stream(device_, to->stream);
  }
  ~StreamGuard() {
    if (device_.is_cuda()) c_.set_stream(device_, before_);
  }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  ops::Context& c_;
  ops::Device device_;
  std::uint16_t before_ = 0;
};

/// How the gradients that wait for one node pass from the streams that made them to the node's own:
/// events that it must wait for, and the uses (record_stream) that keep their blocks. Source:
/// torch's InputBuffer::add and the head of Engine::evaluate_function.
class GradientStreams {
 public:
  using Accumulate = std::function<void(ops::Tensor& stored, ops::Tensor&& incoming)>;

  /// Puts a gradient into its slot, or adds it to what is there on the stream that sums are made
  /// on. Requires: `incoming` is defined.
  void store(ops::Context& c, std::size_t position, ops::Tensor& slot, ops::Tensor&& incoming,
             const std::optional<StreamOf>& producer, const std::optional<StreamOf>& consumer,
             const Accumulate& accumulate);
  /// The node is about to run on `consumer`.
  void before_run(ops::Context& c, const ops::TensorList& inputs,
                  const std::optional<StreamOf>& consumer);

 private:
  struct Slot {
    std::optional<StreamOf> sums_on;
    std::optional<StreamOf> ready_on;
    std::optional<std::uint32_t> event;
  };
  std::vector<Slot> slots_;
};

/// The caller's streams while a backward pass runs on the engine's thread, whose own are the
/// default ones. Source: torch's GraphTask::stash_current_streams and exec_post_processing.
class CallerStreams {
 public:
  /// `nested`: the caller is the engine's thread itself, whose streams stay as they are.
  CallerStreams(ops::Context& c, bool nested);
  ~CallerStreams() { restore(); }
  CallerStreams(const CallerStreams&) = delete;
  CallerStreams& operator=(const CallerStreams&) = delete;
  [[nodiscard]] std::optional<StreamOf> stream_for(const ops::Tensor& tensor) const;
  /// A node without edges has run on `stream`.
  void leaf(const std::optional<StreamOf>& stream);
  /// The pass is over: the caller's streams wait for those of the leaves and are current again.
  void finish();

 private:
  void restore();
  ops::Context& c_;
  std::vector<std::uint16_t> before_;
  std::vector<StreamOf> leaves_;
};

}  // namespace tidemark::torch
