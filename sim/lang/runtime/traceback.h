#pragma once

#include "sim/lang/runtime/exceptions.h"

namespace tidemark::lang {

/// `e.__traceback__ = None`: the frames go, the innermost first, and what they held with them.
void drop_traceback(ExceptionObject& exception);

/// e.__traceback__: an object for each frame that the exception left, the outermost first; None for
/// one that was not raised.
Value traceback_of(Interp& in, const ExceptionObject& exception);

}  // namespace tidemark::lang
