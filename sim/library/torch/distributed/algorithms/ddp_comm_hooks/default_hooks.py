import torch
import torch.distributed as dist


def _allreduce_fut(process_group, tensor):
    group = process_group if process_group is not None else dist.group.WORLD
    tensor.div_(group.size())
    return dist.all_reduce(tensor, group=group, async_op=True).get_future().then(lambda fut: fut.value()[0])


def allreduce_hook(process_group, bucket):
    return _allreduce_fut(process_group, bucket.buffer())


def _compress_hook(dtype, process_group, bucket):
    group = process_group if process_group is not None else dist.group.WORLD
    compressed = bucket.buffer().to(dtype).div_(group.size())

    def decompress(fut):
        buffer = bucket.buffer()
        buffer.copy_(fut if isinstance(fut, torch.Tensor) else fut.value()[0])
        return buffer

    return dist.all_reduce(compressed, group=group, async_op=True).get_future().then(decompress)


def fp16_compress_hook(process_group, bucket):
    return _compress_hook(torch.float16, process_group, bucket)


def bf16_compress_hook(process_group, bucket):
    return _compress_hook(torch.bfloat16, process_group, bucket)


def _wrapper(dtype, hook):
    def compressed(hook_state, bucket):
        bucket.set_buffer(bucket.buffer().to(dtype))

        def decompress(fut):
            buffer = bucket.buffer()
            buffer.copy_(fut.value())
            return buffer

        return hook(hook_state, bucket).then(decompress)

    return compressed


def fp16_compress_wrapper(hook):
    return _wrapper(torch.float16, hook)


def bf16_compress_wrapper(hook):
    return _wrapper(torch.bfloat16, hook)
