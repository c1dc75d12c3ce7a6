"""PyTorch's defaults of what programs read"""
from torch.utils._config_module import patch

recompile_limit = cache_size_limit = 8
accumulated_recompile_limit = accumulated_cache_size_limit = 256
suppress_errors = verbose = disable = False
dynamic_shapes = assume_static_by_default = automatic_dynamic_shapes = True
specialize_int = specialize_float = False
force_parameter_static_shapes = inline_inbuilt_nn_modules = guard_nn_modules = True
allow_unspec_int_on_nn_module = capture_scalar_outputs = capture_dynamic_output_shape_ops = False
optimize_ddp = skip_fsdp_hooks = trace_numpy = True
error_on_recompile = fail_on_recompile_limit_hit = compiled_autograd = False
