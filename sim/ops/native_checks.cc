#include <fmt/format.h>

#include <string>

#include "sim/ops/natives.h"

namespace tidemark::ops {

// What records look at before their steps. Errors: OpError with PyTorch's words.

void check_matrix_or_less(const Tensor& x) {
  if (x.dim() <= 2) return;
  throw OpError(fmt::format("t() expects a tensor with <= 2 dimensions, but self is {}D", x.dim()));
}

void check_at_least_matrix(const Tensor& x, std::string_view name) {
  if (x.dim() >= 2) return;
  throw OpError(fmt::format("{}: input tensor must have at least 2 dimensions", name));
}

void check_dims(const Tensor& x, const Dims& dims) {
  for (const std::int64_t d : dims) wrap_dim(d, x.dim());
}

void check_slice(const Tensor& x, std::int64_t step) {
  if (x.dim() == 0) throw OpError("slice() cannot be applied to a 0-dim tensor.");
  if (step <= 0) throw OpError("slice step must be positive");
}

void check_flatten(const Tensor& x, std::int64_t start, std::int64_t end) {
  if (x.dim() > 0 && wrap_dim(start, x.dim()) > wrap_dim(end, x.dim()))
    throw OpError("flatten() has invalid args: start_dim cannot come after end_dim");
}

void check_split(std::int64_t size, std::int64_t total) {
  if (size < 0)
    throw OpError(
        fmt::format("split expects split_size be non-negative, but got split_size={}", size));
  if (size == 0 && total != 0) {
    throw OpError(fmt::format(
        "split_size can only be 0 if dimension size is 0, but got dimension size of {}", total));
  }
}

void check_split_sizes(const std::vector<std::int64_t>& lengths, std::int64_t total,
                       std::int64_t dim) {
  std::int64_t at = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > total - at) {
      at = -1;
      break;
    }
    at += length;
  }
  if (at == total) return;
  throw OpError(
      fmt::format("split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size "
                  "at dimension {}), but got split_sizes=[{}]",
                  total, dim, fmt::join(lengths, ", ")));
}

void check_chunks(std::int64_t chunks) {
  if (chunks <= 0)
    throw OpError(fmt::format("chunk expects `chunks` to be greater than 0, got: {}", chunks));
}

void check_sections(std::int64_t sections) {
  if (sections <= 0)
    throw OpError(fmt::format("number of sections must be larger than 0, got {}", sections));
}

void check_not_empty(const Tensor& x, std::string_view name) {
  if (x.numel() != 0) return;
  throw OpError(
      fmt::format("{}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                  "the reduction dim with the 'dim' argument.",
                  name));
}

void check_floating(const Tensor& x, std::string_view name) {
  if (is_differentiable(x.dtype())) return;
  throw OpError(fmt::format("{}: Expected a floating point or complex tensor as input. Got {}",
                            name, info(x.dtype()).name));
}

void check_scan_in_place(const Tensor& x, std::string_view name) {
  if (x.is_contiguous()) return;
  throw NotModelled(fmt::format(
      "{} of a tensor that is not contiguous is not modelled; use the operator without the "
      "underscore",
      name));
}

void check_turn(const Dims& dims) {
  if (dims.size() != 2)
    throw OpError(fmt::format("expected total rotation dims == 2, but got dims = {}", dims.size()));
}

void check_rank_at_least(const Tensor& x, std::int64_t least) {
  if (x.dim() < least) throw OpError(fmt::format("Input must be >= {}-d.", least));
}

void check_condition(const Tensor& condition) {
  if (condition.dtype() == ScalarType::kBool || condition.dtype() == ScalarType::kUInt8) return;
  throw OpError(
      fmt::format("where expected condition to be a boolean tensor, but got a tensor with dtype {}",
                  info(condition.dtype()).name));
}
void check_masked_fill(const Tensor& mask) {
  if (mask.dtype() == ScalarType::kBool) return;
  throw OpError(fmt::format("masked_fill_ only supports boolean masks, but got mask with dtype {}",
                            info(mask.dtype()).name));
}
void check_masked_fill_(const Tensor& self, const Tensor& mask) {
  check_masked_fill(mask);
  if (broadcast(self.sizes(), mask.sizes()) == self.sizes()) return;
  throw OpError(
      fmt::format("expected self and mask to be broadcastable in place, but got self shape {} and "
                  "mask shape {}",
                  to_string(self.sizes()), to_string(mask.sizes())));
}
void check_diag(const Tensor& x) {
  if (x.dim() != 1 && x.dim() != 2)
    throw OpError(fmt::format("diag(): Supports 1D or 2D tensors. Got {}D", x.dim()));
}

void check_topk(const Tensor& x, std::int64_t k, std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, x.dim());
  if (k < 0 || k > size_at(x, d)) throw OpError("selected index k out of range");
}

void check_mode(const Tensor& x, std::int64_t dim) {
  constexpr std::int64_t kMostInOneBlock = 2048;
  if (size_at(x, dim) > kMostInOneBlock)
    throw NotModelled("mode of more than 2048 values is not modelled; take fewer at a time");
}

