#include "sim/ops/device_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tidemark::ops {

namespace {

constexpr std::string_view kReadSeveral[] = {"copy_", "index", "index_put", "index_put_",
                                             "_ctc_loss"};

std::string device_name(Device device) {
  if (device.is_cuda()) return fmt::format("cuda:{}", device.index);
  return device == kMeta ? "meta" : "cpu";
}

/// An operator's wrapper that compares its arguments' devices one after another, with their names
/// in its order; a last name stands for all that follow.
struct Wrapper {
  std::string_view op;
  std::string_view method;
  std::vector<std::string_view> arguments;
};

const Wrapper* wrapper_of(std::string_view op) {
  static const std::vector<Wrapper> kWrappers{
      {"mm", "mm", {"self", "mat2"}},
      {"addmm", "addmm", {"self", "mat1", "mat2"}},
      {"bmm", "bmm", {"self", "mat2"}},
      {"baddbmm", "baddbmm", {"self", "batch1", "batch2"}},
      {"dot", "dot", {"self", "tensor"}},
      {"embedding", "_index_select", {"self", "index"}},
      {"index_select", "_index_select", {"self", "index"}},
      {"gather", "gather", {"self", "index"}},
      {"cat", "cat", {"tensors"}},
      {"stack", "cat", {"tensors"}},
      {"cudnn_batch_norm",
       "_cudnn_batch_norm",
       {"input", "weight", "bias", "running_mean", "running_var"}},
      {"native_batch_norm",
       "_native_batch_norm",
       {"input", "weight", "bias", "running_mean", "running_var"}},
      {"native_layer_norm", "_native_layer_norm", {"input", "weight", "bias"}},
      {"native_group_norm", "_native_group_norm", {"input", "weight", "bias"}},
      {"nll_loss_forward", "nll_loss_forward", {"self", "target", "weight"}},
      {"nll_loss2d_forward", "nll_loss2d_forward", {"self", "target", "weight"}},
  };
  const auto found = std::find_if(kWrappers.begin(), kWrappers.end(),
                                  [op](const Wrapper& w) { return w.op == op; });
  return found == kWrappers.end() ? nullptr : &*found;
}

void refuse_argument(const Wrapper& wrapper, const std::vector<const Tensor*>& all) {
  const Tensor* first = nullptr;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->defined()) continue;
    if (first == nullptr) first = all[i];
    if (all[i]->device() == first->device()) continue;
    const std::size_t name = std::min(i, wrapper.arguments.size() - 1);
    throw OpError(
        fmt::format("Expected all tensors to be on the same device, but got {} is on {}, different "
                    "from other tensors on {} (when checking argument in method wrapper_CUDA_{})",
                    wrapper.arguments[name], device_name(all[i]->device()),
                    device_name(first->device()), wrapper.method));
  }
}

}  // namespace

void check_same_device(std::string_view op, std::span<const Tensor* const> inputs,
                       std::span<const Tensor* const> others) {
  const Tensor* first = nullptr;
  bool differs = false;
  for (const auto list : {inputs, others}) {
    for (const Tensor* t : list) {
      if (!t->defined()) continue;
      if (first == nullptr) first = t;
      differs = differs || !(t->device() == first->device());
    }
  }
  const auto& free = kReadSeveral;
  if (!differs || std::find(std::begin(free), std::end(free), op) != std::end(free)) return;
  std::vector<const Tensor*> all(inputs.begin(), inputs.end());
  all.insert(all.end(), others.begin(), others.end());
  if (op == "mv") {  // the result, made where the vector is, counts as the first
    refuse_argument({op, "addmv_", {"vec", "mat"}}, {all[1], all[0]});
  }
  if (const Wrapper* wrapper = wrapper_of(op)) refuse_argument(*wrapper, all);
  // A number on the host may meet tensors anywhere.
  const auto is_number = [](const Tensor& t) { return !t.is_cuda() && t.dim() == 0; };
  auto common = std::find_if(all.begin(), all.end(),
                             [](const Tensor* t) { return t->defined() && t->is_cuda(); });
  if (common == all.end()) {  // on the host, and without memory
    common = std::find_if(all.begin(), all.end(),
                          [&](const Tensor* t) { return t->defined() && !is_number(*t); });
  }
  if (common == all.end()) return;
  for (const Tensor* t : all) {
    if (!t->defined() || is_number(*t) || t->device() == (*common)->device()) continue;
    throw OpError(fmt::format(
        "Expected all tensors to be on the same device, but found at least two devices, {} and {}!",
        device_name((*common)->device()), device_name(t->device())));
  }
}

void check_list_device(std::string_view op, const TensorList& tensors) {
  std::vector<const Tensor*> pointers;
  pointers.reserve(tensors.size());
  for (const Tensor& t : tensors) pointers.push_back(&t);
  check_same_device(op, pointers, {});
}

void refuse_overwritten(std::string_view op, const Tensor& tensor) {
  static constexpr std::string_view kViews[] = {
      "as_strided",      "diagonal",    "expand",  "permute",          "select",
      "slice",           "split",       "squeeze", "split_with_sizes", "t",
      "unbind",          "transpose",   "unfold",  "unsqueeze",        "view",
      "view_as_complex", "view_as_real"};
  if (op == "alias") return;
  if (tensor->view_base && std::ranges::find(kViews, op) != std::end(kViews)) return;
  throw OpError(
      "Error: accessing tensor output of CUDAGraphs that has been overwritten by a "
      "subsequent run. To prevent overwriting, clone the tensor outside of torch.compile() or call "
      "torch.compiler.cudagraph_mark_step_begin() before each model invocation.");
}

Storage& storage_of(const Tensor& tensor, std::string_view op) {
  if (tensor.is_sparse()) {
    throw OpError("Cannot access data pointer of Tensor that doesn't have storage");
  }
  if (!op.empty()) check_is_there(op, tensor);
  return *tensor->storage;
}

}  // namespace tidemark::ops
