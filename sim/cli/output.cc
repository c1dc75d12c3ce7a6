#include "sim/cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sim/base/problem.h"

namespace tidemark::cli {

namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

StreamOutput::StreamOutput(std::FILE* stream, std::string_view name)
    : stream_(stream), name_(name) {
  const int descriptor = fileno(stream);
  if (isatty(descriptor) == 0) return;
  const char* term = std::getenv("TERM");
  colour_ = !is_set("NO_COLOR") && term != nullptr && std::string_view(term) != "dumb";
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width_ = std::clamp<int>(size.ws_col, 40, 160);
  }
}

void StreamOutput::fail() const {
  throw IoError(fmt::format("cannot write to {}: {}", name_, std::strerror(errno)));
}

void StreamOutput::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) fail();
}

void StreamOutput::flush() {
  if (std::fflush(stream_) != 0) fail();
}

}  // namespace tidemark::cli
