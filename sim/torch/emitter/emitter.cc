#include "sim/torch/emitter/emitter.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sim/base/budget.h"
#include "sim/base/check.h"
#include "sim/ops/node.h"

namespace tidemark::torch {

namespace {

constexpr LabelId kNoLabel = 0xffffffffU;

constexpr Category category_of(ops::Role role) {
  switch (role) {
    case ops::Role::kTemporary:
      return Category::kTemporary;
    case ops::Role::kActivation:
      return Category::kActivation;
    case ops::Role::kInput:
      return Category::kInput;
    case ops::Role::kWorkspace:
      return Category::kWorkspace;
    case ops::Role::kGradient:
      return Category::kGradient;
    case ops::Role::kOptimizerState:
      return Category::kOptimizerState;
    case ops::Role::kParameter:
      return Category::kParameter;
  }
  return Category::kUnknown;
}

CostClass cost_class(ops::KernelClass kind) {
  switch (kind) {
    case ops::KernelClass::kElementwise:
      return CostClass::kElementwise;
    case ops::KernelClass::kReduction:
      return CostClass::kReduction;
    case ops::KernelClass::kMatmul:
      return CostClass::kMatmul;
    case ops::KernelClass::kConvolution:
    case ops::KernelClass::kTurnedConvolution:
      return CostClass::kConvolution;
    case ops::KernelClass::kAttention:
      return CostClass::kAttention;
  }
  check_failed("kind", __FILE__, __LINE__, "a kernel of no class");
}

constexpr CostPrecision precision_of(ops::ScalarType type) {
  switch (type) {
    case ops::ScalarType::kFloat16:
      return CostPrecision::kFp16;
    case ops::ScalarType::kBFloat16:
      return CostPrecision::kBf16;
    case ops::ScalarType::kFloat64:
    case ops::ScalarType::kComplex128:
      return CostPrecision::kFp64;
    case ops::ScalarType::kInt8:
      return CostPrecision::kInt8;
    default:
      return CostPrecision::kFp32;
  }
}

/// What tensor cores make of a kernel's type. Products compute in TF32 where the program allows it,
/// convolutions unless it forbids it. Without cuDNN they are products.
CostPrecision computed_in(const Cost& cost, const ops::Backends& b) {
  const bool is_product = cost.kind == CostClass::kMatmul;
  if (!is_product && cost.kind != CostClass::kConvolution) return cost.precision;
  const bool takes_tf32 = is_product || !b.cudnn ? b.tf32 : b.cudnn_tf32;
  if (cost.precision == CostPrecision::kFp32 && takes_tf32) return CostPrecision::kTf32;
  if (cost.precision == CostPrecision::kFp16 && is_product && b.fp16_accumulation)
    return CostPrecision::kFp16Accumulated;
  return cost.precision;
}

constexpr bool on_tensor_cores(CostPrecision precision) {
  return precision == CostPrecision::kTf32 || precision == CostPrecision::kFp16 ||
         precision == CostPrecision::kBf16;
}

/// A gradient: its memory is not known beforehand.
ops::Operand operand_of(const ops::GradMetadata& m) {
  return {m.sizes, ops::contiguous_strides(m.sizes), 0, m.dtype, ops::kNoMemory};
}

std::uint8_t number(ops::Device device) { return static_cast<std::uint8_t>(device.index); }

}  // namespace

Emitter::Emitter(Program& program, Sink& sink)
    : program_(program), sink_(sink), kept_state_(program) {
  chunk_.reserve(kChunk);
}

void Emitter::push(Verb verb, ops::Device device, std::uint16_t stream, std::uint32_t id,
                   Bytes bytes) {
  if (chunk_.size() >= kChunk) {
    const MemoryPause pause;  // a destructor may ask
    flush();
  }
  Instruction instruction;
  instruction.bytes = bytes;
  instruction.id = id;
  instruction.label = label();
  instruction.stream = stream;
  instruction.verb = verb;
  instruction.device = number(device);
  is_initialized_ =
      is_initialized_ || verb == Verb::kAlloc || verb == Verb::kSync || verb == Verb::kSyncDevice;
  chunk_.push_back(instruction);
  ++instructions_;
}

LabelId Emitter::label() {
  if (label_known_) return label_;
  label_known_ = true;
  // The operator's text is static: its address stands for it. Names that share a module path differ
  // in the low bits.
  const std::uint64_t key = (static_cast<std::uint64_t>(module_label_) << 48U) ^
                            reinterpret_cast<std::uintptr_t>(op_.data());
  LabelId& label = part_ == 0 ? labels_.try_emplace(key, kNoLabel).first->second
                              : part_labels_.try_emplace({part_, key}, kNoLabel).first->second;
  if (label == kNoLabel) {
    std::string text;
    for (const std::string_view piece :
         {program_.labels.text(part_), program_.labels.text(module_label_), op_}) {
      if (!text.empty() && !piece.empty()) text += ": ";
      text += piece;
    }
    label = program_.labels.intern(text);
  }
  return label_ = label;
}

void Emitter::name_memory(ops::RequestNumber request, std::uint32_t module, std::string_view name,
                          std::string_view purpose) {
  if (stopped_ || request == ops::kNoMemory || ops::is_pinned(request) || is_pretended(request))
    return;
  std::string text(program_.labels.text(module));
  if (!text.empty() && !name.empty()) text += ".";
  text += name;
  if (!text.empty()) text += ": ";
  text += purpose;
  program_.purposes[request] = program_.labels.intern(text);
}

void Emitter::begin_part(std::string_view part) {
  part_ = part.empty() ? 0 : program_.labels.intern(part);
  label_known_ = false;
}

ops::RequestNumber Emitter::allocate(Bytes bytes, ops::Device device, std::uint16_t stream) {
  if (pretender_ != nullptr) return pretender_->allocate(bytes, device);
  if (watch_ != nullptr) {
    if (unseen_ > 0 && watch_->is_answering()) return ops::kNoMemory;  // the results get theirs
    if (const std::optional<ops::RequestNumber> kept = watch_->answer(bytes)) return *kept;
  }
  const auto id = static_cast<ops::RequestNumber>(device_of_.size());
  device_of_.push_back(number(device));
  program_.categories.push_back(Category::kTemporary);
  if (stopped_) return id;
  if (recorder_) recorder_->allocate(id, bytes, op_, program_.labels.text(module_label_));
  if (details_ != nullptr) under_way_.asked.emplace_back(id, bytes);
  if (kept_state_.is_watching()) kept_state_.made(id, module_label_, op_);
  push(Verb::kAlloc, device, stream, id, bytes);
  flush();
  if (watch_ != nullptr) watch_->made(id, bytes);
  return id;
}

void Emitter::give_kept(const ops::Tensor& result) {
  if (watch_ == nullptr || !watch_->is_answering() || !result.defined() || !result->storage) return;
  ops::Storage& storage = *result->storage;
  if (!storage.device().is_cuda() || storage.request() != ops::kNoMemory) return;
  if (const std::optional<ops::RequestNumber> kept = watch_->answer(storage.bytes()))
    storage.take(*kept, storage.bytes());
}

void Emitter::release(ops::RequestNumber request) {
  if (stopped_) return;
  if (is_pretended(request)) {
    if (pretender_ != nullptr) pretender_->release(request);
    return;
  }
  if ((!more_owners_.empty() || watch_ != nullptr) && is_still_owned(request)) return;
  if (ops::is_pinned(request)) {
    push(Verb::kHostFree, ops::Device{0}, 0, request & ~ops::kPinned, 0);
    return;
  }
  push(Verb::kFree, ops::Device{static_cast<std::int8_t>(device_of_[request])}, 0, request, 0);
}

bool Emitter::is_still_owned(ops::RequestNumber request) {
  const auto owners = more_owners_.find(request);
  if (owners == more_owners_.end()) {
    if (watch_ != nullptr) watch_->released(request);
    return false;
  }
  if (--owners->second == 0) more_owners_.erase(owners);
  return true;
}

void Emitter::set_role(ops::RequestNumber request, ops::Role role) {
  // Workspaces outlive the operator that first needs them: they are no results of it.
  if (watch_ != nullptr && role == ops::Role::kWorkspace) watch_->released(request);
  if (ops::is_pinned(request)) return;
  if (is_pretended(request)) {
    if (pretender_ != nullptr) pretender_->set_role(request, role);
    return;
  }
  if (recorder_ && role == ops::Role::kActivation) recorder_->keep(request);
  Category& category = program_.categories[request];
  category = std::max(category, category_of(role));
}

void Emitter::flush() {
  if (stopped_ || chunk_.empty()) return;
  const Outcome outcome = sink_.execute(chunk_);
  const bool at_end = outcome.failed_at && *outcome.failed_at + 1 == chunk_.size();
  chunk_.clear();
  if (end_ns_ > 0 && sink_.host_time_ns() >= end_ns_) is_over_ = true;
  if (!outcome.failed_at) return;
  ++refused_;
  TIDEMARK_CHECK(at_end, "a request in the middle of a chunk failed");
  throw ops::OutOfMemory(outcome.message);
}

void Emitter::follow(ops::Device device, std::uint32_t transfer, QueuedTransfer::How how,
                     std::uint16_t beside) {
  if (stopped_ || pretender_ != nullptr || is_capturing_) return;
  if (watch_ != nullptr && watch_->is_answering()) return;  // no kernel runs
  const MemoryPause pause;
  flush();
  const std::uint16_t current = stream_of(device);
  QueuedTransfer queued{transfer, current, beside, how, number(device)};
  if (how == QueuedTransfer::How::kBeside) std::swap(queued.stream, queued.after);
  sink_.transfer(queued);
}

std::uint32_t Emitter::add_op(std::string_view name, std::uint32_t module_label,
                              const std::vector<const ops::Tensor*>& inputs, ops::Node* node) {
  const bool is_real = pretender_ == nullptr;
  if (is_real && watch_ != nullptr && unseen_ == 0) watch_->begins(name, inputs);
  if (is_real && kept_state_.is_watching()) kept_state_.begins(name, op_, module_label, inputs);
  graph::OpVertex vertex;
  vertex.name = name;
  vertex.module = module_label;
  vertex.instruction = instructions_;
  vertex.payload = node;
  const graph::VertexId v = graph_.add_vertex(vertex);
  if (is_real && recorder_) recorder_->add_op(v, name, program_.labels.text(module_label), inputs);
  if (details_ != nullptr) {
    under_way_ = {op_, {}, node, {}};
    for (const ops::Tensor* input : inputs) under_way_.shape.reads(*input);
  }
  std::uint32_t port = 0;
  for (const ops::Tensor* input : inputs) {
    if (is_real && (*input)->producer != graph::kNoVertex) {
      graph_.add_edge((*input)->producer, graph::EdgeKind::kData, port);
    }
    ++port;
  }
  if (node != nullptr) {
    for (const ops::Edge& edge : node->next) {
      if (edge.node) graph_.add_edge(edge.node->vertex, graph::EdgeKind::kGradient, edge.input_nr);
    }
  }
  return v;
}

void Emitter::record_graph(graph::Details& into) {
  recorder_.emplace(into);
  recorded_ = &into;
  graph_.on_backward = [this](graph::VertexId v) {
    const auto* node = static_cast<const ops::Node*>(graph_[v].payload);
    recorder_->run_node(*node, program_.labels.text(node->label));
  };
}

void Emitter::launch(ops::Device device, std::uint64_t flops, std::uint64_t bytes_moved,
                     ops::KernelClass kind, ops::ScalarType precision) {
  if (pretender_ != nullptr) {
    pretender_->launch(device, flops, bytes_moved, kind, precision);
    return;
  }
  if (stopped_ || (watch_ != nullptr && watch_->is_answering())) return;
  Cost cost{flops, bytes_moved, cost_class(kind), precision_of(precision), false};
  if (backends_ != nullptr) cost.precision = computed_in(cost, *backends_);
  cost.is_turned = kind == ops::KernelClass::kTurnedConvolution && on_tensor_cores(cost.precision);
  push_launch(device, cost);
  if (details_ == nullptr || op_.data() != under_way_.op.data()) return;
  if (const ops::KernelShape shape = shape_under_way(); !shape.outputs.empty()) take_shape(shape);
}

void Emitter::push_launch(ops::Device device, const Cost& cost) {
  program_.costs.push_back(cost);
  const auto number = static_cast<std::uint32_t>(program_.costs.size() - 1);
  if (is_capturing_) {
    graphs_.back().push_back(number);
  } else {
    push(Verb::kLaunch, device, stream_of(device), number, 0);
  }
  if (details_ == nullptr) return;
  details_->kernels.resize(program_.costs.size());
  details_->kernels.back().op = program_.labels.intern(op_);
}

void Emitter::record_kernels(KernelDetails& into) {
  details_ = &into;
  graph_.on_backward = [this](graph::VertexId v) {
    begin_node(*static_cast<const ops::Node*>(graph_[v].payload));
  };
}

void Emitter::begin_node(const ops::Node& node) {
  under_way_ = {node.name, {}, nullptr, {}};
  ops::KernelShape& shape = under_way_.shape;
  for (const ops::GradMetadata& m : node.metadata) shape.inputs.push_back(operand_of(m));
  for (const ops::SavedTensor& saved : node.saved) shape.reads(saved.tensor);
  for (const ops::Edge& edge : node.next) {
    if (edge.node && edge.input_nr < edge.node->metadata.size())
      shape.outputs.push_back(operand_of(edge.node->metadata[edge.input_nr]));
  }
}

ops::KernelShape Emitter::shape_under_way() const {
  ops::KernelShape shape = under_way_.shape;
  if (under_way_.node != nullptr) {
    for (const ops::GradMetadata& m : under_way_.node->metadata)
      shape.outputs.push_back(operand_of(m));
  }
  if (!shape.outputs.empty()) return shape;
  for (const auto& [request, bytes] : under_way_.asked) {
    const ops::Dims sizes{static_cast<std::int64_t>(bytes)};
    shape.outputs.push_back({sizes, ops::Dims{1}, 0, ops::ScalarType::kUInt8, request});
  }
  return shape;
}

void Emitter::take_shape(const ops::KernelShape& shape) {
  if (stopped_ || details_ == nullptr || details_->kernels.empty()) return;
  KernelDetails::Kernel& kernel = details_->kernels.back();
  kernel.operands.clear();
  kernel.shape = program_.labels.intern(ops::kernel_text(shape));
  for (const auto* operands : {&shape.inputs, &shape.outputs}) {
    for (const ops::Operand& operand : *operands) kernel.operands.push_back(operand.request);
  }
}

void Emitter::set_stream(ops::Device device, std::uint16_t stream) {
  if (pretender_ != nullptr) pretender_->refuse("a stream");
  const std::size_t at = static_cast<std::uint8_t>(device.index);
  if (at >= streams_.size()) streams_.resize(at + 1);
  streams_[at] = stream;
  has_streams_ = has_streams_ || stream != 0;
}

void Emitter::copy(ops::Device from, ops::Device to, Bytes bytes, bool host_waits) {
  if (stopped_) return;
  if (pretender_ != nullptr && bytes == 0) return;
  if (pretender_ != nullptr)
    pretender_->refuse(from.is_cuda() ? "a copy to the host" : "a copy from the host");
  const ops::Device device = from.is_cuda() ? from : to;
  push_launch(device, {0, bytes,
                       from.is_cuda() ? CostClass::kCopyDeviceToHost : CostClass::kCopyHostToDevice,
                       CostPrecision::kFp32});
  if (host_waits) synchronize(device, stream_of(device));
}

void Emitter::begin_phase(std::string_view name) {
  if (stopped_) return;
  if (recorder_) recorder_->begin_phase(name);
  push(Verb::kMark, ops::Device{0}, 0, kNoRequest, 0);
  chunk_.back().label = program_.labels.intern(name);
}

void Emitter::measure(std::string_view name, ops::Device device) {
  if (stopped_) return;
  push(Verb::kPoint, device, 0, kNoRequest, 0);
  chunk_.back().label = program_.labels.intern(name);
}

void Emitter::name_phases() {
  phase_ = "model";
  phase_step_ = ~std::uint32_t{0};
  begin_phase(phase_);
}

void Emitter::begin(std::string_view kind) {
  if (phase_.empty() || backwards_ > 0) return;
  if (kind == phase_ && step_ == phase_step_) return;
  phase_ = kind;
  phase_step_ = step_;
  begin_phase(fmt::format("{} {}", kind, step_));
}

void Emitter::begin_call(std::uint32_t model, bool for_gradients) {
  if (for_gradients) {
    kept_state_.forget();
  } else if (pretender_ == nullptr) {
    if (!trains_ && called_in_ == step_ && std::ranges::find(called_, model) != called_.end())
      ++step_;
    if (called_in_ != step_) called_.clear();
    called_in_ = step_;
    called_.push_back(model);
    kept_state_.begin_call(model);
  }
  begin(for_gradients ? "forward" : "inference");
}

void Emitter::empty_cache(ops::Device device) {
  if (!stopped_) push(Verb::kEmptyCache, device, 0, kNoRequest, 0);
}
void Emitter::use_pool(PoolAction action, std::uint32_t capture, std::uint32_t user,
                       ops::Device device, std::uint16_t stream) {
  if (pretender_ != nullptr) pretender_->refuse("a private pool");
  if (action == PoolAction::kRoute) ++routes_;
  if (action == PoolAction::kEndRoute) --routes_;
  if (stopped_) return;
  push(Verb::kPool, device, stream, static_cast<std::uint32_t>(action),
       Bytes{capture} << 32U | user);
}
void Emitter::enter_thread(bool is_engine) {
  if (routes_ == 0) return;
  use_pool(is_engine ? PoolAction::kLeaveThread : PoolAction::kReturnThread, 0, 0, ops::Device{0},
           0);
}
void Emitter::begin_graph() {
  graphs_.emplace_back();
  is_capturing_ = true;
}
std::uint32_t Emitter::end_graph() {
  is_capturing_ = false;
  if (graphs_.empty()) graphs_.emplace_back();
  return static_cast<std::uint32_t>(graphs_.size() - 1);
}
void Emitter::replay_graph(std::uint32_t graph, ops::Device device) {
  if (stopped_ || graph >= graphs_.size()) return;
  for (const std::uint32_t kernel : graphs_[graph])
    push(Verb::kLaunch, device, stream_of(device), kernel, 0);
}
void Emitter::reset_peak(ops::Device device) {
  if (!stopped_) push(Verb::kResetPeak, device, 0, kNoRequest, 0);
}
void Emitter::use(ops::RequestNumber request, ops::Device device, std::uint16_t stream) {
  if (!stopped_ && request != ops::kNoMemory) push(Verb::kUse, device, stream, request, 0);
}
ops::RequestNumber Emitter::allocate_pinned(Bytes bytes) {
  if (!stopped_) push(Verb::kHostAlloc, ops::Device{0}, 0, pinned_, bytes);
  return ops::kPinned | pinned_++;
}
void Emitter::use_pinned(ops::RequestNumber request, ops::Device device, std::uint16_t stream) {
  if (!stopped_) push(Verb::kHostUse, device, stream, request & ~ops::kPinned, 0);
}
void Emitter::empty_host_cache() {
  if (!stopped_) push(Verb::kHostEmptyCache, ops::Device{0}, 0, kNoRequest, 0);
}
void Emitter::record_event(std::uint32_t event, ops::Device device, std::uint16_t stream) {
  if (!stopped_) push(Verb::kRecord, device, stream, event, 0);
}
void Emitter::wait_event(std::uint32_t event, ops::Device device, std::uint16_t stream) {
  if (!stopped_) push(Verb::kWait, device, stream, event, 0);
}
void Emitter::synchronize(ops::Device device, std::uint16_t stream) {
  if (!stopped_) push(Verb::kSync, device, stream, kNoRequest, 0);
}
void Emitter::synchronize_event(std::uint32_t event) {
  if (!stopped_) push(Verb::kSyncEvent, ops::Device{0}, 0, event, 0);
}
void Emitter::synchronize_device(ops::Device device) {
  if (!stopped_) push(Verb::kSyncDevice, device, 0, kNoRequest, 0);
}

void Emitter::initialize() {
  if (!is_initialized_) synchronize_device(ops::Device{0});
}

Bytes Emitter::query(MemoryQuery what, ops::Device device) {
  is_initialized_ = true;
  flush();
  return sink_.query(what, number(device));
}
PinnedStatistics Emitter::pinned_statistics() {
  flush();
  return sink_.pinned_statistics();
}
bool Emitter::query_event(std::uint32_t event) {
  flush();
  return sink_.query_event(event);
}
std::optional<bool> Emitter::query_stream(ops::Device device, std::uint16_t stream) {
  flush();
  return sink_.query_stream(number(device), stream);
}
std::vector<std::pair<std::string, std::int64_t>> Emitter::statistics(ops::Device device) {
  flush();
  ++statistics_;
  return sink_.statistics(number(device));
}

std::size_t Emitter::write_state(StateImage& image) {
  image.put_text(phase_);
  if (!phase_.empty()) image.put(step_ - phase_step_);
  if (!called_.empty()) image.put(step_ - called_in_);
  for (const std::uint32_t model : called_) image.put(model);
  image.put_text(op_);
  image.put(module_label_);
  image.put(is_initialized_ ? 1 : 0);
  if (!graphs_.empty() || routes_ > 0) image.give_up("CUDA graphs or private pools");
  if (has_streams_ || next_event_ > 0) image.give_up("streams or events of the program's own");
  flush();
  return sink_.write_state(image);
}

void Emitter::repeat(std::size_t moment, const Amounts& then, const Repeat& repeat) {
  const auto steps = static_cast<std::uint32_t>(repeat.times * (step_ - then.steps));
  step_ += steps;
  phase_step_ += steps;
  called_in_ += steps;
  sink_.repeat(moment, repeat);
}

}  // namespace tidemark::torch
