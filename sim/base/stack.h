#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark {

/// How many bytes of this thread's stack lie below `address`, less a reserve for what has to be
/// told at its end: a quarter of a megabyte. Requires: an address on this thread's stack.
/// Cost: a system call; the first of a thread reads where its stack ends.
std::size_t stack_below(std::uintptr_t address);

}  // namespace tidemark
