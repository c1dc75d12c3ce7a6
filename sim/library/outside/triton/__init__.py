"""Triton's kernels, by what they ask for: nothing. What a kernel writes to is handed to it; its body is never run.

Timing the configurations of autotune() does ask for memory. Source: docs/rules/triton.md."""
from triton import language, runtime, testing
from triton.runtime.autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from triton.runtime.jit import JITFunction, KernelInterface, constexpr_function, jit

__version__ = "3.6.0"


def cdiv(x, y):
    return (x + y - 1) // y


def next_power_of_2(n):
    """the least power of two that is not below n"""
    return 1 << (n - 1).bit_length() if n > 0 else 0


def set_allocator(allocator):
    raise NotImplementedError("triton.set_allocator is not modelled: kernels ask for no memory here")
