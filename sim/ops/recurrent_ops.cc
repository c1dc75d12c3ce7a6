#include "sim/ops/recurrent_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/activation_ops.h"
#include "sim/ops/autocast.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

/// Output, new cell state. Source: _thnn_fused_lstm_cell.
HiddenState fused_lstm_cell(Context& c, Tensor input_gates, Tensor hidden_gates, Tensor cx,
                            Tensor b_ih, Tensor b_hh) {
  Tensor workspace;  // of the results: goes after the casts
  const AutocastScope cast(c, CastPolicy::kLowPrecision,
                           {&input_gates, &hidden_gates, &cx, &b_ih, &b_hh});
  Op op(c, "_thnn_fused_lstm_cell", "ThnnFusedLstmCellBackward0",
        {&input_gates, &hidden_gates, &cx, &b_ih, &b_hh});
  op.save(0, cx);
  op.save(1, b_hh);
  op.save(2, hidden_gates);
  op.save(3, b_ih);
  op.save(4, input_gates);
  workspace = c.empty(input_gates.sizes(), input_gates.dtype(), input_gates.device());
  Tensor hy = c.empty(cx.sizes(), cx.dtype(), cx.device());
  Tensor cy = c.empty(cx.sizes(), cx.dtype(), cx.device());
  op.save(5, cy);
  op.save(6, workspace);
  op.results({&hy, &cy}, [](Backward& b) {
    const Tensor& gates = b.saved[6];
    const Tensor& state = b.saved[0];
    Tensor grad_gates = b.c.empty(gates.sizes(), gates.dtype(), gates.device());
    Tensor grad_cx = b.c.empty(state.sizes(), state.dtype(), state.device());
    Tensor grad_bias;
    if (b.saved[3].defined()) grad_bias = sum(b.c, grad_gates, {0}, false, {});
    b.grads[0] = grad_gates;
    b.grads[1] = std::move(grad_gates);
    b.grads[2] = std::move(grad_cx);
    b.grads[3] = grad_bias;
    b.grads[4] = std::move(grad_bias);
    b.drop_unneeded();
  });
  return {std::move(hy), std::move(cy)};
}

/// Source: _thnn_fused_gru_cell.
Tensor fused_gru_cell(Context& c, Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor b_ih,
                      Tensor b_hh) {
  constexpr std::int64_t kWorkspaceParts = 5;
  Tensor workspace;  // of the results: goes after the casts
  const AutocastScope cast(c, CastPolicy::kLowPrecision,
                           {&input_gates, &hidden_gates, &hx, &b_ih, &b_hh});
  Op op(c, "_thnn_fused_gru_cell", "ThnnFusedGruCellBackward0",
        {&input_gates, &hidden_gates, &hx, &b_ih, &b_hh});
  op.save(0, b_hh);
  op.save(1, hidden_gates);
  op.save(2, hx);
  op.save(3, b_ih);
  op.save(4, input_gates);
  workspace = c.empty({hx.size(0), hx.size(1) * kWorkspaceParts}, hx.dtype(), hx.device());
  Tensor hy = c.empty(hx.sizes(), hx.dtype(), hx.device());
  op.save(5, workspace);
  return op.result(std::move(hy), [](Backward& b) {
    const Tensor& grad = b.grad();
    const Dims gates{grad.size(0), grad.size(1) * 3};
    Tensor grad_input = b.c.empty(gates, grad.dtype(), grad.device());
    Tensor grad_hidden = b.c.empty(gates, grad.dtype(), grad.device());
    Tensor grad_hx = b.c.empty(grad.sizes(), grad.dtype(), grad.device());
    Tensor bias_ih;
    Tensor bias_hh;
    if (b.saved[3].defined()) {
      bias_ih = sum(b.c, grad_input, {0}, false, {});
      bias_hh = sum(b.c, grad_hidden, {0}, false, {});
    }
    b.grads[0] = std::move(grad_input);
    b.grads[1] = std::move(grad_hidden);
    b.grads[2] = std::move(grad_hx);
    b.grads[3] = std::move(bias_ih);
    b.grads[4] = std::move(bias_hh);
    b.drop_unneeded();
  });
}

