from torch.distributed.tensor import _dispatch


class loss_parallel:
    """cross_entropy of logits that are sharded by class stays so"""

    def __enter__(self):
        _dispatch._loss_parallel.append(True)

    def __exit__(self, *error):
        _dispatch._loss_parallel.pop()
        return False
