from torch.distributed.tensor.experimental._context_parallel._attention import (
    _cp_options, context_parallel, context_parallel_unshard, set_rotate_method,
)
