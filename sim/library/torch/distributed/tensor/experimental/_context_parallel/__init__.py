from torch.distributed.tensor.experimental._context_parallel._attention import (
    context_parallel, context_parallel_unshard, set_rotate_method,
)
