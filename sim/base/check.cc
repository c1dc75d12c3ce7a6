#include "sim/base/check.h"

#include <string_view>

namespace tidemark {

void check_failed(const char* condition, const char* file, int line, const std::string& context) {
  // The path from the repository root: the same text whatever folder the program was built in.
  std::string_view path(file);
  if (const auto at = path.rfind("/sim/"); at != std::string_view::npos) path.remove_prefix(at + 1);
  throw InternalError("check failed: " + std::string(condition) + " at " + std::string(path) + ":" +
                      std::to_string(line) + (context.empty() ? "" : ": " + context));
}

}  // namespace tidemark
