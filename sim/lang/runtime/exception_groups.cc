#include <utility>
#include <vector>

#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/frame.h"

/// `except*`.
namespace tidemark::lang {

// What each handler takes is split off, as PEP 654 says; what is left, and what handlers raise,
// goes on as one exception.
Flow Evaluator::handle_groups(const TryStmt* node, Ref<ExceptionObject> exception) {
  trace(*exception);
  Handling handling(in_.handled_, exception);
  const Value rules = in_.import("_exception_groups");
  const auto call = [&](const char* function, std::vector<Value> given) {
    return in_.call(in_.get_attr(rules, in_.intern(function)), std::move(given));
  };
  Value rest = exception;
  std::vector<Value> raised;
  for (const Handler& handler : node->handlers) {
    if (rest.is_none()) break;
    const Value type = eval(handler.type);
    frame_.at = handler.type->place;
    const std::vector<Value> parts = in_.unpack(call("taken", {rest, type}));
    rest = parts[1];
    if (parts[0].is_none()) continue;
    Handling part(in_.handled_, parts[0].ref<ExceptionObject>());
    if (handler.target != nullptr) store(handler.target, parts[0]);
    try {
      const Flow flow = run(handler.body);
      if (flow != Flow::kNormal) {
        in_.refuse("leaving an 'except*' block by break, continue or return is an error in Python",
                   "set a variable, and look at it behind the 'try'");
      }
    } catch (Raised& again) {
      raised.emplace_back(std::move(again.exception));
    }
    part.end();
    if (handler.target != nullptr) store(handler.target, {});
  }
  const Value left = call("left", {Value(exception), rest, in_.list(std::move(raised))});
  handling.end();
  exception.reset();
  if (left.is_none()) return Flow::kNormal;
  throw Raised{left.ref<ExceptionObject>()};
}

}  // namespace tidemark::lang
