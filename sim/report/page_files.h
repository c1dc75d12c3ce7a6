#pragma once

#include <string_view>

namespace tidemark {

/// The files of page/ as the build found them: the scripts without indentation and comments.
extern const std::string_view kPageScript;
extern const std::string_view kSweepScript;
extern const std::string_view kPageStyle;

}  // namespace tidemark
