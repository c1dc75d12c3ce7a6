#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidemark {

/// Bytes in order, each once. One thread.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills the front of `buffer` and returns how much: less than asked only at the end, 0 from
  /// there on. Errors: IoError when the system refuses, InputError when the bytes themselves are
  /// damaged.
  virtual std::size_t read(std::span<char> buffer) = 0;
  /// Bytes of the underlying file read so far (before decompression), and all there are when known.
  [[nodiscard]] virtual std::uint64_t file_bytes_read() const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> file_bytes() const = 0;
};

/// Bytes in memory. Requires: they outlive the source.
std::unique_ptr<ByteSource> bytes_in_memory(std::string_view bytes);

/// A file as it is. Errors: IoError when it cannot be opened or is a folder.
std::unique_ptr<ByteSource> bytes_of_file(const std::string& path);

/// What is inside a gzip stream, or `raw` unchanged when it does not begin like one. `name` is for
/// messages. Errors (InputError, on read): damaged or truncated data; more than kMaxInflation times
/// as much out as in, beyond kInflationFloor (a decompression bomb).
std::unique_ptr<ByteSource> unzipped(std::unique_ptr<ByteSource> raw, std::string name);
inline constexpr std::uint64_t kMaxInflation = 400;
inline constexpr std::uint64_t kInflationFloor = std::uint64_t{64} << 20;

/// Reports how far a long read is: called at most once a megabyte with the share of the file done,
/// in thousandths (0 when the file's size is not known). May throw to stop the read.
using ReadProgress = std::function<void(std::uint64_t file_bytes, std::uint32_t thousandths)>;

}  // namespace tidemark
