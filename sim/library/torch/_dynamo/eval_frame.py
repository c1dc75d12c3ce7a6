"""torch.compile: refused, or its code run as it stands"""
import functools
import inspect
import os
import sys
import _tidemark
import torch
import torch._C as _C
import torch._inductor as _inductor


# The peaks of code run as eager, beside those of PyTorch's recordings: docs/compile.md, "How far it errs".
_ERROR = {"allocated": (-8, 52), "reserved": (-7, 68)}
_RUN_AS_EAGER = "compiled code is run as eager, which errs by {} (docs/compile.md)".format(
    " and ".join(f"{least:+} to {most:+} % of {what}" for what, (least, most) in _ERROR.items())
)


_WAY_OUT = "'--compile eager' runs its code as eager, and says how far that errs: docs/compile.md"
# The furthest that peaks of so many modelled programs were from PyTorch's: tests/golden/compile/peaks.csv and the
# goldens beside it; docs/compile.md, "How far the model errs".
_MODEL_ERROR, _MODEL_PROGRAMS = {"allocated": (-1, 2), "reserved": (-1, 0)}, 209


def _is_modelled():
    """what a result that rests on the model says of it"""
    return "compiled code is modelled as inductor of PyTorch 2.11 does, cache warm, {} in {} programs {}".format(
        " and ".join(f"{least:+} to {most:+} % of {what}" for what, (least, most) in _MODEL_ERROR.items()),
        _MODEL_PROGRAMS,
        "(docs/compile.md)",
    )


_IS_TUNED = (
    "which kernels of products are the fastest is found by timing them: here they are those of the libraries, "
    "without what inductor would join to its own (docs/compile.md)"
)


# Options that choose kernels of products by timing them.
_TUNES = ("max_autotune", "max_autotune_gemm")


# Backends whose compiled code is modelled.
_MODELLED = ("aot_eager", "inductor")


# Options of inductor, and the values with which memory is what it is without them: their defaults, and what
# only tells, checks or tunes kernels.
_EITHER = (True, False)
_WITHOUT_EFFECT = {
    "allow_buffer_reuse": (True,),
    "comprehensive_padding": (True,),
    "coordinate_descent_tuning": _EITHER,
    "debug": _EITHER,
    "epilogue_fusion": _EITHER,
    "fallback_random": (False,),
    "layout_optimization": (True,),
    "max_autotune": (False,),
    "max_autotune_gemm": (False,),
    "max_autotune_pointwise": _EITHER,
    "pattern_matcher": (True,),
    "reorder_for_peak_memory": (True,),
    "shape_padding": (True,),
    "size_asserts": _EITHER,
    "trace.enabled": _EITHER,
    "trace.graph_diagram": _EITHER,
    "triton.unique_kernel_names": _EITHER,
}


def is_ddp(module):
    distributed = sys.modules.get("torch.nn.parallel.distributed")
    return distributed is not None and isinstance(module, distributed.DistributedDataParallel)


def compile_frames(module, dynamo_ctx):
    """what Dynamo compiles where the call of a module is not compiled itself: the nearest forward() that is the
    program's"""
    if not module._is_torchs():
        module.forward = dynamo_ctx(module.forward)
        return
    for child in module.children():
        compile_frames(child, dynamo_ctx)


def _call_ddp(module, *args, **kwargs):
    # Dynamo looks at DDP's own code first, and leaves it.
    _C.initialise_device(*args, *kwargs.values())
    return module(*args, **kwargs)


