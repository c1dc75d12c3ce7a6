import torch
import torch._C as _C
from torch.nn import Parameter
from torch.nn.modules.module import Module
from torch.nn.utils.rnn import PackedSequence


class RNNCellBase(Module):
    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        made = dict(device=device, dtype=dtype)
        self.weight_ih = Parameter(torch.empty((num_chunks * hidden_size, input_size), **made))
        self.weight_hh = Parameter(torch.empty((num_chunks * hidden_size, hidden_size), **made))
        if bias:
            self.bias_ih = Parameter(torch.empty(num_chunks * hidden_size, **made))
            self.bias_hh = Parameter(torch.empty(num_chunks * hidden_size, **made))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)


class RNNBase(Module):
    gates = 1

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if proj_size != 0:
            _C.refuse("recurrent layers with proj_size are not modelled", "leave proj_size out")
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, float(dropout), bidirectional
        self.num_directions = 2 if bidirectional else 1
        made = dict(device=device, dtype=dtype)
        self._flat_weights_names = []
        for layer in range(num_layers):
            for direction in range(self.num_directions):
                width = input_size if layer == 0 else hidden_size * self.num_directions
                suffix = f"_l{layer}" + ("_reverse" if direction == 1 else "")
                self._add("weight_ih" + suffix, (self.gates * hidden_size, width), made)
                self._add("weight_hh" + suffix, (self.gates * hidden_size, hidden_size), made)
                if bias:
                    self._add("bias_ih" + suffix, (self.gates * hidden_size,), made)
                    self._add("bias_hh" + suffix, (self.gates * hidden_size,), made)
        self._init_flat_weights()
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / self.hidden_size ** 0.5 if self.hidden_size > 0 else 0
        for weight in self.parameters():
            _C.fill_random(weight, "uniform", -bound, bound)

    def _add(self, name, shape, made):
        setattr(self, name, Parameter(torch.empty(shape, **made)))
        self._flat_weights_names.append(name)

    def __setattr__(self, attr, value):
        held = self.__dict__.get("_flat_weights")
        if held is not None and attr in self._flat_weights_names:
            held[self._flat_weights_names.index(attr)] = value
        super().__setattr__(attr, value)

    def _init_flat_weights(self):
        """the weights are held once more: they die with this list, the last first"""
        self._flat_weights = [getattr(self, name) for name in self._flat_weights_names]
        self.flatten_parameters()

    def flatten_parameters(self):
        """one buffer for all weights, as cuDNN wants them"""
        weights = self._flat_weights
        if all(w.is_cuda for w in weights) and _C.backend("cudnn"):
            _C.flatten_weights(weights)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self._init_flat_weights()
        return self

    def _zeros(self, input):
        batch = input.size(0) if self.batch_first else input.size(1)
        return torch.zeros(self.num_layers * self.num_directions, batch, self.hidden_size, dtype=input.dtype,
                           device=input.device)

    def _check(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def forward(self, input, hx=None):
        # Dynamo compiles no recurrent layers: what is left of the function runs as it stands.
        if _C.is_compiling():
            _C.leave_graph("a recurrent layer")
        return self._forward(input, hx)

    # ---- packed sequences

    def _forward_packed(self, packed, hx, run, cell):
        data, batch_sizes, sorted_indices, unsorted_indices = packed
        sizes = _C.known_integers(batch_sizes)
        lstm = self.gates == 4
        if hx is None:
            shape = (self.num_layers * self.num_directions, sizes[0], self.hidden_size)
            hx = torch.zeros(shape, dtype=data.dtype, device=data.device)
            if lstm:
                h_zeros, c_zeros = hx, torch.zeros(shape, dtype=data.dtype, device=data.device)
                hx = (h_zeros, c_zeros)
        else:
            hx = self._permuted(hx, sorted_indices)
        if data.is_cuda and _C.backend("cudnn"):
            result = run(data, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                         self.bidirectional, False)
            output = result[0]
            hidden = result[1:] if lstm else result[1]
        else:
            output, hidden = self._run_packed(data, sizes, hx, cell)
        return PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices), self._permuted(
            hidden, unsorted_indices
        )

    def _permuted(self, hx, permutation):
        if permutation is None:
            return hx
        if self.gates == 4:
            return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)
        return hx.index_select(1, permutation)

    def _run_packed(self, data, sizes, hx, cell):
        """the steps one by one, as PyTorch does without cuDNN"""
        lstm = self.gates == 4
        states = list(zip(hx[0].unbind(0), hx[1].unbind(0))) if lstm else [(h,) for h in hx.unbind(0)]
        del hx
        per_cell = 4 if self.bias else 2
        weights = self._flat_weights
        cells = [weights[i:i + per_cell] for i in range(0, len(weights), per_cell)]
        del weights
        last = []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(self.num_directions):
                at = layer * self.num_directions + direction
                output, final = _packed_layer(cell, data, sizes, states[at], cells[at], direction == 1)
                outputs.append(output)
                last.append(final)
                del output, final
            joined = outputs[0] if self.num_directions == 1 else torch.cat(outputs, -1)
            while outputs:
                outputs.pop()
            data = joined
            del joined
            if self.dropout != 0 and self.training and layer + 1 < self.num_layers:
                data = torch.dropout(data, self.dropout, True)
        del states, cells
        parts = len(last[0])
        stacked = [None] * parts
        columns = [[state[k] for state in last] for k in range(parts)]
        while last:
            last.pop(0)
        for k in reversed(range(parts)):
            stacked[k] = torch.stack(columns[k], 0)
        for column in reversed(columns):
            while column:
                column.pop(0)
        return data, tuple(stacked) if lstm else stacked[0]


# Of the two parts of an LSTM's state C++ makes the second first.


