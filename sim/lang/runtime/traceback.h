#pragma once

#include "sim/lang/runtime/exceptions.h"

namespace tidemark::lang {

/// `e.__traceback__ = None`: the frames go, the innermost first, and what they held with them.
void drop_traceback(ExceptionObject& exception);

}  // namespace tidemark::lang
