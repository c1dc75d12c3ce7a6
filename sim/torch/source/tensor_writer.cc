#include "sim/torch/source/tensor_writer.h"

#include "sim/torch/modules/module_object.h"
#include "sim/torch/tensors/grad_node.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

void TensorWriter::dims(const ops::Dims& dims) {
  image().put(dims.size());
  for (const std::int64_t size : dims) image().put_signed(size);
}

void TensorWriter::write_tensor(const ops::TensorImpl& impl) {
  dims(impl.sizes);
  dims(impl.strides);
  image().put_signed(impl.offset);
  image().put(static_cast<std::uint64_t>(impl.dtype) << 8U |
              static_cast<std::uint8_t>(impl.device.index));
  image().put((impl.requires_grad ? 1U : 0U) | (impl.is_parameter ? 2U : 0U) |
              (impl.wrapped_number ? 4U : 0U) | (impl.retains_grad ? 8U : 0U) |
              (impl.is_inference ? 16U : 0U) | static_cast<std::uint64_t>(impl.view_kind) << 8U);
  image().put(impl.output_nr);
  // Of a view it counts whether its memory was written over since it got its history.
  thing(impl.version.get(), kVersion);
  if (impl.version && impl.view_base)
    image().put(impl.version->value != impl.history_version ? 1 : 0);
  thing(impl.storage.get(), kStorage);
  thing(impl.grad_fn.get(), kNode);
  tensor(impl.grad.get());
  thing(impl.grad_accumulator, kNode);
  tensor(impl.view_base.get());
  if (impl.sparse != nullptr) {
    tensor(impl.sparse->indices.impl());
    tensor(impl.sparse->values.impl());
  }
}

void TensorWriter::write_storage(const ops::Storage& storage) {
  image().put(storage.bytes());
  image().put(static_cast<std::uint8_t>(storage.device().index));
  image().put(storage.known() ? 1 : 0);
  if (storage.known()) {
    numbers_.begin_digest();
    storage.known()->write(numbers_);
    known_numbers_.push_back({&storage, numbers_.digest(), storage.known()->is_random});
  }
  if (storage.request() == ops::kNoMemory) return;
  if (ops::is_pinned(storage.request())) {
    image().give_up("pinned host memory");
    return;
  }
  image().mention_request(storage.request());
  image().put(session_.emitter.kept_state().maker(storage.request()));
  image().put(static_cast<std::uint64_t>(session_.emitter.program().categories[storage.request()]));
}

void TensorWriter::write_node(const ops::Node& node) {
  image().put_text(node.name);
  image().put(node.label);
  const std::uint64_t next = session_.c.main_thread.next_sequence;
  image().put(node.sequence == ops::Node::kFirst ? ops::Node::kFirst : next - node.sequence);
  image().put(node.next.size());
  for (const ops::Edge& edge : node.next) {
    thing(edge.node.get(), kNode);
    image().put(edge.input_nr);
  }
  image().put(node.saved.size());
  for (const ops::SavedTensor& saved : node.saved) {
    tensor(saved.tensor.impl());
    if (saved.packed) image().give_up("tensors that a hook packed");
    if (saved.version) image().put(saved.version->value - saved.written);
    image().put(saved.is_result ? 1 : 0);
  }
  for (const ops::GradMetadata& m : node.metadata) {
    dims(m.sizes);
    image().put(static_cast<std::uint64_t>(m.dtype) << 8U |
                static_cast<std::uint8_t>(m.device.index));
  }
  tensor(node.variable.impl());
  for (const ops::Node::RetainedGradient& retained : node.retained) {
    tensor(retained.tensor);
    image().put(retained.output_nr);
  }
  image().put(node.released ? 1 : 0);
  if (!node.pre_hooks.empty() || !node.post_hooks.empty() || !node.accumulate_hooks.empty() ||
      node.on_release)
    image().give_up("hooks of tensors");
}

