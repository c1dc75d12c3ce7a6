#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/run/overrides.h"

namespace tidemark {

/// A scenario's text with the variant and the overrides put in, so that it says by itself what they
/// make of it. Comments, order and layout stay: a value is replaced where it stands, a new key gets
/// a line, or a place between the braces, of its own. Only where the text cannot be changed so (a
/// value that an alias shares, for example) it is written anew, its leading comments kept. Relative
/// paths that lead from `folder` are made to lead from `new_folder`. Requires: the text reads
/// without problems. Errors: as apply_overrides(). Cost: linear.
std::string rewritten_scenario(const std::shared_ptr<const SourceText>& text,
                               const std::vector<Override>& overrides, const std::string& variant,
                               const std::string& folder, const std::string& new_folder);

}  // namespace tidemark
