from triton.runtime import driver
from triton.runtime.autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from triton.runtime.jit import JITFunction, KernelInterface
