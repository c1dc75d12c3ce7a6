#include "sim/torch/autograd/gradient_streams.h"

#include <algorithm>

namespace tidemark::torch {

using ops::Context;
using ops::Device;
using ops::Tensor;

namespace {

void use(Context& c, const Tensor& tensor, const StreamOf& stream) {
  if (tensor.is_sparse()) {
    use(c, tensor->sparse->indices, stream);
    use(c, tensor->sparse->values, stream);
    return;
  }
  if (tensor.is_cuda()) c.memory().use(tensor->storage->request(), tensor.device(), stream.stream);
}

std::uint32_t record(Context& c, const StreamOf& stream) {
  return c.recorder().record(stream.device, stream.stream);
}
void wait(Context& c, const StreamOf& stream, std::uint32_t event) {
  c.recorder().wait(event, stream.device, stream.stream);
}

}  // namespace

std::optional<StreamOf> stream_of(const ops::Node& node) {
  for (const ops::GradMetadata& output : node.metadata) {
    if (output.device.is_cuda()) return StreamOf{output.device, output.stream};
  }
  return std::nullopt;
}

void GradientStreams::store(Context& c, std::size_t position, Tensor& slot, Tensor&& incoming,
                            const std::optional<StreamOf>& producer_stream,
                            const std::optional<StreamOf>& consumer_stream,
                            const Accumulate& accumulate) {
  const Device device = incoming.device();
  if (!device.is_cuda()) {
    if (slot.defined()) {
      accumulate(slot, std::move(incoming));
    } else {
      slot = std::move(incoming);
    }
    return;
  }
  const StreamOf current{device, c.stream(device)};
  const StreamOf producer = producer_stream.value_or(current);
  const StreamOf consumer = consumer_stream.value_or(current);
  if (position >= slots_.size()) slots_.resize(position + 1);
  Slot& s = slots_[position];
  // What came before the program had streams came on the default one, which this one is.
  if (!s.sums_on && slot.defined()) s.sums_on = s.ready_on = producer;
  if (!s.sums_on) {
    if (consumer.device == device) {
      s.sums_on = consumer;
      if (consumer != producer) use(c, incoming, consumer);
    } else {
      s.sums_on = producer.device == device ? producer : current;
    }
    slot = std::move(incoming);
    if (consumer != producer || *s.sums_on != producer) s.event = record(c, producer);
    s.ready_on = producer;
    return;
  }
  const StreamOf sums_on = *s.sums_on;
  if (sums_on != producer) {
    wait(c, sums_on, record(c, producer));
    use(c, incoming, sums_on);
  }
  if (sums_on != *s.ready_on) {
    if (s.event) wait(c, sums_on, *s.event);
    use(c, slot, sums_on);
  }
  {
    const StreamGuard guard(c, sums_on);
    accumulate(slot, std::move(incoming));
  }
  if (consumer != sums_on) s.event = record(c, sums_on);
  s.ready_on = sums_on;
}

void GradientStreams::before_run(Context& c, const ops::TensorList& inputs,
                                 const std::optional<StreamOf>& consumer) {
  if (!consumer) return;
  for (std::size_t i = 0; i < inputs.size() && i < slots_.size(); ++i) {
    const Slot& s = slots_[i];
    if (!inputs[i].defined() || !s.ready_on || *s.ready_on == *consumer) continue;
    if (s.event) wait(c, *consumer, *s.event);
    use(c, inputs[i], *consumer);
  }
}

CallerStreams::CallerStreams(Context& c, bool nested) : c_(c), before_(c.streams()) {
  if (nested) return;
  for (std::size_t i = 0; i < before_.size(); ++i) {
    c.set_stream(Device{static_cast<std::int8_t>(i)}, 0);
  }
}

std::optional<StreamOf> CallerStreams::stream_for(const Tensor& tensor) const {
  if (!tensor.defined() || !tensor.is_cuda()) return std::nullopt;
  const std::size_t at = static_cast<std::uint8_t>(tensor.device().index);
  return StreamOf{tensor.device(), at < before_.size() ? before_[at] : std::uint16_t{0}};
}

void CallerStreams::leaf(const std::optional<StreamOf>& stream) {
  if (stream && std::find(leaves_.begin(), leaves_.end(), *stream) == leaves_.end())
    leaves_.push_back(*stream);
}

void CallerStreams::finish() {
  restore();
  for (const StreamOf& leaf : leaves_) {
    const StreamOf caller{leaf.device, c_.stream(leaf.device)};
    if (caller != leaf) wait(c_, caller, record(c_, leaf));
  }
}

void CallerStreams::restore() {
  for (std::size_t i = 0; i < c_.streams().size(); ++i) {
    c_.set_stream(Device{static_cast<std::int8_t>(i)},
                  i < before_.size() ? before_[i] : std::uint16_t{0});
  }
}

}  // namespace tidemark::torch
