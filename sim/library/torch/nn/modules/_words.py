"""What print(model) says of a module's options. Source: torch's extra_repr methods."""


def _inplace(m):
    return ", inplace=True" if m.inplace else ""


def _given(m, *named):
    """', name=value' of each option that is not what it is by default"""
    return "".join([f", {name}={getattr(m, name)!r}" for name, default in named if getattr(m, name) != default])


def _conv(m):
    n = len(m.kernel_size)
    return (f"{m.in_channels}, {m.out_channels}, kernel_size={m.kernel_size}, stride={m.stride}"
            + (f", padding={m.padding}" if m.padding != (0,) * n else "")
            + (f", dilation={m.dilation}" if m.dilation != (1,) * n else "")
            + (f", output_padding={m.output_padding}" if m.output_padding != (0,) * n else "")
            + (f", groups={m.groups}" if m.groups != 1 else "")
            + (", bias=False" if m.bias is None else "")
            + (f", padding_mode={m.padding_mode}" if m.padding_mode != "zeros" else ""))


def _embedding(m):
    return f"{m.num_embeddings}, {m.embedding_dim}" + _given(
        m, ("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False), ("sparse", False)
    )


def _embedding_bag(m):
    return (
        f"{m.num_embeddings}, {m.embedding_dim}"
        + _given(m, ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False))
        + f", mode={m.mode!r}"
        + _given(m, ("padding_idx", None))
    )


def _recurrent(m):
    return f"{m.input_size}, {m.hidden_size}" + _given(m, ("num_layers", 1), ("bias", True), ("batch_first", False),
                                                       ("dropout", 0), ("bidirectional", False))


def _cell(m):
    nonlinearity = getattr(m, "nonlinearity", "tanh")
    return (f"{m.input_size}, {m.hidden_size}" + ("" if m.bias else ", bias=False")
            + (f", nonlinearity={nonlinearity}" if nonlinearity != "tanh" else ""))


def _window(m, n=None):
    """n: the class keeps tuples of as many"""
    sizes = [
        (size,) * n if n is not None and isinstance(size, int) else size
        for size in (m.kernel_size, m.stride, m.padding)
    ]
    return f"kernel_size={sizes[0]}, stride={sizes[1]}, padding={sizes[2]}"


def _pad(m):
    return f"padding={m.padding}, value={m.value}" if type(m).__name__.startswith("Constant") else f"{m.padding}"


def _upsample(m):
    size = f"scale_factor={m.scale_factor!r}" if m.scale_factor is not None else f"size={m.size!r}"
    return size + f", mode={m.mode!r}"


_WORDS = {
    "GELU": lambda m: f"approximate={m.approximate!r}",
    "ELU": lambda m: f"alpha={m.alpha}" + _inplace(m),
    "CELU": lambda m: f"alpha={m.alpha}" + _inplace(m),
    "Hardtanh": lambda m: f"min_val={m.min_val}, max_val={m.max_val}" + _inplace(m),
    "LeakyReLU": lambda m: f"negative_slope={m.negative_slope}" + _inplace(m),
    "RReLU": lambda m: f"lower={m.lower}, upper={m.upper}" + _inplace(m),
    "Threshold": lambda m: f"threshold={m.threshold}, value={m.value}" + _inplace(m),
    "Softplus": lambda m: f"beta={m.beta}, threshold={m.threshold}",
    "Softmax": lambda m: f"dim={m.dim}",
    "LogSoftmax": lambda m: f"dim={m.dim}",
    "Softmin": lambda m: f"dim={m.dim}",
    "GLU": lambda m: f"dim={m.dim}",
    "PReLU": lambda m: f"num_parameters={m.num_parameters}",
    "Softshrink": lambda m: f"{m.lambd}",
    "Hardshrink": lambda m: f"{m.lambd}",
    "Flatten": lambda m: f"start_dim={m.start_dim}, end_dim={m.end_dim}",
    "Unflatten": lambda m: f"dim={m.dim}, unflattened_size={m.unflattened_size}",
    "Upsample": _upsample,
    "PixelShuffle": lambda m: f"upscale_factor={m.upscale_factor}",
    "PixelUnshuffle": lambda m: f"downscale_factor={m.downscale_factor}",
    "ChannelShuffle": lambda m: f"groups={m.groups}",
    "_Pad": _pad,
    "_AdaptiveAvgPool": lambda m: f"output_size={m.output_size}",
    "_AdaptiveMaxPool": lambda m: f"output_size={m.output_size}",
    "AvgPool1d": lambda m: _window(m, 1),
    "_AvgPool": _window,
    "MaxUnpool1d": lambda m: _window(m, 1),
    "MaxUnpool2d": lambda m: _window(m, 2),
    "MaxUnpool3d": lambda m: _window(m, 3),
    "_MaxPool": lambda m: _window(m) + f", dilation={m.dilation}, ceil_mode={m.ceil_mode}",
    "_LPPoolNd": lambda m: (
        f"norm_type={m.norm_type}, kernel_size={m.kernel_size}, stride={m.stride}, ceil_mode={m.ceil_mode}"
    ),
    "GroupNorm": lambda m: f"{m.num_groups}, {m.num_channels}, eps={m.eps}, affine={m.affine}",
    "RMSNorm": lambda m: f"{m.normalized_shape}, eps={m.eps}, elementwise_affine={m.elementwise_affine}",
    "LocalResponseNorm": lambda m: f"{m.size}, alpha={m.alpha}, beta={m.beta}, k={m.k}",
    "CrossMapLRN2d": lambda m: f"{m.size}, alpha={m.alpha}, beta={m.beta}, k={m.k}",
    "Bilinear": lambda m: (
        f"in1_features={m.in1_features}, in2_features={m.in2_features}, out_features={m.out_features}, "
        f"bias={m.bias is not None}"
    ),
    "Embedding": _embedding,
    "EmbeddingBag": _embedding_bag,
    "_ConvNd": _conv,
    "RNNBase": _recurrent,
    "_Cell": _cell,
    "Fold": lambda m: (
        f"output_size={m.output_size}, kernel_size={m.kernel_size}, dilation={m.dilation}, padding={m.padding}, "
        f"stride={m.stride}"
    ),
    "Unfold": lambda m: f"kernel_size={m.kernel_size}, dilation={m.dilation}, padding={m.padding}, stride={m.stride}",
}


def _words_of(module):
    for kind in type(module).__mro__:
        if kind.__name__ in _WORDS and kind.__module__.startswith("torch."):
            return _WORDS[kind.__name__](module)
    return ""
