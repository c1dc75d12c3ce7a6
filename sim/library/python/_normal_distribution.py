"""statistics.NormalDist"""

import math
import random
import statistics

# M. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988: numerators and denominators
# of three ranges, from the highest power down.
_MIDDLE = (
    (
        2.50908_09287_30122_6727e3,
        3.34305_75583_58812_8105e4,
        6.72657_70927_00870_0853e4,
        4.59219_53931_54987_1457e4,
        1.37316_93765_50946_1125e4,
        1.97159_09503_06551_4427e3,
        1.33141_66789_17843_7745e2,
        3.38713_28727_96366_6080e0,
    ),
    (
        5.22649_52788_52854_5610e3,
        2.87290_85735_72194_2674e4,
        3.93078_95800_09271_0610e4,
        2.12137_94301_58659_5867e4,
        5.39419_60214_24751_1077e3,
        6.87187_00749_20579_0830e2,
        4.23133_30701_60091_1252e1,
        1.0,
    ),
)
_NEAR = (
    (
        7.74545_01427_83414_07640e-4,
        2.27238_44989_26918_45833e-2,
        2.41780_72517_74506_11770e-1,
        1.27045_82524_52368_38258e0,
        3.64784_83247_63204_60504e0,
        5.76949_72214_60691_40550e0,
        4.63033_78461_56545_29590e0,
        1.42343_71107_49683_57734e0,
    ),
    (
        1.05075_00716_44416_84324e-9,
        5.47593_80849_95344_94600e-4,
        1.51986_66563_61645_71966e-2,
        1.48103_97642_74800_74590e-1,
        6.89767_33498_51000_04550e-1,
        1.67638_48301_83803_84940e0,
        2.05319_16266_37758_82187e0,
        1.0,
    ),
)
_FAR = (
    (
        2.01033_43992_92288_13265e-7,
        2.71155_55687_43487_57815e-5,
        1.24266_09473_88078_43860e-3,
        2.65321_89526_57612_30930e-2,
        2.96560_57182_85048_91230e-1,
        1.78482_65399_17291_33580e0,
        5.46378_49111_64114_36990e0,
        6.65790_46435_01103_77720e0,
    ),
    (
        2.04426_31033_89939_78564e-15,
        1.42151_17583_16445_88870e-7,
        1.84631_83175_10054_68180e-5,
        7.86869_13114_56132_59100e-4,
        1.48753_61290_85061_48525e-2,
        1.36929_88092_27358_05310e-1,
        5.99832_20655_58879_37690e-1,
        1.0,
    ),
)


def _value(powers, x):
    total = 0.0
    for each in powers:
        total = total * x + each
    return total


def _normal_dist_inv_cdf(p, mu, sigma):
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        x = _value(_MIDDLE[0], r) * q / _value(_MIDDLE[1], r)
        return mu + x * sigma
    r = math.sqrt(-math.log(p if q <= 0.0 else 1.0 - p))
    (top, below), r = (_NEAR, r - 1.6) if r <= 5.0 else (_FAR, r - 5.0)
    x = _value(top, r) / _value(below, r)
    return mu + (-x if q < 0.0 else x) * sigma


class NormalDist:
    __slots__ = ("_mu", "_sigma")

    def __init__(self, mu=0.0, sigma=1.0):
        if sigma < 0.0:
            raise statistics.StatisticsError("sigma must be non-negative")
        self._mu, self._sigma = float(mu), float(sigma)

    @classmethod
    def from_samples(cls, data):
        return cls(*statistics._mean_stdev(data))

    def samples(self, n, *, seed=None):
        gauss = random.gauss if seed is None else random.Random(seed).gauss
        return [gauss(self._mu, self._sigma) for _ in range(n)]

    def _need_spread(self, what):
        if not self._sigma:
            raise statistics.StatisticsError(f"{what} not defined when sigma is zero")

    def pdf(self, x):
        self._need_spread("pdf()")
        square = self._sigma * self._sigma
        distance = x - self._mu
        return math.exp(distance * distance / (-2.0 * square)) / math.sqrt(math.tau * square)

    def cdf(self, x):
        self._need_spread("cdf()")
        return 0.5 * (1.0 + math.erf((x - self._mu) / (self._sigma * math.sqrt(2.0))))

    def inv_cdf(self, p):
        if p <= 0.0 or p >= 1.0:
            raise statistics.StatisticsError("p must be in the range 0.0 < p < 1.0")
        if self._sigma <= 0.0:
            raise statistics.StatisticsError("cdf() not defined when sigma at or below zero")
        return _normal_dist_inv_cdf(p, self._mu, self._sigma)

    def quantiles(self, n=4):
        return [self.inv_cdf(i / n) for i in range(1, n)]

    def overlap(self, other):
        if not isinstance(other, NormalDist):
            raise TypeError("Expected another NormalDist instance")
        X, Y = self, other
        if (Y._sigma, Y._mu) < (X._sigma, X._mu):
            X, Y = Y, X
        X_var, Y_var = X.variance, Y.variance
        if not X_var or not Y_var:
            raise statistics.StatisticsError("overlap() not defined when sigma is zero")
        dv = Y_var - X_var
        dm = abs(Y._mu - X._mu)
        if not dv:
            return 1.0 - math.erf(dm / (2.0 * X._sigma * math.sqrt(2.0)))
        a = X._mu * Y_var - Y._mu * X_var
        b = X._sigma * Y._sigma * math.sqrt(dm * dm + dv * math.log(Y_var / X_var))
        x1, x2 = (a + b) / dv, (a - b) / dv
        return 1.0 - (abs(Y.cdf(x1) - X.cdf(x1)) + abs(Y.cdf(x2) - X.cdf(x2)))

    def zscore(self, x):
        self._need_spread("zscore()")
        return (x - self._mu) / self._sigma

    @property
    def mean(self):
        return self._mu

    median = mode = mean

    @property
    def stdev(self):
        return self._sigma

    @property
    def variance(self):
        return self._sigma * self._sigma

    def __add__(x1, x2):
        if isinstance(x2, NormalDist):
            return NormalDist(x1._mu + x2._mu, math.hypot(x1._sigma, x2._sigma))
        return NormalDist(x1._mu + x2, x1._sigma)

    def __sub__(x1, x2):
        if isinstance(x2, NormalDist):
            return NormalDist(x1._mu - x2._mu, math.hypot(x1._sigma, x2._sigma))
        return NormalDist(x1._mu - x2, x1._sigma)

    def __mul__(x1, x2):
        return NormalDist(x1._mu * x2, x1._sigma * abs(x2))

    def __truediv__(x1, x2):
        return NormalDist(x1._mu / x2, x1._sigma / abs(x2))

    def __pos__(x1):
        return NormalDist(x1._mu, x1._sigma)

    def __neg__(x1):
        return NormalDist(-x1._mu, x1._sigma)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(x1, x2):
        return -(x1 - x2)

    def __eq__(x1, x2):
        if not isinstance(x2, NormalDist):
            return NotImplemented
        return x1._mu == x2._mu and x1._sigma == x2._sigma

    def __hash__(self):
        return hash((self._mu, self._sigma))

    def __repr__(self):
        return f"{type(self).__name__}(mu={self._mu!r}, sigma={self._sigma!r})"

    def __getstate__(self):
        return self._mu, self._sigma

    def __setstate__(self, state):
        self._mu, self._sigma = state
