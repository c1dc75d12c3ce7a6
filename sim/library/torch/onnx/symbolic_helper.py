import _tidemark


def parse_args(*arg_descriptors):
    return lambda fn: fn


def quantized_args(*arg_q_descriptors, **options):
    return lambda fn: fn


def __getattr__(name):
    return _tidemark.later("torch.onnx.symbolic_helper." + name)