HiddenState step(Context& c, CellKind kind, const Tensor& input, const HiddenState& hidden,
                 const CellParameters& p) {
  const Tensor& hx = std::get<0>(hidden);
  if (kind == CellKind::kLstm || kind == CellKind::kGru) {
    const Tensor input_gates = matmul(c, input, t(c, p.w_ih));
    const Tensor hidden_gates = matmul(c, hx, t(c, p.w_hh));
    if (kind == CellKind::kLstm) {
      return fused_lstm_cell(c, input_gates, hidden_gates, std::get<1>(hidden), p.b_ih, p.b_hh);
    }
    return {fused_gru_cell(c, input_gates, hidden_gates, hx, p.b_ih, p.b_hh), Tensor()};
  }
  const Tensor sum = linear(c, hx, p.w_hh, p.b_hh);
  const Tensor added = linear(c, input, p.w_ih, p.b_ih);
  add_(c, sum, added);
  return {unary(c, kind == CellKind::kTanh ? "tanh" : "relu", sum), Tensor()};
}

struct LayerResult {
  TensorList steps;
  HiddenState last;
};

LayerResult run_layer(Context& c, CellKind kind, const TensorList& inputs, const HiddenState& first,
                      const CellParameters& p) {
  LayerResult result;
  HiddenState hidden = first;
  for (const Tensor& input : inputs) {
    hidden = step(c, kind, input, hidden, p);
    result.steps.push_back(std::get<0>(hidden));
  }
  if (result.steps.empty()) throw OpError("Expected sequence length to be larger than 0 in RNN");
  result.last = std::move(hidden);
  return result;
}

/// One layer in one or both directions; `at`: its first index among states and parameters.
Tensor layer_output(Context& c, const RecurrentOptions& o, const Tensor& input, std::size_t at,
                    const std::vector<HiddenState>& hidden,
                    const std::vector<CellParameters>& parameters, std::vector<HiddenState>& last) {
  if (!o.bidirectional) {
    LayerResult result = run_layer(c, o.kind, unbind(c, input, 0), hidden[at], parameters[at]);
    last.push_back(result.last);
    return stack(c, result.steps, 0);
  }
  TensorList inputs = unbind(c, input, 0);
  const LayerResult forward = run_layer(c, o.kind, inputs, hidden[at], parameters[at]);
  const Tensor forward_output = stack(c, forward.steps, 0);
  std::reverse(inputs.begin(), inputs.end());
  LayerResult backward = run_layer(c, o.kind, inputs, hidden[at + 1], parameters[at + 1]);
  std::reverse(backward.steps.begin(), backward.steps.end());
  const Tensor backward_output = stack(c, backward.steps, 0);
  Tensor out = cat(c, {forward_output, backward_output}, forward_output.dim() - 1);
  last.push_back(forward.last);
  last.push_back(backward.last);
  return out;
}

std::vector<CellParameters> gather(const TensorList& flat, bool has_biases) {
  const std::size_t each = has_biases ? 4 : 2;
  std::vector<CellParameters> out;
  for (std::size_t i = 0; i < flat.size(); i += each) {
    out.push_back({flat[i], flat[i + 1], has_biases ? flat[i + 2] : Tensor(),
                   has_biases ? flat[i + 3] : Tensor()});
  }
  return out;
}

