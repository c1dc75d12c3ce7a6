#pragma once

#include "sim/device/time_error.h"

namespace tidemark {

/// Of the times that others published, with the configuration they were taken in, eight of ten lie
/// in this band of what is told for it. Its figures are tools/trust's; docs/trust.md has the table.
TimeBand published_band();

}  // namespace tidemark
