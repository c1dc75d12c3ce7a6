#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/softmax_ops.h"

namespace tidemark::ops {

std::span<const OpDef> loss_ops() {
  static constexpr OpDef kOps[] = {
      {"cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, "
       "int ignore_index=-100, bool? reduce=None, str reduction='mean', float label_smoothing=0.0)",
       "F",
       [](Arguments& a) -> OpResult {
         return cross_entropy(a.context(), a.tensor(0), a.tensor(1), a.optional_tensor(2),
                              reduction_from(reduction_name(a, 3, 5, 6)), a.number(7));
       },
       "docs/rules/losses.md#1"},
      {"nll_loss(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int "
       "ignore_index=-100, bool? reduce=None, str reduction='mean')",
       "F",
       [](Arguments& a) -> OpResult {
         return nll_loss(a.context(), a.tensor(0), a.tensor(1), a.optional_tensor(2),
                         reduction_from(reduction_name(a, 3, 5, 6)));
       },
       "docs/rules/losses.md#1"},
      {"mse_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str "
       "reduction='mean')",
       "F",
       [](Arguments& a) -> OpResult {
         return mse_loss(a.context(), a.tensor(0), a.tensor(1),
                         reduction_from(reduction_name(a, 2, 3, 4)));
       },
       "docs/rules/losses.md#2"},
      {"l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str "
       "reduction='mean')",
       "F",
       [](Arguments& a) -> OpResult {
         return l1_loss(a.context(), a.tensor(0), a.tensor(1),
                        reduction_from(reduction_name(a, 2, 3, 4)));
       },
       "docs/rules/losses.md#4"},
      {"smooth_l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, "
       "str reduction='mean', float beta=1.0)",
       "F",
       [](Arguments& a) -> OpResult {
         const Reduction reduction = reduction_from(reduction_name(a, 2, 3, 4));
         return a.number(5) == 0 ? l1_loss(a.context(), a.tensor(0), a.tensor(1), reduction)
                                 : smooth_l1_loss(a.context(), a.tensor(0), a.tensor(1), reduction);
       },
       "docs/rules/losses.md#2"},
      {"huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0)", "F",
       [](Arguments& a) -> OpResult {
         return huber_loss(a.context(), a.tensor(0), a.tensor(1), reduction_from(a.text(2)));
       },
       "docs/rules/losses.md#4"},
      {"binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? "
       "size_average=None, bool? reduce=None, str reduction='mean')",
       "F",
       [](Arguments& a) -> OpResult {
         return binary_cross_entropy(a.context(), a.tensor(0), a.tensor(1), a.optional_tensor(2),
                                     reduction_from(reduction_name(a, 3, 4, 5)));
       },
       "docs/rules/losses.md#2"},
      {"binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, bool? "
       "size_average=None, bool? reduce=None, str reduction='mean', Tensor? pos_weight=None)",
       "F",
       [](Arguments& a) -> OpResult {
         return binary_cross_entropy_with_logits(a.context(), a.tensor(0), a.tensor(1),
                                                 a.optional_tensor(2), a.optional_tensor(6),
                                                 reduction_from(reduction_name(a, 3, 4, 5)));
       },
       "docs/rules/losses.md#3"},
      {"kl_div(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str "
       "reduction='mean', bool log_target=False)",
       "F",
       [](Arguments& a) -> OpResult {
         const std::string name = reduction_name(a, 2, 3, 4);
         const bool batch_mean = name == "batchmean";
         const Reduction reduction = batch_mean ? Reduction::kSum : reduction_from(name);
         const Tensor loss = kl_div(a.context(), a.tensor(0), a.tensor(1), reduction, a.flag(5));
         if (!batch_mean || a.tensor(0).dim() == 0) return loss;
         return div(a.context(), loss, number_tensor(a.context(), ScalarType::kInt64));
       },
       "docs/rules/losses.md#4"},
      {"cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08)", "torch F",
       [](Arguments& a) -> OpResult {
         return cosine_similarity(a.context(), a.tensor(0), a.tensor(1), a.integer(2));
       },
       "docs/rules/losses.md#4"},
      {"cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, bool? "
       "size_average=None, bool? reduce=None, str reduction='mean')",
       "F",
       [](Arguments& a) -> OpResult {
         return cosine_embedding_loss(a.context(), a.tensor(0), a.tensor(1), a.tensor(2),
                                      reduction_from(reduction_name(a, 4, 5, 6)));
       },
       "docs/rules/losses.md#4"},
  };
  return kOps;
}

}  // namespace tidemark::ops
