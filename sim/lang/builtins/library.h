#pragma once

#include <string_view>

#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/iterators.h"

/// What is there without an import: built-in functions, and methods of the built-in types.
namespace tidemark::lang {

void add_builtins(Interp& interp);     // builtins.cc: functions; calls the others
void add_types(Interp& interp);        // builtin_types.cc: int, str, list, ... as callables
void add_subclassing(Interp& interp);  // builtin_subclasses.cc: __new__, __init__, ... of the types
void add_iteration(Interp& interp);  // builtin_iteration.cc: enumerate, zip, map, sorted, sum, ...
/// builtin_descriptors.cc: methods and subclasses of property, staticmethod and classmethod.
void add_descriptors(Interp& interp);
void add_bytes(Interp& interp);           // bytes.cc
void add_random_numbers(Interp& interp);  // random_numbers.cc: the module _random
/// weak_references.cc: a function of _tidemark.
void add_weak_references(Interp& interp, Module& module);
/// introspection.cc: functions of _tidemark.
void add_introspection(Interp& interp, Module& module);
void add_code_functions(Interp& interp);  // code_functions.cc: exec, eval, locals, ...
/// import_functions.cc: functions of _tidemark.
void add_import_functions(Interp& interp, Module& module);
/// file_functions.cc: functions of _tidemark.
void add_file_functions(Interp& interp, Module& module);
/// object_functions.cc: functions of _tidemark.
void add_object_functions(Interp& interp, Module& module);
/// frames.cc: functions of _tidemark, and what frames have.
void add_frames(Interp& interp, Module& module);
/// A module's globals, as globals() gives them.
Value globals_of(Interp& interp, Module& module);
/// The variables of a frame, as a dict; of a module's, its globals themselves.
Value locals_of(Interp& interp, const Frame& frame);
void add_text_methods(Interp& interp);
void add_container_methods(Interp& interp);

/// An iterator that calls `step` with what it holds.
inline Value make_iterator(Interp& interp, std::string_view type, std::vector<Value> held,
                           FunctionIterator::Step step) {
  return make_ref<FunctionIterator>(interp.heap(), type, std::move(held), std::move(step));
}

/// Sorted as Python sorts: stable, by `key` where it is neither Empty nor None.
std::vector<Value> sorted_values(Interp& interp, std::vector<Value> items, const Value& key,
                                 bool reverse);

}  // namespace tidemark::lang
