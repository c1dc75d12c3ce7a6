#include "sim/format/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <new>
#include <optional>
#include <system_error>

#include "sim/base/check.h"
#include "sim/base/problem.h"
#include "sim/format/byte_source.h"

namespace tidemark {

namespace {

[[noreturn]] void fail(const std::string& path, int reason) {
  throw IoError(path + ": " + std::generic_category().message(reason));
}

/// Returns 0, or the system's reason.
int write_all(int file, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t count = ::write(file, contents.data(), contents.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    contents.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

SignalsHeld::SignalsHeld() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

SignalsHeld::~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool is_regular_or_new(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

std::string read_whole_file(const std::string& path) {
  const std::string file = path == "-" ? "/dev/stdin" : path;
  const std::unique_ptr<ByteSource> source = unzipped(bytes_of_file(file), path);
  std::string contents;
  constexpr std::size_t kFirst = std::size_t{64} << 10U;
  const std::uint64_t expected = source->file_bytes().value_or(kFirst);
  std::size_t chunk = expected < kFirst ? expected + 1 : kFirst;
  while (true) {
    const std::size_t before = contents.size();
    contents.resize(before + chunk);
    const std::size_t count = source->read({contents.data() + before, chunk});
    contents.resize(before + count);
    if (count < chunk) return contents;
    chunk = std::max(chunk, contents.size());
  }
}

void write_whole_file(const std::string& path, std::string_view contents) {
  std::string packed;
  if (path.ends_with(".gz")) {
    packed = gzipped(contents);
    contents = packed;
  }
  const bool direct = !is_regular_or_new(path);
  const std::string target = direct ? path : path + ".part";
  std::optional<SignalsHeld> held;
  if (!direct) held.emplace();
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  const int file = open(target.c_str(), flags, 0666);
  if (file < 0) fail(path, errno);
  int reason = write_all(file, contents);
  if (close(file) != 0 && reason == 0) reason = errno;
  if (reason == 0 && !direct && std::rename(target.c_str(), path.c_str()) != 0) reason = errno;
  if (reason == 0) return;
  if (!direct) unlink(target.c_str());
  fail(path, reason);
}

std::string gzipped(std::string_view contents) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  if (deflateInit2(&stream, 6, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string packed;
  std::array<char, std::size_t{64} << 10U> buffer;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      const std::size_t count = std::min<std::size_t>(contents.size(), std::size_t{1} << 30U);
      // zlib only reads through next_in, whose type is not const.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(contents.data()));
      stream.avail_in = static_cast<uInt>(count);
      contents.remove_prefix(count);
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = deflate(&stream, contents.empty() ? Z_FINISH : Z_NO_FLUSH);
    TIDEMARK_CHECK(state != Z_STREAM_ERROR, "deflate");
    packed.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return packed;
}

}  // namespace tidemark
