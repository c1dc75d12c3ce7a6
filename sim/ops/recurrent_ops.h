#pragma once

#include <tuple>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Recurrent layers and cells. Source: docs/rules/recurrent.md.

enum class CellKind : std::uint8_t { kLstm, kGru, kTanh, kRelu };

/// Hidden state and, of an LSTM, cell state (else undefined).
using HiddenState = std::tuple<Tensor, Tensor>;

/// Weights of one layer and direction; biases may be undefined.
struct CellParameters {
  Tensor w_ih;
  Tensor w_hh;
  Tensor b_ih;
  Tensor b_hh;
};

struct RecurrentOptions {
  CellKind kind = CellKind::kLstm;
  bool has_biases = true;
  std::int64_t layers = 1;
  double dropout = 0;
  bool train = true;
  bool bidirectional = false;
  bool batch_first = false;
};

/// One step: torch.lstm_cell and its kin.
HiddenState recurrent_cell(Context& c, CellKind kind, Tensor input, HiddenState hidden,
                           CellParameters parameters);
/// torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu: output, then the last states stacked over
/// layers. `parameters`: per layer and direction w_ih, w_hh and, with biases, b_ih, b_hh.
TensorList recurrent(Context& c, const Tensor& input, const HiddenState& hidden,
                     const TensorList& parameters, const RecurrentOptions& options);

/// The same through cuDNN. Requires: a GPU tensor.
TensorList cudnn_recurrent(Context& c, const Tensor& input, const HiddenState& hidden,
                           const TensorList& parameters, const RecurrentOptions& options);

}  // namespace tidemark::ops
