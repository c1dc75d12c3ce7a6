#include <fmt/format.h>

#include "sim/ops/cudnn.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/recurrent_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

/// All weights lie in one storage: what nn.LSTM.flatten_parameters() makes.
bool flat(const TensorList& weights) {
  for (const Tensor& w : weights) {
    if (!(w->storage == weights.front()->storage)) return false;
  }
  return true;
}

/// Bytes of the buffer that holds all weights. cuDNN's own layout may pad; assumed: it does not.
Bytes weight_bytes(const TensorList& weights) {
  Bytes bytes = 0;
  for (const Tensor& w : weights) bytes += w.bytes();
  return bytes;
}

/// Gradients of the weights as views of one buffer, laid one after the other.
void give_weight_gradients(Backward& b, const Tensor& buffer, std::size_t first,
                           const std::vector<Dims>& sizes) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (b.needs(first + i)) {
      b.grads[first + i] = Context::alias(buffer, sizes[i], contiguous_strides(sizes[i]), at);
    }
    at += numel_of(sizes[i]);
  }
}

}  // namespace

TensorList cudnn_recurrent(Context& c, const Tensor& input, const HiddenState& hidden,
                           const TensorList& parameters, const RecurrentOptions& o) {
  const bool lstm = o.kind == CellKind::kLstm;
  const auto& [hx, cx] = hidden;
  TensorList all{input};
  for (const Tensor& w : parameters) all.push_back(w);
  all.push_back(hx);
  if (lstm) all.push_back(cx);
  const std::size_t weights = parameters.size();
  std::vector<Dims> sizes;
  for (const Tensor& w : parameters) sizes.push_back(w.sizes());

  Op op(c, "_cudnn_rnn", "CudnnRnnBackward0", all);
  const Device device = input.device();
  const ScalarType dtype = input.dtype();
  const bool is_flat = flat(parameters);
  Tensor x = contiguous(c, o.batch_first ? transpose(input, 0, 1) : input);
  Dims output_sizes = x.sizes();
  output_sizes.back() = hx.size(2) * (o.bidirectional ? 2 : 1);
  Tensor output = c.empty(output_sizes, dtype, device);
  Tensor weight_buffer;
  if (!is_flat) weight_buffer = c.scratch(weight_bytes(parameters), device);
  Tensor hy = c.empty(hx.sizes(), hx.dtype(), device);
  Tensor cy;
  if (lstm) cy = c.empty(cx.sizes(), cx.dtype(), device);
  { const Tensor workspace = cudnn_buffer(c, CudnnBuffer::kRnnForward, device); }
  Tensor reserve;
  if (o.train || op.records()) reserve = cudnn_buffer(c, CudnnBuffer::kRnnReserve, device);
  x.reset();
  Tensor shown = o.batch_first ? transpose(output, 0, 1) : output;
  output.reset();

  op.save(0, cx);
  op.save(1, hx);
  op.save(2, input);
  for (std::size_t i = 0; i < weights; ++i) op.save(3 + i, parameters[i]);
  op.save(3 + weights, shown);
  op.save(4 + weights, reserve);
  op.save(5 + weights, weight_buffer);
  op.results({&shown, &hy, &cy}, [batch_first = o.batch_first, lstm, weights, sizes](Backward& b) {
    Context& bc = b.c;
    const Tensor& in = b.saved[2];
    const Tensor& h = b.saved[1];
    const auto time_first = [&](const Tensor& t) { return batch_first ? transpose(t, 0, 1) : t; };
    const Tensor grad_hy =
        b.incoming[1].defined() ? contiguous(bc, b.incoming[1]) : zeros_like(bc, h);
    Tensor grad_cy;
    if (lstm)
      grad_cy =
          b.incoming[2].defined() ? contiguous(bc, b.incoming[2]) : zeros_like(bc, b.saved[0]);
    const Tensor& out = b.saved[3 + weights];
    const Tensor grad = b.grad().defined() ? b.grad() : zeros_like(bc, out);
    Tensor dx;
    {
      const Tensor x_copy = contiguous(bc, time_first(in));
      const Tensor dy = contiguous(bc, time_first(grad));
      const Tensor y = contiguous(bc, time_first(out));
      dx = bc.empty(x_copy.sizes(), in.dtype(), in.device());
      Tensor dhx = bc.empty(h.sizes(), h.dtype(), h.device());
      Tensor dcx;
      if (lstm) dcx = bc.empty(b.saved[0].sizes(), h.dtype(), h.device());
      const Tensor workspace = cudnn_buffer(bc, CudnnBuffer::kRnnBackward, in.device());
      if (b.needs(1 + weights)) b.grads[1 + weights] = std::move(dhx);
      if (lstm && b.needs(2 + weights)) b.grads[2 + weights] = std::move(dcx);
    }
    {
      const Tensor x_copy = contiguous(bc, time_first(in));
      const Tensor y = contiguous(bc, time_first(out));
      std::int64_t total = 0;
      for (const Dims& s : sizes) total += numel_of(s);
      const Tensor dw = bc.empty({total}, in.dtype(), in.device());
      const Tensor workspace = cudnn_buffer(bc, CudnnBuffer::kRnnBackward, in.device());
      give_weight_gradients(b, dw, 1, sizes);
    }
    if (b.needs(0)) b.grads[0] = time_first(dx);
  });
  TensorList results{std::move(shown), std::move(hy)};
  if (lstm) results.push_back(std::move(cy));
  return results;
}

}  // namespace tidemark::ops
