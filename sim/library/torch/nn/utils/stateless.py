from torch.func import functional_call
