#pragma once

#include <stdexcept>
#include <string>

namespace tidemark {

/// An invariant of ours is broken: a bug in Tidemark, never the user's fault (exit code 70).
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& context);

}  // namespace tidemark

/// Always on, in every build type. `context` is an expression that gives a std::string, evaluated
/// on failure only: name the simulated time, event or object concerned.
#define TIDEMARK_CHECK(condition, context)                                 \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::tidemark::check_failed(#condition, __FILE__, __LINE__, (context)); \
  } while (false)
