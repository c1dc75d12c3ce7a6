# What looks for a batch size lies in a file of its own, as in libraries.
import functools
import gc

import torch


def should_reduce_batch_size(error):
    return isinstance(error, RuntimeError) and "out of memory" in str(error)


def find_executable_batch_size(starting_batch_size):
    def wrap(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            batch_size = starting_batch_size
            while True:
                if batch_size == 0:
                    raise RuntimeError("No executable batch size found, reached zero.")
                try:
                    return function(batch_size, *args, **kwargs)
                except Exception as error:
                    if not should_reduce_batch_size(error):
                        raise
                    gc.collect()
                    torch.cuda.empty_cache()
                    batch_size //= 2

        return inner

    return wrap


def fits(step, batch):
    try:
        step(batch)
    except torch.cuda.OutOfMemoryError:
        return False
    return True
