#pragma once

#include "sim/lang/runtime/interp.h"

/// Functions of math whose numbers are integers, of any size.
namespace tidemark::lang {

Value gcd(Interp& in, Arguments& args);
Value lcm(Interp& in, Arguments& args);
Value isqrt(Interp& in, Arguments& args);
Value combinations(Interp& in, Arguments& args);
Value permutations(Interp& in, Arguments& args);
Value factorial(Interp& in, Arguments& args);

}  // namespace tidemark::lang
