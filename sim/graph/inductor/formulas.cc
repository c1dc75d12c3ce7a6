#include <algorithm>
#include <iterator>

#include "sim/graph/inductor/decompose.h"

namespace tidemark::graph::inductor {

namespace {

constexpr std::string_view kGeluTanh =
    "a = mul x x; b = mul a x; c = mul b #0.044715; d = add x c; e = mul d #0.7978845608028654; "
    "f = mul x #0.5; g = tanh e; h = add g #1; mul f h";
constexpr std::string_view kGeluTanhBackward =
    "a = mul y y; b = mul a y; c = mul b #0.044715; d = add y c; e = mul d #0.7978845608028654; "
    "f = tanh e; h = mul y #0.5; i = add f #1; j = mul i #0.5; k = mul f f; l = sub k #1r; "
    "m = mul a #0.134145; n = add m #1; o = mul n #0.7978845608028654; p = mul h l; q = mul p o; "
    "r = add j q; mul x r";
constexpr std::string_view kGelu =
    "a = mul x #0.5; b = mul x #0.7071067811865476; c = erf b; d = add c #1; mul a d";
constexpr std::string_view kGeluBackward =
    "a = mul y #0.7071067811865476; b = erf a; c = add b #1; d = mul c #0.5; e = mul y y; "
    "f = mul e #-0.5; g = exp f; h = mul g #0.3989422804014327; i = mul y h; j = add d i; mul x j";

constexpr std::string_view kMish =
    "b = exp x; c = log1p b; e = gt x #20; f = where e x c; g = tanh f; mul x g";
constexpr std::string_view kMishBackward =
    "b = exp y; c = log1p b; e = gt y #20; f = where e y c; t = tanh f; s = sigmoid y; u = mul y "
    "s; v = mul t t; w = sub v #1r; o = mul u w; "
    "p = add t o; mul x p";
constexpr std::string_view kEluBackward =
    "a = le y #0; b = mul x #one; c = mul b #negative; d = mul y #one; e = exp d; f = mul c e; "
    "where a f b";

/// Source: docs/rules/compile.md#1.
constexpr Formula kFormulas[] = {
    {"gelu", "tanh", kGeluTanh, true},
    {"gelu", "", kGelu, true},
    {"gelu_backward", "tanh", kGeluTanhBackward, true},
    {"gelu_backward", "", kGeluBackward, true},
    {"silu", "", "a = neg x; b = exp a; c = add b #1; div x c", true},
    {"silu_backward", "",
     "a = neg y; b = exp a; c = add b #1; d = reciprocal c; e = mul d #1; f = mul x e; "
     "g = sub e #1r; h = mul y g; i = add h #1; mul f i",
     true},
    {"sigmoid_backward", "", "a = sub y #1r; b = mul y a; mul x b", true},
    {"tanh_backward", "", "a = mul y y; b = sub a #1r; mul x b", true},
    {"relu_backward", "", "a = alias y; b = alias a; c = le b #0; where c x #0", false},
    {"threshold_backward", "", "c = le y #0; where c x #0", false},
    {"native_dropout_backward", "", "a = convert y x; b = mul a #scale; c = mul x b; clone c",
     false},
    {"square", "", "pow x #2", false},
    {"rsub", "", "sub x #1", false},
    {"leaky_relu", "", "a = gt x #0; b = mul x #s; where a x b", true},
    {"hardtanh", "", "a = clamp_min x #a; clamp_max a #b", false},
    {"clamp_min_backward", "", "a = ge y #m; where a x #0", false},
    {"clamp_max_backward", "", "a = le y #m; where a x #0", false},
    {"relu6", "", "a = clamp_min x #a; clamp_max a #b", false},
    {"hardtanh_backward", "", "a = le y #a; b = ge y #b; c = bitwise_or a b; where c x #0", true},
    {"leaky_relu_backward", "", "a = gt y #0; b = mul x #s; where a x b", true},
    {"_prelu_kernel", "", "a = gt x #0; b = mul y x; where a x b", false},
    {"prelu_input_backward", "", "a = gt x #0; b = mul y z; where a z b", false},
    {"prelu_weight_backward", "", "a = gt x #0; b = mul x z; where a b #0", false},
    {"softplus", "",
     "a = mul x #beta; b = exp a; c = log1p b; d = div c #beta; e = gt a #t; where e x d", true},
    {"softplus_backward", "",
     "a = mul y #beta; b = exp a; c = gt a #t; d = mul x b; e = add b #1; f = div d e; where c x f",
     true},
    {"mish", "", kMish, true},
    {"mish_backward", "", kMishBackward, true},
    {"elu", "", "a = gt x #0; b = mul x #1.0; d = expm1 b; e = mul d #alpha; where a b e", true},
    {"elu_backward", "", kEluBackward, true},
    {"celu", "", "a = gt x #0; b = div x #alpha; d = expm1 b; e = mul d #alpha; where a x e", true},
    {"selu", "",
     "a = gt x #0; b = mul x #scale; c = mul x #1; d = expm1 c; e = mul d #alpha; where a b e",
     true},
    {"celu_backward", "", kEluBackward, true},
    {"addcmul", "", "a = mul y #value; b = mul a z; add x b", true},
    {"addcdiv", "", "a = mul y #value; b = div a z; add x b", true},
    {"hardswish", "", "a = add x #3; b = clamp_min a #0; c = clamp_max b #6; d = mul x c; div d #6",
     true},
    {"hardswish_backward", "",
     "a = le y #-3; b = lt y #3; c = div y #3; d = add c #0.5; e = mul x d; f = where b e x; "
     "where a f #0",
     true},
    {"softshrink", "",
     "a = abs x; b = gt a #l; c = sign x; d = mul c #l; e = sub x d; f = mul x #0; where b e f",
     true},
    {"softshrink_backward", "", "a = abs y; b = gt a #l; where b x #0", true},
    {"hardshrink", "", "a = abs x; b = le a #l; where b x #0", false},
    {"hardshrink_backward", "", "a = abs y; b = le a #l; where b x #0", false},
    {"threshold", "", "a = le x #t; where a x #v", false},
    {"hardsigmoid", "", "a = add x #3; b = clamp_min a #0; c = clamp_max b #6; div c #6", true},
    {"hardsigmoid_backward", "",
     "a = gt y #-3; b = lt y #3; c = bitwise_and a b; d = mul x #s; where c d #0", true},
};

}  // namespace

const Formula* formula_of(std::string_view op, std::string_view call) {
  const auto found = std::find_if(
      std::begin(kFormulas), std::end(kFormulas),
      [&](const Formula& f) { return f.op == op && call.find(f.when) != std::string_view::npos; });
  return found == std::end(kFormulas) ? nullptr : found;
}

}  // namespace tidemark::graph::inductor
