#include "sim/ops/cublas.h"

#include <charconv>
#include <limits>

#include "sim/base/check.h"

namespace tidemark::ops {

namespace {

/// The number at the front of `text`, which is taken off; std::nullopt: there is none.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

/// ":KiB:count" at the front of `text`, which is taken off; std::nullopt: it does not begin so.
std::optional<Bytes> take_pair(std::string_view& text) {
  std::string_view rest = text;
  std::uint64_t parts[2] = {0, 0};
  for (std::uint64_t& part : parts) {
    if (!rest.starts_with(':')) return std::nullopt;
    rest.remove_prefix(1);
    const std::optional<std::uint64_t> number = take_number(rest);
    if (!number) return std::nullopt;
    part = *number;
  }
  text = rest;
  return parts[0] * kKiB * parts[1];
}

/// A whole number of KiB as std::stoi reads it: blanks before it and anything behind it do not
/// matter. std::nullopt: there is none, or none that an int holds.
std::optional<Bytes> read_kib(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::optional<std::uint64_t> number = take_number(text);
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  return number && *number <= kMost ? std::optional<Bytes>(*number * kKiB) : std::nullopt;
}

/// A switch as PyTorch reads one: anything but 0 and 1 says nothing.
std::optional<bool> read_switch(std::string_view text) {
  if (text != "0" && text != "1") return std::nullopt;
  return text == "1";
}

constexpr std::string_view kConfig = "CUBLAS_WORKSPACE_CONFIG";
constexpr std::string_view kLtSize = "CUBLASLT_WORKSPACE_SIZE";
constexpr std::string_view kCache = "TORCH_CUBLAS_WORKSPACE_CACHE";

}  // namespace

std::optional<Bytes> read_workspace_config(std::string_view text) {
  std::optional<Bytes> total;
  while (!text.empty()) {
    if (const std::optional<Bytes> pair = take_pair(text)) {
      total = total.value_or(0) + *pair;
    } else {
      text.remove_prefix(1);
    }
  }
  return total;
}

bool is_cublas_variable(std::string_view name) {
  return name == kConfig || name == kLtSize || name == kCache;
}

void set_cublas_variable(CublasSettings& settings, std::string_view name, std::string_view value) {
  TIDEMARK_CHECK(is_cublas_variable(name), "no variable of cuBLAS's");
  if (name == kConfig) settings.workspace = read_workspace_config(value);
  if (name == kLtSize) settings.lt_workspace = read_kib(value);
  if (name == kCache) settings.cache = read_switch(value);
}

}  // namespace tidemark::ops
