#pragma once

#include <string>
#include <string_view>

namespace tidemark {

/// What changes a text, as `diff -u` writes it and `patch -p1` takes it; empty: nothing does. Cost:
/// the product of the lines between the first that differs and the last.
std::string unified_diff(std::string_view path, std::string_view before, std::string_view after);

}  // namespace tidemark
