#pragma once

#include <string_view>

#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/iterators.h"

/// The language's own library: built-in functions, methods of the built-in types, and the modules
/// that model code imports (math, itertools, functools, collections, dataclasses, typing, ...).
namespace tidemark::lang {

void add_builtins(Interp& interp);     // builtins.cc: functions; calls the others
void add_types(Interp& interp);        // builtin_types.cc: int, str, list, ... as callables
void add_subclassing(Interp& interp);  // builtin_subclasses.cc: __new__, __init__, ... of the types
void add_iteration(Interp& interp);  // builtin_iteration.cc: enumerate, zip, map, sorted, sum, ...
void add_text_methods(Interp& interp);
void add_container_methods(Interp& interp);

void add_library(Interp& interp);  // modules.cc: registers what follows
void fill_math(Interp& interp, Module& module);

/// An iterator that calls `step` with what it holds.
inline Value make_iterator(Interp& interp, std::string_view type, std::vector<Value> held,
                           FunctionIterator::Step step) {
  return make_ref<FunctionIterator>(interp.heap(), type, std::move(held), std::move(step));
}

/// Sorted as Python sorts: stable, by `key` where it is neither Empty nor None.
std::vector<Value> sorted_values(Interp& interp, std::vector<Value> items, const Value& key,
                                 bool reverse);
/// dict.update with a mapping or an iterable of pairs.
void update_dict(Interp& interp, Dict& dict, const Value& from);

/// A mapping as a dict: the dict itself, or one made with keys() and []; null: not a mapping.
Ref<Dict> mapping_of(Interp& interp, const Value& value);

/// What object.__delattr__ does: a property's deleter, then own attributes. False: no such
/// attribute.
bool remove_attribute(Interp& interp, const Value& object, Name name);

/// What the last fields of a named tuple's class are by default. Requires: no more than it has.
void set_field_defaults(Interp& in, ClassObject& type, std::vector<Value> defaults);

/// Adds one built-in or module function from its signature.
void define(Interp& interp, std::string_view signature, HostFunction function);
void define(Interp& interp, Module& module, std::string_view signature, HostFunction function);
void define(Interp& interp, ClassObject& type, std::string_view signature, HostFunction function);

}  // namespace tidemark::lang
