#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/release.h"

namespace tidemark::ops {

/// An operator that no recording of these releases was compared with, or that differs from it.
struct Unproven {
  std::string_view name;
  Releases releases = {};
};

/// All of them, by name. tests/golden/ops runs every other operator under every release, but for
/// those whose name begins with '_': they are parts of others.
std::span<const Unproven> unproven_operators();

/// Those of `names` that are not yet known to ask for what `release` does, in the order of `names`.
std::vector<std::string> unproven(std::span<const std::string_view> names, Version release);

}  // namespace tidemark::ops
