#pragma once

#include <string>
#include <vector>

#include "sim/base/problem.h"

namespace tidemark::python {

/// From here on InputError reaches Python as tidemark.InputError, IoError as OSError; what else the
/// floors throw stays what nanobind makes of it.
void register_errors();

/// A problem of input, in words of Python's callers: "alloc_conf" where the command line has
/// "--alloc-conf".
[[noreturn]] void argument_error(std::string argument, std::string message, std::string hint = {});

/// The texts of warnings, one each, as problems are written.
std::vector<std::string> warning_texts(const std::vector<Problem>& warnings);

}  // namespace tidemark::python
