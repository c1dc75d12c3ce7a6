#pragma once

#include <optional>
#include <string_view>

#include "sim/base/release.h"

namespace tidemark {

/// The PyTorch that calls itself "2.11.0+cu130"; without a toolkit after it, that of PyPI.
/// std::nullopt: it is none that Tidemark knows.
std::optional<Wheel> wheel_named(std::string_view torch);

}  // namespace tidemark
