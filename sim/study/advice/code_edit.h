#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/lang/edit/user_code.h"
#include "sim/run/overrides.h"
#include "sim/run/scenario.h"

namespace tidemark {

/// Whether the scenario has a loop of the user's own that an override can replace: not `train:`,
/// not a script.
bool has_own_loop(const Scenario& scenario);

/// What names stand for in a loop without an import of its own: those that every loop has, and what
/// the model's text imports.
lang::UserCode::Imports names_around_loop(const Scenario& scenario);

/// The loop's text with edits made. Requires: has_own_loop().
Override loop_with(const Scenario& scenario, std::vector<lang::Edit> edits);

/// The line on which an edit begins, before and after, for people: "line 5: a  ->  b". Requires:
/// has_own_loop(); at least one edit, the first in the text first.
std::string shown_edit(const Scenario& scenario, const std::vector<lang::Edit>& edits);

/// What keeps a value beyond the turn of the loop that makes it: `x.append(VALUE)`, `x += VALUE`,
/// `x = x + VALUE`, `x[key] = VALUE`. Of a list of one, [VALUE], the value in it. In the order of
/// the text.
std::vector<const lang::Expr*> kept_values(const lang::UserCode& code);

/// What a call's callee is called last: "append" of x.y.append(z); empty: it has no name.
std::string_view callee_name(const lang::UserCode& code, const lang::CallExpr& call);

/// Whether a value that is kept may be a tensor of the device: no number, text or collection, and
/// nothing brings it to the host already (in a choice it may do so on one way alone).
bool may_hold_memory(const lang::UserCode& code, const lang::Expr& value);
/// The value on the host, without its graph.
lang::Edit to_host(const lang::UserCode& code, const lang::Expr& value);

}  // namespace tidemark