TensorList native(Context& c, const Tensor& given, const HiddenState& hidden,
                  const TensorList& flat, const RecurrentOptions& o) {
  const Tensor input = o.batch_first ? transpose(c, given, 0, 1) : given;
  const std::vector<CellParameters> parameters = gather(flat, o.has_biases);
  TensorList hx = unbind(c, std::get<0>(hidden), 0);
  TensorList cx;
  if (o.kind == CellKind::kLstm) cx = unbind(c, std::get<1>(hidden), 0);
  std::vector<HiddenState> states;
  for (std::size_t i = 0; i < hx.size(); ++i) {
    states.emplace_back(std::move(hx[i]), o.kind == CellKind::kLstm ? std::move(cx[i]) : Tensor());
  }
  const std::size_t directions = o.bidirectional ? 2 : 1;
  std::vector<HiddenState> last;
  Tensor output = input;
  for (std::int64_t layer = 0; layer < o.layers; ++layer) {
    output = layer_output(c, o, output, static_cast<std::size_t>(layer) * directions, states,
                          parameters, last);
    if (o.dropout != 0 && o.train && layer + 1 < o.layers)
      output = dropout(c, output, o.dropout, true);
  }
  TensorList hy;
  TensorList cy;
  for (HiddenState& state : last) {
    hy.push_back(std::move(std::get<0>(state)));
    if (o.kind == CellKind::kLstm) cy.push_back(std::move(std::get<1>(state)));
  }
  // The members of the result are made from the last to the first.
  TensorList results(o.kind == CellKind::kLstm ? 3 : 2);
  if (o.kind == CellKind::kLstm) results[2] = stack(c, cy, 0);
  results[1] = stack(c, hy, 0);
  results[0] = std::move(output);
  if (o.batch_first) results[0] = transpose(c, results[0], 0, 1);
  return results;
}

}  // namespace

HiddenState recurrent_cell(Context& c, CellKind kind, Tensor input, HiddenState hidden,
                           CellParameters p) {
  // Arguments are cast from the last to the first, but the states, which are a list, in order.
  const AutocastScope cast(
      c, CastPolicy::kLowPrecision,
      {&input, &std::get<1>(hidden), &std::get<0>(hidden), &p.w_ih, &p.w_hh, &p.b_ih, &p.b_hh});
  HiddenState next = step(c, kind, input, hidden, p);
  input.reset();
  std::get<0>(hidden).reset();
  std::get<1>(hidden).reset();
  for (Tensor* part : {&p.w_ih, &p.w_hh, &p.b_ih, &p.b_hh}) part->reset();
  return next;
}

namespace {

/// What layers are given fits together, as far as the memory that they ask for depends on it.
void check_layers(const Tensor& input, const HiddenState& hidden, const TensorList& parameters,
                  const RecurrentOptions& o) {
  const std::size_t each = o.has_biases ? 4 : 2;
  const std::size_t directions = o.bidirectional ? 2 : 1;
  const std::size_t layers = parameters.size() / (each * directions);
  if (o.layers < 1 || static_cast<std::uint64_t>(o.layers) != layers ||
      parameters.size() != layers * each * directions) {
    throw OpError("got an incorrect number of RNN parameters");
  }
  // The rows of a packed sequence have no dimension of their own for the steps.
  const bool is_packed = input.dim() == 2 && input.is_cuda();
  if (input.dim() != 3 && !is_packed) {
    throw OpError(fmt::format("RNN: Expected input to be 3-D, got {}-D tensor", input.dim()));
  }
  const auto check_state = [&](const Tensor& state) {
    if (state.dim() == 3 && static_cast<std::size_t>(state.size(0)) == layers * directions) return;
    throw OpError(fmt::format("Expected hidden size ({}, ...), got {}", layers * directions,
                              to_string(state.sizes())));
  };
  check_state(std::get<0>(hidden));
  if (o.kind == CellKind::kLstm) check_state(std::get<1>(hidden));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t dims = i % each < 2 ? 2 : 1;
    if (parameters[i].dim() == dims) continue;
    throw OpError(fmt::format("RNN: Expected parameter {} to be {}-D, got {}-D tensor", i, dims,
                              parameters[i].dim()));
  }
}

}  // namespace

