"""exporting is not modelled; what a library says of its operators for it does nothing"""
import _tidemark

ONNXProgram, export, dynamo_export, ExportOptions, OperatorExportTypes, TrainingMode = [
    _tidemark.later("torch.onnx." + n)
    for n in ("ONNXProgram", "export", "dynamo_export", "ExportOptions", "OperatorExportTypes", "TrainingMode")
]


def is_in_onnx_export():
    return False


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    pass


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    pass
