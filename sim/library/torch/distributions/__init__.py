from torch.distributions._not_modelled import (
    Binomial, ContinuousBernoulli, FisherSnedecor, GeneralizedPareto, HalfCauchy, InverseGamma,
    Kumaraswamy, LKJCholesky, LowRankMultivariateNormal, Pareto, VonMises, Wishart,
)
from torch.distributions.bernoulli import Bernoulli
from torch.distributions.beta import Beta
from torch.distributions.categorical import Categorical
from torch.distributions.cauchy import Cauchy
from torch.distributions.chi2 import Chi2
from torch.distributions.dirichlet import Dirichlet, _Dirichlet
from torch.distributions.distribution import Distribution
from torch.distributions.exp_family import ExponentialFamily
from torch.distributions.exponential import Exponential
from torch.distributions.gamma import Gamma
from torch.distributions.geometric import Geometric
from torch.distributions.gumbel import Gumbel, _EULER
from torch.distributions.half_normal import HalfNormal
from torch.distributions.independent import Independent
from torch.distributions.kl import kl_divergence, register_kl
from torch.distributions.laplace import Laplace
from torch.distributions.log_normal import LogNormal
from torch.distributions.logistic_normal import LogisticNormal
from torch.distributions.mixture_same_family import MixtureSameFamily
from torch.distributions.multinomial import Multinomial
from torch.distributions.multivariate_normal import MultivariateNormal
from torch.distributions.negative_binomial import NegativeBinomial
from torch.distributions.normal import Normal
from torch.distributions.one_hot_categorical import (
    OneHotCategorical, OneHotCategoricalStraightThrough,
)
from torch.distributions.poisson import Poisson
from torch.distributions.relaxed_bernoulli import LogitRelaxedBernoulli, RelaxedBernoulli
from torch.distributions.relaxed_categorical import ExpRelaxedCategorical, RelaxedOneHotCategorical
from torch.distributions.studentT import StudentT
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.distributions.transforms import (
    AbsTransform, AffineTransform, ComposeTransform, ExpTransform, IndependentTransform,
    LowerCholeskyTransform, PowerTransform, ReshapeTransform, SigmoidTransform, SoftmaxTransform,
    SoftplusTransform, StickBreakingTransform, TanhTransform, Transform, _InverseTransform,
    _Pointwise, _clipped_sigmoid, identity_transform,
)
from torch.distributions.uniform import Uniform
from torch.distributions.utils import (
    _ProbsOrLogits, _is_number, _standard_normal, _sum_rightmost, broadcast_all, clamp_probs,
    lazy_property, logits_to_probs, probs_to_logits,
)
from torch.distributions.weibull import Weibull
