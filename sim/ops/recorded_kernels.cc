#include "sim/ops/recorded_kernels.h"

#include <utility>

#include "sim/ops/convolution_ops.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

Tensor recorded_linear(Context& c, std::string_view name, std::string_view node, const Tensor& grad,
                       const Tensor& self, bool like_grad, const TensorList& kept, Tensor result,
                       std::function<Tensor(Backward&)> of_grad) {
  Op op(c, name, node, {&grad, &self});
  for (std::size_t i = 0; i < kept.size(); ++i) op.save(i, kept[i]);
  return op.result(std::move(result),
                   [of_grad = std::move(of_grad), like_grad, count = kept.size()](Backward& b) {
                     b.saved.resize(count);
                     if (b.needs(0)) b.grads[0] = of_grad(b);
                     if (!b.needs(1)) return;
                     if (like_grad) {
                       b.grads[1] = zeros_like(b.c, b.grad());
                     } else {
                       const Edge& edge = b.node.next[1];
                       const GradMetadata& to = edge.node->metadata[edge.input_nr];
                       b.grads[1] = zeros(b.c, to.sizes, to.dtype, to.device);
                     }
                   });
}

namespace {

Tensor mse_double_backward(Context& c, const Tensor& product, Reduction reduction) {
  Tensor out = times_number(c, product);
  return reduction == Reduction::kMean ? div_(c, out, number_tensor(c)) : out;
}

}  // namespace

Tensor recorded_mse(Context& c, const Tensor& grad, const Tensor& self, const Tensor& target,
                    Reduction reduction) {
  Op op(c, "mse_loss_backward", "MseLossBackwardBackward0", {&grad, &self, &target});
  op.save(0, grad);
  op.save(1, self);
  op.save(2, target);
  return op.result(c.empty(self.sizes(), self.dtype(), self.device()), [reduction](Backward& b) {
    Context& bc = b.c;
    if (b.needs(0)) b.grads[0] = recorded_mse(bc, b.grad(), b.saved[1], b.saved[2], reduction);
    if (b.needs(1)) {
      const Tensor product = mul(bc, b.grad(), b.saved[0]);
      b.grads[1] = mse_double_backward(bc, product, reduction);
    }
    if (b.needs(2)) {
      const Tensor product = mul(bc, b.grad(), b.saved[0]);
      const Tensor twice = mse_double_backward(bc, product, reduction);
      b.grads[2] = unary(bc, "neg", twice);
    }
  });
}

Tensor gathered_at(Context& c, const Tensor& grad, const Tensor& indices, std::int64_t dims) {
  Dims flat = indices.sizes();
  for (std::int64_t i = 0; i < dims; ++i) flat.pop_back();
  const std::int64_t rest = indices.numel() / std::max<std::int64_t>(numel_of(flat), 1);
  flat.push_back(rest);
  const Tensor places = view(c, indices, flat);
  Dims all = grad.sizes();
  for (std::int64_t i = 0; i < dims; ++i) all.pop_back();
  all.push_back(grad.numel() / std::max<std::int64_t>(numel_of(all), 1));
  const Tensor dense = contiguous(c, grad, indices.suggest_memory_format());
  const Tensor rows = view(c, dense, all);
  const Tensor found = gather(c, rows, -1, places);
  return view(c, found, indices.sizes());
}

namespace {

Tensor plain_convolution(Context& c, const Tensor& input, const Tensor& weight,
                         const ConvolutionOptions& options) {
  return convolution(c, input, weight, {}, options,
                     static_cast<std::int64_t>(options.stride.size()));
}

Tensor dense(Context& c, const Tensor& x) { return contiguous(c, x, MemoryFormat::kContiguous); }

/// What is beyond the wanted sizes is left out: narrow(), dimension by dimension.
Tensor narrowed(Context& c, Tensor x, const Dims& wanted) {
  for (std::size_t i = 2; i < wanted.size(); ++i) {
    if (x.sizes()[i] > wanted[i]) x = slice(c, x, static_cast<std::int64_t>(i), 0, wanted[i], 1);
  }
  return x;
}

/// The gradients of a convolution's gradients. `made`: which of these there are, of input, weight
/// and bias. Slots: grad_output, input, weight. Source: _convolution_double_backward of
/// ATen/native/Convolution.cpp.
class ConvolutionDoubleBackward {
 public:
  ConvolutionDoubleBackward(Backward& b, const ConvolutionOptions& options, ConvolutionMask made)
      : b_(b), c_(b.c), options_(options) {
    std::size_t next = 0;
    for (const auto& [is_made, incoming] :
         {std::pair(made.input, &of_input_), std::pair(made.weight, &of_weight_),
          std::pair(made.bias, &of_bias_)}) {
      if (is_made) *incoming = b.grad(next++);
    }
  }

