"""PyTorch's defaults of what programs read"""
from torch.utils._config_module import patch

debug = freezing = cpp_wrapper = fallback_random = aggressive_fusion = conv_1x1_as_mm = permute_fusion = False
max_autotune = max_autotune_gemm = max_autotune_pointwise = coordinate_descent_tuning = benchmark_kernel = False
epilogue_fusion = pattern_matcher = inplace_buffers = allow_buffer_reuse = shape_padding = split_reductions = True
fx_graph_cache = reorder_for_peak_memory = size_asserts = static_weight_shapes = use_mixed_mm = True
reorder_for_compute_comm_overlap = force_fuse_int_mm_with_mul = nan_asserts = False
max_fusion_size = 64


class triton:
    cudagraphs = cudagraph_skip_dynamic_graphs = unique_kernel_names = cooperative_reductions = False
    cudagraph_trees = cudagraph_support_input_mutation = True


class cpp:
    pass


class cuda:
    pass


class aot_inductor:
    pass


class trace:
    enabled = False


class rocm:
    pass
