#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// Temporary storage of the CUB algorithms behind scans, sorts and selections, in bytes: allocated
// after the outputs, freed when the algorithm returns. `width`: bytes of a value or key. Source:
// docs/rules/indexing.md#3, and PyTorch observed at many counts and on five devices.

Bytes scan_bytes(const Context& c, std::int64_t count, ScalarType type);
Bytes scan_by_key_bytes(const Context& c, std::int64_t count);
Bytes unique_bytes(const Context& c, std::int64_t count, Bytes width);
Bytes unique_by_key_bytes(const Context& c, std::int64_t count, Bytes width);
/// Writes out the positions of what is kept.
Bytes select_bytes(const Context& c, std::int64_t count);
/// Counts what is kept.
Bytes count_bytes(const DeviceSpec& spec, std::int64_t count);
/// A radix sort of pairs (value_width 0: of keys) over the lowest `bits` bits of the keys.
Bytes sort_bytes(const Context& c, std::int64_t count, Bytes key_width, Bytes value_width,
                 std::int64_t bits);
/// How many bits tell the numbers below `n` apart.
std::int64_t bits_of(std::int64_t n);
Bytes segmented_sort_bytes(std::int64_t count, Bytes key_width, Bytes value_width);

/// A scan along `dim`: CUB's where the tensor is one row, else a kernel without temporaries.
void scan_kernel(Context& c, const Tensor& x, std::int64_t dim);
/// Positions of so many values that are not zero: [count, rank].
Tensor nonzero_kernel(Context& c, const Tensor& x, std::int64_t count = 0);

}  // namespace tidemark::ops
