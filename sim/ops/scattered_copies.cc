#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sim/ops/composite_ops.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

/// A copy of all that lies in the tensor's memory, seen as the tensor sees it. Source: ATen's
/// clone_preserve_strides.
Tensor clone_with_memory(Context& c, const Tensor& self) {
  for (std::size_t i = 0; i < self.sizes().size(); ++i) {
    if (self.strides()[i] == 0 && self.sizes()[i] > 1) return clone(c, self);
  }
  const auto count =
      static_cast<std::int64_t>(self->storage->bytes() / element_bytes(self.dtype()));
  const Tensor copy = c.empty({count}, self.dtype(), self.device());
  return Context::alias(copy, self.sizes(), self.strides(), self->offset);
}

/// Which part of a tensor is written: a slice, a row, a diagonal.
using Part = std::function<Tensor(const Tensor&)>;

/// The gradient of what was written over is the gradient with zeros written there.
Tensor scattered(Context& c, std::string_view name, std::string_view node, const Tensor& self,
                 const Tensor& source, const Part& part) {
  const Dims written = part(self).sizes();
  if (!(written == source.sizes())) {
    throw OpError(
        fmt::format("expected src to have a size equal to the part of self that it replaces. src "
                    "size = {}, part size = {}",
                    to_string(source.sizes()), to_string(written)));
  }
  Op op(c, name, node, {&self, &source});
  return op.result(clone_with_memory(c, self), [part, sizes = source.sizes()](Backward& b) {
    if (b.needs(0)) {
      const Tensor nothing = zeros(b.c, sizes, b.grad().dtype(), b.grad().device());
      b.grads[0] = clone_with_memory(b.c, b.grad());
    }
    if (b.needs(1)) b.grads[1] = as_view(b.grad(), part(b.grad()));
  });
}

}  // namespace

OpResult slice_scatter(Arguments& a) {
  const Tensor& self = a.tensor(0);
  const std::int64_t d = wrap_dim(a.integer(2), self.dim());
  const std::int64_t size = self.size(d);
  const auto bounded = [size](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const std::int64_t start = bounded(a.optional_integer(3).value_or(0));
  const std::int64_t end = std::max(start, bounded(a.optional_integer(4).value_or(size)));
  const std::int64_t step = a.integer(5);
  if (step <= 0) throw OpError("slice step must be positive");
  return scattered(a.context(), "slice_scatter", "SliceScatterBackward0", self, a.tensor(1),
                   [d, start, step, length = (end - start + step - 1) / step](const Tensor& x) {
                     return narrow(x, d, start, length, step);
                   });
}

OpResult select_scatter(Arguments& a) {
  const std::int64_t dim = a.integer(2);
  const std::int64_t index = a.integer(3);
  return scattered(a.context(), "select_scatter", "SelectScatterBackward0", a.tensor(0),
                   a.tensor(1), [dim, index](const Tensor& x) { return select(x, dim, index); });
}

OpResult diagonal_scatter(Arguments& a) {
  const std::int64_t offset = a.integer(2);
  const std::int64_t dim1 = a.integer(3);
  const std::int64_t dim2 = a.integer(4);
  return scattered(
      a.context(), "diagonal_scatter", "DiagonalScatterBackward0", a.tensor(0), a.tensor(1),
      [offset, dim1, dim2](const Tensor& x) { return diagonal_view(x, offset, dim1, dim2); });
}

/// Values written at places of the flattened tensor.
Tensor values_put(Context& c, const Tensor& self, const Tensor& index, const Tensor& source,
                  bool accumulate, bool in_place) {
  if (index.dtype() != ScalarType::kInt64)
    throw OpError("put_(): Expected a long tensor for index");
  if (index.numel() != source.numel()) {
    throw OpError(
        fmt::format("put_(): Expected source and index to have the same number of elements, but "
                    "got source.numel() = {}, index.numel() = {}",
                    source.numel(), index.numel()));
  }
  Op op(c, in_place ? "put_" : "put", "PutBackward0", {&self, &source}, {&index});
  op.save(0, index);
  const auto backward = [accumulate, sizes = source.sizes()](Backward& b) {
    if (b.needs(0) && accumulate) b.grads[0] = b.grad();
    if (b.needs(0) && !accumulate) {
      const Tensor nothing = zeros(b.c, sizes, b.grad().dtype(), b.grad().device());
      b.grads[0] = clone(b.c, b.grad());
    }
    if (b.needs(1)) {
      const Tensor taken = b.c.empty(b.saved[0].sizes(), b.grad().dtype(), b.grad().device());
      b.grads[1] = taken.sizes() == sizes ? taken : as_view(taken, view(taken, sizes));
    }
  };
  return in_place ? op.in_place(self, backward) : op.result(clone(c, self), backward);
}

namespace {

Tensor as_matrix(const Tensor& x) {
  if (x.dim() > 2) {
    throw OpError(fmt::format(
        "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input has {} dimensions",
        x.dim()));
  }
  if (x.dim() == 2) return x;
  return expand(x, x.dim() == 1 ? Dims{1, x.size(0)} : Dims{1, 1});
}

}  // namespace

/// Matrices along a diagonal of zeros.
Tensor block_diag(Context& c, const TensorList& tensors) {
  if (tensors.empty()) throw OpError("torch.block_diag: at least one tensor must be given");
  std::vector<const Tensor*> operands;
  Dims sizes{0, 0};
  for (const Tensor& t : tensors) {
    const Tensor matrix = as_matrix(t);
    sizes[0] += matrix.size(0);
    sizes[1] += matrix.size(1);
    operands.push_back(&t);
  }
  Op op(c, "block_diag", "BlockDiagBackward0", tensors);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (op.needs(i) && tensors[i].dim() == 0)
      throw NotModelled(
          "the gradient of block_diag of a 0-dim tensor is not modelled; view it as a matrix "
          "first");
  }
  Tensor out = zeros(c, sizes, result_type(c, operands), tensors[0].device());
  return op.result(std::move(out), [tensors_sizes = [&tensors] {
                     std::vector<Dims> all;
                     for (const Tensor& t : tensors) all.push_back(t.sizes());
                     return all;
                   }()](Backward& b) {
    std::int64_t row = 0;
    std::int64_t column = 0;
    for (std::size_t i = 0; i < tensors_sizes.size(); ++i) {
      const Dims& own = tensors_sizes[i];
      const std::int64_t rows = own.size() == 2 ? own[0] : 1;
      const std::int64_t columns = own.empty() ? 1 : own.back();
      if (b.needs(i)) {
        const Tensor part = narrow(narrow(b.grad(), 0, row, rows), 1, column, columns);
        b.grads[i] = own.size() == 2 ? as_view(b.grad(), part)
                                     : b.c.empty(own, b.grad().dtype(), b.grad().device());
      }
      row += rows;
      column += columns;
    }
  });
}

}  // namespace tidemark::ops