TensorList recurrent(Context& c, const Tensor& input, const HiddenState& hidden,
                     const TensorList& parameters, const RecurrentOptions& options) {
  check_layers(input, hidden, parameters, options);
  if (input.is_cuda() && c.backends.cudnn && is_floating(input.dtype())) {
    return cudnn_recurrent(c, input, hidden, parameters, options);
  }
  return native(c, input, hidden, parameters, options);
}

namespace {

template <CellKind kKind>
OpResult run_layers(Arguments& a) {
  RecurrentOptions o;
  o.kind = kKind;
  o.has_biases = a.flag(3);
  o.layers = a.integer(4);
  o.dropout = a.number(5);
  o.train = a.flag(6);
  o.bidirectional = a.flag(7);
  o.batch_first = a.flag(8);
  HiddenState hidden;
  if constexpr (kKind == CellKind::kLstm) {
    if (a.tensors(1).size() != 2) throw OpError("lstm expects two hidden states");
    hidden = {a.tensors(1)[0], a.tensors(1)[1]};
  } else {
    hidden = {a.tensor(1), Tensor()};
  }
  return OpResult::tuple(recurrent(a.context(), a.tensor(0), hidden, a.tensors(2), o));
}

CellParameters cell_parameters(const Arguments& a) {
  return {a.tensor(2), a.tensor(3), a.optional_tensor(4), a.optional_tensor(5)};
}

template <CellKind kKind>
OpResult run_cell(Arguments& a) {
  return std::get<0>(
      recurrent_cell(a.context(), kKind, a.tensor(0), {a.tensor(1), Tensor()}, cell_parameters(a)));
}

/// One step of a layer: unlike a cell's, its operators cast for themselves under autocast.
template <CellKind kKind>
OpResult run_step(Arguments& a) {
  if constexpr (kKind == CellKind::kLstm) {
    if (a.tensors(1).size() != 2) throw OpError("lstm expects two hidden states");
    HiddenState next = step(a.context(), kKind, a.tensor(0), {a.tensors(1)[0], a.tensors(1)[1]},
                            cell_parameters(a));
    return OpResult::tuple({std::move(std::get<0>(next)), std::move(std::get<1>(next))});
  } else {
    return std::get<0>(
        step(a.context(), kKind, a.tensor(0), {a.tensor(1), Tensor()}, cell_parameters(a)));
  }
}

}  // namespace

OpResult lstm_cell(Arguments& a) {
  if (a.tensors(1).size() != 2) throw OpError("lstm_cell expects two hidden states");
  HiddenState next = recurrent_cell(a.context(), CellKind::kLstm, a.tensor(0),
                                    {a.tensors(1)[0], a.tensors(1)[1]}, cell_parameters(a));
  return OpResult::tuple({std::move(std::get<0>(next)), std::move(std::get<1>(next))});
}

OpResult lstm_layers(Arguments& a) { return run_layers<CellKind::kLstm>(a); }
OpResult lstm_step(Arguments& a) { return run_step<CellKind::kLstm>(a); }
OpResult gru_layers(Arguments& a) { return run_layers<CellKind::kGru>(a); }
OpResult gru_cell(Arguments& a) { return run_cell<CellKind::kGru>(a); }
OpResult gru_step(Arguments& a) { return run_step<CellKind::kGru>(a); }
OpResult rnn_tanh_layers(Arguments& a) { return run_layers<CellKind::kTanh>(a); }
OpResult rnn_tanh_cell(Arguments& a) { return run_cell<CellKind::kTanh>(a); }
OpResult rnn_tanh_step(Arguments& a) { return run_step<CellKind::kTanh>(a); }
OpResult rnn_relu_layers(Arguments& a) { return run_layers<CellKind::kRelu>(a); }
OpResult rnn_relu_cell(Arguments& a) { return run_cell<CellKind::kRelu>(a); }
OpResult rnn_relu_step(Arguments& a) { return run_step<CellKind::kRelu>(a); }

}  // namespace tidemark::ops
