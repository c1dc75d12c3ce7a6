#pragma once

#include "sim/lang/runtime/class.h"

/// What a class says of its copies: __reduce_ex__, __reduce__, __getstate__ and __setstate__, in
/// code of its own. Source: Python's copy.py, _reconstruct.
namespace tidemark::lang {

/// The copy that the class's own __reduce_ex__ or __reduce__ describes; empty: it has neither.
/// `copies` null: a shallow copy.
Value copied_by_reduce(Interp& interp, const Value& value, DeepCopies* copies);
/// What the class's own __getstate__ says; empty: it has none.
Value own_state(Interp& interp, const Value& value);
/// Gives the copy its state: by its class's own __setstate__, else as attributes.
void give_state(Interp& interp, const Value& copy, const Value& state);
/// Whether the class has a __setstate__ of its own, which gets all attributes.
bool takes_state(Interp& interp, const Value& value);

}  // namespace tidemark::lang
