#include "sim/cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

#include "sim/base/problem.h"
#include "sim/report/text.h"

namespace tidemark::cli {

namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

constexpr int kLeastWidth = 40;
constexpr int kMostWidth = 160;

/// $COLUMNS, where it is a positive number.
std::optional<int> columns_of_environment() {
  if (!is_set("COLUMNS")) return std::nullopt;
  const std::string_view text = std::getenv("COLUMNS");
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error != std::errc() || end != text.data() + text.size() || columns <= 0) return std::nullopt;
  return std::clamp(columns, kLeastWidth, kMostWidth);
}

}  // namespace

StreamOutput::StreamOutput(std::FILE* stream, std::string_view name)
    : stream_(stream), name_(name) {
  const int descriptor = fileno(stream);
  const std::optional<int> columns = columns_of_environment();
  width_ = columns.value_or(width_);
  if (isatty(descriptor) == 0) return;
  is_terminal_ = true;
  const char* term = std::getenv("TERM");
  colour_ = !is_set("NO_COLOR") && term != nullptr && std::string_view(term) != "dumb";
  winsize size{};
  if (!columns && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width_ = std::clamp<int>(size.ws_col, kLeastWidth, kMostWidth);
  }
}

void StreamOutput::fail() const {
  throw IoError(fmt::format("cannot write to {}: {}", name_, std::strerror(errno)));
}

void StreamOutput::write(std::string_view text) {
  const std::string shown = is_terminal_ ? for_terminal(text) : std::string();
  if (is_terminal_) text = shown;
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) fail();
}

void StreamOutput::flush() {
  if (std::fflush(stream_) != 0) fail();
}

}  // namespace tidemark::cli
