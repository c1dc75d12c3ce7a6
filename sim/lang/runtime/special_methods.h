#pragma once

#include "sim/lang/runtime/interp.h"

/// The special methods of built-in types, for the programs that ask for them by name:
/// `super().__repr__()`, `int.__add__`, `hasattr(text, "__len__")`. Operators and built-in
/// functions do not come here, so nothing of this is made before a program asks.
namespace tidemark::lang {

/// The method that a built-in type which `type` derives from has under the name: a function whose
/// first parameter is self. Empty: there is none. It is made once.
/// Source: "Data model" of Python's reference, and what CPython 3.11 answers.
Value special_method(Interp& in, ClassObject& type, Name name);

/// The same as an attribute of an object, a class or super(): bound where there is an object.
Value special_attribute(Interp& in, const Value& object, Name name);

}  // namespace tidemark::lang
