from torch.distributions.distribution import Distribution


class ExponentialFamily(Distribution):
    pass
