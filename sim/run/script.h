#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/problem.h"
#include "sim/base/source.h"
#include "sim/run/literals.h"

namespace tidemark {

/// Whether a path names a training script rather than a scenario: it ends in ".py".
bool is_script_path(std::string_view path);

/// The scenario that runs the script at `path` and says nothing else.
std::string scenario_of_script(std::string_view path);

/// A constant as a script writes it: a statement `NAME = VALUE` or `NAME: type = VALUE` at the left
/// margin, the value on one line.
struct ScriptConstant {
  std::string_view name;
  std::string_view value;
};
/// All of them, in order, as parts of the script's text, which must outlive them. None of a script
/// with syntax errors.
std::vector<ScriptConstant> script_constants(const std::shared_ptr<const SourceText>& script);

/// `script` with other values for its constants. Line numbers stay. Errors: into `problems`, for a
/// name that the script does not define so, with the names that it does. A script with syntax
/// errors stays as it is: whoever runs it tells them.
std::shared_ptr<const SourceText> with_constants(std::shared_ptr<const SourceText> script,
                                                 const std::vector<Parameter>& constants,
                                                 std::vector<Problem>& problems);

}  // namespace tidemark
