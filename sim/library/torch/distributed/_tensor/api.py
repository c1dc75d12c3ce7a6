from torch.distributed.tensor._api import DTensor, distribute_module, distribute_tensor
