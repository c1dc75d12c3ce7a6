#pragma once

#include "sim/lang/runtime/function.h"

namespace tidemark::lang {

/// Sees calls of Python functions before they run.
class CallWatcher {
 public:
  virtual ~CallWatcher() = default;
  /// Whether it has called the function itself, and what that gave. Such a call comes here, too.
  virtual bool call(Function& function, CallArgs& args, Value& result) = 0;
};

/// What runs in this thread is seen from now on; null: nobody looks. Gives who did before.
CallWatcher* set_call_watcher(CallWatcher* watcher);

}  // namespace tidemark::lang
