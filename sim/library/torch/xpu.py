from torch._absent_device import *


def is_bf16_supported(including_emulation=True):
    return False


is_tf32_supported = is_bf16_supported


def get_arch_list():
    return []


def get_gencode_flags():
    return ""
