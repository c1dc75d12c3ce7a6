#pragma once

#include <string_view>

#include "sim/lang/runtime/frame.h"
#include "sim/ops/tensor.h"

namespace tidemark::torch {

/// Where a compiled function stands when its graph breaks, and what of it is needed afterwards.
struct LiveValues {
  ops::TensorList used;  ///< tensors that may be read later, each once
  ops::TensorList dead;  ///< held by variables that nobody reads later
};

/// The tensors in nested lists, tuples and dicts, each once.
void collect_tensors(const lang::Value& value, ops::TensorList& into);

/// Those of what a function returns: in attributes of objects of the program's own, too, whose
/// classes are Python code.
void collect_results(const lang::Value& value, ops::TensorList& into);

/// What the program holds. `frame`: of the compiled function, whose variables count where the rest
/// of its code reads them; null: it is the library's. Source: torch's livevars_analysis.
LiveValues live_values(lang::Interp& interp, const lang::Frame* frame);

/// Whether a frame's place is in a loop, or in a `try`, of its code: PyTorch does not compile such
/// a function where its graph breaks there.
bool is_in_loop(const lang::Frame& frame);

}  // namespace tidemark::torch
