#pragma once

#include <string>

#include "sim/base/sim_time.h"

namespace tidemark {

/// "1.23 ms", "45.60 s"; whole hundredths, so that every build prints the same. Requires: ns >= 0.
std::string duration_text(Nanoseconds ns);

}  // namespace tidemark