def _slice(hidden, start, length):
    return tuple(reversed([h.narrow(0, start, length) for h in reversed(hidden)]))


def _join(hiddens):
    return tuple(reversed([torch.cat([h[k] for h in hiddens], 0) for k in reversed(range(len(hiddens[0])))]))


def _packed_layer(cell, data, sizes, hidden, weights, reverse):
    """one direction of one layer: what each step puts out, joined, and the last states of all sequences"""
    outputs = []
    if not reverse:
        hiddens = []
        offset, before = 0, sizes[0]
        for size in sizes:
            step = data.narrow(0, offset, size)
            offset += size
            if size < before:
                hiddens.append(_slice(hidden, size, before - size))
                hidden = _slice(hidden, 0, size)
            before = size
            hidden = cell(step, hidden, weights)
            outputs.append(hidden[0])
        hiddens.append(hidden)
        hiddens.reverse()
        joined = torch.cat(outputs, 0)
        final = _join(hiddens)
        # C++'s vectors go from the first to the last.
        del hidden
        while hiddens:
            hiddens.pop(0)
        while outputs:
            outputs.pop(0)
        return joined, final
    initial = hidden
    offset, before = data.size(0), sizes[-1]
    hidden = _slice(initial, 0, before)
    for size in reversed(sizes):
        if size > before:
            hidden = _join([hidden, _slice(initial, before, size - before)])
        step = data.narrow(0, offset - size, size)
        offset -= size
        before = size
        states = list(hidden)
        hidden = cell(step, hidden, weights)
        while states:
            states.pop(0)
        outputs.append(hidden[0])
    outputs.reverse()
    joined = torch.cat(outputs, 0)
    while outputs:
        outputs.pop(0)
    return joined, hidden


def _lstm_step(step, hidden, weights):
    return torch._lstm_step(step, hidden, *weights)


def _gru_step(step, hidden, weights):
    return (torch._gru_step(step, hidden[0], *weights),)


def _tanh_step(step, hidden, weights):
    return (torch._rnn_tanh_step(step, hidden[0], *weights),)


def _relu_step(step, hidden, weights):
    return (torch._rnn_relu_step(step, hidden[0], *weights),)


class RNN(RNNBase):

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        self.nonlinearity = nonlinearity
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype
        )
        self.nonlinearity = nonlinearity

    def _forward(self, input, hx):
        if isinstance(input, PackedSequence):
            if self.nonlinearity == "tanh":
                return self._forward_packed(input, hx, torch.rnn_tanh, _tanh_step)
            return self._forward_packed(input, hx, torch.rnn_relu, _relu_step)
        self._check(input)
        is_batched = input.dim() == 3
        if not is_batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            if hx is not None:
                hx = hx.unsqueeze(1)
        if hx is None:
            hx = self._zeros(input)
        run = torch.rnn_tanh if self.nonlinearity == "tanh" else torch.rnn_relu
        result = run(
            input,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )
        output = result[0]
        hidden = result[1]
        if not is_batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden = hidden.squeeze(1)
        return output, hidden


class LSTM(RNNBase):
    gates = 4

    def _forward(self, input, hx):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx, torch.lstm, _lstm_step)
        self._check(input)
        is_batched = input.dim() == 3
        if not is_batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if hx is None:
            h_zeros = self._zeros(input)
            c_zeros = self._zeros(input)
            hx = (h_zeros, c_zeros)
        elif not is_batched:
            hx = (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
        result = torch.lstm(input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                            self.bidirectional, self.batch_first)
        output = result[0]
        hidden = result[1:]
        if not is_batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden = (hidden[0].squeeze(1), hidden[1].squeeze(1))
        return output, hidden


class GRU(RNNBase):
    gates = 3

    def _forward(self, input, hx):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx, torch.gru, _gru_step)
        self._check(input)
        is_batched = input.dim() == 3
        if not is_batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            if hx is not None:
                hx = hx.unsqueeze(1)
        if hx is None:
            hx = self._zeros(input)
        result = torch.gru(input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                           self.bidirectional, self.batch_first)
        output = result[0]
        hidden = result[1]
        if not is_batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden = hidden.squeeze(1)
        return output, hidden


class _Cell(Module):
    gates = 1

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        made = dict(device=device, dtype=dtype)
        self.weight_ih = Parameter(torch.empty((self.gates * hidden_size, input_size), **made))
        self.weight_hh = Parameter(torch.empty((self.gates * hidden_size, hidden_size), **made))
        if bias:
            self.bias_ih = Parameter(torch.empty(self.gates * hidden_size, **made))
            self.bias_hh = Parameter(torch.empty(self.gates * hidden_size, **made))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / self.hidden_size ** 0.5 if self.hidden_size > 0 else 0
        for weight in self.parameters():
            _C.fill_random(weight, "uniform", -bound, bound)

    def _zeros(self, input):
        return torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)


class RNNCell(_Cell):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = self._zeros(input)
        else:
            hx = hx.unsqueeze(0) if not is_batched else hx
        run = torch.rnn_tanh_cell if self.nonlinearity == "tanh" else torch.rnn_relu_cell
        ret = run(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not is_batched:
            ret = ret.squeeze(0)
        return ret


class LSTMCell(_Cell):
    gates = 4

    def forward(self, input, hx=None):
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = self._zeros(input)
            hx = (zeros, zeros)
        else:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0)) if not is_batched else hx
        ret = torch.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not is_batched:
            ret = (ret[0].squeeze(0), ret[1].squeeze(0))
        return ret


class GRUCell(_Cell):
    gates = 3

    def forward(self, input, hx=None):
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = self._zeros(input)
        else:
            hx = hx.unsqueeze(0) if not is_batched else hx
        ret = torch.gru_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not is_batched:
            ret = ret.squeeze(0)
        return ret
