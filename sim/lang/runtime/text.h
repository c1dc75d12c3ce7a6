#pragma once

#include <string>
#include <string_view>

#include "sim/lang/values/value.h"

/// Python's ways to turn values into text.
namespace tidemark::lang {

class Interp;

/// repr(float): the shortest digits that read back equal, "1e+16", "1.0", "inf", "nan".
std::string real_repr(double value);
/// repr(str): quotes and escapes.
std::string text_repr(std::string_view text);
/// format(x, spec) for numbers and strings. Errors: ValueError.
std::string format_integer(Interp& interp, std::int64_t value, std::string_view spec);
std::string format_real(Interp& interp, double value, std::string_view spec);
std::string format_text(Interp& interp, std::string_view text, std::string_view spec);
/// "..." % values.
std::string percent_format(Interp& interp, std::string_view format, const Value& values);
/// "...".format(*positional, **named). `named` is a Dict or Empty.
std::string brace_format(Interp& interp, std::string_view format,
                         const std::vector<Value>& positional, const Value& named);

}  // namespace tidemark::lang