void check_softmax(const Tensor& x, std::optional<ScalarType> type, std::string_view name) {
  if (type || is_differentiable(x.dtype())) return;
  throw OpError(fmt::format("\"{}\" not implemented for '{}'", name, info(x.dtype()).name));
}

void check_has_extremes(const Tensor& x) {
  if (x.numel() != 0) return;
  throw OpError(
      "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
      "identity.");
}

void check_matrix(const Tensor& x) {
  if (x.dim() == 2) return;
  throw OpError(fmt::format("trace: expected a matrix, but got tensor with dim {}", x.dim()));
}

void check_renorm(const Tensor& x, std::int64_t dim) {
  if (x.dim() < 2) {
    throw OpError(
        fmt::format("renorm: input needs at least 2 dimensions, got {} dimensions", x.dim()));
  }
  wrap_dim(dim, x.dim());
}

void check_repeats(const Tensor& x, const Dims& repeats) {
  if (repeats.size() >= x.sizes().size()) return;
  throw OpError(
      "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
      "tensor");
}

void check_gather(const Tensor& x, std::int64_t dim, const Tensor& index) {
  wrap_dim(dim, x.dim());
  if (index.dtype() != ScalarType::kInt64 && index.dtype() != ScalarType::kInt32)
    throw OpError("gather(): Expected dtype int32/int64 for index");
  if (index.dim() != x.dim() && index.numel() > 0 && x.dim() > 0 && index.dim() > 0) {
    throw OpError(fmt::format(
        "Index tensor must have the same number of dimensions as input tensor; shapes {} and {}",
        to_string(index.sizes()), to_string(x.sizes())));
  }
}

void check_index_select(const Tensor& x, std::int64_t dim, const Tensor& index) {
  if (index.dim() > 1) throw OpError("index_select(): Index is supposed to be a vector");
  wrap_dim(dim, x.dim());
}

void check_take(const Tensor& index) {
  if (index.dtype() != ScalarType::kInt64)
    throw OpError("take(): Expected a long tensor for index");
}

void check_take_along(const Tensor& x, const Tensor& index) {
  if (index.dim() == x.dim()) return;
  throw OpError(
      fmt::format("torch.take_along_dim(): input and indices should have the same number of "
                  "dimensions, but got {} dimensions for input, and {} dimensions for indices",
                  x.dim(), index.dim()));
}

void check_mask(const Tensor& mask, std::string_view name) {
  if (mask.dtype() != ScalarType::kBool)
    throw OpError(fmt::format("{}: expected BoolTensor for mask", name));
}

void check_write(const Tensor& x, std::int64_t dim, const Tensor& index, std::string_view name) {
  wrap_dim(dim, x.dim());
  if (index.dtype() != ScalarType::kInt64 && index.dtype() != ScalarType::kInt32)
    throw OpError(fmt::format("{}(): Expected dtype int32/int64 for index", name));
}

void check_write_of(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view name) {
  check_write(x, dim, index, name);
  if (source.dim() > 0 && x.dtype() != source.dtype()) {
    throw OpError(fmt::format("{}(): Expected self.dtype to be equal to src.dtype; got {} and {}",
                              name, info(x.dtype()).name, info(source.dtype()).name));
  }
}

void check_masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source) {
  if (mask.dtype() != ScalarType::kBool) {
    throw OpError("masked_scatter_ only supports boolean masks, but got mask with dtype " +
                  std::string(info(mask.dtype()).name));
  }
  if (x.dtype() != source.dtype())
    throw OpError("masked_scatter: expected self and source to have same dtypes");
}

void check_pool_rank(const Tensor& x, std::int64_t spatial, std::string_view name) {
  if (x.dim() == spatial + 1 || x.dim() == spatial + 2) return;
  throw OpError(fmt::format("{}: Expected {}D or {}D input, but got: {}", name, spatial + 1,
                            spatial + 2, to_string(x.sizes())));
}

void check_probability(double p) {
  if (p < 0 || p > 1)
    throw OpError(fmt::format("dropout probability has to be between 0 and 1, but got {}", p));
}

void check_glu(const Tensor& x, std::int64_t dim) {
  if (x.dim() == 0) throw OpError("glu does not support 0-dimensional tensors");
  const std::int64_t d = wrap_dim(dim, x.dim());
  if (x.size(d) % 2 != 0) {
    throw OpError(
        fmt::format("Halving dimension must be even, but dimension {} is size {}", d, x.size(d)));
  }
}

void check_prelu(const Tensor& x, const Tensor& weight) {
  if (x.dtype() != weight.dtype()) {
    throw OpError(fmt::format("prelu: Type promoting not supported. Got {} and {}",
                              info(x.dtype()).name, info(weight.dtype()).name));
  }
  const std::int64_t channels = x.dim() < 2 ? 1 : x.size(1);
  if (weight.numel() == 1 || channels == weight.numel()) return;
  throw OpError(
      fmt::format("Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                  "{} and channel size = {}.",
                  weight.numel(), channels));
}

void check_features(const Tensor& x) {
  if (x.dim() < 2) throw OpError("Feature dropout requires at least 2 dimensions in the input");
}

}  // namespace tidemark::ops
