"""What a drawn model is, before a loop is put around it."""

import dataclasses


@dataclasses.dataclass
class Model:
    """`code`: classes, without make(). `net`: the expression that makes the model. `inputs`: expressions of host tensors in the
    batch size `b`. `loss`: an expression in `out`, `y` (and `x0`, `x1`, ...: the inputs)."""

    code: str
    net: str = "Net()"
    inputs: list = dataclasses.field(default_factory=list)
    target: str = ""
    loss: str = "out.mean()"
    half: bool = True  # may be cast to bf16 and fp16
    amp: bool = True  # may run under autocast
    double: bool = True
    images: bool = False  # four-dimensional inputs: channels_last makes sense
    batch: tuple = (1, 2, 3, 4, 8, 16, 32, 64)
    name: str = ""
    loop: str = ""  # a loop of its own, in place of a drawn one
    total: int = 0  # bytes of the device, for programs that run out of them; 0: its own
    sparse: bool = False  # has sparse gradients: few optimizers take them


def classes(r, n, unit="torch.zeros"):
    """(target expression, loss) of n classes"""
    kind = r.weighted(ce=6, smooth=1, weight=1, none=0.5, multi=0.7, nll=1, soft=0.6, focal=0.5, margin=0.3, bce=0.7)
    target = "torch.zeros(b, dtype=torch.long)"
    if kind == "ce":
        return target, r.pick("F.cross_entropy(out, y)", "nn.CrossEntropyLoss()(out, y)", "F.cross_entropy(out, y, reduction='sum')")
    if kind == "smooth":
        return target, "F.cross_entropy(out, y, label_smoothing=0.1)"
    if kind == "weight":
        return target, "F.cross_entropy(out, y, weight=torch.ones(%d, device='cuda', dtype=out.dtype))" % n
    if kind == "none":
        return target, "F.cross_entropy(out, y, reduction='none').mean()"
    if kind == "nll":
        return target, r.pick("F.nll_loss(F.log_softmax(out, dim=1), y)", "nn.NLLLoss()(torch.log_softmax(out, -1), y)")
    if kind == "soft":
        return "torch.zeros(b, %d)" % n, r.pick("F.cross_entropy(out, y)", "-(y * F.log_softmax(out, dim=-1)).sum(-1).mean()",
                                                "F.kl_div(F.log_softmax(out, -1), y, reduction='batchmean')")
    if kind == "focal":
        return target, "((1 - torch.exp(-F.cross_entropy(out, y, reduction='none'))) ** 2 * F.cross_entropy(out, y, reduction='none')).mean()"
    if kind == "margin":
        return target, r.pick("F.multi_margin_loss(out, y)", "F.cross_entropy(out * 4.0, y)")
    if kind == "bce":
        return "torch.zeros(b, %d)" % n, "F.binary_cross_entropy_with_logits(out, y)"
    return "torch.zeros(b, %d)" % n, r.pick("nn.BCEWithLogitsLoss()(out, y)", "nn.BCEWithLogitsLoss(pos_weight=torch.ones(%d, device='cuda'))(out, y)" % n,
                                            "F.multilabel_soft_margin_loss(out, y)")


def regression(r):
    return r.pick("F.mse_loss(out, y)", "nn.MSELoss()(out, y)", "F.l1_loss(out, y)", "F.smooth_l1_loss(out, y)", "F.huber_loss(out, y)",
                  "((out - y) ** 2).mean()", "(out - y).abs().mean()", "(out - y).pow(2).sum() / out.shape[0]",
                  "F.mse_loss(out, y, reduction='sum')", "torch.sqrt(F.mse_loss(out, y) + 1e-6)",
                  "torch.log(torch.cosh(out - y)).mean()", "F.mse_loss(out, y, reduction='none').mean(dim=-1).sum()",
                  "0.5 * F.l1_loss(out, y) + F.mse_loss(out, y)", "(1 - F.cosine_similarity(out.flatten(1), y.flatten(1))).mean()")


def activation(r, inplace=True):
    return r.pick("nn.ReLU()", "nn.ReLU(inplace=True)" if inplace else "nn.ReLU()", "nn.ReLU()", "nn.GELU()", "nn.SiLU()", "nn.LeakyReLU(0.2)",
                  "nn.LeakyReLU(0.1, inplace=True)" if inplace else "nn.LeakyReLU(0.1)", "nn.ELU()", "nn.SELU()", "nn.CELU()", "nn.Tanh()",
                  "nn.Sigmoid()", "nn.Mish()", "nn.Hardswish()", "nn.Hardswish(inplace=True)" if inplace else "nn.Hardswish()",
                  "nn.ReLU6()", "nn.ReLU6(inplace=True)" if inplace else "nn.ReLU6()", "nn.Softplus()", "nn.Softsign()", "nn.Hardtanh()",
                  "nn.Hardsigmoid()", "nn.PReLU()", "nn.Tanhshrink()", "nn.Softshrink()", "nn.Hardshrink()", "nn.LogSigmoid()",
                  "nn.GELU(approximate='tanh')", "nn.RReLU()", "nn.Threshold(0.1, 0.0)", "nn.SiLU(inplace=True)" if inplace else "nn.SiLU()",
                  "nn.ELU(inplace=True)" if inplace else "nn.ELU()", "nn.Mish(inplace=True)" if inplace else "nn.Mish()")


def function(r):
    """an activation as a function of {x}"""
    return r.pick("F.relu({x})", "torch.relu({x})", "{x}.relu()", "F.gelu({x})", "F.silu({x})", "torch.tanh({x})", "torch.sigmoid({x})", "F.leaky_relu({x}, 0.2)",
                  "F.elu({x})", "F.relu6({x})", "F.mish({x})", "F.softplus({x})", "F.hardswish({x})", "{x} * torch.sigmoid({x})", "{x}.clamp(min=0)", "F.relu({x}) ** 2",
                  "torch.relu_({x})", "F.relu({x}, inplace=True)", "{x}.sigmoid()", "F.tanh({x})", "F.selu({x})", "torch.square(F.relu({x}))", "torch.sin({x})")
