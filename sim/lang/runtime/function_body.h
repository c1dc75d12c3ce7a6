#pragma once

#include "sim/lang/runtime/interp.h"
#include "sim/lang/syntax/unread_body.h"

namespace tidemark::lang {

void read_unread_body(Interp& in, const Code& function, Module& globals);

/// A function's docstring; None: it has none. A body that is unread stays so.
Value docstring(Interp& in, const Code& function);

/// Makes sure that a function's body is known. Errors: InputError with what is wrong in it.
inline void make_body_known(Interp& in, const Code& function, Module& globals) {
  if (is_unread(function)) [[unlikely]]
    read_unread_body(in, function, globals);
}

}  // namespace tidemark::lang
