#pragma once

#include <memory>

#include "sim/ops/values/generator.h"

/// Random numbers that PyTorch up to 2.6 takes from MKL: one stream a call, seeded by the
/// generator.
namespace tidemark::ops {

/// Whether MKL has such numbers: bernoulli_(p), and with it dropout, and exponential_.
bool is_drawn_by_mkl(Draw kind);
/// The numbers of a call, in the order of the tensor's elements; the generator goes on by the seed
/// alone. Requires: is_drawn_by_mkl(spec.kind).
std::unique_ptr<Recipe> draw_by_mkl(Generator& generator, const DrawSpec& spec, ScalarType dtype);

}  // namespace tidemark::ops
