#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// Temporary storage of the CUB algorithms behind scans, sorts and selections: allocated after the outputs, freed when the
// algorithm returns. Source: training-semantics.md 5.3.

/// A scan along `dim`: CUB's where the tensor is one row, else a kernel without temporaries.
void scan_kernel(Context& c, const Tensor& x, std::int64_t dim);
/// Bytes of a scan by key, and of a unique by key, over keys of `width` bytes.
Bytes scan_by_key_bytes(const DeviceSpec& spec, std::int64_t count, Bytes width);
Bytes unique_by_key_bytes(const DeviceSpec& spec, std::int64_t count, Bytes width);
/// Bytes of a scan of `count` values of `width` bytes.
Bytes scan_bytes(const DeviceSpec& spec, std::int64_t count, Bytes width);
/// Bytes of a radix sort of pairs over the lowest `bits` bits of the keys.
Bytes sort_bytes(const DeviceSpec& spec, std::int64_t count, Bytes key_width, Bytes value_width,
                 std::int64_t bits);
/// Positions of the values that are not zero: every value counts as zero, so [0, rank].
Tensor nonzero_kernel(Context& c, const Tensor& x);

}  // namespace tidemark::ops
