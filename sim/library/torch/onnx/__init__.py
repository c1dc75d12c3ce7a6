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


class TensorProtoDataType:
    """numbers of the ONNX standard"""

    UNDEFINED, FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL = range(10)
    FLOAT16, DOUBLE, UINT32, UINT64, COMPLEX64, COMPLEX128, BFLOAT16 = range(10, 17)
