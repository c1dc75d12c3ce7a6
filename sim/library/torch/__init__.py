"""What torch has beside its operators: these come from the op table, dtypes and classes from C++."""
import torch
import torch._C as _C
from torch._absent import *
from torch._absent import (
    _check, _check_is_size, _check_tensor_all, _check_tensor_all_with, _check_value, _check_with,
)
from torch._functorch.apis import vmap
from torch._legacy_types import (
    BFloat16Tensor, BoolTensor, ByteTensor, CharTensor, DoubleTensor, FloatTensor, HalfTensor,
    IntTensor, LongTensor, ShortTensor, _legacy_tensor, _tensor_types, _typed_tensor, tensortype,
    set_default_tensor_type,
)
from torch._lowrank import pca_lowrank, svd_lowrank
from torch._refs.comparing import allclose, isclose, isin
from torch._refs.composites import (
    _weight_norm, arctan2, bincount, diff, equal, fill_diagonal_, inner, kron, msort, nanmean,
    nanquantile, norm_except_dim, promote_types, quantile, result_type, scalar_tensor, sum_to_size,
)
from torch._refs.making import as_tensor, from_numpy, tensor
from torch._refs.matrices import (
    cholesky, cholesky_inverse, cholesky_solve, det, inverse, logdet, lstsq, lu, matrix_exp,
    matrix_power, pinverse, qr, slogdet, svd, triangular_solve,
)
from torch._refs.native_names import (
    asarray, batch_norm, bilinear, can_cast, combinations, cosine_embedding_loss, ctc_loss,
    embedding, hinge_embedding_loss, instance_norm, is_nonzero, kl_div, margin_ranking_loss,
    poisson_nll_loss, split_with_sizes, spmm, triplet_margin_loss, unravel_index, unsafe_chunk,
    unsafe_split,
)
from torch._refs.random_numbers import (
    Generator, _assert_async, _is_all_true, default_generator, normal,
)
from torch._refs.signal import (
    bartlett_window, blackman_window, hamming_window, hann_window, istft, kaiser_window,
)
from torch._refs.sparse import sparse_coo_tensor
from torch._refs.statistics import (
    corrcoef, cov, cumulative_trapezoid, gradient, trapezoid, trapz, vander,
)
from torch._refs.type_info import finfo, iinfo
from torch._tensor_str import set_printoptions
from torch.amp.autocast_mode import (
    autocast, clear_autocast_cache, get_autocast_dtype, get_autocast_gpu_dtype, is_autocast_enabled,
)
from torch.amp.grad_scaler import GradScaler
from torch.autograd.grad_mode import (
    enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad,
    set_grad_enabled,
)
from torch.cuda.streams import Event, Stream
from torch.functional import (
    broadcast_shapes, cartesian_prod, chain_matmul, stft, tensordot, unique, unique_consecutive,
)
from torch.random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from torch.serialization import load, save


has_lapack = has_mkl = has_openmp = has_spectral = True


def _assert(condition, message):
    if type(condition) is not torch.Tensor and _C.has_function_mode():
        return _C.call_function_mode(_assert, (condition, message), {})
    assert condition, message


def is_tensor(obj):
    return isinstance(obj, torch.Tensor)


def is_storage(obj):
    return False


def is_floating_point(input):
    return input.is_floating_point()


def is_complex(input):
    return input.is_complex()


def numel(input):
    return input.numel()


def set_default_dtype(d):
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _C.set_default_dtype(d)


def get_default_dtype():
    return _C.default_dtype()


def use_deterministic_algorithms(mode, *, warn_only=False):
    _C.set_backend("deterministic", mode)


def set_float32_matmul_precision(precision):
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"Unknown precision: {precision}")
    torch.backends.cuda.matmul.allow_tf32 = precision != "highest"
    torch.backends._matmul_is_medium = precision == "medium"


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    from torch._dynamo import eval_frame

    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    settings = {"backend": backend, "nopython": fullgraph, "dynamic": dynamic, "disable": disable}
    settings |= {"mode": mode, "options": options}
    if model is None:
        return lambda model: eval_frame.optimize(**settings)(model)
    return eval_frame.optimize(**settings)(model)


def _disable_dynamo(fn=None, recursive=True):
    return torch.compiler.disable(fn, recursive)


def typename(obj):
    return obj.type() if isinstance(obj, torch.Tensor) else type(obj).__name__


def get_float32_matmul_precision():
    if not _C.backend("tf32"):
        return "highest"
    return "medium" if torch.backends._matmul_is_medium else "high"


def set_num_threads(count):
    return None


def set_num_interop_threads(count):
    return None


def get_num_threads():
    return 1


def set_anomaly_enabled(mode, check_nan=True):
    if mode:
        _C.refuse("anomaly detection is not modelled", "it looks for NaN in every gradient: leave it off")


def are_deterministic_algorithms_enabled():
    return _C.backend("deterministic")


def is_deterministic_algorithms_warn_only_enabled():
    return False


def get_default_device():
    return _C.default_device()


def set_default_device(device):
    _C.set_default_device("cpu" if device is None else device)


def is_warn_always_enabled():
    return False


def set_warn_always(b):
    pass


set_flush_denormal = set_warn_always


def get_device_module(device=None):
    return torch.cuda


def is_inference(input):
    return False
