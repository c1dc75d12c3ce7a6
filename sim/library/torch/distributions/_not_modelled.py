import torch._C as _C


class _NotModelled:
    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **kwargs):
        _C.refuse(f"torch.distributions.{self.name} is not modelled", "write out its sample and log_prob")


(
    LowRankMultivariateNormal,
    HalfCauchy,
    Binomial,
    VonMises,
    Wishart,
    LKJCholesky,
    Pareto,
    Kumaraswamy,
    FisherSnedecor,
    InverseGamma,
    ContinuousBernoulli,
    GeneralizedPareto,
) = [
    _NotModelled(name)
    for name in (
        "LowRankMultivariateNormal",
        "HalfCauchy",
        "Binomial",
        "VonMises",
        "Wishart",
        "LKJCholesky",
        "Pareto",
        "Kumaraswamy",
        "FisherSnedecor",
        "InverseGamma",
        "ContinuousBernoulli",
        "GeneralizedPareto",
    )
]
