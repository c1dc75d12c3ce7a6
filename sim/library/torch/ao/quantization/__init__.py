"""the places where a model is quantized; before that they hand on what they get"""
import _tidemark
from torch.ao.quantization.fuse_modules import fuse_modules, fuse_modules_qat
from torch.nn import Module

(
    QConfig,
    convert,
    default_observer,
    default_weight_observer,
    get_default_qconfig,
    prepare,
    prepare_qat,
    quantize,
    quantize_dynamic,
) = [
    _tidemark.later("torch.ao.quantization." + n)
    for n in (
        "QConfig",
        "convert",
        "default_observer",
        "default_weight_observer",
        "get_default_qconfig",
        "prepare",
        "prepare_qat",
        "quantize",
        "quantize_dynamic",
    )
]


class QuantStub(Module):
    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        return x


class DeQuantStub(Module):
    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        return x


class QuantWrapper(Module):
    def __init__(self, module):
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X):
        return self.dequant(self.module(self.quant(X)))
