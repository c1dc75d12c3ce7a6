#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "sim/base/check.h"
#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_entries.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/pointwise_rule.h"

namespace tidemark::ops {

namespace {

constexpr auto kPromote = ResultKind::kPromote;
constexpr auto kFloat = ResultKind::kFloat;
constexpr auto kBool = ResultKind::kBool;
constexpr std::string_view kX = "Tensor input";
constexpr std::string_view kXY = "operand input, operand other";
constexpr std::string_view kBoth = "torch method";

/// Operators of one tensor. Gradients after derivatives.yaml; docs/rules/pointwise.md#2.
constexpr PointwiseRule kUnary[] = {
    {"abs", "AbsBackward0", kX, kBoth, "gsfb"},
    {"absolute", "AbsBackward0", kX, kBoth, "gsfb"},
    {"neg", "NegBackward0", kX, kBoth, "gf"},
    {"negative", "NegBackward0", kX, kBoth, "gf"},
    {"sign", "SignBackward0", kX, kBoth, "z"},
    {"sgn", "SgnBackward0", kX, kBoth, "x"},
    {"ceil", "CeilBackward0", kX, kBoth, "z"},
    {"floor", "FloorBackward0", kX, kBoth, "z"},
    {"trunc", "TruncBackward0", kX, kBoth, "z"},
    {"fix", "TruncBackward0", kX, kBoth, "z"},
    {"round", "RoundBackward0", "Tensor input, *, int decimals=0", kBoth, "z"},
    {"frac", "FracBackward0", kX, kBoth, "g"},
    {"exp", "ExpBackward0", kX, kBoth, "grjb", {}, kFloat, CastPolicy::kFp32},
    {"exp2", "Exp2Backward0", kX, kBoth, "grb1b", {}, kFloat},
    {"expm1", "Expm1Backward0", kX, kBoth, "gr1bb", {}, kFloat, CastPolicy::kFp32},
    {"log", "LogBackward0", kX, kBoth, "gsjb", {}, kFloat, CastPolicy::kFp32},
    {"log10", "Log10Backward0", kX, kBoth, "gs1bb", {}, kFloat, CastPolicy::kFp32},
    {"log2", "Log2Backward0", kX, kBoth, "gs1bb", {}, kFloat, CastPolicy::kFp32},
    {"log1p", "Log1PBackward0", kX, kBoth, "gs1bb", {}, kFloat, CastPolicy::kFp32},
    {"sqrt", "SqrtBackward0", kX, kBoth, "g1rjbb", {}, kFloat},
    {"rsqrt", "RsqrtBackward0", kX, kBoth, "rf1gbv", {}, kFloat, CastPolicy::kFp32},
    {"reciprocal", "ReciprocalBackward0", kX, kBoth, "rrbjgfv", {}, kFloat, CastPolicy::kFp32},
    {"sin", "SinBackward0", kX, kBoth, "gsfjb", {}, kFloat},
    {"cos", "CosBackward0", kX, kBoth, "gsfjfb", {}, kFloat},
    {"tan", "TanBackward0", kX, kBoth, "grf1bb", {}, kFloat, CastPolicy::kFp32},
    {"sinh", "SinhBackward0", kX, kBoth, "gsfb", {}, kFloat, CastPolicy::kFp32},
    {"cosh", "CoshBackward0", kX, kBoth, "gsfb", {}, kFloat, CastPolicy::kFp32},
    {"asin", "AsinBackward0", kX, kBoth, "gsfsb1bfb", {}, kFloat, CastPolicy::kFp32},
    {"arcsin", "AsinBackward0", kX, kBoth, "gsfsb1bfb", {}, kFloat, CastPolicy::kFp32},
    {"acos", "AcosBackward0", kX, kBoth, "gsfsb1bffb", {}, kFloat, CastPolicy::kFp32},
    {"arccos", "AcosBackward0", kX, kBoth, "gsfsb1bffb", {}, kFloat, CastPolicy::kFp32},
    {"atan", "AtanBackward0", kX, kBoth, "gssb1bb", {}, kFloat},
    {"arctan", "AtanBackward0", kX, kBoth, "gssb1bb", {}, kFloat},
    {"asinh", "AsinhBackward0", kX, kBoth, "gsf1bfb", {}, kFloat},
    {"arcsinh", "AsinhBackward0", kX, kBoth, "gsf1bfb", {}, kFloat},
    {"acosh", "AcoshBackward0", kX, kBoth, "gssb1bfb", {}, kFloat},
    {"arccosh", "AcoshBackward0", kX, kBoth, "gssb1bfb", {}, kFloat},
    {"atanh", "AtanhBackward0", kX, kBoth, "1sfbg1bv", {}, kFloat},
    {"arctanh", "AtanhBackward0", kX, kBoth, "1sfbg1bv", {}, kFloat},
    {"erf", "ErfBackward0", kX, kBoth, "1sfffbgb", {}, kFloat},
    {"erfc", "ErfcBackward0", kX, kBoth, "1sfffbgb", {}, kFloat},
    {"erfinv", "ErfinvBackward0", kX, kBoth, "1sfffbgb", {}, kFloat, CastPolicy::kFp32},
    {"lgamma", "LgammaBackward0", kX, kBoth, "gsfb", {}, kFloat},
    {"sigmoid", "SigmoidBackward0", kX, kBoth, "grb", {}, kFloat},
    {"tanh", "TanhBackward0", kX, kBoth, "grb", {}, kFloat},
    {"logit", "LogitBackward0", "Tensor input, float? eps=None", kBoth, "gsb", {}, kFloat},
    {"square", "PowBackward0", kX, kBoth, "gs1b1bb", {}, kPromote, CastPolicy::kFp32},
    {"nan_to_num", "NanToNumBackward0",
     "Tensor input, float? nan=None, float? posinf=None, float? neginf=None", kBoth, "sf1csscbdgv"},
    {"relu", "ReluBackward0", kX, kBoth, "rgb"},
    {"deg2rad", "Deg2RadBackward0", kX, kBoth, "g1b", {}, kFloat},
    {"rad2deg", "Rad2DegBackward0", kX, kBoth, "g1b", {}, kFloat},
    {"digamma", "DigammaBackward0", kX, kBoth, "gsfb", {}, kFloat},
    {"i0", "I0Backward0", kX, kBoth, "gsfb", {}, kFloat},
    {"_standard_gamma",
     "StandardGammaBackward0",
     "Tensor input, any generator=None",
     "torch",
     "gsrbb",
     {},
     kPromote,
     {},
     false,
     {},
     true},
    {"poisson",
     "PoissonBackward0",
     "Tensor input, generator? generator=None",
     "torch",
     "z",
     {},
     kPromote,
     {},
     false,
     {},
     true},
    {"sinc", "SincBackward0", kX, kBoth, "s1bnssb1bndAfAAfbvBbgvndC0B1cw", {}, kFloat},
    {"special_entr", "SpecialEntrBackward0", kX, "torch", "sf1bfgv", {}, kFloat, {}, false},
    {"special_i0e", "SpecialI0EBackward0", kX, "torch", "sfrbsfvgv", {}, kFloat, {}, false},
    {"special_i1",
     "SpecialI1Backward0",
     kX,
     "torch",
     "sf1cndAs0wndBfrbBfvndAC0wgv",
     {},
     kFloat,
     {},
     false},
    {"special_i1e",
     "SpecialI1EBackward0",
     kX,
     "torch",
     "sf1cndAs0wndBfBfvrbBfvndAC0wgv",
     {},
     kFloat,
     {},
     false},
    {"special_erfcx", "SpecialErfcxBackward0", kX, "torch", "s1brb1bgb", {}, kFloat, {}, false},
    {"special_ndtri", "SpecialNdtriBackward0", kX, "torch", "rf1bfg1bv", {}, kFloat, {}, false},
    {"special_log_ndtr",
     "SpecialLogNdtrBackward0",
     kX,
     "torch",
     "s1b1brvffg1bv",
     {},
     kFloat,
     {},
     false},
    {"special_airy_ai", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_bessel_j0", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_bessel_j1", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_bessel_y0", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_bessel_y1", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_modified_bessel_i0", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_modified_bessel_i1", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_modified_bessel_k0", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_modified_bessel_k1", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_scaled_modified_bessel_k0", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_scaled_modified_bessel_k1", "", kX, "torch", "", {}, kFloat, {}, false},
    {"special_spherical_bessel_j0", "", kX, "torch", "", {}, kFloat, {}, false},
    {"isnan", "", kX, kBoth, "", {}, kBool, {}, false},
    {"signbit", "", kX, kBoth, "", {}, kBool, {}, false},
    {"isneginf", "", kX, kBoth, "", {}, kBool, {}, false},
    {"isposinf", "", kX, kBoth, "", {}, kBool, {}, false},
    {"isreal", "", kX, kBoth, "", {}, kBool, {}, false},
    {"logical_not", "", kX, kBoth, "", {}, kBool},
    {"bitwise_not", "", kX, kBoth, "", {}, ResultKind::kIntegral},
};

/// Activations as functions with an inplace flag, last in their parameters. The order of the
/// operands in a gradient decides its layout where they differ. Source: docs/rules/pointwise.md#3;
/// the order: oracle.
constexpr PointwiseRule kActivations[] = {
    {"relu", "ReluBackward0", kX, "F", "rgb"},
    {"relu6", "HardtanhBackward0", kX, "F", "gsb"},
    {"hardtanh", "HardtanhBackward0", "Tensor input, number min_val=-1, number max_val=1", "F",
     "gsb"},
    {"leaky_relu",
     "LeakyReluBackward0",
     "Tensor input, number negative_slope=0.01",
     "F",
     "sgb",
     {},
     kPromote,
     {},
     true,
     "rgb"},
    {"elu",
     "EluBackward0",
     "Tensor input, number alpha=1",
     "F",
     "gsb",
     {},
     kPromote,
     {},
     true,
     "grb"},
    {"selu", "EluBackward0", kX, "F torch", "gsb", {}, kPromote, {}, true, "grb"},
    {"celu",
     "CeluBackward0",
     "Tensor input, number alpha=1",
     "F torch",
     "gsb",
     {},
     kPromote,
     {},
     true,
     "grb"},
    {"silu", "SiluBackward0", kX, "F", "gsb"},
    {"mish", "MishBackward0", kX, "F", "gsb"},
    {"hardswish", "HardswishBackward0", kX, "F", "gsb"},
    {"hardsigmoid", "HardsigmoidBackward0", kX, "F", "gsb"},
    {"threshold", "ThresholdBackward0", "Tensor input, number threshold, number value", "F torch",
     "sgb"},
};

/// Activations without one. log_sigmoid's second output has no elements on a GPU.
constexpr PointwiseRule kPlainActivations[] = {
    {"gelu", "GeluBackward0", "Tensor input, *, str approximate='none'", "F", "gsb"},
    {"logsigmoid", "LogSigmoidBackward0", kX, "F", "gsb"},
    {"softplus",
     "SoftplusBackward0",
     "Tensor input, number beta=1, number threshold=20",
     "F",
     "gsb",
     {},
     kPromote,
     CastPolicy::kFp32},
    {"hardshrink", "HardshrinkBackward0", "Tensor input, number lambd=0.5", "F torch method",
     "gsb"},
    {"softshrink", "SoftshrinkBackward0", "Tensor input, number lambd=0.5", "F", "gsb"},
    {"sigmoid", "SigmoidBackward0", kX, "F", "grb"},
    {"tanh", "TanhBackward0", kX, "F", "grb"},
};

constexpr Releases kBefore214{kOldestVersion, {2, 13}};
constexpr Releases kFrom214{{2, 14}, kNewestVersion};
constexpr Releases kOf214{{2, 14}, {2, 14}};
constexpr Releases kFrom215{{2, 15}, kNewestVersion};

constexpr std::string_view kHypotSelf = "gsbrb";
constexpr std::string_view kHypotOther = "gobrb";

/// Operators of two tensors, or of a tensor and a number.
constexpr PointwiseRule kBinary[] = {
    {"mul", "MulBackward0", kXY, kBoth, "gojb", "gsjb"},
    {"multiply", "MulBackward0", kXY, kBoth, "gob", "gsb"},
    {"maximum",
     "MaximumBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "gg1bsocwsocm",
     "gg1bsocwsocm",
     kPromote,
     {},
     false,
     {},
     false,
     kBefore214},
    {"maximum",
     "MaximumBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "socgbsocb",
     "socgbsocb",
     kPromote,
     {},
     false,
     {},
     false,
     kFrom214},
    {"minimum",
     "MinimumBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "gg1bsocwsocm",
     "gg1bsocwsocm",
     kPromote,
     {},
     false,
     {},
     false,
     kBefore214},
    {"minimum",
     "MinimumBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "socgbsocb",
     "socgbsocb",
     kPromote,
     {},
     false,
     {},
     false,
     kFrom214},
    {"remainder", "RemainderBackward0", kXY, kBoth, "g", "sobgfv"},
    {"fmod", "FmodBackward0", kXY, kBoth, "g", "sobgfv"},
    {"pow", "PowBackward1", "", "", "so1bbobgb0o1cw", "o1cs1ccdsfrb0wgv", kPromote,
     CastPolicy::kFp32},
    {"hypot", "HypotBackward0", kXY, kBoth, kHypotSelf, kHypotOther},
    {"igamma", "IgammaBackward0", "Tensor input, Tensor other", kBoth, "x", "sfofs1bvobvfgv",
     kFloat},
    {"igammac", "IgammacBackward0", "Tensor input, Tensor other", kBoth, "x", "sfofs1bvobvfgfv",
     kFloat},
    {"logaddexp",
     "LogaddexpBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "gosbf1bb",
     "gsobf1bb",
     kPromote,
     {},
     false},
    {"logaddexp2",
     "Logaddexp2Backward0",
     "Tensor input, Tensor other",
     kBoth,
     "gosbe1bb",
     "gsobe1bb",
     kPromote,
     {},
     false},
    {"fmax",
     "FmaxBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "gsocopmmk",
     "gsocopmmk",
     kPromote,
     {},
     false,
     {},
     false,
     kBefore214},
    {"fmax",
     "FmaxBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "socgbsocb",
     "socgbsocb",
     kPromote,
     {},
     false,
     {},
     false,
     kOf214},
    {"fmax",
     "FmaxBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "socopgwsocb",
     "socopgwsocb",
     kPromote,
     {},
     false,
     {},
     false,
     kFrom215},
    {"fmin",
     "FminBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "gsocopmmk",
     "gsocopmmk",
     kPromote,
     {},
     false,
     {},
     false,
     kBefore214},
    {"fmin",
     "FminBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "socgbsocb",
     "socgbsocb",
     kPromote,
     {},
     false,
     {},
     false,
     kOf214},
    {"fmin",
     "FminBackward0",
     "Tensor input, Tensor other",
     kBoth,
     "socopgwsocb",
     "socopgwsocb",
     kPromote,
     {},
     false,
     {},
     false,
     kFrom215},
    {"xlogy", "XlogyBackward0", "", "", "gobo1cs1ccmk", "gsbob", kFloat},
    {"copysign", "CopysignBackward0", kXY, kBoth, "rsbs1cmdgv", "y", kFloat},
    {"special_xlog1py", "SpecialXlog1PyBackward0", "", "", "gobo1cs1ccmk", "o1bgsbv", kFloat},
    {"heaviside", "", "Tensor input, Tensor other", kBoth, "", ""},
    {"nextafter", "", "Tensor input, Tensor other", kBoth, "", ""},
    {"gcd", "", "Tensor input, Tensor other", kBoth, "", "", ResultKind::kIntegral},
    {"lcm", "", "Tensor input, Tensor other", kBoth, "", "", ResultKind::kIntegral},
    {"eq", "", kXY, kBoth, "", "", kBool},
    {"ne", "", kXY, kBoth, "", "", kBool},
    {"lt", "", kXY, kBoth, "", "", kBool},
    {"le", "", kXY, kBoth, "", "", kBool},
    {"gt", "", kXY, kBoth, "", "", kBool},
    {"ge", "", kXY, kBoth, "", "", kBool},
    {"not_equal", "", kXY, kBoth, "", "", kBool},
    {"less", "", kXY, kBoth, "", "", kBool},
    {"less_equal", "", kXY, kBoth, "", "", kBool},
    {"greater", "", kXY, kBoth, "", "", kBool},
    {"greater_equal", "", kXY, kBoth, "", "", kBool},
    {"logical_and", "", kXY, kBoth, "", "", kBool},
    {"logical_or", "", kXY, kBoth, "", "", kBool},
    {"logical_xor", "", kXY, kBoth, "", "", kBool},
    {"bitwise_and", "", kXY, kBoth, "", "", ResultKind::kIntegral},
    {"bitwise_or", "", kXY, kBoth, "", "", ResultKind::kIntegral},
    {"bitwise_xor", "", kXY, kBoth, "", "", ResultKind::kIntegral},
    {"bitwise_left_shift", "", kXY, kBoth, "", "", ResultKind::kIntegral},
    {"bitwise_right_shift", "", kXY, kBoth, "", "", ResultKind::kIntegral},
    {"floor_divide", "", kXY, kBoth, "", ""},
};

template <std::size_t N>
constexpr const PointwiseRule& find(const PointwiseRule (&table)[N], std::string_view name) {
  for (const PointwiseRule& rule : table) {
    if (rule.name == name) return rule;
  }
  TIDEMARK_CHECK(false, "no such pointwise rule");
  return table[0];
}

/// The one of the PyTorch that runs.
template <std::size_t N>
const PointwiseRule& find(const Context& c, const PointwiseRule (&table)[N],
                          std::string_view name) {
  for (const PointwiseRule& rule : table) {
    if (rule.name == name && rule.releases.contain(c.pytorch().pytorch)) return rule;
  }
  TIDEMARK_CHECK(false, "no such pointwise rule");
  return table[0];
}

/// What NAME(..., out=tensor) computes; nullopt: it is not modelled.
std::optional<ResultKind> out_kind(std::string_view name) {
  for (const std::string_view promotes : {"add", "clamp", "multiply", "pow", "sub", "subtract"}) {
    if (name == promotes) return kPromote;
  }
  for (const std::string_view divides : {"div", "divide", "true_divide"}) {
    if (name == divides) return kFloat;
  }
  const auto in_table = [&](const auto& table) -> std::optional<ResultKind> {
    for (const PointwiseRule& rule : table) {
      const bool is_modelled = !rule.contiguous && rule.where == kBoth;
      if (rule.name == name && is_modelled) return rule.result;
    }
    return std::nullopt;
  };
  const std::optional<ResultKind> unary = in_table(kUnary);
  return unary ? unary : in_table(kBinary);
}

}  // namespace

Tensor mul(Context& c, const Tensor& self, const Tensor& other) {
  static constexpr const PointwiseRule& kRule = find(kBinary, "mul");
  return apply(c, kRule, self, other);
}
bool takes_out(std::string_view name) { return out_kind(name).has_value(); }

Tensor write_into(Context& c, std::string_view name, const Tensor& self, const Tensor& other,
                  const Tensor& out) {
  const bool two = other.defined();
  const bool wants_grad =
      self.requires_grad() || (two && other.requires_grad()) || out.requires_grad();
  if (c.grad_enabled() && wants_grad) {
    throw OpError(
        fmt::format("{}(): functions with out=... arguments don't support automatic "
                    "differentiation, but one of the arguments requires grad.",
                    name));
  }
  const Dims shape = two ? broadcast(self.sizes(), other.sizes()) : self.sizes();
  if (!(shape == out.sizes())) {
    throw NotModelled(
        fmt::format("{} into out= of size {} is not modelled where the result has size {}; give a "
                    "tensor of the result's size",
                    name, to_string(out.sizes()), to_string(shape)));
  }
  const ResultKind kind = *out_kind(name);
  ScalarType type = two ? result_type(c, {&self, &other}) : result_type(c, {&self});
  if (kind == kFloat && !is_differentiable(type)) type = c.default_dtype;
  if (is_complex(type) || is_complex(out.dtype())) {
    throw NotModelled(fmt::format("{} into out= of complex numbers is not modelled", name));
  }
  const bool fits =
      kind == kBool || is_floating(out.dtype()) ||
      (!is_differentiable(type) && (out.dtype() != ScalarType::kBool || type == ScalarType::kBool));
  if (!fits) {
    throw OpError(fmt::format("result type {} can't be cast to the desired output type {}",
                              info(type).name, info(out.dtype()).name));
  }
  Op op(c, name, "", {}, {&self, &other});
  return op.in_place(out, [](Backward& /*b*/) {});
}

Tensor mul_(Context& c, const Tensor& self, const Tensor& other) {
  static constexpr const PointwiseRule& kRule = find(kBinary, "mul");
  return apply_in_place(c, kRule, self, other);
}
Tensor relu(Context& c, const Tensor& self) {
  static constexpr const PointwiseRule& kRule = find(kUnary, "relu");
  return apply(c, kRule, self);
}
Tensor relu_(Context& c, const Tensor& self) {
  static constexpr const PointwiseRule& kRule = find(kUnary, "relu");
  return apply_in_place(c, kRule, self);
}
Tensor pow_tensors(Context& c, const Tensor& self, const Tensor& exponent) {
  static constexpr const PointwiseRule& kRule = find(kBinary, "pow");
  return apply(c, kRule, self, exponent);
}
Tensor pow_tensors_(Context& c, const Tensor& self, const Tensor& exponent) {
  static constexpr const PointwiseRule& kRule = find(kBinary, "pow");
  return apply_in_place(c, kRule, self, exponent);
}
Tensor unary(Context& c, std::string_view name, const Tensor& self) {
  return apply(c, find(c, kUnary, name), self);
}
Tensor unary_(Context& c, std::string_view name, const Tensor& self) {
  return apply_in_place(c, find(c, kUnary, name), self);
}
Tensor binary(Context& c, std::string_view name, const Tensor& self, const Tensor& other) {
  return apply(c, find(c, kBinary, name), self, other);
}

Tensor binary_(Context& c, std::string_view name, const Tensor& self, const Tensor& other) {
  return apply_in_place(c, find(c, kBinary, name), self, other);
}

std::span<const OpDef> pointwise_rules() {
  static constexpr auto kDefs = [] {
    constexpr auto& kOfUnary = pointwise_entries::kEntries<kUnary, false>;
    constexpr auto& kWithFlag = pointwise_entries::kEntries<kActivations, true>;
    constexpr auto& kOfPlain = pointwise_entries::kEntries<kPlainActivations, false>;
    constexpr auto& kOfBinary = pointwise_entries::kEntries<kBinary, false>;
    std::array<OpDef, kOfUnary.size() + kWithFlag.size() + kOfPlain.size() + kOfBinary.size()>
        all{};
    auto end = std::copy(kOfUnary.begin(), kOfUnary.end(), all.begin());
    end = std::copy(kWithFlag.begin(), kWithFlag.end(), end);
    end = std::copy(kOfPlain.begin(), kOfPlain.end(), end);
    std::copy(kOfBinary.begin(), kOfBinary.end(), end);
    return all;
  }();
  return kDefs;
}

}  // namespace tidemark::ops
