#include "sim/torch/emitter/kept_state.h"

namespace tidemark::torch {

namespace {

constexpr std::string_view kCat = "cat";

/// Operators that write in part even where they are given a whole tensor.
bool writes_in_part(std::string_view op) {
  return op.starts_with("index_") || op.starts_with("scatter") || op.starts_with("masked_scatter");
}

/// The number of a tensor's memory; kNoMemory where it has none of its own on a device.
ops::RequestNumber request_of(const ops::Tensor& tensor) {
  if (!tensor->storage || !tensor->storage->device().is_cuda()) return ops::kNoMemory;
  return tensor->storage->request();
}

}  // namespace

void KeptState::begin_call(std::uint32_t model) {
  ++call_;
  is_called_ = true;
  model_ = model;
}

void KeptState::forget() {
  made_.clear();
  end_operator();
  call_ = 0;
  is_called_ = false;
}

const KeptState::Made* KeptState::known(ops::RequestNumber request) const {
  return request < made_.size() && made_[request].module != 0 ? &made_[request] : nullptr;
}

bool KeptState::is_kept(ops::RequestNumber request) const {
  return request < program_.categories.size() && program_.categories[request] == Category::kKvCache;
}

void KeptState::keep(ops::RequestNumber request) {
  if (request < program_.categories.size()) program_.categories[request] = Category::kKvCache;
}

bool KeptState::holds(std::uint32_t module, std::uint32_t other) const {
  if (module == other) return true;
  const std::string_view path = program_.labels.text(module);
  const std::string_view below = program_.labels.text(other);
  return below.size() > path.size() && below.starts_with(path) && below[path.size()] == '.';
}

void KeptState::begins(std::string_view op, std::string_view filed_under,
                       std::uint32_t module_label, const std::vector<const ops::Tensor*>& inputs) {
  end_operator();
  op_ = op;
  filed_under_ = filed_under;
  for (const ops::Tensor* input : inputs) {
    const ops::RequestNumber request = request_of(*input);
    if (request == ops::kNoMemory) continue;
    if (is_called_) reads(request, module_label);
    const Made* made = known(request);
    if (made != nullptr && from_.module == 0) from_ = *made;
    makes_kept_ = makes_kept_ || (op == kCat && is_kept(request));
  }
}

void KeptState::end_operator() {
  op_ = filed_under_ = {};
  from_ = {};
  makes_kept_ = false;
}

void KeptState::reads(ops::RequestNumber request, std::uint32_t module_label) {
  const Made* made = known(request);
  if (made == nullptr || made->call == call_) return;
  if (program_.categories[request] >= Category::kParameter) return;
  const bool grows = made->by_cat && op_ == kCat && made->module == module_label;
  if (grows || (module_label != model_ && holds(module_label, made->module))) keep(request);
}

void KeptState::made(ops::RequestNumber request, std::uint32_t module_label,
                     std::string_view filed_under) {
  if (filed_under.data() != filed_under_.data()) end_operator();
  if (request >= made_.size()) made_.resize(request + 1);
  Made& made = made_[request];
  made.module = is_called_ ? module_label : from_.module;
  made.call = call_;
  made.by_cat = op_ == kCat;
  if (makes_kept_) keep(request);
}

void KeptState::writes(const ops::Tensor& tensor, std::uint32_t module_label) {
  const ops::RequestNumber request = request_of(tensor);
  if (request == ops::kNoMemory || !is_called_ || module_label == 0) return;
  const bool is_new = request < made_.size() && made_[request].call == call_;
  if (is_new || tensor->is_parameter) return;
  if (tensor.bytes() < tensor->storage->bytes() || writes_in_part(op_)) keep(request);
}

}  // namespace tidemark::torch
