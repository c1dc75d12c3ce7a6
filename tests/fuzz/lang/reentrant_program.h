#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tidemark::lang {

/// Draws a program whose special methods (__eq__, __index__, __hash__, __repr__, ...), sort keys
/// and iterators change the very containers that a builtin, a method or an operator is working on.
/// The same bytes draw the same program; any bytes draw one that parses.
std::string reentrant_program(std::span<const std::uint8_t> bytes);

}  // namespace tidemark::lang
