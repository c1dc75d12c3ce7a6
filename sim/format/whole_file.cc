#include "sim/format/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

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

std::string read_whole_file(const std::string& path, std::size_t most) {
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
    if (contents.size() > most) {
      throw InputError(Problem{
          {}, {}, fmt::format("{}: more than {} MiB; it is read whole", path, most >> 20U), {}});
    }
    if (count < chunk) return contents;
    chunk = std::max(chunk, std::min(contents.size(), most + 1 - contents.size()));
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

/// Makes gzip of what comes in parts.
class FileWriter::Packer {
 public:
  Packer() {
    constexpr int kGzipWindow = 15 + 16;
    if (deflateInit2(&stream_, 6, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  ~Packer() { deflateEnd(&stream_); }

  /// Gives what is packed to `sink`, a piece at a time.
  template <class Sink>
  void pack(std::string_view contents, bool is_last, Sink sink) {
    while (true) {
      const std::size_t count = std::min<std::size_t>(contents.size(), std::size_t{1} << 30U);
      // zlib only reads through next_in, whose type is not const.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(contents.data()));
      stream_.avail_in = static_cast<uInt>(count);
      contents.remove_prefix(count);
      const bool ends = is_last && contents.empty();
      int state = Z_OK;
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_out = static_cast<uInt>(buffer_.size());
        state = deflate(&stream_, ends ? Z_FINISH : Z_NO_FLUSH);
        TIDEMARK_CHECK(state != Z_STREAM_ERROR, "deflate");
        sink(std::string_view(buffer_.data(), buffer_.size() - stream_.avail_out));
      } while (ends ? state != Z_STREAM_END : stream_.avail_out == 0);
      if (contents.empty()) return;
    }
  }

 private:
  z_stream stream_{};
  std::array<char, std::size_t{64} << 10U> buffer_;
};

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  if (path_.ends_with(".gz")) packer_ = std::make_unique<Packer>();
  direct_ = !is_regular_or_new(path_);
  constexpr int kFlags = O_WRONLY | O_CLOEXEC;
  if (!direct_) {
    std::string folder = std::filesystem::path(path_).parent_path();
    if (folder.empty()) folder = ".";
    file_ = open(folder.c_str(), kFlags | O_TMPFILE, 0666);
    if (file_ >= 0) return;
    part_ = path_ + ".part";
  }
  file_ = open(direct_ ? path_.c_str() : part_.c_str(), kFlags | O_CREAT | O_TRUNC, 0666);
  if (file_ >= 0) return;
  part_.clear();
  fail(path_, errno);
}

FileWriter::~FileWriter() {
  if (file_ >= 0) close(file_);
  if (!part_.empty()) unlink(part_.c_str());
}

void FileWriter::write(std::string_view contents) {
  if (const int reason = write_all(file_, contents); reason != 0) fail(path_, reason);
}

void FileWriter::append(std::string_view contents) {
  if (packer_ == nullptr) {
    write(contents);
  } else {
    packer_->pack(contents, false, [this](std::string_view piece) { write(piece); });
  }
}

void FileWriter::finish() {
  if (packer_ != nullptr) packer_->pack({}, true, [this](std::string_view piece) { write(piece); });
  const SignalsHeld held;
  if (!direct_ && part_.empty()) {
    const std::string name = path_ + ".part";
    const std::string unnamed = "/proc/self/fd/" + std::to_string(file_);
    unlink(name.c_str());
    if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
      fail(path_, errno);
    part_ = name;
  }
  const int file = std::exchange(file_, -1);
  if (close(file) != 0) fail(path_, errno);
  if (direct_) return;
  if (std::rename(part_.c_str(), path_.c_str()) != 0) fail(path_, errno);
  part_.clear();
}

std::string gzipped(std::string_view contents) {
  std::string packed;
  FileWriter::Packer().pack(contents, true, [&packed](std::string_view piece) { packed += piece; });
  return packed;
}

}  // namespace tidemark
