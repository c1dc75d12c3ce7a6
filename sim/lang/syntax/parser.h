#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/base/problem.h"
#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// Parses a file of the subset. Every problem found is appended to `problems`, at most
/// InputError::kMaxProblems in all; the tree is fit for use only when none was.
/// Cost: linear in the text.
std::shared_ptr<SyntaxTree> parse_module(std::shared_ptr<const SourceText> source, Names& names,
                                         std::vector<Problem>& problems);

/// Parses a text that is one expression.
std::shared_ptr<SyntaxTree> parse_expression(std::shared_ptr<const SourceText> source, Names& names,
                                             std::vector<Problem>& problems);

/// The index of a global of the module that a text belongs to, made where it is new.
using GlobalSlot = std::function<std::size_t(Name name)>;

/// Lays out the frames of everything in a tree: fills in where each name lives. Appends what is
/// wrong with names ("name 'x' is used before its global declaration"). Requires: a tree parsed
/// without problems.
void resolve(SyntaxTree& tree, Names& names, const GlobalSlot& globals,
             std::vector<Problem>& problems);

}  // namespace tidemark::lang
