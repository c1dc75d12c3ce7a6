#pragma once

#include "sim/lang/runtime/interp.h"

namespace tidemark::lang {

/// An interpreter with what every Python program finds: the built-ins, and its library to import.
class Python final : public Interp {
 public:
  explicit Python(Options options = {});
};

}  // namespace tidemark::lang