void TensorWriter::host_thing(const void* what, std::uint8_t kind) {
  switch (static_cast<Thing>(kind)) {
    case kTensor:
      write_tensor(*static_cast<const ops::TensorImpl*>(what));
      return;
    case kStorage:
      write_storage(*static_cast<const ops::Storage*>(what));
      return;
    case kNode:
      write_node(*static_cast<const ops::Node*>(what));
      return;
    case kVersion:
      return;
  }
}

void TensorWriter::host_object(const lang::Instance& object) {
  switch (object.host_kind()) {
    case kTensorKind: {
      const auto& own = static_cast<const TensorObject&>(object);
      tensor(own.tensor.impl());
      thing(own.accumulator.get(), kNode);
      return;
    }
    case kGradNodeKind:
      thing(static_cast<const GradNodeObject&>(object).node.get(), kNode);
      return;
    case kModuleKind: {
      const auto& module = static_cast<const ModuleObject&>(object);
      attributes(module.parameters);
      attributes(module.buffers);
      attributes(module.modules);
      value(module.pre_hooks);
      value(module.post_hooks);
      image().put(module.not_persistent.size());
      image().put(module.initialised ? 1 : 0);
      return;
    }
    case kDTypeKind:
      image().put(static_cast<std::uint64_t>(static_cast<const DTypeObject&>(object).dtype));
      return;
    case kDeviceKind: {
      const auto& place = static_cast<const DeviceObject&>(object);
      image().put(static_cast<std::uint8_t>(place.device.index));
      image().put(place.has_index ? 1 : 0);
      return;
    }
    case kMemoryFormatKind:
      image().put(
          static_cast<std::uint64_t>(static_cast<const MemoryFormatObject&>(object).format));
      return;
    case kSessionKind:
      return;
    default:
      image().give_up("a " + std::string(session_.interp.text(object.type().name())) +
                      " that is kept");
  }
}

void TensorWriter::thread(const ops::Thread& thread) {
  image().put((thread.grad_enabled ? 1U : 0U) | (thread.inference_mode ? 2U : 0U) |
              (thread.autocast.enabled ? 4U : 0U) | (thread.autocast.cache_enabled ? 8U : 0U) |
              static_cast<std::uint64_t>(thread.autocast.dtype) << 8U);
  image().put_signed(thread.autocast.nesting);
  if (!thread.pack_hooks.empty() || thread.final_callbacks != nullptr)
    image().give_up("hooks of autograd");
  image().put(thread.cublas_handles.size());
  image().put(thread.timed_convolutions.size());  // only ever grows
}

void TensorWriter::write_session() {
  const ops::Context& c = session_.c;
  thread(c.main_thread);
  thread(c.engine_thread);
  if (!session_.workers.empty()) image().give_up("threads of the program's own");
  image().put(&c.thread() == &c.main_thread ? 0 : 1);
  image().put(c.module_label);
  image().put_text(c.op_label);
  const ops::Backends& b = c.backends;
  std::uint64_t switches = 0;
  for (const bool on :
       {b.cudnn, b.cudnn_benchmark, b.deterministic, b.tf32, b.cudnn_sdp, b.flash_sdp,
        b.mem_efficient_sdp, b.math_sdp, b.cudnn_tf32, b.fp16_accumulation})
    switches = 2 * switches + (on ? 1 : 0);
  image().put(switches);
  image().put(b.cudnn_workspace);
  image().put(static_cast<std::uint64_t>(c.default_dtype));
  image().put(static_cast<std::uint8_t>(c.default_device.index));
  for (const ops::CastCacheEntry& entry : c.cast_cache) {
    tensor(entry.source.impl());
    tensor(entry.cast.impl());
  }
  c.for_each_workspace([this](const ops::Tensor& workspace) { tensor(workspace.impl()); });
  image().put(static_cast<std::uint8_t>(session_.current_device.index));
  image().put(session_.moves_module ? 1 : 0);
  if (session_.decisions != nullptr) {
    for (const std::uint64_t held : session_.decisions->held()) image().put(held);
  }
}

}  // namespace tidemark::torch