  void run() {
    Tensor of_grad_output = gradient_of_grad_output();
    if (of_input_.defined()) b_.grads[2] = gradient_of_weight();
    if (of_weight_.defined()) b_.grads[1] = gradient_of_input();
    b_.grads[0] = std::move(of_grad_output);
    for (std::size_t i = 0; i < 3; ++i) {
      if (!b_.needs(i)) b_.grads[i].reset();
    }
  }

 private:
  [[nodiscard]] const Tensor& grad_output() const { return b_.saved[0]; }
  [[nodiscard]] const Tensor& input() const { return b_.saved[1]; }

  Tensor gradient_of_grad_output() {
    Tensor out;
    if (of_input_.defined()) {
      weight_ = dense(c_, b_.saved[2]);
      out = plain_convolution(c_, of_input_, weight_, options_);
    } else {
      weight_ = b_.saved[2];
    }
    if (of_weight_.defined()) {
      of_weight_ = dense(c_, of_weight_);
      const Tensor term = plain_convolution(c_, input(), of_weight_, options_);
      out = out.defined() ? add(c_, out, term) : term;
    }
    if (of_bias_.defined()) {
      Dims row = Dims::filled(grad_output().sizes().size(), 1);
      row[1] = of_bias_.numel();
      const Tensor wide = view(c_, dense(c_, of_bias_), row);
      out = out.defined() ? add(c_, out, wide) : expand(c_, wide, grad_output().sizes());
    }
    return out;
  }

  Tensor gradient_of_weight() {
    if (options_.groups != 1)
      throw NotModelled("the gradient of a grouped convolution's gradient is not modelled");
    ConvolutionOptions turned = options_;
    std::swap(turned.dilation, turned.stride);
    turned.transposed = false;
    const Tensor across = dense(c_, transpose(c_, grad_output(), 0, 1));
    const Tensor incoming = transpose(c_, of_input_, 0, 1);
    const Tensor made = options_.transposed ? plain_convolution(c_, across, incoming, turned)
                                            : plain_convolution(c_, incoming, across, turned);
    return narrowed(c_, transpose(c_, made, 0, 1), weight_.sizes());
  }

  Tensor gradient_of_input() {
    ConvolutionOptions turned = options_;
    turned.transposed = !options_.transposed;
    const Tensor grad = dense(c_, grad_output());
    if (options_.transposed)
      return narrowed(c_, plain_convolution(c_, grad, of_weight_, turned), input().sizes());
    for (std::size_t i = 0; i < options_.stride.size(); ++i) {
      const std::int64_t expected = (weight_.sizes()[i + 2] - 1) * turned.dilation[i] -
                                    2 * turned.padding[i] +
                                    turned.stride[i] * (grad.sizes()[i + 2] - 1) + 1;
      turned.output_padding[i] = input().sizes()[i + 2] - expected;
    }
    return plain_convolution(c_, grad, of_weight_, turned);
  }

  Backward& b_;
  Context& c_;
  const ConvolutionOptions& options_;
  Tensor weight_;
  Tensor of_input_;
  Tensor of_weight_;
  Tensor of_bias_;
};

}  // namespace

ConvolutionGradients recorded_convolution(Context& c, const Tensor& grad, const Tensor& input,
                                          const Tensor& weight, const ConvolutionOptions& options,
                                          ConvolutionMask wanted) {
  Op op(c, "convolution_backward", "ConvolutionBackwardBackward0", {&grad, &input, &weight});
  op.save(0, grad);
  op.save(1, input);
  op.save(2, weight);
  ConvolutionGradients made = convolution_backward(c, grad, input, weight, options, wanted);
  op.results({&made.input, &made.weight, &made.bias}, [options, wanted](Backward& b) {
    ConvolutionDoubleBackward(b, options, wanted).run();
  });
  return made;
}

}  // namespace tidemark::ops
