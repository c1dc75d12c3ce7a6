#include "sim/format/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "sim/base/problem.h"

namespace tidemark {

namespace {

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size() - done_);
    std::copy_n(bytes_.data() + done_, count, buffer.data());
    done_ += count;
    return count;
  }
  std::uint64_t file_bytes_read() const override { return done_; }
  std::optional<std::uint64_t> file_bytes() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t done_ = 0;
};

class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail();
    struct stat status {};
    if (fstat(file_, &status) != 0) fail();
    if (S_ISDIR(status.st_mode)) {
      close(file_);
      throw IoError(path_ + ": is a folder");
    }
    if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes() override { close(file_); }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const ssize_t count = ::read(file_, buffer.data() + filled, buffer.size() - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw IoError(path_ + ": " + std::generic_category().message(errno));
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    done_ += filled;
    return filled;
  }
  std::uint64_t file_bytes_read() const override { return done_; }
  std::optional<std::uint64_t> file_bytes() const override { return size_; }

 private:
  [[noreturn]] void fail() {
    const int reason = errno;
    if (file_ >= 0) close(file_);
    throw IoError(path_ + ": " + std::generic_category().message(reason));
  }

  std::string path_;
  int file_;
  std::uint64_t done_ = 0;
  std::optional<std::uint64_t> size_;
};

class UnzippedBytes final : public ByteSource {
 public:
  UnzippedBytes(std::unique_ptr<ByteSource> raw, std::string name)
      : raw_(std::move(raw)),
        name_(std::move(name)),
        room_(std::clamp<std::uint64_t>(raw_->file_bytes().value_or(kInput) + 1, 4096, kInput)),
        input_(std::make_unique_for_overwrite<char[]>(room_)) {
    refill();
    const bool gzip = available_ >= 2 && static_cast<unsigned char>(input_[0]) == 0x1f &&
                      static_cast<unsigned char>(input_[1]) == 0x8b;
    if (!gzip) return;
    constexpr int kGzipWindow = 15 + 16;
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw std::bad_alloc();
    gzip_ = true;
  }
  UnzippedBytes(const UnzippedBytes&) = delete;
  UnzippedBytes& operator=(const UnzippedBytes&) = delete;
  ~UnzippedBytes() override {
    if (gzip_) inflateEnd(&stream_);
  }

  std::size_t read(std::span<char> buffer) override {
    return gzip_ ? inflate_into(buffer) : copy_into(buffer);
  }
  std::uint64_t file_bytes_read() const override { return raw_->file_bytes_read() - available_; }
  std::optional<std::uint64_t> file_bytes() const override { return raw_->file_bytes(); }

 private:
  void refill() {
    position_ = 0;
    available_ = raw_->read({input_.get(), room_});
  }
  std::size_t copy_into(std::span<char> buffer) {
    const std::size_t held = std::min(buffer.size(), available_);
    std::copy_n(input_.get() + position_, held, buffer.data());
    position_ += held;
    available_ -= held;
    return held == buffer.size() ? held : held + raw_->read(buffer.subspan(held));
  }
  std::size_t inflate_into(std::span<char> buffer) {
    std::size_t filled = 0;
    while (filled < buffer.size() && !ended_) {
      if (available_ == 0) refill();
      if (available_ == 0) damaged("the gzip data end too early: the file is truncated");
      stream_.next_in = reinterpret_cast<Bytef*>(input_.get() + position_);
      stream_.avail_in = static_cast<uInt>(available_);
      const auto room =
          static_cast<uInt>(std::min<std::size_t>(buffer.size() - filled, std::size_t{1} << 30U));
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data() + filled);
      stream_.avail_out = room;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      position_ += available_ - stream_.avail_in;
      available_ = stream_.avail_in;
      filled += room - stream_.avail_out;
      produced_ += room - stream_.avail_out;
      if (result == Z_STREAM_END) {
        next_member();
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        damaged("the gzip data are damaged");
      }
      if (produced_ > kInflationFloor && produced_ / kMaxInflation > file_bytes_read()) {
        damaged("the gzip data unfold to more than 400 times their size: refused");
      }
    }
    return filled;
  }
  /// A gzip file may be several members one after the other.
  void next_member() {
    if (available_ == 0) refill();
    if (available_ == 0) {
      ended_ = true;
    } else if (static_cast<unsigned char>(input_[position_]) != 0x1f) {
      damaged("there are stray bytes after the gzip data");
    } else if (inflateReset(&stream_) != Z_OK) {
      damaged("the gzip data are damaged");
    }
  }
  [[noreturn]] void damaged(std::string message) const {
    Problem problem;
    problem.at.source = std::make_shared<SourceText>(SourceText{name_, {}, 1, 0});
    problem.message = std::move(message);
    throw InputError(std::move(problem));
  }

  std::unique_ptr<ByteSource> raw_;
  std::string name_;
  static constexpr std::size_t kInput = std::size_t{256} << 10U;
  std::size_t room_;               ///< as much as the file has, kInput at most
  std::unique_ptr<char[]> input_;  // not zeroed
  std::size_t position_ = 0;
  std::size_t available_ = 0;
  bool gzip_ = false;
  bool ended_ = false;
  std::uint64_t produced_ = 0;
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<ByteSource> bytes_in_memory(std::string_view bytes) {
  return std::make_unique<MemoryBytes>(bytes);
}

std::unique_ptr<ByteSource> bytes_of_file(const std::string& path) {
  return std::make_unique<FileBytes>(path);
}

std::unique_ptr<ByteSource> unzipped(std::unique_ptr<ByteSource> raw, std::string name) {
  return std::make_unique<UnzippedBytes>(std::move(raw), std::move(name));
}

}  // namespace tidemark