class OptimizedModule(torch.nn.Module):
    """a module beside a compiled one, whose attributes are that module's own"""

    _opt_mod_attributes = ("_orig_mod", "dynamo_ctx", "_torchdynamo_orig_callable", "get_compiler_config", "forward",
                           "_forward", "__dict__", "named_children_walk", "_super_module_initialized",
                           "_hook_tables")  # fmt: skip

    def __init__(self, mod, dynamo_ctx):
        super().__setattr__("_super_module_initialized", False)
        super().__init__()
        super().__setattr__("_orig_mod", mod)
        super().__setattr__("_super_module_initialized", True)
        super().__setattr__("dynamo_ctx", dynamo_ctx)
        if is_ddp(mod) and dynamo_ctx.backend is not None:
            # DDP's own code is not compiled, and tells of itself what is (torch/_dynamo/convert_frame.py).
            compile_frames(mod.module, dynamo_ctx)
            super().__setattr__("forward", functools.partial(_call_ddp, mod))
        else:
            super().__setattr__("forward", dynamo_ctx.compiled(mod.__call__))

    def __len__(self):
        return len(self._orig_mod)

    @property
    def training(self):
        return self._orig_mod.training

    @training.setter
    def training(self, value):
        if self._super_module_initialized:
            self._orig_mod.training = value

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if hasattr(type(self), name) or name in OptimizedModule._opt_mod_attributes:
            return super().__setattr__(name, value)
        return setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        if hasattr(type(self), name) or name in OptimizedModule._opt_mod_attributes:
            return super().__delattr__(name)
        return delattr(self._orig_mod, name)


class OptimizeContext:
    """what optimize() returns: to be called with what is to be compiled, or entered"""

    was_made = False  # from then on distributions check no arguments (torch/_dynamo/eval_frame.py, TorchPatcher)

    def __init__(self, fullgraph=False, dynamic=None, backend=None):
        OptimizeContext.was_made = True
        distributions = sys.modules.get("torch.distributions.distribution")
        if distributions is not None:
            distributions.Distribution.set_default_validate_args(False)
        self.fullgraph, self.dynamic = fullgraph, dynamic
        self.backend = backend  # None: the code runs as it stands

    def compiled(self, fn):
        return fn if self.backend is None else functools.partial(_C.call_compiled, self.backend, self.dynamic, fn)

    def __call__(self, fn):
        if isinstance(fn, torch.nn.Module):
            return OptimizedModule(fn, self)
        if inspect.isclass(fn):
            return fn
        if not callable(fn):
            raise AssertionError(f"A callable function is expected, but {type(fn)} is provided.")

        run = self.compiled(fn)

        @functools.wraps(fn)
        def compile_wrapper(*args, **kwargs):
            return run(*args, **kwargs)

        compile_wrapper._torchdynamo_orig_callable = fn
        return compile_wrapper

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class _NullDecorator:
    """torch.compile that is switched off"""

    def __call__(self, fn):
        return fn

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return False


def is_off(disable):
    return disable or os.environ.get("TORCHDYNAMO_DISABLE", "") == "1"


def optimize(backend="inductor", *, nopython=False, guard_filter_fn=None, disable=False, dynamic=None, mode=None,
             options=None):  # fmt: skip
    if is_off(disable):
        return _NullDecorator()
    if _C.compile_mode() == "refuse":
        _C.refuse(
            "torch.compile is not modelled",
            _WAY_OUT,
        )
    if _C.compile_mode() == "eager":
        _tidemark.note(_RUN_AS_EAGER)
        return OptimizeContext(nopython, dynamic)
    if backend == "eager":
        return OptimizeContext(nopython, dynamic)
    if backend not in _MODELLED:
        _C.refuse(f"torch.compile(backend={backend!r}) is not modelled", _WAY_OUT)
    wants_graphs = False
    if mode is not None and backend == "inductor":
        if mode not in _inductor._MODES:
            raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_inductor._MODES)}")
        chosen = _inductor._MODES[mode]
        wants_graphs = chosen.get("triton.cudagraphs", False)
        if "max_autotune" in chosen:
            _tidemark.note(_IS_TUNED)
    for name, value in (options or {}).items():
        if name.replace("-", "_") == "triton.cudagraphs" and backend == "inductor":
            wants_graphs = bool(value)
        elif name.replace("-", "_") in _TUNES and value is True and backend == "inductor":
            _tidemark.note(_IS_TUNED)
        elif value not in _WITHOUT_EFFECT.get(name.replace("-", "_"), ()):
            _C.refuse(f"torch.compile(options={{{name!r}: {value!r}}}) is not modelled", _WAY_OUT)
    if backend == "inductor":
        _tidemark.note(_is_modelled())
    return OptimizeContext(nopython, dynamic, "inductor graphs" if wants_graphs else backend)
